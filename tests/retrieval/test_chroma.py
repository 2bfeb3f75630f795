"""The store: what goes in comes out, and what an interrupted write left is found."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from fake_embedder import DIMENSIONS, WordEmbedder

from retrieval.index.chroma import ChromaStore
from retrieval.index.files import JournalEntry
from retrieval.index.records import NewPaper, StoredPaper
from retrieval.text.splitting import ChunkSettings, chunk_paper
from retrieval.types import LibraryError, Paper, Source

EMBEDDER = WordEmbedder()


def new(id_: str, abstract: str = "One two. Three four.", title: str = "T") -> NewPaper:
    """A paper in chunks of two words."""
    paper = Paper(id_, title, (), "", None, "", abstract, (Source("f", 1),))
    chunks = tuple(chunk_paper(paper, EMBEDDER.count, ChunkSettings(2)))
    return NewPaper(paper, chunks, tuple(EMBEDDER.embed(chunk.text) for chunk in chunks))


@pytest.fixture
def store(tmp_path: Path) -> ChromaStore:
    return ChromaStore(tmp_path / "chroma")


def contents(store: ChromaStore) -> dict[str, list[str]]:
    """The chunks of every paper, by the paper's id."""
    ids = [
        f"{each.paper.id}:{ordinal}"
        for each in store.papers()
        for ordinal in range(each.chunk_count)
    ]
    chunks = store.chunks_by_id(ids)
    texts: dict[str, list[str]] = {each.paper.id: [] for each in store.papers()}
    for id_ in ids:
        texts[chunks[id_].paper_id].append(chunks[id_].text)
    return texts


def test_every_field_of_a_paper_comes_back(store: ChromaStore) -> None:
    full = Paper(
        id="10.1/x:y z",
        title="Ünïcödé 🙂",
        authors=("Ann, B.", "Cy “D”"),
        venue="ICLR",
        year=2023,
        decision="oral",
        abstract="One two.",
        sources=(Source("a", 1), Source("b", 22)),
        url="https://a.org",
        doi="10.1/x",
        id_is_given=True,
    )
    bare = Paper("p", "", (), "", None, "", "Three.", (Source("c", 3),))
    for paper in (full, bare):
        chunks = tuple(chunk_paper(paper, EMBEDDER.count, ChunkSettings(2)))
        store.write([NewPaper(paper, chunks, tuple(EMBEDDER.embed(c.text) for c in chunks))], {})
    assert {each.paper.id: each for each in store.papers()} == {
        full.id: StoredPaper(full, 1),
        bare.id: StoredPaper(bare, 1),
    }


def test_every_field_of_a_chunk_and_its_vector_come_back(store: ChromaStore) -> None:
    paper = new("a:b")
    store.write([paper], {})
    assert store.chunks_by_id(["a:b:0", "a:b:1"]) == {
        "a:b:0": paper.chunks[0],
        "a:b:1": paper.chunks[1],
    }
    vectors = store.vectors(["a:b:0", "a:b:1"])
    np.testing.assert_array_equal(vectors["a:b:1"], paper.vectors[1])
    assert vectors["a:b:0"].shape == (DIMENSIONS,)


def test_the_vectors_of_papers_are_those_of_all_their_chunks(store: ChromaStore) -> None:
    long = new("long", " ".join(f"Word{number} here." for number in range(13)))
    assert len(long.chunks) == 13
    store.write([long, new("short")], {})
    found = store.chunk_vectors(["long", "short", "unknown"])
    assert found.keys() == {f"long:{at}" for at in range(13)} | {"short:0", "short:1"}
    np.testing.assert_array_equal(found["long:12"], long.vectors[12])
    assert store.chunk_vectors([]) == {}


