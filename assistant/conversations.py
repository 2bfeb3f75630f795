"""Conversations as they were held, kept in the library's folder, each for its owner alone.

A rated answer is kept as a case as well: the questions that led to it, the answer, and what was
said of it. A case is for evaluation and stays when its conversation is deleted.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from assistant.types import Answer, AnswerSentence, Citation, Turn
from retrieval.errors import InputError, LibraryError
from retrieval.types import first_words

CONVERSATIONS = "conversations.sqlite"
"""The file's name in the library's folder."""
LONGEST_NAME = 80
"""Characters of a conversation's name."""
LONGEST_COMMENT = 2000
"""Characters of what is said of an answer."""
UNFINISHED = "This answer was not finished."
_UNREADABLE = "This answer was kept by another version and cannot be shown; ask again."
_PATIENCE = 10
"""Seconds that a write waits for another one."""
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (
  id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, changed REAL NOT NULL);
CREATE INDEX IF NOT EXISTS conversations_of ON conversations (owner, changed);
CREATE TABLE IF NOT EXISTS exchanges (
  id TEXT PRIMARY KEY,
  conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, question TEXT NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS exchanges_of ON exchanges (conversation, position);
CREATE TABLE IF NOT EXISTS cases (
  exchange TEXT PRIMARY KEY, owner TEXT NOT NULL, rated REAL NOT NULL, record TEXT NOT NULL);
"""


class Reason(StrEnum):
    """What is said of an answer."""

    GOOD = "good"
    WRONG_CITATION = "wrong citation"
    WRONG_STATEMENT = "wrong or misleading"
    BESIDE_THE_QUESTION = "beside the question"
    INCOMPLETE = "incomplete"
    WRONGLY_REFUSED = "the library does answer it"
    SHOULD_HAVE_REFUSED = "the library does not answer it"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class Rating:
    """What a person said of an answer."""

    reason: Reason
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what came of it."""

    id: str
    question: str
    answer: Answer | None = None
    """Nothing where the answer was stopped or could not be given."""
    sentences: tuple[AnswerSentence, ...] = ()
    """What was shown before it was stopped."""
    citations: tuple[Citation, ...] = ()
    notice: str = UNFINISHED
    """Why there is no answer."""
    rating: Rating | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of one owner."""

    id: str
    name: str
    changed: float
    """Seconds since 1970."""
    exchanges: tuple[Exchange, ...] = ()
    """Not read where conversations are listed."""

    @property
    def turns(self) -> list[Turn]:
        """The questions that were answered."""
        return [Turn(each.question, each.answer) for each in self.exchanges if each.answer]


@dataclass(frozen=True, slots=True)
class Case:
    """A rated answer with the questions that led to it."""

    id: str
    rated: float
    """Seconds since 1970."""
    rating: Rating
    questions: tuple[str, ...]
    """Of the conversation, the one that was answered last."""
    answer: Answer


_EXCHANGE = TypeAdapter(Exchange)
_CASE = TypeAdapter(Case)


class Conversations:
    """All conversations of a library's folder. Thread-safe; others may have it open as well."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened here.

        Args:
            path: the file, made when the first conversation is kept.
        """
        self._path = path

    def listed(self, owner: str) -> list[Conversation]:
        """The owner's conversations without their exchanges, the latest first.

        Raises:
            LibraryError: the file cannot be read.
        """
        with self._open() as database:
            rows = database.execute(
                "SELECT id, name, changed FROM conversations WHERE owner = ? "
                "ORDER BY changed DESC, rowid DESC",
                (owner,),
            )
            return [Conversation(*row) for row in rows]

    def read(self, owner: str, id_: str) -> Conversation | None:
        """A conversation of the owner's, if there is one with this id.

        Raises:
            LibraryError: the file cannot be read.
        """
        with self._open() as database:
            row = database.execute(
                "SELECT id, name, changed FROM conversations WHERE owner = ? AND id = ?",
                (owner, id_),
            ).fetchone()
            if row is None:
                return None
            return replace(Conversation(*row), exchanges=_exchanges(database, id_))

    def begin(self, owner: str, question: str) -> str:
        """A new conversation, named after its first question; returns its id.

        Raises:
            LibraryError: the file cannot be written.
        """
        id_ = uuid4().hex
        with self._open() as database:
            database.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?)",
                (id_, owner, first_words(_one_line(question), LONGEST_NAME), time.time()),
            )
        return id_

    def ask(self, owner: str, id_: str, question: str, position: int | None = None) -> Exchange:
        """A new exchange at the end, or at `position`; what stood there and after it goes.

        Raises:
            InputError: the conversation is not there any more.
            LibraryError: the file cannot be written.
        """
        exchange = Exchange(uuid4().hex, question)
        with self._open() as database:
            _check_owner(database, owner, id_)
            if position is not None:
                database.execute(
                    "DELETE FROM exchanges WHERE conversation = ? AND position >= ?",
                    (id_, position),
                )
            (last,) = database.execute(
                "SELECT coalesce(max(position), -1) FROM exchanges WHERE conversation = ?", (id_,)
            ).fetchone()
            database.execute(
                "INSERT INTO exchanges VALUES (?, ?, ?, ?, ?)",
                (exchange.id, id_, last + 1, question, _EXCHANGE.dump_json(exchange).decode()),
            )
            database.execute(
                "UPDATE conversations SET changed = ? WHERE id = ?", (time.time(), id_)
            )
        return exchange

    def keep(self, exchange: Exchange) -> None:
        """What came of a question; nothing happens if its conversation was deleted meanwhile.

        Raises:
            LibraryError: the file cannot be written.
        """
        with self._open() as database:
            database.execute(
                "UPDATE exchanges SET record = ? WHERE id = ?",
                (_EXCHANGE.dump_json(exchange).decode(), exchange.id),
            )

    def rename(self, owner: str, id_: str, name: str) -> None:
        """Give the conversation another name.

        Raises:
            InputError: the name is empty or too long, or the conversation is not there any more.
            LibraryError: the file cannot be written.
        """
        name = _one_line(name)
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"A name has 1 to {LONGEST_NAME} characters; choose another.")
        with self._open() as database:
            _check_owner(database, owner, id_)
            database.execute("UPDATE conversations SET name = ? WHERE id = ?", (name, id_))

    def delete(self, owner: str, id_: str) -> None:
        """Remove the conversation; its cases stay.

        Raises:
            LibraryError: the file cannot be written.
        """
        with self._open() as database:
            database.execute("DELETE FROM conversations WHERE owner = ? AND id = ?", (owner, id_))

    def rate(self, owner: str, id_: str, exchange: str, rating: Rating | None) -> None:
        """Say something of an answer, or take it back; a case is kept, or forgotten.

        Raises:
            InputError: the answer is not there any more, or the comment is too long.
            LibraryError: the file cannot be written.
        """
        if rating and len(rating.comment) > LONGEST_COMMENT:
            raise InputError(f"A comment has at most {LONGEST_COMMENT:,} characters; shorten it.")
        with self._open() as database:
            _check_owner(database, owner, id_)
            exchanges = _exchanges(database, id_)
            rated = next((each for each in exchanges if each.id == exchange and each.answer), None)
            if rated is None or rated.answer is None:
                raise InputError("That answer is not there any more; reload the page.")
            database.execute(
                "UPDATE exchanges SET record = ? WHERE id = ?",
                (_EXCHANGE.dump_json(replace(rated, rating=rating)).decode(), exchange),
            )
            database.execute("DELETE FROM cases WHERE exchange = ?", (exchange,))
            if rating:
                asked = [each.question for each in exchanges[: exchanges.index(rated) + 1]]
                case = Case(exchange, time.time(), rating, tuple(asked), rated.answer)
                database.execute(
                    "INSERT INTO cases VALUES (?, ?, ?, ?)",
                    (exchange, owner, case.rated, _CASE.dump_json(case).decode()),
                )

    def cases(self) -> list[Case]:
        """All cases, of all owners, in the order in which they were rated.

        Raises:
            LibraryError: the file cannot be read.
        """
        with self._open() as database:
            rows = database.execute("SELECT record FROM cases ORDER BY rated, rowid").fetchall()
        return [_CASE.validate_json(record) for (record,) in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one change, which is made as a whole or not at all."""
        try:
            database = sqlite3.connect(self._path, timeout=_PATIENCE)
            try:
                database.execute("PRAGMA foreign_keys = ON")
                database.execute("PRAGMA secure_delete = ON")  # what is deleted is gone
                database.executescript(_TABLES)
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise LibraryError(
                f"The conversations in {self._path} cannot be read or written ({error}); "
                "see that the disk has room, or move the file away."
            ) from error


def _check_owner(database: sqlite3.Connection, owner: str, id_: str) -> None:
    found = database.execute(
        "SELECT 1 FROM conversations WHERE owner = ? AND id = ?", (owner, id_)
    ).fetchone()
    if not found:
        raise InputError("This conversation was deleted; begin a new one.")


def _exchanges(database: sqlite3.Connection, id_: str) -> tuple[Exchange, ...]:
    rows = database.execute(
        "SELECT id, question, record FROM exchanges WHERE conversation = ? ORDER BY position",
        (id_,),
    )
    return tuple(_exchange(*row) for row in rows)


def _exchange(id_: str, question: str, record: str) -> Exchange:
    try:
        return _EXCHANGE.validate_json(record)
    except ValidationError:
        return Exchange(id_, question, notice=_UNREADABLE)


def _one_line(text: str) -> str:
    return " ".join(text.split())
