"""The nearest papers, with vectors that count words."""

from pathlib import Path

import pytest
from fake_embedder import WordEmbedder

from retrieval.index.chroma import ChromaStore
from retrieval.index.records import NewPaper
from retrieval.search.search import similar
from retrieval.text.splitting import ChunkSettings, chunk_paper
from retrieval.types import Paper, Source

EMBEDDER = WordEmbedder()
TEXTS = {
    "cars": "red car. blue car.",
    "car": "red car. green car.",
    "bikes": "red bike. blue bike.",
    "snow": "white snow. cold snow.",
}


def written(id_: str, abstract: str) -> NewPaper:
    """A paper in chunks of two words."""
    paper = Paper(id_, id_, (), "", None, "", abstract, (Source("f", 1),))
    chunks = tuple(chunk_paper(paper, EMBEDDER.count, ChunkSettings(2)))
    return NewPaper(paper, chunks, tuple(EMBEDDER.embed(chunk.text) for chunk in chunks))


@pytest.fixture
def store(tmp_path: Path) -> ChromaStore:
    store = ChromaStore(tmp_path / "chroma")
    store.write([written(id_, text) for id_, text in TEXTS.items()], {})
    return store


def test_the_nearest_come_first_and_the_paper_itself_does_not(store: ChromaStore) -> None:
    near = similar(store, "cars", 3)
    assert [each.paper.id for each in near] == ["car", "bikes", "snow"]
    # The mean of (red, car) and (blue, car) is (1, 2, 1)/√6; "red car" is (1, 1)/√2 of it.
    assert near[0].similarity == pytest.approx(3 / 12**0.5, abs=1e-4)
    assert near[1].similarity == pytest.approx(1 / 12**0.5, abs=1e-4)
    assert near[2].similarity == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (2, 2), (10, 3)])
def test_no_more_are_given_than_asked_for_or_there(
    store: ChromaStore, limit: int, count: int
) -> None:
    assert len(similar(store, "cars", limit)) == count


def test_a_paper_that_is_not_here_has_none(store: ChromaStore) -> None:
    assert similar(store, "other", 3) == ()


def test_a_paper_alone_has_none(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path / "chroma")
    store.write([written("only", "red car.")], {})
    assert similar(store, "only", 3) == ()


def test_a_paper_of_many_chunks_does_not_crowd_out_others(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path / "chroma")
    long = " ".join("red car." for _ in range(30))
    papers = [written("long", long), written("a", "red car."), written("b", "red bike.")]
    store.write(papers, {})
    assert [each.paper.id for each in similar(store, "long", 2)] == ["a", "b"]
    assert [each.paper.id for each in similar(store, "a", 2)] == ["long", "b"]
