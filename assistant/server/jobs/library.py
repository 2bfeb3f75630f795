"""Jobs on the library (ingest, remove, check, repair), run in a thread, and their progress.

One process runs a job; the pages of all show it.
"""

import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from assistant.server.jobs.board import BEAT_SECONDS, JobBoard, JobKind, JobState, Stage
from retrieval.library.health import check, mend, repair
from retrieval.library.ingest import ingest, remove_source
from retrieval.library.library import Library
from retrieval.types import Cancelled, LibraryError, Progress, UserError

LONGEST_NAME = 120
"""Characters of a file's shown name."""
UNEXPECTED = "Something unexpected went wrong; the terminal shows more."
_MIN_SECONDS = 1.0
"""Time in a stage before the time left is estimated."""
_Job = Callable[[Library, Progress], JobState]


class LibraryJobs:
    """Runs jobs on a library, one at a time. Thread-safe."""

    def __init__(
        self,
        library: Callable[[], Library],
        board: JobBoard,
        on_count: Callable[[int], None] = lambda _papers: None,
    ) -> None:
        """Start nothing yet.

        Args:
            library: returns the library; may raise `NotReadyError`.
            board: shows the jobs to all app processes.
            on_count: called after each job, of any process, with the number of papers.
        """
        self._library = library
        self._board = board
        self._on_count = on_count
        self._past: int | None = None
        """The last job that had ended when this process first looked; it is not shown."""
        self._counted = 0
        """The last job of another process after which papers were counted."""
        self._lock = threading.Lock()
        self._state = JobState()
        self._progress = ProgressTracker()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> JobState:
        """The running job, or the last one, of any process."""
        own = self._own_state()
        if own.running:
            return own
        try:
            latest = self._board.latest() or JobState()
        except LibraryError:  # the own one is known all the same
            return own
        if self._past is None:
            self._past = latest.number - latest.running
        if latest.number <= max(own.number, self._past):
            return own
        if not latest.running and self._counted != latest.number:
            self._counted = latest.number
            with suppress(UserError):
                self._on_count(_count(self._library()))
        return latest

    def _own_state(self) -> JobState:
        with self._lock:
            if not self._state.running:
                return self._state
            stopping = self._progress.stop.is_set()
            return replace(self._state, stages=self._progress.stages, stopping=stopping)

    def add(
        self,
        paths: Sequence[Path],
        *,
        names: Mapping[Path, str] | None = None,
        venue: str = "",
        year: int | None = None,
        afterwards: Callable[[], None] = lambda: None,
    ) -> int:
        """Begin to add files, and return the job's number.

        Files that cannot be read are listed in the report; the others are added.

        Args:
            paths: the files.
            names: names for sources and messages, any text; by default those on disk.
            venue: venue of papers for which a file names none.
            year: year of papers for which a file names none.
            afterwards: called when the files are no longer needed; not called if this raises.

        Raises:
            BusyError: another job is running.
            NotReadyError: there is no library yet.
        """
        shown = {path: shown_name(name) for path, name in (names or {}).items()}
        fields: dict[str, Any] = {"venue": venue, "year": year, "names": shown}

        def job(library: Library, progress: Progress) -> JobState:
            try:
                report = ingest(library, paths, progress=progress, skips_files=True, **fields)
            finally:
                afterwards()
            return JobState(report=report)

        return self._begin("ingest", job)

    def remove(self, source: str) -> int:
        """Begin to remove the papers of a file; see `add`."""
        return self._begin(
            "remove",
            lambda library, progress: JobState(removal=remove_source(library, source, progress)),
        )

    def check(self) -> int:
        """Begin to check the library for damage; see `add`."""
        return self._begin("check", lambda *job: JobState(health=check(*job)))

    def repair(self) -> int:
        """Begin to repair the library; see `add`."""
        return self._begin("repair", lambda *job: JobState(health=repair(*job)))

    def cancel(self) -> None:
        """Stop adding files in this process before the next paper; papers already written stay.

        Jobs of other kinds run to their end.
        """
        with self._lock:
            if self._state.running and self._state.kind == "ingest":
                self._progress.stop.set()

    def cancel_anywhere(self) -> None:
        """Stop adding files, whichever process does it; see `cancel`."""
        self.cancel()
        self._board.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most `seconds` for the running job; returns whether it has ended."""
        if self._thread:
            self._thread.join(seconds)
        return not self.state.running

    def stop(self) -> None:
        """Stop adding files, and wait until the running job has ended."""
        self.cancel()
        self.wait()

    def _begin(self, kind: JobKind, job: _Job) -> int:
        library = self._library()
        with self._lock:
            self._state = self._board.begin(kind)
            self._progress = ProgressTracker()
            self._thread = threading.Thread(
                target=self._run, args=(library, job), name=kind, daemon=True
            )
            self._thread.start()
            return self._state.number

    def _run(self, library: Library, job: _Job) -> None:
        before = _count(library)
        ended, done = JobState(error=UNEXPECTED), threading.Event()
        threading.Thread(target=self._beat, args=(done,), name="beat", daemon=True).start()
        try:
            ended = job(library, self._progress.report_or_stop)
        except Cancelled:
            ended = JobState(stopped=True, error=self._mend(library))
        except UserError as error:
            ended = JobState(error=printed(error))
        finally:
            papers = _count(library)
            self._on_count(papers)
            with self._lock:
                number, kind = self._state.number, self._state.kind
                added, stages = max(0, papers - before), self._progress.stages
                self._state = replace(ended, number=number, kind=kind, stages=stages, added=added)
                done.set()
                with suppress(LibraryError):  # this process shows it all the same
                    self._board.report(self._state)

    def _beat(self, done: threading.Event) -> None:
        """Show the running job to other processes, and stop it if one of them asks to."""
        while not done.wait(BEAT_SECONDS):
            with suppress(LibraryError):  # the database may be back the next time
                state = self._own_state()
                if state.running and self._board.report(state) and state.kind == "ingest":
                    self._progress.stop.set()

    def _mend(self, library: Library) -> str:
        """Complete an interrupted change; returns a sentence if that fails."""
        try:
            with library.exclusive():
                if library.was_interrupted:
                    mend(library, self._progress.report)
        except UserError as error:
            return str(error)
        return ""


class ProgressTracker:
    """Collects the stages reported to a `Progress`. Thread-safe."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        """Set to end the work, see `report_or_stop`."""
        self._lock = threading.Lock()
        self._stages: list[Stage] = []
        self._start = (0.0, 0)
        """Time at which the last stage began, and how much of it was done then."""
        self._reported = 0.0
        """Time of the last report."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All stages so far, the current one last; its estimate counts down between reports."""
        with self._lock:
            if not self._stages:
                return ()
            last = self._stages[-1]
            left = (last.seconds_left or 0) - (time.monotonic() - self._reported)
            # An estimate that has run out was wrong: better none until the next report.
            return (*self._stages[:-1], replace(last, seconds_left=left if left > 0 else None))

    def report(self, stage: str, done: int, total: int, unit: str) -> None:
        """Record progress; see `Progress`."""
        with self._lock:
            if not self._stages or self._stages[-1].name != stage:
                self._start = (time.monotonic(), done)
                self._stages.append(Stage(stage))
            self._reported = time.monotonic()
            self._stages[-1] = Stage(stage, done, total, unit, self._seconds_left(done, total))

    def report_or_stop(self, stage: str, done: int, total: int, unit: str) -> None:
        """Like `report`; raises `Cancelled` once `stop` is set."""
        if self.stop.is_set():
            raise Cancelled
        self.report(stage, done, total, unit)

    def _seconds_left(self, done: int, total: int) -> float | None:
        began, done_before = self._start
        seconds = time.monotonic() - began
        if seconds < _MIN_SECONDS or done <= done_before or total <= done:
            return None
        return seconds / (done - done_before) * (total - done)


def shown_name(name: str) -> str:
    """The last part of a file's name, printable characters only, at most `LONGEST_NAME` long."""
    last = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    printable = "".join(character for character in last if character.isprintable())
    return " ".join(printable.split())[-LONGEST_NAME:] or "unnamed"


def printed(error: UserError) -> str:
    """The error's sentence, which the terminal shows as well."""
    print(f"assistant: {error}", file=sys.stderr, flush=True)
    return str(error)


def _count(library: Library) -> int:
    try:
        return library.store.count()[0]
    except UserError:
        return 0
