"""Stores pinned questions with their evidence in an SQLite file in the library's folder.

The one module with SQL on pins. Each pin belongs to one owner.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pydantic import TypeAdapter

from assistant.types import Answer, Outcome
from retrieval.types import InputError, LibraryError

PINNED = "pinned.sqlite"
"""The file's name in the library's folder."""
MOST_PINS = 100
"""Pins of one owner."""
_LOCK_TIMEOUT = 10
"""Seconds that a write waits for another one."""
_TABLES = """
CREATE TABLE IF NOT EXISTS pins (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, question TEXT NOT NULL, made REAL NOT NULL,
  revision TEXT NOT NULL, seen TEXT NOT NULL, latest TEXT NOT NULL,
  UNIQUE (owner, question));
"""


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an abstract that an answer cites."""

    paper_id: str
    title: str
    quote: str


@dataclass(frozen=True, slots=True)
class PinnedAnswer:
    """An answer to a pinned question, and what it stands on."""

    outcome: Outcome
    text: str
    cited: tuple[Cited, ...]
    asked: float
    """Seconds since 1970."""

    @classmethod
    def of(cls, answer: Answer) -> "PinnedAnswer":
        """The answer, as of now."""
        cited = (Cited(c.paper.id, c.paper.shown_title, c.quote) for c in answer.citations)
        return cls(answer.outcome, answer.text, tuple(cited), time.time())


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned question with its answers."""

    id: str
    owner: str
    question: str
    made: float
    """Seconds since 1970."""
    revision: str
    """The library's when it was last asked; empty if it never was."""
    seen: PinnedAnswer | None
    """The answer that its owner has seen last; None if it was never asked."""
    latest: PinnedAnswer | None


_ANSWER_JSON: TypeAdapter[PinnedAnswer | None] = TypeAdapter(PinnedAnswer | None)
_COLUMNS = "id, owner, question, made, revision, seen, latest"


class Pins:
    """The pins of a library's folder. Safe for many threads and processes.

    Every method raises `LibraryError` if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        """Open nothing yet; the file is created by the first pin."""
        self._path = path

    def listed(self, owner: str) -> list[Pin]:
        """The owner's pins, latest first."""
        return self._read("WHERE owner = ? ORDER BY made DESC, rowid DESC", owner)

    def due(self, revision: str) -> list[Pin]:
        """The pins of all owners that were not asked at this revision of the library."""
        return self._read("WHERE revision <> ? ORDER BY made, rowid", revision)

    def add(self, owner: str, question: str) -> Pin:
        """Pin a question; one that is pinned already stays as it is.

        Raises:
            InputError: the owner has too many pins.
        """
        with self._open() as database:
            row = database.execute(
                f"SELECT {_COLUMNS} FROM pins WHERE owner = ? AND question = ?",  # noqa: S608 - own text
                (owner, question),
            ).fetchone()
            if row:
                return _pin(*row)
            counting = "SELECT count(*) FROM pins WHERE owner = ?"
            (count,) = database.execute(counting, (owner,)).fetchone()
            if count >= MOST_PINS:
                raise InputError(f"{count} questions are pinned already; remove one first.")
            pin = Pin(uuid4().hex[:12], owner, question, time.time(), "", None, None)
            database.execute(
                "INSERT INTO pins VALUES (?, ?, ?, ?, '', 'null', 'null')",
                (pin.id, owner, question, pin.made),
            )
        return pin

    def remove(self, owner: str, id_: str) -> None:
        """Remove a pin.

        Raises:
            InputError: the owner has no such pin.
        """
        self._change("DELETE FROM pins WHERE owner = ? AND id = ?", owner, id_)

    def mark_seen(self, owner: str, id_: str) -> None:
        """Its owner has seen the latest answer.

        Raises:
            InputError: the owner has no such pin.
        """
        self._change("UPDATE pins SET seen = latest WHERE owner = ? AND id = ?", owner, id_)

    def keep(self, pin: Pin, answer: PinnedAnswer, revision: str) -> None:
        """Keep an answer, unless the pin was removed meanwhile; the first one counts as seen."""
        record = _ANSWER_JSON.dump_json(answer).decode()
        with self._open() as database:
            database.execute(
                "UPDATE pins SET latest = ?, revision = ?,"
                " seen = CASE seen WHEN 'null' THEN ? ELSE seen END WHERE id = ?",
                (record, revision, record, pin.id),
            )

    def _read(self, condition: str, value: str) -> list[Pin]:
        if not self._path.exists():
            return []
        with self._open() as database:
            rows = database.execute(f"SELECT {_COLUMNS} FROM pins {condition}", (value,))  # noqa: S608 - own text
            return [_pin(*row) for row in rows]

    def _change(self, statement: str, owner: str, id_: str) -> None:
        with self._open() as database:
            if not database.execute(statement, (owner, id_)).rowcount:
                raise InputError("There is no such pinned question; `assistant pinned` lists them.")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection with one transaction."""
        try:
            with closing(sqlite3.connect(self._path, timeout=_LOCK_TIMEOUT)) as database:
                database.execute("PRAGMA secure_delete = ON")  # overwrites deleted rows
                database.executescript(_TABLES)
                with database:
                    yield database
        except sqlite3.Error as error:
            raise LibraryError(
                f"The pinned questions in {self._path} cannot be read or written ({error}); "
                "see that the disk has room, or move the file away."
            ) from error


def _pin(  # noqa: PLR0917 - the columns
    id_: str, owner: str, question: str, made: float, revision: str, seen: str, latest: str
) -> Pin:
    answers = (_ANSWER_JSON.validate_json(record) for record in (seen, latest))
    return Pin(id_, owner, question, made, revision, *answers)