def test_a_bulk_write_is_written_out_seldom_and_at_its_end(
    store: ChromaStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.index.chroma.SYNC_THRESHOLD", 10)
    monkeypatch.setattr("retrieval.index.chroma._SYNCS", 2)

    def written_out() -> list[Path]:
        return list((tmp_path / "chroma").glob("*/index_metadata.pickle"))

    with store.bulk(30):
        for number in range(20):
            store.write([new(f"p{number}")], {})
        assert store.nearest(EMBEDDER.embed("one"), 1)
        assert not written_out()
    assert written_out()
    assert store.count() == (20, 40)
    assert store.damage() == ([], [])
    # The next few papers are an ordinary write again.
    written_at = written_out()[0].stat().st_mtime_ns
    with store.bulk(1):
        store.write([new(f"q{number}") for number in range(12)], {})
    assert written_out()[0].stat().st_mtime_ns > written_at


@pytest.mark.parametrize("torn", ["data_level0.bin", "index_metadata.pickle"])
def test_records_outlive_vectors_torn_by_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: str
) -> None:
    monkeypatch.setattr("retrieval.index.connection.SYNC_THRESHOLD", 10)
    whole = ChromaStore(tmp_path / "whole" / "chroma")
    for number in range(15):
        whole.write([new(f"p{number}")], {})
    expected = list(whole.papers())
    shutil.copytree(tmp_path / "whole", tmp_path / "torn")
    files = list((tmp_path / "torn").glob(f"chroma/*/{torn}"))
    assert len(files) == 2  # of chunks and of papers
    for file in files:
        file.write_bytes(file.read_bytes()[:20])
    # A write had begun, with the files as they were.
    journal = JournalEntry("r", {"data_level0.bin": [1, 1]}, writing=True)
    (tmp_path / "torn" / "chroma.json").write_text(json.dumps(asdict(journal)))
    store = ChromaStore(tmp_path / "torn" / "chroma")
    assert store.count() == (15, 0)
    assert list(store.papers()) == expected
    damaged, stray = store.damage()
    assert (len(damaged), stray) == (15, [])
    for number in range(25):
        store.write([new(f"p{number}")], {})
    assert store.count() == (25, 50)
    assert store.damage() == ([], [])
    store.delete(["p1"])
    assert store.count() == (24, 48)


def test_unknown_ids_are_left_out(store: ChromaStore) -> None:
    store.write([new("a")], {})
    assert store.stored_by_id(["a", "b"]).keys() == {"a"}
    assert store.chunks_by_id(["a:0", "b:0"]).keys() == {"a:0"}
    assert store.vectors(["a:0", "b:0"]).keys() == {"a:0"}
    assert not store.stored_by_id([])
    assert not store.chunks_by_id([])
    assert not store.vectors([])


def test_the_nearest_chunks_come_with_their_cosine(store: ChromaStore) -> None:
    store.write([new("a", "Red car."), new("b", "Red bike."), new("c", "Blue sky.")], {})
    hits = store.nearest(EMBEDDER.embed("red car"), 2)
    assert [(hit.chunk_id, hit.paper_id) for hit in hits] == [("a:0", "a"), ("b:0", "b")]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.5], abs=1e-5)


def test_an_empty_store_has_nothing_near(store: ChromaStore) -> None:
    assert store.nearest(EMBEDDER.embed("red car"), 5) == []
    assert store.count() == (0, 0)
    assert list(store.papers()) == []
    assert store.damage() == ([], [])


