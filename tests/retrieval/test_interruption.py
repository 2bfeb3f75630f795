"""An ingest that is killed at any moment: the next one completes it as if nothing had happened.

The program that is killed runs on while its lines are read, so that the kill may fall inside one of
Chroma's writes. What comes out must be the same wherever it falls.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from fake_embedder import WordEmbedder
from grids import thinned
from ingest_telling import CHUNKS

from retrieval.library.health import repair
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.search import search
from retrieval.types import LibraryError, Record, SearchSettings

PROGRAM = Path(__file__).with_name("ingest_telling.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

PAPERS = 132
"""Three batches, and enough chunks for Chroma to write its vectors out."""

QUERIES = ("graph neural networks", "diffusion models that sample fast", "federated learning")

EXHAUSTIVE = SearchSettings(dense_depth=10_000)
"""Takes up every paper: which of several equally near chunks Chroma finds first is left to it."""

_random = random.Random(20230501)  # noqa: S311 - the same moments every time
_DURING = [("embedded", _random.randrange(1, PAPERS)) for _ in range(4)]
NEW_MOMENTS = [
    _DURING[0],
    _DURING[1],
    ("after upsert chunks", 1),
    ("before upsert chunks", 2),
    ("before upsert papers", 3),
]
CHANGED_MOMENTS = [
    *((line, occurrence // 2 + 1) for line, occurrence in _DURING[2:]),
    ("after upsert papers", 1),
    ("before upsert chunks", 1),
    ("before delete chunks", 1),
    ("before delete papers", 1),
]


@dataclass(frozen=True)
class Corpus:
    """A file of papers and a library that was made of it without interruption."""

    file: Path
    home: Path
    expected: dict[str, Any]


def opened(home: Path) -> Library:
    return Library(home, WordEmbedder(), CHUNKS)


def contents(library: Library) -> dict[str, Any]:
    """All that can be seen of a library."""
    papers = {stored.paper.id: stored for stored in library.store.papers()}
    ids = [f"{id_}:{n}" for id_, stored in papers.items() for n in range(stored.chunk_count)]
    found = {query: search(library, query, 10, EXHAUSTIVE) for query in QUERIES}
    return {
        "count": library.store.count(),
        "papers": {id_: asdict(stored.paper) for id_, stored in papers.items()},
        "chunks": {id_: asdict(chunk) for id_, chunk in library.store.chunks_by_id(ids).items()},
        "vectors": {id_: each.tobytes() for id_, each in library.store.vectors(ids).items()},
        "found": {
            # Which of Chroma's graph and our own sum gives a score moves its last digits.
            query: [(p.paper.id, p.chunk.id, round(p.score, 5)) for p in passages]
            for query, passages in found.items()
        },
    }


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    file = folder / "papers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


@pytest.fixture(scope="module")
def rows(seed_records: list[Record]) -> list[dict[str, Any]]:
    return [
        {"title": record.title, "authors": record.authors, "abstract": record.abstract}
        for record in seed_records[200 : 200 + PAPERS]
    ]


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> Corpus:
    folder = tmp_path_factory.mktemp("new")
    file = written(folder / "files", rows)
    library = opened(folder / "home")
    ingest(library, [file])
    assert library.store.count()[1] > 1200
    return Corpus(file, library.home, contents(library))


@pytest.fixture(scope="module")
def changed(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], new: Corpus
) -> Corpus:
    """The same file with abstracts cut and continued, fields changed, and some ids given."""
    folder = tmp_path_factory.mktemp("changed")
    later = [dict(row) for row in rows]
    for row in later[::3]:
        row["abstract"] = row["abstract"][: len(row["abstract"]) // 2]
    for row in later[1::3]:
        row["abstract"] += " A sentence was added at the very end of this abstract."
    for row in later[::5]:
        row["authors"] = ["Someone Else"]
    for number, row in enumerate(later[::7]):
        row["id"] = f"given-{number}"
    file = written(folder / "files", later)
    shutil.copytree(new.home, folder / "home")
    library = opened(folder / "home")
    report = ingest(library, [file])
    assert (report.papers, report.added) == (PAPERS, 0)
    return Corpus(file, library.home, contents(library))


@contextmanager
def ingesting(home: Path, file: Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """The program at work, and its lines."""
    with subprocess.Popen(
        [sys.executable, PROGRAM, home, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout


def stop_at(home: Path, file: Path, moment: tuple[str, int], how: signal.Signals) -> None:
    """Ingest in another process and stop it once it has said `moment[0]` so many times."""
    beginning, occurrence = moment
    with ingesting(home, file) as (process, lines):
        for line in lines:
            occurrence -= line.startswith(beginning)
            if occurrence == 0:
                break
        process.send_signal(how)
        assert process.wait() != 0
    assert occurrence == 0


@pytest.mark.parametrize("moment", thinned(NEW_MOMENTS, 2), ids=str)
def test_a_killed_first_ingest_is_completed(
    tmp_path: Path, new: Corpus, moment: tuple[str, int]
) -> None:
    stop_at(tmp_path / "home", new.file, moment, signal.SIGKILL)
    library = opened(tmp_path / "home")
    assert library.was_interrupted
    ingest(library, [new.file])
    assert library.store.damage() == ([], [])
    assert not library.store.unreachable()
    assert contents(library) == new.expected


@pytest.mark.parametrize("moment", thinned(CHANGED_MOMENTS, 2), ids=str)
def test_a_killed_update_is_completed(
    tmp_path: Path, new: Corpus, changed: Corpus, moment: tuple[str, int]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(new.home, home)
    stop_at(home, changed.file, moment, signal.SIGKILL)
    library = opened(home)
    assert library.was_interrupted
    ingest(library, [changed.file])
    assert library.store.damage() == ([], [])
    assert contents(library) == changed.expected


def test_a_paper_that_was_being_replaced_by_one_with_an_id_goes(
    open_library: Callable[..., Library],
    jsonl: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the write itself knows that it replaces the paper: the two texts are not alike."""
    before = {"title": "Herons", "authors": ["A. B"], "abstract": "Seven herons are weighed."}
    after = before | {"id": "h1", "abstract": "Nothing of what was here is left of our text."}
    library = open_library()
    ingest(library, [jsonl(before)])
    with monkeypatch.context() as patch:
        patch.setattr(library.store, "delete", lambda _: pytest.fail("ended here"))
        with pytest.raises(pytest.fail.Exception, match="ended here"):
            ingest(library, [jsonl(after)])
    reopened = open_library()
    assert len(list(reopened.store.papers())) == 2
    assert repair(reopened).sound
    assert [stored.paper.id for stored in reopened.store.papers()] == ["h1"]
    assert "replaced" not in json.loads((reopened.home / "library.json").read_text("utf-8"))


