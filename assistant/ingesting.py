"""Work on the library beside its questions: adding files, removing one, checking, repairing.

One at a time in the whole process, in a thread of its own; whoever looks sees the same.
"""

import sys
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from assistant.stages import Stage, Stages
from retrieval.errors import BusyError, Cancelled, UserError
from retrieval.health import Health, check, repair
from retrieval.ingest import ingest
from retrieval.library import Library
from retrieval.mending import mend
from retrieval.removing import Removal, remove_source
from retrieval.types import IngestReport

Kind = Literal["ingest", "remove", "check", "repair"]

LONGEST_NAME = 120
"""Characters of a file's shown name."""
_NO_NAME = "unnamed"
_DOING = {
    "ingest": "Files are being added",
    "remove": "A file's papers are being removed",
    "check": "The library is being checked",
    "repair": "The library is being repaired",
}


@dataclass(frozen=True, slots=True)
class Work:
    """A moment of the work, or how the last one ended."""

    number: int = 0
    """Which it is of this process, from 1; 0 before any."""
    kind: Kind = "ingest"
    """What is done."""
    running: bool = False
    """Whether it goes on."""
    stages: tuple[Stage, ...] = ()
    """What it has come to."""
    stopping: bool = False
    """Whether it was told to stop."""
    stopped: bool = False
    """Whether it ended because it was told to."""
    error: str = ""
    """One sentence, where it failed."""
    report: IngestReport | None = None
    """Of files that were added."""
    added: int = 0
    """Papers that were added, also where it was stopped or failed."""
    removal: Removal | None = None
    """Of a file that was removed."""
    health: Health | None = None
    """Of a check or a repair."""


class Ingesting:
    """Does work on a library, one at a time. Thread-safe."""

    def __init__(
        self, library: Callable[[], Library], counted: Callable[[int], None] = lambda _papers: None
    ) -> None:
        """Nothing is done yet.

        Args:
            library: the library; may raise `NotReadyError`.
            counted: told how many papers there are when work has changed them.
        """
        self._library = library
        self._counted = counted
        self._changed = threading.Lock()
        self._work = Work()
        self._stages = Stages()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> Work:
        """What is done now, or was done last."""
        with self._changed:
            stages = self._stages.now() if self._work.running else self._work.stages
            stopping = self._work.running and self._stop.is_set()
            return replace(self._work, stages=stages, stopping=stopping)

    def start(
        self,
        paths: Sequence[Path],
        *,
        names: Mapping[Path, str] | None = None,
        venue: str = "",
        year: int | None = None,
        afterwards: Callable[[], None] = lambda: None,
    ) -> int:
        """Begin to add files; returns the number of the work.

        A file that cannot be read is told in the report, and the others are added.

        Args:
            paths: the files.
            names: what sources and messages call a file, any text; by default as on disk.
            venue: venue of papers for which a file names none.
            year: year of papers for which a file names none.
            afterwards: called when the files are no more needed; not where an error is raised.

        Raises:
            BusyError: other work goes on.
            NotReadyError: there is no library yet.
        """
        shown = {path: shown_name(name) for path, name in (names or {}).items()}

        def work(library: Library) -> Work:
            try:
                report = ingest(
                    library, paths, venue=venue, year=year, progress=self._report,
                    names=shown, skips_files=True,
                )  # fmt: skip
            finally:
                afterwards()
            return Work(report=report)

        return self._begin("ingest", work)

    def remove(self, source: str) -> int:
        """Begin to remove the papers of a file.

        Raises:
            BusyError, NotReadyError: see `start`.
        """
        return self._begin(
            "remove", lambda library: Work(removal=remove_source(library, source, self._told))
        )

    def check(self) -> int:
        """Begin to look whether the library is whole.

        Raises:
            BusyError, NotReadyError: see `start`.
        """
        return self._begin("check", lambda library: Work(health=check(library, self._told)))

    def repair(self) -> int:
        """Begin to make the library whole.

        Raises:
            BusyError, NotReadyError: see `start`.
        """
        return self._begin("repair", lambda library: Work(health=repair(library, self._told)))

    def cancel(self) -> None:
        """Stop adding files before the next paper; papers that were written stay, whole.

        Other work goes on to its end.
        """
        with self._changed:
            if self._work.running and self._work.kind == "ingest":
                self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the present work has ended, for at most so long; whether it has."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return not self.state.running

    def stop(self) -> None:
        """The process ends: stop adding files, and wait for what goes on."""
        self.cancel()
        self.wait()

    def _begin(self, kind: Kind, work: Callable[[Library], Work]) -> int:
        library = self._library()
        with self._changed:
            if self._work.running:
                raise BusyError(f"{_DOING[self._work.kind]}; try again when that has ended.")
            number = self._work.number + 1
            self._work = Work(number, kind, running=True)
            self._stages = Stages()
            self._stop.clear()
            self._thread = threading.Thread(
                target=self._run, args=(library, work), name=kind, daemon=True
            )
            self._thread.start()
        return number

    def _run(self, library: Library, work: Callable[[Library], Work]) -> None:
        before = _count(library)
        ended = Work(error="Something unexpected went wrong; the terminal shows more.")
        try:
            ended = work(library)
        except Cancelled:
            ended = Work(stopped=True, error=self._made_whole(library))
        except UserError as error:
            print(f"assistant: {error}", file=sys.stderr, flush=True)
            ended = Work(error=str(error))
        finally:
            self._end(ended, before, _count(library))

    def _end(self, ended: Work, before: int, papers: int) -> None:
        self._counted(papers)
        with self._changed:
            self._work = replace(
                ended,
                number=self._work.number,
                kind=self._work.kind,
                stages=self._stages.now(),
                added=max(0, papers - before),
            )

    def _made_whole(self, library: Library) -> str:
        """Complete what was stopped halfway; a sentence where that fails."""
        try:
            with library.exclusive():
                if library.was_interrupted:
                    mend(library, self._told)
        except UserError as error:
            return str(error)
        return ""

    def _report(self, stage: str, done: int, total: int, unit: str) -> None:
        if self._stop.is_set():
            raise Cancelled
        self._told(stage, done, total, unit)

    def _told(self, stage: str, done: int, total: int, unit: str) -> None:
        self._stages.report(stage, done, total, unit)


def shown_name(name: str) -> str:
    """What a file is called: its last part, without what is not printed, not too long."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printed = "".join(
        letter for letter in unicodedata.normalize("NFC", last) if letter.isprintable()
    )
    return " ".join(printed.split())[-LONGEST_NAME:] or _NO_NAME


def _count(library: Library) -> int:
    try:
        return library.store.count()[0]
    except UserError:
        return 0
