"""The papers most like another, with vectors that count words."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.search import paper_vectors, similar
from retrieval.types import LibraryError

TEXTS = {
    "cars": "Red car. Blue car.",
    "car": "Red car. Green car.",
    "bikes": "Red bike. Blue bike.",
    "snow": "White snow. Cold snow.",
}

Made = Callable[..., Library]


@pytest.fixture
def made(open_library: Made, jsonl: Callable[..., Path]) -> Made:
    """A function that makes a library of abstracts in chunks of two words."""

    def make(texts: dict[str, str]) -> Library:
        library = open_library(tokens=2)
        ingest(library, [jsonl(*({"id": id_, "abstract": text} for id_, text in texts.items()))])
        return library

    return make


def test_the_likest_come_first_and_the_paper_itself_does_not(made: Made) -> None:
    near = similar(made(TEXTS), "cars", 3)
    assert [each.paper.id for each in near] == ["car", "bikes", "snow"]
    # The mean of (red, car) and (blue, car) is (1, 2, 1)/√6; "red car" is (1, 1)/√2 of it.
    assert near[0].similarity == pytest.approx(3 / 12**0.5, abs=1e-4)
    assert near[1].similarity == pytest.approx(1 / 12**0.5, abs=1e-4)
    assert near[2].similarity == pytest.approx(0, abs=1e-4)


def test_of_papers_as_near_the_one_that_shares_a_rarer_word_comes_first(made: Made) -> None:
    texts = {"a": "Red car.", "b": "Red bike.", "c": "Green car.", "d": "Red hat.", "e": "Red sun."}
    near = similar(made(texts), "a", 2)
    assert near[0].similarity == pytest.approx(near[1].similarity)
    assert near[0].paper.id == "c"


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (2, 2), (10, 3)])
def test_no_more_are_given_than_asked_for_or_there(made: Made, limit: int, count: int) -> None:
    assert len(similar(made(TEXTS), "cars", limit)) == count


def test_a_paper_that_is_not_here_has_none(made: Made) -> None:
    assert similar(made(TEXTS), "other", 3) == ()


def test_a_paper_alone_has_none(made: Made) -> None:
    assert similar(made({"only": "Red car."}), "only", 3) == ()


def test_a_library_of_no_papers_says_so(open_library: Made) -> None:
    with pytest.raises(LibraryError):
        similar(open_library(), "cars", 3)


def test_a_paper_of_many_chunks_does_not_crowd_out_others(made: Made) -> None:
    long = " ".join("Red car." for _ in range(30))
    library = made({"long": long, "a": "Red car now.", "b": "Red bike."})
    assert [each.paper.id for each in similar(library, "long", 2)] == ["a", "b"]
    assert [each.paper.id for each in similar(library, "a", 2)] == ["long", "b"]


def test_the_vector_of_a_paper_is_the_mean_of_its_chunks(made: Made) -> None:
    vectors = paper_vectors(made(TEXTS).store, ["cars", "snow", "gone"])
    assert vectors.keys() == {"cars", "snow"}
    assert [np.linalg.norm(each) for each in vectors.values()] == pytest.approx([1, 1])
    assert float(vectors["cars"] @ vectors["snow"]) == pytest.approx(0, abs=1e-6)
