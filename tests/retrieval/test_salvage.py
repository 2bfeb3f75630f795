"""Damaged databases of Chroma: what is read is right, and a repair says what was lost."""

import json
import random
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from fake_embedder import WordEmbedder

from retrieval.index.chroma import ChromaStore
from retrieval.index.connection import DATABASE
from retrieval.index.records import StoredPaper, paper_fields, read_paper
from retrieval.index.salvage import is_damaged, salvaged
from retrieval.library.health import EMBEDDING, SALVAGING, check, repair
from retrieval.library.ingest import ingest, remove_source
from retrieval.library.library import Library
from retrieval.library.overview import Overviews
from retrieval.search.search import search
from retrieval.text.splitting import ChunkSettings
from retrieval.types import Cancelled, LibraryError

PAGE = 4096
PAPERS = 150
Jsonl = Callable[..., Path]


def opened(home: Path, embedder: str = "words") -> Library:
    return Library(home, WordEmbedder(embedder), ChunkSettings(64))


def papers_in(home: Path) -> dict[str, StoredPaper]:
    return {each.paper.id: each for each in ChromaStore(home / "chroma").papers()}


def paper(number: int, family: str = "kept") -> dict[str, object]:
    long = 12_000 if number % 25 == 0 else 300  # some abstracts go over several pages
    words = " ".join(f"word{number * at % 977}" for at in range(long // 8))
    abstract = f"The {family} kernel{number} is a graph. {words}."
    return {"title": f"{family} {number}", "authors": [f"Ann Á{number}"], "abstract": abstract}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library from which other papers were removed, with its counts."""
    folder = tmp_path_factory.mktemp("whole")
    for family in ("kept", "gone"):
        lines = [json.dumps(paper(number, family)) for number in range(PAPERS)]
        (folder / f"{family}.jsonl").write_text("\n".join(lines), "utf-8")
    library = opened(folder / "home")
    ingest(library, [folder / "kept.jsonl", folder / "gone.jsonl"])
    remove_source(library, "gone.jsonl")
    Overviews(library).overview()
    return folder / "home"


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    """A copy of the library."""
    return shutil.copytree(whole, tmp_path / "home")


def damage(home: Path, change: Callable[[bytes], bytes]) -> None:
    database = home / "chroma" / DATABASE
    database.write_bytes(change(database.read_bytes()))


def cut(share: float) -> Callable[[bytes], bytes]:
    return lambda content: content[: int(len(content) * share)]


def pages(count: int, *, zeros: bool, seed: int = 0) -> Callable[[bytes], bytes]:
    """Overwrites `count` pages of a database."""

    def change(content: bytes) -> bytes:
        chance, changed = random.Random(seed), bytearray(content)  # noqa: S311
        for number in chance.sample(range(len(content) // PAGE), count):
            junk = bytes(PAGE) if zeros else chance.randbytes(PAGE)
            changed[number * PAGE : (number + 1) * PAGE] = junk
        return bytes(changed)

    return change


def flipped(seed: int) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        chance, changed = random.Random(seed), bytearray(content)  # noqa: S311
        for _ in range(300):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    return change


def without_header(content: bytes) -> bytes:
    return bytes(PAGE) + content[PAGE:]


def test_a_whole_database_is_read_as_it_is_without_what_was_deleted(home: Path) -> None:
    assert {each.paper.id: each for each in salvaged(home / "chroma" / DATABASE)} == papers_in(home)
    assert not is_damaged(home / "chroma")


def test_a_record_with_bytes_in_place_of_a_text_is_left_out(home: Path) -> None:
    with closing(sqlite3.connect(home / "chroma" / DATABASE)) as database, database:
        database.execute(
            "UPDATE embedding_metadata SET string_value = CAST(string_value AS BLOB) "
            "WHERE key = 'venue' AND id = "
            "(SELECT id FROM embedding_metadata WHERE string_value = 'kept 7')"
        )
    titles = {each.paper.title for each in salvaged(home / "chroma" / DATABASE)}
    assert titles == {f"kept {number}" for number in range(PAPERS)} - {"kept 7"}


def test_a_record_with_another_id_is_left_out(home: Path) -> None:
    with closing(sqlite3.connect(home / "chroma" / DATABASE)) as database, database:
        database.execute(
            "UPDATE embeddings SET embedding_id = replace(embedding_id, 'kept-7-', 'kept-9999-')"
        )
    ids = {each.paper.id for each in salvaged(home / "chroma" / DATABASE)}
    assert len(ids) == PAPERS - 1
    assert not any(id_.startswith(("kept-9999-", "kept-7-")) for id_ in ids)


def test_a_checksum_of_before_which_leaves_out_the_id_still_fits(whole: Path) -> None:
    stored = next(iter(papers_in(whole).values()))
    fields = paper_fields(stored)
    del fields["checksum"]
    old = zlib.crc32(json.dumps([fields, stored.paper.abstract], sort_keys=True).encode())
    found = read_paper(stored.paper.id, {**fields, "checksum": old}, stored.paper.abstract)
    assert found == stored


@pytest.mark.parametrize(
    ("change", "least"),
    [
        *((cut(share), least) for share, least in ((0.001, 0), (0.2, 0), (0.5, 30), (0.95, 120))),
        *((pages(1, zeros=zeros, seed=seed), 120) for zeros in (True, False) for seed in range(8)),
        *((pages(40, zeros=zeros, seed=seed), 30) for zeros in (True, False) for seed in range(4)),
        *((flipped(seed), 20) for seed in range(4)),
        (without_header, PAPERS),
    ],
)
def test_what_is_read_from_a_damaged_database_is_as_it_was(
    home: Path, whole: Path, change: Callable[[bytes], bytes], least: int
) -> None:
    damage(home, change)
    before = papers_in(whole)
    known = [
        each for each in salvaged(home / "chroma" / DATABASE) if "gone" not in each.paper.title
    ]
    assert all(before[each.paper.id] == each for each in known)
    assert len(known) >= least


@pytest.mark.parametrize("change", [cut(0.6), pages(60, zeros=True), pages(60, zeros=False)])
def test_a_repair_recovers_papers_and_says_what_is_lost(
    home: Path, whole: Path, change: Callable[[bytes], bytes]
) -> None:
    damage(home, change)
    size = (home / "chroma" / DATABASE).stat().st_size
    library = opened(home)
    with pytest.raises(LibraryError, match="run `assistant doctor --repair`"):
        search(library, "graph", 5)
    with pytest.raises(LibraryError, match=r"database .* damaged; run `assistant doctor --repair`"):
        check(library)
    with pytest.raises(LibraryError, match=r"ingest kept\.jsonl again") as said:
        repair(library)
    counted = re.search(r"(\d+) of 150 papers were recovered, and (\d+) are lost", str(said.value))
    assert counted
    left = papers_in(home)
    assert (len(left), PAPERS - len(left)) == tuple(map(int, counted.groups()))
    before = papers_in(whole)
    assert all(before[id_].paper == each.paper for id_, each in left.items())
    assert check(library).sound
    assert {each.paper.id for each in search(library, "graph kernel", PAPERS)} == left.keys()
    (kept,) = (home / "chroma").glob("*.damaged*")
    assert kept.name in str(said.value)
    assert kept.stat().st_size == size
    assert ingest(library, [whole.parent / "kept.jsonl"]).papers == PAPERS
    assert {id_: each.paper for id_, each in papers_in(home).items()} == {
        id_: each.paper for id_, each in before.items()
    }


def test_a_repair_that_recovers_all_says_so_and_exits_well(home: Path, whole: Path) -> None:
    damage(home, without_header)
    health = repair(opened(home))
    assert health.sound
    assert "all 150 papers were recovered" in health.recovered
    assert papers_in(home) == papers_in(whole)
    assert repair(opened(home)).recovered == ""


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE migrations SET hash = 'other'",
        "UPDATE segments SET scope = 'OTHER'",
        "DELETE FROM collections",
    ],
)
def test_a_database_whose_own_tables_are_damaged_is_made_anew(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / "chroma" / DATABASE)) as database, database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute(change)
    assert not is_damaged(home / "chroma")
    assert f"all {PAPERS} papers were recovered" in repair(opened(home)).recovered
    assert check(opened(home)).sound


def test_a_database_that_cannot_be_opened_is_said_so_each_time(home: Path) -> None:
    with closing(sqlite3.connect(home / "chroma" / DATABASE)) as database, database:
        database.execute("UPDATE collections SET config_json_str = '{', schema_str = '{'")
    library = opened(home)
    for _ in range(2):
        with pytest.raises(LibraryError, match="cannot be read or written"):
            search(library, "graph", 3)


@pytest.mark.parametrize("stage", [SALVAGING, EMBEDDING])
def test_a_repair_that_is_interrupted_is_completed_and_says_the_same(
    home: Path, stage: str
) -> None:
    def stop(at: str, done: int, _total: int, _unit: str) -> None:
        if at == stage and done:
            raise Cancelled

    damage(home, cut(0.6))
    again = shutil.copytree(home, home.with_name("again"))
    with pytest.raises(Cancelled):
        repair(opened(home), stop)
    said = []
    for each in (home, again):
        with pytest.raises(LibraryError, match="of 150 papers were recovered") as lost:
            repair(opened(each))
        said.append(str(lost.value).replace(str(each), ""))
        assert check(opened(each)).sound
    assert said[0] == said[1]
    assert papers_in(home) == papers_in(again)


def test_how_many_there_were_is_told_from_the_counts_or_not_at_all(home: Path) -> None:
    damage(home, cut(0.5))
    shutil.rmtree(home / "lexical")
    again = shutil.copytree(home, home.with_name("again"))
    with pytest.raises(LibraryError, match="of 150 papers were recovered"):
        repair(opened(home))
    (again / "overview.json").unlink()
    with pytest.raises(
        LibraryError, match=r"how many there were is not known; .* ingest its files"
    ):
        repair(opened(again))


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_that_is_gone_is_no_empty_library(home: Path, *, is_there: bool) -> None:
    damage(home, cut(0))
    if not is_there:
        (home / "chroma" / DATABASE).unlink()
    with pytest.raises(LibraryError, match="its database is gone"):
        search(opened(home), "graph", 5)
    with pytest.raises(LibraryError, match="0 of 150 papers were recovered, and 150 are lost"):
        repair(opened(home))
    assert check(opened(home)).papers == 0


def test_a_manifest_that_is_lost_is_made_anew_and_so_are_the_vectors(
    home: Path, whole: Path
) -> None:
    for name in ("library.json", "library.json.copy"):
        (home / name).write_bytes((home / name).read_bytes()[:50])
    with pytest.raises(LibraryError, match=r"damaged, .* run `assistant doctor --repair`"):
        search(opened(home, "others"), "graph", 5)
    library = opened(home, "others")
    assert repair(library).sound
    assert papers_in(home) == papers_in(whole)
    assert search(library, "graph kernel", 5)
    with pytest.raises(LibraryError, match="made with the embedder"):
        opened(home)


def test_a_lost_manifest_and_a_damaged_database_are_both_made_anew(home: Path) -> None:
    for name in ("library.json", "library.json.copy"):
        (home / name).unlink()
    damage(home, without_header)
    assert "all 150" in repair(opened(home)).recovered
