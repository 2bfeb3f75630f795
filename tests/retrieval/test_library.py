"""A library on disk: what it remembers, who may write to it, and how its two sides agree."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_embedder import WordEmbedder
from ingest_telling import CHUNKS

from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.search import search
from retrieval.types import LibraryError, LibraryInUseError

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}

Open = Callable[..., Library]
Jsonl = Callable[..., Path]

FRUIT = {"title": "Fruit", "abstract": "An apple a day. A pear at night."}
STONES = {"title": "Stones", "abstract": "Granite is hard. Talc is soft."}


@contextmanager
def running(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python program that waits for a line of input before it ends."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def titles(library: Library, query: str, limit: int = 1) -> list[str]:
    return [passage.paper.title for passage in search(library, query, limit)]


# --- what a library remembers


def test_a_library_is_found_again(open_library: Open, jsonl: Jsonl) -> None:
    ingest(open_library(), [jsonl(FRUIT)])
    assert titles(open_library(), "apple") == ["Fruit"]


def test_another_embedder_is_refused_with_the_way_out(open_library: Open) -> None:
    open_library(WordEmbedder("words"))
    message = r"made with the embedder 'words', not 'other'; use --embedder .* another --home"
    with pytest.raises(LibraryError, match=message):
        open_library(WordEmbedder("other"))


def test_another_size_of_chunks_is_refused_with_the_way_out(open_library: Open) -> None:
    open_library(tokens=8)
    with pytest.raises(LibraryError, match=r"8 tokens, .* with 9; .* another --home"):
        open_library(tokens=9)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"format": 99}, LibraryError, "not in the library format 1 .* another --home"),
        ({"chunker": "other-1"}, LibraryError, "was cut by other-1 .* another --home"),
    ],
)
def test_a_manifest_of_another_version_is_refused(
    open_library: Open,
    tmp_path: Path,
    change: dict[str, object],
    error: type[LibraryError],
    message: str,
) -> None:
    open_library()
    manifest = tmp_path / "home" / "library.json"
    fields = {**json.loads(manifest.read_text()), **change}
    del fields["checksum"]
    manifest.write_text(json.dumps(fields))
    with pytest.raises(error, match=message):
        open_library()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null"])
def test_a_damaged_manifest_is_read_from_its_copy(
    open_library: Open, tmp_path: Path, content: bytes
) -> None:
    revision = open_library().revision
    (tmp_path / "home" / "library.json").write_bytes(content)
    assert open_library().revision == revision
    (tmp_path / "home" / "library.json").unlink()
    assert open_library().revision == revision


def test_a_manifest_that_may_not_be_read_is_named(open_library: Open, tmp_path: Path) -> None:
    open_library()
    (tmp_path / "home" / "library.json").unlink()
    (tmp_path / "home" / "library.json").mkdir()
    with pytest.raises(LibraryError, match=r"library\.json cannot be read .* another --home"):
        open_library()


@pytest.mark.parametrize("home", ["file", "file/below"])
def test_a_home_that_cannot_be_made_is_named(open_library: Open, tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LibraryError, match=r"file.* cannot be made .*; choose another --home"):
        open_library(home=home)


# --- one writer


def test_a_second_writer_is_told(open_library: Open, jsonl: Jsonl, tmp_path: Path) -> None:
    library = open_library()
    holder = (
        "import sys, filelock\n"
        "with filelock.FileLock(sys.argv[1]):\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    with running(holder, tmp_path / "home" / "lock") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(LibraryInUseError, match=r"written by another process; wait"):
            ingest(library, [jsonl(FRUIT)])
        assert library.store.count() == (0, 0)
    # The lock went with the process.
    assert ingest(library, [jsonl(FRUIT)]).added == 1


@pytest.mark.slow
def test_a_library_can_be_searched_while_another_process_writes(
    open_library: Open, jsonl: Jsonl, tmp_path: Path
) -> None:
    library = open_library()
    ingest(library, [jsonl(FRUIT)])
    writer = (
        "import sys\n"
        "from pathlib import Path\n"
        "from fake_embedder import WordEmbedder\n"
        "from retrieval.text.splitting import ChunkSettings\n"
        "from retrieval.library.ingest import ingest\n"
        "from retrieval.library.library import Library\n"
        "def wait(stage, done, total, unit):\n"
        "    if done == 0:\n"
        "        print('begun', flush=True)\n"
        "        sys.stdin.readline()\n"
        "library = Library(Path(sys.argv[1]), WordEmbedder(), ChunkSettings(8))\n"
        "ingest(library, [Path(sys.argv[2])], progress=wait)\n"
        "print('ended', flush=True)\n"
    )
    more = jsonl(STONES, name="more.jsonl")
    with running(writer, tmp_path / "home", more) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert titles(library, "apple") == ["Fruit"]
        assert titles(open_library(), "apple") == ["Fruit"]
        process.stdin.write("go on\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ended\n"
        assert process.wait() == 0
    assert titles(library, "granite") == ["Stones"]


@pytest.mark.slow
def test_an_open_library_sees_all_that_another_process_adds(
    open_library: Open, jsonl: Jsonl, tmp_path: Path, seed_records: list[object]
) -> None:
    """Enough for Chroma to write its vectors out and shorten its log twice."""
    library = open_library(tokens=CHUNKS.tokens)
    ingest(library, [jsonl(FRUIT)])
    assert titles(library, "apple") == ["Fruit"]
    rows = [{"title": r.title, "abstract": r.abstract} for r in seed_records[100:300]]  # type: ignore[attr-defined]
    more = jsonl(*rows, name="more.jsonl")
    program = Path(__file__).with_name("ingest_telling.py")
    subprocess.run(
        [sys.executable, program, tmp_path / "home", more],
        check=True,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
    )
    papers, chunks = library.store.count()
    assert papers == 201
    assert chunks > 2000
    for row in rows[::25]:
        assert titles(library, f"{row['title']} {row['abstract']}") == [row["title"]]
    assert library.store.damage() == ([], [])


def test_an_open_library_says_so_when_a_kill_has_cost_it_its_chunks(
    open_library: Open, jsonl: Jsonl, tmp_path: Path
) -> None:
    library = open_library()
    ingest(library, [jsonl(FRUIT)])
    assert titles(library, "apple") == ["Fruit"]
    torn = {"revision": "another", "files": {"a file of vectors": [1, 1]}}
    (tmp_path / "home" / "chroma.json").write_text(json.dumps(torn))
    with pytest.raises(LibraryError, match=r"damaged, by .* run `assistant doctor --repair`"):
        titles(library, "apple")


# --- two sides that agree


def lexical_titles(library: Library, query: str) -> list[str]:
    """Papers that the lexical side alone finds, once the library is ready."""
    library.ready_to_search()
    found = library.store.stored_by_id([id_ for id_, _ in library.lexical.search(query, 5)])
    return [stored.paper.title for stored in found.values()]


def spoil_nothing(folder: Path) -> None:
    """Leave the lexical index as it is."""
    assert folder.is_dir()


def spoil_all(folder: Path) -> None:
    """Delete the index."""
    shutil.rmtree(folder)


def spoil_segments(folder: Path) -> None:
    """Delete all files of the index but its stamp."""
    for file in folder.iterdir():
        if file.name != "revision":
            file.unlink()


def spoil_terms(folder: Path) -> None:
    """Cut a file short."""
    (file,) = folder.glob("*.term")
    file.write_bytes(file.read_bytes()[:3])


def spoil_stamp(folder: Path) -> None:
    """Make the index one of an earlier write."""
    (folder / "revision").write_text("1 an-earlier-revision")


def spoil_version(folder: Path) -> None:
    """Make the index one of another analysis of text."""
    stamp = folder / "revision"
    stamp.write_text("0" + stamp.read_text()[1:])


@pytest.mark.parametrize(
    "spoil",
    [spoil_nothing, spoil_all, spoil_segments, spoil_terms, spoil_stamp, spoil_version],
)
def test_a_lexical_index_that_does_not_fit_is_made_anew(
    open_library: Open, jsonl: Jsonl, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    ingest(open_library(), [jsonl(FRUIT, STONES)])
    spoil(tmp_path / "home" / "lexical")
    library = open_library()
    assert lexical_titles(library, "apples") == ["Fruit"]
    assert lexical_titles(library, "granite") == ["Stones"]


def test_the_lexical_index_follows_every_write(open_library: Open, jsonl: Jsonl) -> None:
    library = open_library()
    ingest(library, [jsonl(FRUIT)])
    ingest(library, [jsonl({**FRUIT, "abstract": "A plum."}, STONES)])
    assert lexical_titles(library, "apple") == []
    assert lexical_titles(library, "plum") == ["Fruit"]
    assert lexical_titles(library, "granite") == ["Stones"]


def test_a_library_without_papers_says_how_to_fill_it(open_library: Open) -> None:
    with pytest.raises(LibraryError, match="has no papers; fill it with `assistant ingest`"):
        open_library().ready_to_search()