def test_more_papers_than_a_page_come_back(
    store: ChromaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.index.chroma._PAGE", 10)
    ids = [f"p{number}" for number in range(25)]
    store.write([new(id_) for id_ in ids], {})
    assert store.count() == (25, 50)
    assert contents(store) == {id_: ["One two.", "Three four."] for id_ in ids}
    assert len(store.vectors([f"{id_}:1" for id_ in ids])) == 25
    assert store.stored_by_id(ids).keys() == set(ids)
    store.delete(ids[:15])
    assert store.count() == (10, 20)


def test_writing_again_replaces_and_drops_chunks_that_are_no_more(store: ChromaStore) -> None:
    store.write([new("a", "One two. Three four. Five six."), new("b")], {})
    store.write([new("a", "Seven eight.")], {"a": 3, "b": 2})
    assert contents(store) == {"a": ["Seven eight."], "b": ["One two.", "Three four."]}
    assert store.count() == (2, 3)


def test_a_record_is_rewritten_without_its_chunks(store: ChromaStore) -> None:
    written = new("a")
    store.write([written], {})
    changed = Paper("a", "T", ("Ann",), "V", 1, "oral", written.paper.abstract, ())
    store.rewrite_records([StoredPaper(changed, 2)])
    assert list(store.papers()) == [StoredPaper(changed, 2)]
    assert contents(store) == {"a": ["One two.", "Three four."]}


def test_deleting_a_paper_deletes_its_chunks_and_no_others(store: ChromaStore) -> None:
    store.write([new("a"), new("a:0"), new("b")], {})
    store.delete(["a"])
    assert contents(store).keys() == {"a:0", "b"}
    assert store.count() == (2, 4)
    store.delete([])
    assert store.count() == (2, 4)


# --- what an interrupted write leaves


def test_a_whole_store_has_no_damage(store: ChromaStore) -> None:
    store.write([new("a"), new("b", "Five six. Seven.")], {})
    assert store.damage() == ([], [])


def test_chunks_without_a_record_are_stray(store: ChromaStore) -> None:
    store.write([new("a"), new("b")], {})
    store._papers.delete(ids=["b"])
    assert store.damage() == ([], ["b:0", "b:1"])
    store.delete_chunks(["b:0", "b:1"])
    assert store.damage() == ([], [])


def test_chunks_beyond_those_of_the_record_are_stray(store: ChromaStore) -> None:
    store.write([new("a", "One two. Three four. Five six.")], {})
    store.write([new("a", "One two.")], {})  # not told of the three
    assert store.damage() == ([], ["a:1", "a:2"])


@pytest.mark.parametrize(
    "abstract",
    ["Changed now. Three four.", "One two.", "One two. Three four. Five six.", "One two. Three."],
)
def test_chunks_of_another_version_of_the_abstract_are_damage(
    store: ChromaStore, abstract: str
) -> None:
    store.write([new("a", "One two. Three four."), new("b")], {})
    newer = new("a", abstract)
    store._chunks.upsert(  # as a write does that ends before it comes to the record
        ids=[chunk.id for chunk in newer.chunks],
        embeddings=np.asarray(newer.vectors),
        documents=[chunk.text for chunk in newer.chunks],
        metadatas=[
            {"paper_id": "a", "ordinal": c.ordinal, "start": c.start, "end": c.end}
            for c in newer.chunks
        ],
    )
    damaged, stray = store.damage()
    same = abstract.startswith("One two.") and abstract != "One two. Three."
    assert [paper.id for paper in damaged] == ([] if same else ["a"])
    assert stray == ["a:2"] * (len(newer.chunks) == 3)


def test_a_missing_chunk_is_damage(store: ChromaStore) -> None:
    store.write([new("a"), new("b")], {})
    store._chunks.delete(ids=["a:1"])
    assert [paper.id for paper in store.damage()[0]] == ["a"]


# --- a folder that is not what it should be


@pytest.mark.parametrize("name", ["chroma", "chroma/chroma.sqlite3"])
def test_what_is_no_store_is_refused_with_the_way_out(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"not a database" * 1000)
    with pytest.raises(LibraryError, match=r"library in .* cannot be read.*another --home"):
        ChromaStore(tmp_path / "chroma")


def test_chunks_linked_anew_are_what_they_were(store: ChromaStore, tmp_path: Path) -> None:
    papers = [new(f"p{n}", f"Word{n} two. Three word{n}.") for n in range(40)]
    store.write(papers, {})
    store.delete(["p0"])
    before, vectors = contents(store), store.chunk_vectors([f"p{n}" for n in range(40)])
    store.link_anew()
    assert contents(store) == before
    after = store.chunk_vectors([f"p{n}" for n in range(40)])
    assert after.keys() == vectors.keys()
    for id_, vector in vectors.items():
        np.testing.assert_allclose(after[id_], vector, atol=1e-6)  # Chroma scales them again
    assert store.damage() == ([], [])
    assert not store.unreachable()
    assert ChromaStore(tmp_path / "chroma").nearest(vectors["p7:0"], 1)[0].chunk_id == "p7:0"


def test_an_empty_store_has_nothing_unreachable(store: ChromaStore) -> None:
    assert not store.unreachable()
    store.link_anew()
    assert store.count() == (0, 0)


def test_what_was_deleted_to_the_last_leaves_no_links(store: ChromaStore) -> None:
    paper = new("a", "One two. Three four.")
    store.write([paper], {})
    deleted = store._chunks.id
    store.delete(["a"])
    assert store._chunks.id != deleted
    store.write([paper], {})
    assert not store.unreachable()
    assert contents(store) == {"a": ["One two.", "Three four."]}
