"""A file's papers out of the library, whole or interrupted, and the health of what is left."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import WordEmbedder

from retrieval.library.health import check, repair
from retrieval.library.ingest import Removal, ingest, removal_of, remove_source
from retrieval.library.library import Library
from retrieval.library.overview import Overviews
from retrieval.search.search import search
from retrieval.types import Cancelled, InputError, LibraryError, Source

Open = Callable[..., Library]
Jsonl = Callable[..., Path]

SHARED: dict[str, Any] = {
    "title": "Herons",
    "abstract": "We weigh seven herons. They are light, and each of them was weighed twice by us.",
    "year": 2021,
    "venue": "Birds",
}
FRUIT: dict[str, Any] = {"title": "Fruit", "abstract": "An apple a day. A pear at night."}
STONES: dict[str, Any] = {
    "title": "Stones",
    "abstract": "Granite is hard. Talc is soft.",
    "year": 2023,
    "decision": "oral",
}


def titles(library: Library) -> set[str]:
    return {stored.paper.title for stored in library.store.papers()}


def found(library: Library, query: str) -> list[str]:
    library.ready_to_search()
    return [passage.paper.title for passage in search(library, query, 1)]


@pytest.fixture
def two_files(open_library: Open, jsonl: Jsonl) -> Library:
    """`first.jsonl` gives Herons (without a venue) and Fruit, `second.jsonl` Herons and Stones."""
    library = open_library()
    bare = {key: SHARED[key] for key in ("title", "abstract")}
    ingest(library, [jsonl(bare, FRUIT, name="first.jsonl")])
    ingest(library, [jsonl(SHARED, STONES, name="second.jsonl")])
    return library


def test_what_only_the_file_gave_goes_and_the_rest_stays(two_files: Library) -> None:
    expected = Removal("second.jsonl", removed=1, kept=1, papers=2)
    assert removal_of(two_files, "second.jsonl") == expected
    assert titles(two_files) == {"Herons", "Fruit", "Stones"}
    done = remove_source(two_files, "second.jsonl")
    assert (done.removed, done.kept, done.papers) == (1, 1, 2)
    assert titles(two_files) == {"Herons", "Fruit"}
    [herons] = [p.paper for p in two_files.store.papers() if p.paper.title == "Herons"]
    assert herons.sources == (Source("first.jsonl", 1),)
    assert (herons.venue, herons.year) == ("Birds", 2021)  # the union stays
    assert two_files.lexical.size == 2
    assert found(two_files, "granite and talc") != ["Stones"]
    assert found(two_files, "herons weighed") == ["Herons"]
    assert check(two_files).sound


def test_a_file_that_was_removed_can_be_read_again(
    two_files: Library, jsonl: Jsonl, open_library: Open
) -> None:
    remove_source(two_files, "first.jsonl")
    assert two_files.removed == ("first.jsonl",)
    assert open_library().removed == ("first.jsonl",)
    report = ingest(two_files, [jsonl(FRUIT, name="first.jsonl")])
    assert (report.added, two_files.removed) == (1, ())
    assert titles(two_files) == {"Herons", "Fruit", "Stones"}


def test_a_library_can_be_emptied(two_files: Library) -> None:
    remove_source(two_files, "first.jsonl")
    remove_source(two_files, "second.jsonl")
    assert two_files.store.count() == (0, 0)
    assert check(two_files).sound
    with pytest.raises(LibraryError, match="has no papers"):
        two_files.ready_to_search()


def test_an_unknown_file_is_told_with_the_nearest(two_files: Library, open_library: Open) -> None:
    with pytest.raises(InputError, match=r"'secnd.jsonl'; the nearest of 2 are 'second.jsonl'"):
        remove_source(two_files, "secnd.jsonl")
    assert two_files.store.count()[0] == 3
    assert not two_files.was_interrupted
    with pytest.raises(InputError, match="the library has no papers"):
        remove_source(open_library(home="empty"), "x")


@pytest.mark.parametrize("fails_in", ["rewrite_records", "delete"])
def test_an_interrupted_removal_is_completed_by_the_next_write(
    two_files: Library, monkeypatch: pytest.MonkeyPatch, jsonl: Jsonl, fails_in: str
) -> None:
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(two_files.store, fails_in, dies)
        with pytest.raises(KeyboardInterrupt):
            remove_source(two_files, "second.jsonl")
    assert two_files.was_interrupted
    assert "The last write to the library was interrupted." in check(two_files).findings
    ingest(two_files, [jsonl({"title": "Rain", "abstract": "It rains."}, name="third.jsonl")])
    assert titles(two_files) == {"Herons", "Fruit", "Rain"}
    assert check(two_files).sound


def test_a_removal_can_be_stopped_and_is_completed_by_a_repair(two_files: Library) -> None:
    def stop(_stage: str, _done: int, _total: int, _unit: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        remove_source(two_files, "second.jsonl", stop)
    assert repair(two_files).sound
    assert titles(two_files) == {"Herons", "Fruit"}


@pytest.mark.parametrize(("fails_in", "removed"), [("rewrite_records", 1), ("link_anew", 0)])
def test_a_killed_removal_that_is_run_again_says_what_it_completed(
    two_files: Library, monkeypatch: pytest.MonkeyPatch, fails_in: str, removed: int
) -> None:
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(two_files.store, fails_in, dies)
        patch.setattr(two_files.store, "unreachable", lambda: fails_in == "link_anew")
        with pytest.raises(KeyboardInterrupt):
            remove_source(two_files, "second.jsonl")
    done = remove_source(two_files, "second.jsonl")
    assert (done.completed, done.removed, done.papers) == (True, removed, 2)
    assert titles(two_files) == {"Herons", "Fruit"}
    assert check(two_files).sound
    with pytest.raises(InputError, match="No paper was read"):
        remove_source(two_files, "second.jsonl")


# --- health


def test_a_sound_library_is_told_so_and_left_as_it_is(two_files: Library) -> None:
    before = two_files.store.revision
    health = check(two_files)
    assert health.sound
    assert (health.papers, health.findings) == (3, ())
    assert two_files.store.revision == before


def test_chunks_and_records_that_do_not_fit_are_found_and_repaired(two_files: Library) -> None:
    ids = {each.paper.title: each.paper.id for each in two_files.store.papers()}
    two_files.store._chunks.delete(ids=[f"{ids['Fruit']}:0"])
    two_files.store._papers.delete(ids=[ids["Stones"]])
    before = two_files.store.revision
    health = check(two_files)
    assert two_files.store.revision == before
    assert (health.damaged, health.overindexed, health.sound) == (1, 1, False)
    assert health.stray > 0
    assert "1 paper is without the right chunks." in health.findings
    assert "1 paper is only in the lexical index." in health.findings
    with pytest.raises(
        LibraryError, match=r"records of 1 paper .* lost; 2 papers are left, .* whole"
    ):
        repair(two_files)
    assert check(two_files).sound
    assert found(two_files, "apple and pear") == ["Fruit"]


def test_a_record_that_was_changed_on_disk_is_found_and_left_out(two_files: Library) -> None:
    ids = {each.paper.title: each.paper.id for each in two_files.store.papers()}
    changed = {"documents": ["Another abstract."], "embeddings": [[1.0]]}
    two_files.store._papers.update(ids=[ids["Stones"]], **changed)
    with pytest.raises(LibraryError, match=r"the record of the paper 'stones-.*' is damaged"):
        check(two_files)
    with pytest.raises(LibraryError, match=r"records of 1 paper .* lost; 2 papers are left"):
        repair(two_files)
    assert check(two_files).sound
    assert titles(two_files) == {"Herons", "Fruit"}


def test_a_lexical_index_that_is_gone_or_old_is_found_and_repaired(two_files: Library) -> None:
    two_files.lexical.rebuild([], "another revision")
    health = check(two_files)
    assert (health.unindexed, health.current) == (3, False)
    assert repair(two_files).sound


def test_chunks_that_cannot_be_read_are_told_and_embedded_anew(
    two_files: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> None:
        raise LibraryError("damaged")

    with monkeypatch.context() as patch:
        patch.setattr(two_files.store, "chunks_by_id", unreadable)
        before = two_files.store.revision
        health = check(two_files)
        assert (health.readable, health.damaged) == (False, 3)
        assert two_files.store.revision == before
    two_files.store.drop_chunks()
    embedder = two_files.embedder
    assert isinstance(embedder, WordEmbedder)
    embedder.embedded.clear()
    assert repair(two_files).sound
    assert len(embedder.embedded) == two_files.store.count()[1]


# --- overview


def test_papers_are_counted_by_file_venue_year_and_decision(two_files: Library) -> None:
    overview = Overviews(two_files).overview()
    assert (overview.papers, overview.chunks) == two_files.store.count()
    assert overview.sources == (("first.jsonl", 2), ("second.jsonl", 2))
    assert overview.venues == (("Birds", 1), ("", 2))
    assert overview.years == (("2023", 1), ("2021", 1), ("", 1))
    assert overview.decisions == (("oral", 1), ("", 2))


def test_papers_are_counted_once_for_every_state(
    two_files: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    overviews = Overviews(two_files)
    first = overviews.overview()
    with monkeypatch.context() as patch:
        patch.setattr(two_files.store, "papers", lambda: pytest.fail("counted again"))
        assert overviews.overview() is first
        assert Overviews(two_files).overview() == first  # by another process, too
    remove_source(two_files, "first.jsonl")
    assert overviews.overview().papers == 2


@pytest.mark.parametrize(
    "damaged",
    [
        lambda _: "[1]",
        lambda text: text.replace('"papers": 3', '"papers": 8'),
        lambda text: text.replace('"Birds", 1', '"Birds", 2'),
        lambda text: text.replace("Birds", "Words"),
        lambda text: re.sub(r', "checksum": \d+', "", text),
    ],
    ids=["no counts", "total", "count", "value", "of before there were checksums"],
)
def test_damaged_counts_are_counted_anew(two_files: Library, damaged: Callable[[str], str]) -> None:
    file = two_files.home / "overview.json"
    expected = Overviews(two_files).overview()
    kept = file.read_text("utf-8")
    file.write_text(damaged(kept), "utf-8")
    assert file.read_text("utf-8") != kept
    assert Overviews(two_files).overview() == expected
    assert file.read_text("utf-8") == kept


def test_chunks_that_no_search_finds_are_linked_anew(
    two_files: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = two_files.store._chunks
    query = chunks.query

    def losing_one(**asked: Any) -> dict[str, Any]:
        return {key: each and [each[0][1:]] for key, each in query(**asked).items()}

    monkeypatch.setattr(chunks, "query", losing_one)
    health = check(two_files)
    assert (health.unreachable, health.sound) == (1, False)
    assert "1 chunk that no search finds." in health.findings
    assert repair(two_files).sound
    assert two_files.store._chunks is not chunks
    assert found(two_files, "apple and pear")[0] == "Fruit"
