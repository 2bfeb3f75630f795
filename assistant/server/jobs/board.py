"""The state of library jobs, kept in the database so that every app process shows it."""

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from assistant.storage.database import Database
from assistant.storage.tables import LIBRARY_JOBS
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.types import BusyError, IngestReport, LibraryError

JobKind = Literal["ingest", "remove", "check", "repair"]

BEAT_SECONDS = 1.0
"""Seconds between two signs of life of a running job."""
_SILENT_SECONDS = 30.0
"""Seconds without a sign after which the process of a job counts as ended."""
_KEPT = 100
"""Jobs that are remembered."""
_RUNNING = {
    "ingest": "Files are being added",
    "remove": "A file's papers are being removed",
    "check": "The library is being checked",
    "repair": "The library is being repaired",
}
_ENDED = "The process that worked on the library has ended; do the same again to complete it."


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a job and its progress."""

    name: str
    done: int = 0
    total: int = 0
    """0 if unknown."""
    unit: str = ""
    seconds_left: float | None = None
    """None if it cannot be estimated yet."""


@dataclass(frozen=True, slots=True)
class JobState:
    """The running job, or how the last one ended."""

    number: int = 0
    """The job's number, from 1, ascending; 0 before the first."""
    kind: JobKind = "ingest"
    running: bool = False
    stages: tuple[Stage, ...] = ()
    stopping: bool = False
    """It runs, but was asked to stop."""
    stopped: bool = False
    """It ended because it was asked to stop."""
    error: str = ""
    """One sentence if it failed."""
    report: IngestReport | None = None
    """Of files that were added."""
    added: int = 0
    """Papers that were added, even if it was stopped or failed."""
    removal: Removal | None = None
    """Of a file that was removed."""
    health: Health | None = None
    """Of a check or a repair."""


_STATE_JSON = TypeAdapter(JobState)


class JobBoard:
    """The jobs of all app processes over one library. Safe for many threads and processes.

    Every method raises `LibraryError` if the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, kind: JobKind) -> JobState:
        """Begin a job.

        Raises:
            BusyError: another one is running, in this process or another.
        """
        begun = JobState(kind=kind, running=True)
        table = LIBRARY_JOBS.c
        try:
            with self._database.writing() as connection:
                now = self._database.now(connection)
                dead = (table.running == 1) & (table.beat < now - _SILENT_SECONDS)
                connection.execute(update(LIBRARY_JOBS).where(dead).values(running=None))
                row = {"running": 1, "stop": False, "beat": now, "record": _json(begun)}
                begin = insert(LIBRARY_JOBS).values(row).returning(table.number)
                number = connection.execute(begin).scalar_one()
                connection.execute(delete(LIBRARY_JOBS).where(table.number <= number - _KEPT))
        except LibraryError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            running = self.latest()
            doing = _RUNNING[running.kind if running else kind]
            raise BusyError(f"{doing}; try again when that has ended.") from error
        return replace(begun, number=number)

    def report(self, state: JobState) -> bool:
        """Show the state of a job that runs or has just ended; returns whether it is to stop."""
        table = LIBRARY_JOBS.c
        running = 1 if state.running else None
        with self._database.writing() as connection:
            now = self._database.now(connection)
            shown = update(LIBRARY_JOBS).where(table.number == state.number)
            if state.running:  # a sign of life that comes late does not bring an ended job back
                shown = shown.where(table.running == 1)
            connection.execute(shown.values(running=running, beat=now, record=_json(state)))
            stop = connection.scalars(select(table.stop).where(table.number == state.number))
            return bool(stop.first())

    def stop(self) -> None:
        """Ask the running job to stop, whichever process it is in."""
        stopping = update(LIBRARY_JOBS).where(LIBRARY_JOBS.c.running == 1).values(stop=True)
        with self._database.writing() as connection:
            connection.execute(stopping)

    def latest(self) -> JobState | None:
        """The running job or the last one; None if there is none that this version can read."""
        table = LIBRARY_JOBS.c
        query = select(table.number, table.running, table.stop, table.beat, table.record)
        with self._database.reading() as connection:
            now = self._database.now(connection)
            row = connection.execute(query.order_by(table.number.desc()).limit(1)).first()
        if row is None:
            return None
        try:
            state = replace(_STATE_JSON.validate_json(row.record), number=row.number)
        except ValidationError:
            return None
        if row.running and row.beat >= now - _SILENT_SECONDS:
            return replace(state, stopping=row.stop)
        return replace(state, running=False, error=_ENDED) if state.running else state


def _json(state: JobState) -> str:
    return _STATE_JSON.dump_json(state).decode()
