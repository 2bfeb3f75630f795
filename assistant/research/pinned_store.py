"""Stores pinned questions with their evidence in the library's database, each with its owner."""

import re
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Delete,
    Row,
    Update,
    case,
    delete,
    func,
    insert,
    select,
    update,
)

from assistant.storage.database import Database
from assistant.storage.tables import PINS
from assistant.types import Answer, Outcome
from retrieval.types import InputError

MOST_PINS = 100
"""Pins of one owner."""
CLAIM_SECONDS = 600.0
"""Seconds after which the process that asks a pinned question again counts as ended."""
_AFTER_MARK = re.compile(r"(?<=\[\d\]) |(?<=\[\d\d\]) ")
"""Where the text of an answer goes on after a mark such as `[1]`."""
_NONE = "null"
"""JSON of an answer that there is not yet."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of an abstract that an answer cites."""

    paper_id: str
    title: str
    quote: str


@dataclass(frozen=True, slots=True)
class PinnedAnswer:
    """An answer to a pinned question, and the sentences that it cites."""

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

    @property
    def quotes(self) -> bool:
        """Whether its text quotes what it cites; a list of records does not."""
        return any(each.quote in self.text for each in self.cited)

    @property
    def listed(self) -> list[tuple[str, Cited]]:
        """Each line of a list of papers, and what it cites; empty if the text is no such list."""
        lines = _AFTER_MARK.split(self.text)
        is_list = len(lines) == len(self.cited) and not self.quotes
        listed = list(zip(lines, self.cited, strict=False)) if is_list else []
        return listed if all(each.title in line for line, each in listed) else []


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


class Pins:
    """The pins of a database. Safe for many threads and processes.

    Every method raises `LibraryError` if the database cannot be read or written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, owner: str) -> list[Pin]:
        """The owner's pins, latest first."""
        return self._read(PINS.c.owner == owner)[::-1]

    def due(self, revision: str) -> list[Pin]:
        """The pins of all owners that were not asked at this revision of the library."""
        return self._read(PINS.c.revision != revision)

    def claim(self, pin: Pin, revision: str) -> bool:
        """Whether this process is the one to ask a pin; false if another one asks or has asked."""
        with self._database.writing() as connection:
            now = self._database.now(connection)
            is_due = (PINS.c.revision != revision) & (PINS.c.claimed < now - CLAIM_SECONDS)
            claimed = update(PINS).where(PINS.c.id == pin.id, is_due).values(claimed=now)
            return connection.execute(claimed).rowcount == 1

    def release(self, pin: Pin) -> None:
        """Leave a pin that was claimed to the next one who looks."""
        with self._database.writing() as connection:
            connection.execute(update(PINS).where(PINS.c.id == pin.id).values(claimed=0))

    def add(self, owner: str, question: str) -> Pin:
        """Pin a question; one that is pinned already stays as it is.

        Raises:
            InputError: the owner has too many pins.
        """
        is_own = PINS.c.owner == owner
        with self._database.writing() as connection:
            pinned = select(PINS).where(is_own, PINS.c.question == question)
            if row := connection.execute(pinned).first():
                return _pin(row)
            counting = select(func.count()).select_from(PINS).where(is_own)
            count = connection.execute(counting).scalar_one()
            if count >= MOST_PINS:
                raise InputError(f"{count} questions are pinned already; remove one first.")
            pin = Pin(uuid4().hex[:12], owner, question, time.time(), "", None, None)
            row_of = {"id": pin.id, "owner": owner, "question": question, "made": pin.made}
            none_yet = {"revision": "", "seen": _NONE, "latest": _NONE}
            connection.execute(insert(PINS).values(**row_of, **none_yet))
        return pin

    def remove(self, owner: str, id_: str) -> None:
        """Remove a pin.

        Raises:
            InputError: the owner has no such pin.
        """
        self._change(delete(PINS).where(_is_own(owner, id_)))

    def mark_seen(self, owner: str, id_: str) -> None:
        """Its owner has seen the latest answer.

        Raises:
            InputError: the owner has no such pin.
        """
        self._change(update(PINS).where(_is_own(owner, id_)).values(seen=PINS.c.latest))

    def keep(self, pin: Pin, answer: PinnedAnswer, revision: str) -> None:
        """Keep an answer, unless the pin was removed meanwhile; the first one counts as seen."""
        record = _ANSWER_JSON.dump_json(answer).decode()
        seen = case((PINS.c.seen == _NONE, record), else_=PINS.c.seen)
        kept = update(PINS).where(PINS.c.id == pin.id)
        with self._database.writing() as connection:
            connection.execute(kept.values(latest=record, revision=revision, seen=seen, claimed=0))

    def _read(self, condition: ColumnElement[bool]) -> list[Pin]:
        """The pins in the order in which they were made."""
        if not self._database.exists:
            return []
        query = select(PINS).where(condition).order_by(PINS.c.made, PINS.c.id)
        with self._database.reading() as connection:
            return [_pin(row) for row in connection.execute(query)]

    def _change(self, statement: Update | Delete) -> None:
        with self._database.writing() as connection:
            if not connection.execute(statement).rowcount:
                raise InputError("There is no such pinned question; `assistant pinned` lists them.")


def _is_own(owner: str, id_: str) -> ColumnElement[bool]:
    return (PINS.c.owner == owner) & (PINS.c.id == id_)


def _pin(row: Row[Any]) -> Pin:
    seen, latest = map(_ANSWER_JSON.validate_json, (row.seen, row.latest))
    return Pin(row.id, row.owner, row.question, row.made, row.revision, seen, latest)
