"""Work on the library in a thread: one at a time, stopped at once, told to whoever looks."""

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fakes import LICHEN, TIDAL, ZEBRA

from assistant.server.jobs.board import JobBoard
from assistant.server.jobs.library import LibraryJobs, shown_name
from assistant.storage.database import Database
from retrieval.encoders.embedder import LlamaCppEmbedder, Vector
from retrieval.library.health import check
from retrieval.library.library import Library
from retrieval.search.search import search
from retrieval.types import BusyError, NotReadyError

ABSTRACTS = (ZEBRA, TIDAL, LICHEN)
OTHERS = tuple(" ".join(reversed(text.split())) for text in ABSTRACTS)
"""As unlike those as texts of other papers."""


class Gated:
    """The real embedder, which stops before a text until it is let go."""

    def __init__(self, embedder: LlamaCppEmbedder) -> None:
        self._embedder = embedder
        self.name, self.count = embedder.name, embedder.count
        self.stops_at = 0
        """After so many texts; 0 for never."""
        self.embedded = 0
        self.reached, self.go = threading.Event(), threading.Event()

    def embed(self, text: str) -> Vector:
        self.embedded += 1
        if self.embedded == self.stops_at:
            self.reached.set()
            assert self.go.wait(60)
        return self._embedder.embed(text)


@pytest.fixture
def gated(embedder: LlamaCppEmbedder) -> Gated:
    return Gated(embedder)


@pytest.fixture
def board(database: Database) -> JobBoard:
    return JobBoard(database)


@pytest.fixture
def own_library(tmp_path: Path, gated: Gated) -> Library:
    return Library(tmp_path / "home", gated)


@pytest.fixture
def papers_file(tmp_path: Path) -> Callable[..., Path]:
    def write(count: int, name: str = "papers.jsonl", abstracts: Sequence[str] = ABSTRACTS) -> Path:
        rows = [
            {
                "id": f"{name}-{n}",
                "title": f"Paper {n} of {name}",
                "abstract": f"{abstracts[n % 3]} No. {n}.",
            }
            for n in range(count)
        ]
        file = tmp_path / name
        file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        return file

    return write


def test_files_are_added_and_told(
    own_library: Library, papers_file: Callable[..., Path], board: JobBoard
) -> None:
    counted: list[int] = []
    ended = threading.Event()
    jobs = LibraryJobs(lambda: own_library, board, counted.append)
    assert (jobs.state.number, jobs.state.running) == (0, False)
    file = papers_file(3)
    names = {file: "../../My papers.jsonl"}
    number = jobs.add([file], names=names, year=2020, afterwards=ended.set)
    assert jobs.wait()
    state = jobs.state
    assert (state.number, state.kind, state.running, state.error) == (number, "ingest", False, "")
    assert state.report is not None
    assert (state.report.added, state.added, counted) == (3, 3, [3])
    assert ended.is_set()
    assert [(s.name, s.done, s.total) for s in state.stages] == [("Embedding papers", 3, 3)]
    stored = next(own_library.store.papers()).paper
    assert (stored.sources[0].file, stored.year) == ("My papers.jsonl", 2020)
    jobs.remove("My papers.jsonl")
    assert jobs.wait()
    removal = jobs.state.removal
    assert removal is not None
    assert (removal.removed, counted[-1]) == (3, 0)


def test_stopping_leaves_a_whole_library_and_what_was_written(
    own_library: Library, gated: Gated, papers_file: Callable[..., Path], board: JobBoard
) -> None:
    jobs = LibraryJobs(lambda: own_library, board)
    gated.stops_at = 70  # in the second batch of 64
    jobs.add([papers_file(80)])
    assert gated.reached.wait(120)
    jobs.cancel()
    assert jobs.state.stopping
    gated.go.set()
    assert jobs.wait(120)
    state = jobs.state
    assert (state.stopped, state.running, state.error) == (True, False, "")
    assert state.added == own_library.store.count()[0] == 64
    assert gated.embedded == 70
    assert check(own_library).sound
    jobs.add([papers_file(80)])
    assert jobs.wait(120)
    assert jobs.state.added == 16


def test_one_at_a_time_and_the_library_is_searched_meanwhile(
    own_library: Library, gated: Gated, papers_file: Callable[..., Path], board: JobBoard
) -> None:
    jobs = LibraryJobs(lambda: own_library, board)
    jobs.add([papers_file(3, "first.jsonl")])
    assert jobs.wait(60)
    gated.stops_at = gated.embedded + 2
    jobs.add([papers_file(3, "second.jsonl", OTHERS)])
    assert gated.reached.wait(60)
    for begin in (lambda: jobs.add([]), jobs.check, jobs.repair):
        with pytest.raises(BusyError, match="Files are being added; try again when"):
            begin()
    assert not jobs.wait(0)
    own_library.ready_to_search()
    assert len(search(own_library, "lichen photographs", 10)) == 3
    gated.go.set()
    assert jobs.wait(60)
    own_library.ready_to_search()
    assert len(search(own_library, "lichen photographs", 10)) == 6


def test_what_a_person_can_mend_is_told(
    own_library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str], board: JobBoard
) -> None:
    jobs = LibraryJobs(lambda: own_library, board)
    jobs.remove("nothing.bib")
    assert jobs.wait(60)
    assert jobs.state.error.startswith("No paper was read from a file 'nothing.bib'")
    assert "nothing.bib" in capsys.readouterr().err
    file = tmp_path / "x"
    file.write_bytes(b"\x00")
    jobs.add([file], names={file: "notes.pdf"})
    assert jobs.wait(60)
    report = jobs.state.report
    assert report is not None
    assert [(s.source, s.line) for s in report.skipped] == [("notes.pdf", 0)]


def test_a_check_and_a_repair(
    own_library: Library, papers_file: Callable[..., Path], board: JobBoard
) -> None:
    jobs = LibraryJobs(lambda: own_library, board)
    jobs.add([papers_file(2)])
    assert jobs.wait(60)
    own_library.lexical.rebuild([], "another")
    jobs.check()
    assert jobs.wait(60)
    assert jobs.state.health is not None
    assert not jobs.state.health.sound
    jobs.repair()
    assert jobs.wait(60)
    assert jobs.state.health is not None
    assert jobs.state.health.sound


def test_before_there_is_a_library_nothing_begins(board: JobBoard) -> None:
    def none_yet() -> Library:
        raise NotReadyError("The assistant is being set up.")

    jobs = LibraryJobs(none_yet, board)
    with pytest.raises(NotReadyError):
        jobs.add([])
    assert jobs.state.number == 0
    jobs.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_is_told_and_keeps_its_traceback(
    own_library: Library, monkeypatch: pytest.MonkeyPatch, board: JobBoard
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("assistant.server.jobs.library.check", broken)
    jobs = LibraryJobs(lambda: own_library, board)
    jobs.check()
    assert jobs.wait(60)
    assert jobs.state.error.startswith("Something unexpected went wrong")
    assert not jobs.state.running


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("papers.bib", "papers.bib"),
        ("../../etc/passwd", "passwd"),
        ("C:\\papers\\Müller (2023).ris", "Müller (2023).ris"),
        ("a\u202eb\n\x00  c.txt", "ab c.txt"),
        ("<img src=x onerror=alert(1)>.csv", "<img src=x onerror=alert(1)>.csv"),
        ("x" * 300 + ".bib", "x" * 116 + ".bib"),
        ("", "unnamed"),
        ("/", "unnamed"),
    ],
)
def test_a_name_is_never_a_path(given: str, shown: str) -> None:
    assert shown_name(given) == shown
