"""Reranking by likelihoods that the test chooses."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.errors import Cancelled
from retrieval.rerank import RerankSettings, advantages, is_question, rerank, text_of
from retrieval.types import Chunk, Paper, Passage, Source

SETTINGS = RerankSettings(depth=3, margin=0.3, weight=0.5, token_limit=3.0)


def passage(id_: str, score: float, abstract: str = "An abstract.", title: str = "") -> Passage:
    paper = Paper(id_, title, (), "", None, "", abstract, (Source("f", 1),))
    chunk = Chunk(f"{id_}:0", id_, 0, 0, len(abstract), abstract)
    return Passage(paper, chunk, score, similarity=0.5)


class ChosenLikelihood:
    """Gives every token of the question the likelihoods it was made with, in turn."""

    def __init__(self, *values: float) -> None:
        self.values = values
        self.read: list[str] = []

    def of(
        self, _question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        for text, value in zip(texts, self.values, strict=True):
            if stopped():
                raise Cancelled
            self.read.append(text)
            yield np.full(4, value, dtype=np.float32)


def ranked(passages: list[Passage], *values: float) -> list[tuple[str, float]]:
    found = rerank("Why?", passages, ChosenLikelihood(*values), lambda: False, SETTINGS)
    return [(each.paper.id, round(each.score, 3)) for each in found]


def test_advantages_by_hand() -> None:
    rows = np.array([[-1.0, -9.0, -2.0], [-2.0, -3.0, -2.0], [-4.0, -2.0, -2.0]], dtype=np.float32)
    # The middling paper has -2, -3, -2; the second token counts 2 against the first paper, not 6.
    assert advantages(rows, 2.0).tolist() == pytest.approx([(1 - 2) / 3, 0.0, (-2 + 1) / 3])


def test_a_likelier_paper_comes_first() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    assert ranked(passages, -3.0, -2.0) == [("b", 0.8), ("a", 0.4)]


def test_a_little_likelier_is_not_enough() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    assert ranked(passages, -3.0, -2.9) == [("a", 0.85), ("b", 0.8)]


def test_what_is_far_behind_is_not_read_and_stays_behind() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8), passage("c", 0.5)]
    assert [id_ for id_, _ in ranked(passages, -4.0, -2.0)] == ["b", "a", "c"]


def test_no_more_are_read_than_the_depth() -> None:
    passages = [passage(id_, 0.9) for id_ in "abcd"]
    likelihood = ChosenLikelihood(-3.0, -2.0, -4.0)
    found = rerank("Why?", passages, likelihood, lambda: False, SETTINGS)
    assert [each.paper.id for each in found] == ["b", "a", "c", "d"]
    assert len(likelihood.read) == 3


def test_many_papers_share_the_text_that_is_read() -> None:
    passages = [passage(id_, 0.9, "word " * 20) for id_ in "abc"]
    settings = RerankSettings(characters=60, characters_in_all=120)
    alone, together = ChosenLikelihood(-3.0, -2.0), ChosenLikelihood(-3.0, -2.0, -4.0)
    rerank("Why?", passages[:2], alone, lambda: False, settings)
    rerank("Why?", passages, together, lambda: False, settings)
    assert [len(text) for text in alone.read] == [59, 59]
    assert [len(text) for text in together.read] == [39, 39, 39]


@pytest.mark.parametrize("passages", [[], [passage("a", 1.0)], [passage("a", 1), passage("b", 0)]])
def test_a_decided_ranking_is_left_as_it_is(passages: list[Passage]) -> None:
    assert rerank("Why?", passages, ChosenLikelihood(), lambda: False, SETTINGS) == passages


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do herons fish?", True),
        ("how do herons fish", True),
        ("Herons fish in lakes, don't they? ", True),
        ("Compare herons with storks.", True),
        ("Wie fischen Reiher?", True),
        ("Herons fish in shallow lakes.", False),
        ("heron fishing", False),
        ("Whichever way", False),
        ("", False),
    ],
)
def test_what_is_a_question(text: str, expected: bool) -> None:
    assert is_question(text) is expected


def test_a_statement_is_left_to_the_first_stage() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    likelihood = ChosenLikelihood()
    assert rerank("Herons fish.", passages, likelihood, lambda: False, SETTINGS) == passages


def test_it_stops_when_asked() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    likelihood = ChosenLikelihood(-1.0, -1.0)
    with pytest.raises(Cancelled):
        rerank("Why?", passages, likelihood, lambda: bool(likelihood.read), SETTINGS)
    assert len(likelihood.read) == 1


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-9, 0)), min_size=1, max_size=6),
)
def test_no_paper_is_lost_and_scores_fall(scored: list[tuple[float, float]]) -> None:
    scored.sort(key=lambda each: -each[0])
    passages = [passage(str(number), score) for number, (score, _) in enumerate(scored)]
    near = [each for each in passages[:3] if passages[0].score - each.score < SETTINGS.margin]
    values = [value for _, value in scored][: len(near) if len(near) > 1 else 0]
    found = rerank("Why?", passages, ChosenLikelihood(*values), lambda: False, SETTINGS)
    assert {each.paper.id for each in found} == {each.paper.id for each in passages}
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    read = {each.paper.id for each in near}
    assert {each.paper.id for each in found[: len(read)]} == read


@pytest.mark.parametrize(
    ("title", "abstract", "characters", "expected"),
    [
        ("Strides", "We learn them.", 100, "Strides\nWe learn them."),
        ("", "We learn them.", 100, "We learn them."),
        ("Strides", "We learn them.", 14, "Strides\nWe"),
    ],
)
def test_the_text_read(title: str, abstract: str, characters: int, expected: str) -> None:
    assert text_of(passage("a", 1.0, abstract, title).paper, characters) == expected