def test_ctrl_c_loses_only_the_batch_at_work(tmp_path: Path, new: Corpus) -> None:
    stop_at(tmp_path / "home", new.file, ("embedded", 100), signal.SIGINT)
    library = opened(tmp_path / "home")
    report = ingest(library, [new.file])
    assert report.unchanged >= 64
    assert contents(library) == new.expected


def test_a_library_can_be_searched_after_a_kill_without_an_ingest(
    tmp_path: Path, new: Corpus
) -> None:
    stop_at(tmp_path / "home", new.file, ("embedded", 100), signal.SIGKILL)
    library = opened(tmp_path / "home")
    for query in QUERIES:
        for passage in search(library, query, 5):
            chunk = passage.chunk
            assert passage.paper.abstract[chunk.start : chunk.end] == chunk.text


TEAR = """
import os, sys
from pathlib import Path
from retrieval.index.chroma import ChromaStore
home, name = sys.argv[1:]
with ChromaStore(Path(home) / "chroma")._turn(writing=True):
    for pickle in Path(home).glob("chroma/*/index_metadata.pickle"):
        file = pickle.with_name(name)
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    os._exit(9)
"""


@pytest.mark.parametrize(
    "torn",
    thinned(["data_level0.bin", "header.bin", "index_metadata.pickle", "link_lists.bin"], 2),
)
def test_vectors_torn_by_a_kill_are_made_anew_from_the_records(
    tmp_path: Path, new: Corpus, torn: str
) -> None:
    """Killed while it writes its vectors out, Chroma leaves files that can crash it."""
    home = tmp_path / "home"
    shutil.copytree(new.home, home)
    _mark_as_writing(home)
    command = [sys.executable, "-c", TEAR, str(home), torn]
    assert subprocess.run(command, env=ENVIRONMENT, check=False).returncode == 9
    with pytest.raises(LibraryError, match=r"damaged, by .* run `assistant doctor --repair`"):
        search(opened(home), "anything", 5)
    library = opened(home)
    ingest(library, [new.file])
    assert library.store.damage() == ([], [])
    assert contents(library) == new.expected


def test_vectors_that_cannot_be_read_are_made_anew_even_if_nobody_said_so(
    tmp_path: Path, new: Corpus
) -> None:
    home = tmp_path / "home"
    shutil.copytree(new.home, home)
    _mark_as_writing(home)
    (pickle,) = home.glob("chroma/*/index_metadata.pickle")
    pickle.write_bytes(b"")
    with pytest.raises(LibraryError, match=r"damaged, by .* run `assistant doctor --repair`"):
        search(opened(home), "anything", 5)
    library = opened(home)
    ingest(library, [new.file])
    assert contents(library) == new.expected


def _mark_as_writing(home: Path) -> None:
    manifest = home / "library.json"
    fields = {**json.loads(manifest.read_text()), "writing": True}
    del fields["checksum"]
    manifest.write_text(json.dumps(fields))
