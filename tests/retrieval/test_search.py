"""Fusion by hand, and search over a small library and over the seeds' formats."""

from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import LibraryError
from retrieval.ingest import ingest
from retrieval.library import Library
from retrieval.search import SearchSettings, fuse, search

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1), min_size=1)
MATCHES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 30))


@pytest.mark.parametrize(
    ("dense", "lexical", "weight", "fused"),
    [
        ({"a": 0.8, "b": 0.4, "c": 0.6}, {"b": 10.0}, 0.5, {"a": 0.5, "b": 0.75, "c": 0.375}),
        ({"a": 0.9, "b": 0.45}, {"a": 2.0, "b": 4.0}, 0.6, {"a": 0.8, "b": 0.7}),
        ({"a": 0.3}, {}, 0.6, {"a": 0.6}),
        ({}, {"a": 3.0}, 0.6, {}),
        ({"a": 1.0, "b": -0.2}, {"a": 1.0, "z": 9.0}, 0.5, {"a": 1.0, "b": 0.0}),
        ({"a": -0.3, "b": -0.1}, {"b": 2.0}, 0.5, {"a": 0.0, "b": 0.5}),
    ],
)
def test_the_convex_sum(
    dense: dict[str, float],
    lexical: dict[str, float],
    weight: float,
    fused: dict[str, float],
) -> None:
    assert fuse(dense, lexical, weight) == pytest.approx(fused)


@given(SCORES, MATCHES, st.floats(0, 1))
def test_scores_stay_between_0_and_1(
    dense: dict[str, float], lexical: dict[str, float], weight: float
) -> None:
    fused = fuse(dense, lexical, weight)
    assert fused.keys() == dense.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES, st.floats(0.1, 1))
def test_without_lexical_matches_the_dense_order_stays(
    dense: dict[str, float], weight: float
) -> None:
    fused = fuse(dense, {}, weight)
    for left, right in permutations(dense, 2):
        if dense[left] > dense[right]:
            assert fused[left] >= fused[right]


PAPERS = (
    {"id": "strides", "title": "Strides", "abstract": "Nets learn strides. They crop in Fourier."},
    {"id": "cars", "title": "Cars", "abstract": "Red cars drive on roads. Roads are long there."},
    {"id": "naive", "abstract": "A naïve baseline of Schrödinger wins. It is quite simple."},
)


@pytest.fixture
def library(open_library: Callable[..., Library], jsonl: Callable[..., object]) -> Library:
    """Three papers, some in several chunks."""
    made = open_library(tokens=5)
    ingest(made, [jsonl(*PAPERS)])  # type: ignore[list-item]
    return made


def test_each_paper_comes_once_with_its_best_passage(library: Library) -> None:
    passages = search(library, "crop in Fourier", 10)
    ids = [passage.paper.id for passage in passages]
    assert ids[0] == "strides"
    assert len(ids) == len(set(ids)) == 3
    assert passages[0].chunk.text == "They crop in Fourier."
    assert passages[0].score == pytest.approx(1.0)


def test_passages_are_exact_places_of_their_abstracts(library: Library) -> None:
    for passage in search(library, "roads", 10):
        chunk = passage.chunk
        assert passage.paper.abstract[chunk.start : chunk.end] == chunk.text


def test_scores_fall_and_the_limit_holds(library: Library) -> None:
    scores = [passage.score for passage in search(library, "red roads", 2)]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


def test_papers_asked_for_are_ranked_beyond_the_limit(library: Library) -> None:
    found = search(library, "crop in Fourier", 1, also=["naive", "strides", "unknown"])
    assert [passage.paper.id for passage in found] == ["strides", "naive"]
    assert found[0].score > found[1].score


def test_papers_asked_for_may_be_found_by_words_too(library: Library) -> None:
    settings = SearchSettings(dense_depth=1)  # the rest is reached by its words alone
    found = search(library, "Schrödinger roads strides", 3, settings, also=["naive", "cars"])
    assert {passage.paper.id for passage in found} == {"strides", "cars", "naive"}


def test_accents_do_not_matter(library: Library) -> None:
    assert search(library, "naive Schrodinger", 1)[0].paper.id == "naive"


def test_an_empty_library_says_how_to_fill_it(open_library: Callable[..., Library]) -> None:
    with pytest.raises(LibraryError, match="assistant ingest"):
        search(open_library(), "anything", 3)
