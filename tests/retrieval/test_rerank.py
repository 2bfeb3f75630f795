"""Reranking by a reader and by a chat model whose logits and likelihoods the test chooses."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.search.reader import PaperRead
from retrieval.search.rerank import (
    ReadPassage,
    RerankSettings,
    advantages,
    by_likelihood,
    read_alone,
    read_papers,
    reranked,
    text_of,
)
from retrieval.types import Cancelled, Chunk, Paper, Passage, Source

SETTINGS = RerankSettings(depth=3, margin=0.3, relevance=0.5, answered=0.0)


LIKELIHOOD = RerankSettings(close=3, doubt=0.3, likelihood=0.5, token_limit=3.0)


def passage(id_: str, score: float, abstract: str = "An abstract.", title: str = "") -> Passage:
    paper = Paper(id_, title, (), "", None, "", abstract, (Source("f", 1),))
    chunk = Chunk(f"{id_}:0", id_, 0, 0, len(abstract), abstract)
    return Passage(paper, chunk, score, similarity=0.5)


class ChosenReader:
    """Gives the papers the relevance it was made with, by id."""

    def __init__(self, **relevance: float) -> None:
        self.relevance = relevance
        self.answered: dict[str, float] = {}
        self.asked: list[str] = []

    def read(
        self, _question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        for paper in papers:
            if stopped():
                raise Cancelled
            self.asked.append(paper.id)
            yield PaperRead(self.relevance.get(paper.id, 0.0), self.answered.get(paper.id, 0.0), ())

    def read_alone(
        self,
        _question: str,
        paper: Paper,
        read: PaperRead,
        _stopped: Callable[[], bool],
        _most: int,
    ) -> PaperRead:
        self.asked.append(paper.id)
        return read


def ranked(passages: list[Passage], **relevance: float) -> list[tuple[str, float]]:
    read = read_papers("Why?", passages, ChosenReader(**relevance), lambda: False, SETTINGS)
    return [(each.paper.id, round(each.score, 3)) for each in reranked(passages, read)]


def test_relevance_and_an_answer_both_count() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    reader = ChosenReader(a=2.0)
    reader.answered = {"a": -1.0, "b": 1.0}  # 0.1 × 2 − 0.2 × 1 = 0, and 0.2 × 1
    settings = RerankSettings(relevance=0.1, answered=0.2)
    read = read_papers("Why?", passages, reader, lambda: False, settings)
    scores = [(each.passage.paper.id, round(each.passage.score, 3)) for each in read]
    assert scores == [("b", 0.8), ("a", 0.7)]


def test_a_paper_that_reads_better_comes_first() -> None:
    assert ranked([passage("a", 0.9), passage("b", 0.8)], b=1.0) == [("b", 0.8), ("a", 0.4)]


def test_a_little_better_is_not_enough() -> None:
    assert ranked([passage("a", 0.9), passage("b", 0.8)], b=0.1) == [("a", 0.85), ("b", 0.8)]


def test_what_is_far_behind_is_not_read_and_stays_behind() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8), passage("c", 0.5), passage("d", 0.4)]
    reader = ChosenReader(b=2.0, c=9.0)
    read = read_papers("Why?", passages, reader, lambda: False, SETTINGS)
    found = reranked(passages, read)
    assert reader.asked == ["a", "b"]
    assert [each.paper.id for each in found] == ["b", "a", "c", "d"]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)


def test_no_more_are_read_than_the_depth_but_those_that_are_named() -> None:
    passages = [passage(id_, 0.9) for id_ in "abcde"]
    reader = ChosenReader()
    read_papers("Why?", passages, reader, lambda: False, SETTINGS, also={"e"})
    assert reader.asked == ["a", "b", "c", "e"]


@pytest.mark.parametrize(
    ("answered", "also", "read"),
    [
        (3.0, (), "ab"),
        (1.0, (), "abcd"),
        (1.0, ("b",), "ab"),
    ],
    ids=["found", "not found yet", "named"],
)
def test_more_are_read_only_until_the_paper_sought_is_found(
    answered: float, also: tuple[str, ...], read: str
) -> None:
    scores = {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.5, "e": 0.1}
    passages = [passage(id_, score) for id_, score in scores.items()]
    reader = ChosenReader()
    reader.answered = {"b": answered}
    settings = RerankSettings(near=0.2, far=0.5, depth=3, deeper=5, sure=2.0)
    read_papers("Why?", passages, reader, lambda: False, settings, also=also, seeks_one=True)
    assert "".join(reader.asked) == read


@pytest.mark.parametrize(("seeks_one", "closely"), [(True, "ab"), (False, "abcd")])
def test_if_one_paper_is_sought_only_the_best_are_read_sentence_by_sentence(
    seeks_one: bool, closely: str
) -> None:
    read = [ReadPassage(passage(id_, 0.9), PaperRead(0.0, 0.0, ())) for id_ in "abcd"]
    reader = ChosenReader()
    settings = RerankSettings(closely=2)
    read_alone("Why?", read, reader, lambda: False, settings, seeks_one=seeks_one)
    assert "".join(reader.asked) == closely


def test_the_order_of_the_first_stage_can_be_kept() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    settings = RerankSettings.order_kept()
    read = read_papers("Why?", passages, ChosenReader(b=9.0), lambda: False, settings)
    assert [each.passage for each in read] == passages


def test_nothing_found_is_nothing_read() -> None:
    assert read_papers("Why?", [], ChosenReader(), lambda: False) == []
    assert reranked([], []) == []


def test_stopping_ends_it_before_the_next_paper() -> None:
    reader = ChosenReader()
    with pytest.raises(Cancelled):
        read_papers(
            "Why?",
            [passage("a", 0.9), passage("b", 0.9)],
            reader,
            lambda: bool(reader.asked),
            SETTINGS,
        )
    assert reader.asked == ["a"]


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
    st.lists(st.floats(-9, 9), min_size=6, max_size=6),
)
def test_no_paper_is_lost_or_doubled_and_scores_descend(
    scores: list[float], logits: list[float]
) -> None:
    passages = [passage(str(at), s) for at, s in enumerate(sorted(scores, reverse=True))]
    reader = ChosenReader(**{str(at): logit for at, logit in enumerate(logits)})
    read = read_papers("Why?", passages, reader, lambda: False, SETTINGS)
    found = reranked(passages, read)
    assert sorted(each.paper.id for each in found) == sorted(each.paper.id for each in passages)
    values = [each.score for each in found]
    assert all(one >= two - 1e-9 for one, two in pairwise(values))


class ChosenLikelihood:
    """Gives every token of the question the likelihoods it was made with, in turn."""

    def __init__(self, *values: float) -> None:
        self.values = values
        self.asked: list[str] = []
        """Every text that it read."""

    def of(
        self, _question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        for text, value in zip(texts, self.values, strict=True):
            if stopped():
                raise Cancelled
            self.asked.append(text)
            yield np.full(4, value, dtype=np.float32)


def were_read(*passages: Passage) -> list[ReadPassage]:
    return [ReadPassage(each, PaperRead(0.0, 0.0, ())) for each in passages]


def likeliest(passages: Sequence[Passage], *values: float) -> list[tuple[str, float]]:
    read, chosen = were_read(*passages), ChosenLikelihood(*values)
    found = by_likelihood("Why?", read, chosen, lambda: False, LIKELIHOOD)
    return [(each.passage.paper.id, round(each.passage.score, 3)) for each in found]


def test_advantages_by_hand() -> None:
    rows = np.array([[-1.0, -9.0, -2.0], [-2.0, -3.0, -2.0], [-4.0, -2.0, -2.0]], dtype=np.float32)
    # The middling paper has -2, -3, -2; the second token counts 2 against the first paper, not 6.
    assert advantages(rows, 2.0).tolist() == pytest.approx([(1 - 2) / 3, 0.0, (-2 + 1) / 3])


def test_the_advantages_of_two_lie_on_both_sides_of_their_middle() -> None:
    rows = np.array([[-3.0, -1.0], [-1.0, -1.0]], dtype=np.float32)
    assert advantages(rows, 2.0).tolist() == pytest.approx([-0.5, 0.5])
    assert advantages(rows, 0.5).tolist() == pytest.approx([-0.25, 0.25])


def test_a_likelier_paper_comes_first() -> None:
    # Each is half a unit from the middle of both; the likelier one keeps its score.
    passages = [passage("a", 0.9), passage("b", 0.8)]
    assert likeliest(passages, -3.0, -2.0) == [("b", 0.8), ("a", 0.4)]


def test_a_little_likelier_is_not_enough() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    assert likeliest(passages, -3.0, -2.9) == [("a", 0.85), ("b", 0.8)]


def test_a_token_counts_no_more_than_its_limit() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8)]
    assert likeliest(passages, -99.0, -1.0) == [("b", 0.8), ("a", 0.9 - 0.5 * 6.0)]


def test_what_is_not_close_is_not_asked_for_and_stays_behind() -> None:
    passages = [passage("a", 0.9), passage("b", 0.8), passage("c", 0.5), passage("d", 0.4)]
    found = likeliest(passages, -4.0, -2.0)
    assert found == [("b", 0.8), ("a", -0.1), ("c", -0.5), ("d", -0.6)]


def test_no_more_are_asked_for_than_those_that_are_close() -> None:
    passages = [passage(id_, 0.9, f"About {id_}.") for id_ in "abcd"]
    likelihood = ChosenLikelihood(-3.0, -2.0, -4.0)
    found = by_likelihood("Why?", were_read(*passages), likelihood, lambda: False, LIKELIHOOD)
    assert likelihood.asked == ["About a.", "About b.", "About c."]
    assert [each.passage.paper.id for each in found] == ["b", "a", "c", "d"]


@pytest.mark.parametrize(
    "passages", [[], [passage("a", 1.0)], [passage("a", 1.0), passage("b", 0.0)]]
)
def test_where_one_paper_is_clearly_the_best_nothing_is_asked(passages: list[Passage]) -> None:
    read, likelihood = were_read(*passages), ChosenLikelihood()
    assert by_likelihood("Why?", read, likelihood, lambda: False, LIKELIHOOD) == read
    assert likelihood.asked == []


def test_what_was_read_stays_with_its_paper() -> None:
    read = [
        ReadPassage(passage("a", 0.9), PaperRead(1.0, 0.0, ())),
        ReadPassage(passage("b", 0.8), PaperRead(2.0, 0.0, ())),
    ]
    found = by_likelihood("Why?", read, ChosenLikelihood(-3.0, -2.0), lambda: False, LIKELIHOOD)
    relevance = {each.passage.paper.id: each.read.relevance for each in found}
    assert relevance == {"a": 1.0, "b": 2.0}


def test_long_texts_are_cut() -> None:
    read = were_read(*(passage(id_, 0.9, "word " * 20) for id_ in "ab"))
    likelihood = ChosenLikelihood(-3.0, -2.0)
    settings = RerankSettings(characters=60)
    by_likelihood("Why?", read, likelihood, lambda: False, settings)
    assert [len(text) for text in likelihood.asked] == [59, 59]


@pytest.mark.parametrize(
    ("title", "abstract", "characters", "expected"),
    [
        ("Strides", "We learn them.", 100, "Strides\nWe learn them."),
        ("", "We learn them.", 100, "We learn them."),
        ("Strides", "We learn them.", 22, "Strides\nWe learn them."),
        ("Strides", "We learn them.", 14, "Strides\nWe"),
    ],
)
def test_the_text_asked_for(title: str, abstract: str, characters: int, expected: str) -> None:
    assert text_of(passage("a", 1.0, abstract, title).paper, characters) == expected


def test_stopping_ends_it_before_the_next_text() -> None:
    likelihood = ChosenLikelihood(-1.0, -1.0)
    read = were_read(passage("a", 0.9), passage("b", 0.8))
    with pytest.raises(Cancelled):
        by_likelihood("Why?", read, likelihood, lambda: bool(likelihood.asked), LIKELIHOOD)
    assert len(likelihood.asked) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-9, 0)), min_size=1, max_size=6))
def test_by_likelihood_no_paper_is_lost_or_doubled_and_scores_descend(
    scored: list[tuple[float, float]],
) -> None:
    scored.sort(key=lambda each: -each[0])
    passages = [passage(str(at), score) for at, (score, _) in enumerate(scored)]
    best = passages[0].score
    close = sum(best - each.score < LIKELIHOOD.doubt for each in passages[: LIKELIHOOD.close])
    asked = close if close > 1 else 0
    likelihood = ChosenLikelihood(*(value for _, value in scored[:asked]))
    found = by_likelihood("Why?", were_read(*passages), likelihood, lambda: False, LIKELIHOOD)
    ids = [each.passage.paper.id for each in found]
    assert len(likelihood.asked) == asked
    assert sorted(ids) == sorted(each.paper.id for each in passages)
    assert all(one.passage.score >= two.passage.score for one, two in pairwise(found))
    # Those that are not close keep their order.
    behind = [id_ for id_ in ids if int(id_) >= close]
    assert behind == sorted(behind, key=int)
