"""Stores conversations and rated answers in an SQLite file in the library's folder.

Each conversation belongs to one owner. A rated answer is also kept as a case for evaluation: the
questions that led to it, the answer and the rating. A case stays when its conversation is deleted.
"""

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from assistant.types import Answer, AnswerSentence, Citation, Turn
from retrieval.types import InputError, LibraryError, first_words

CONVERSATIONS = "conversations.sqlite"
"""The file's name in the library's folder."""
LONGEST_NAME = 80
"""Characters of a conversation's name."""
LONGEST_COMMENT = 2000
"""Characters of a rating's comment."""
MOST_LISTED = 100
"""Conversations that are listed at once."""
_MOST_WORDS = 10
"""Words of a search that count."""
_UNREADABLE = "This answer was kept by another version and cannot be shown; ask again."
_LOCK_TIMEOUT = 10
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
_HAS_WORD = r"""
 AND (name LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM exchanges
  WHERE conversation = conversations.id AND (question LIKE ? ESCAPE '\'
   OR CASE WHEN json_valid(record) THEN json_extract(record, '$.answer.text') END
    LIKE ? ESCAPE '\')))"""
"""A condition on a conversation, with three places for a pattern of `_like`."""


class Reason(StrEnum):
    """Why an answer is rated good or bad."""

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
    """A person's rating of an answer."""

    reason: Reason
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, or why there is none."""

    id: str
    question: str
    answer: Answer | None = None
    """None if the answer was stopped or failed."""
    sentences: tuple[AnswerSentence, ...] = ()
    """Sentences that were shown before the answer was stopped."""
    citations: tuple[Citation, ...] = ()
    notice: str = "This answer was not finished."
    """Shown if there is no answer."""
    rating: Rating | None = None
    made_with: dict[str, Any] | None = None
    """What the answer was made with, for its receipt; None if that was not kept."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of one owner."""

    id: str
    name: str
    changed: float
    """Seconds since 1970."""
    exchanges: tuple[Exchange, ...] = ()
    """Empty in `Conversations.listed`."""

    @property
    def turns(self) -> list[Turn]:
        """The answered questions."""
        return [Turn(each.question, each.answer) for each in self.exchanges if each.answer]


@dataclass(frozen=True, slots=True)
class Case:
    """A rated answer and the questions that led to it."""

    id: str
    rated: float
    """Seconds since 1970."""
    rating: Rating
    questions: tuple[str, ...]
    """Questions of the conversation, the answered one last."""
    answer: Answer


_EXCHANGE_JSON = TypeAdapter(Exchange)
_CASE_JSON = TypeAdapter(Case)


class Conversations:
    """The conversations of a library's folder. Safe for many threads and processes.

    Every method raises `LibraryError` if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        """Open nothing yet; the file is created on first use."""
        self._path = path

    def listed(self, owner: str, words: str = "", limit: int = MOST_LISTED) -> list[Conversation]:
        """The owner's conversations without their exchanges, latest first.

        Args:
            owner: whose conversations.
            words: only those whose name, questions or answers contain all of these words.
            limit: how many at most.
        """
        searched = words.split()[:_MOST_WORDS]
        patterns = [pattern for word in searched for pattern in [_like(word)] * 3]
        with self._open() as database:
            rows = database.execute(
                "SELECT id, name, changed FROM conversations WHERE owner = ?"  # noqa: S608 - own text
                + _HAS_WORD * len(searched)
                + " ORDER BY changed DESC, rowid DESC LIMIT ?",
                (owner, *patterns, limit),
            )
            return [Conversation(*row) for row in rows]

    def read(self, owner: str, id_: str) -> Conversation | None:
        """The owner's conversation with this id, or None."""
        with self._open() as database:
            row = database.execute(
                "SELECT id, name, changed FROM conversations WHERE owner = ? AND id = ?",
                (owner, id_),
            ).fetchone()
            if row is None:
                return None
            return replace(Conversation(*row), exchanges=_exchanges(database, id_))

    def begin(self, owner: str, question: str) -> str:
        """Add a conversation, named after its first question; returns its id."""
        id_ = uuid4().hex
        with self._open() as database:
            database.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?)",
                (id_, owner, first_words(" ".join(question.split()), LONGEST_NAME), time.time()),
            )
        return id_

    def ask(self, owner: str, id_: str, question: str, position: int | None = None) -> Exchange:
        """Add an exchange at the end, or replace all from `position` on by it.

        Raises:
            InputError: the conversation was deleted.
        """
        exchange = Exchange(uuid4().hex, question)
        with self._open() as database:
            _check_owner(database, owner, id_)
            if position is not None:
                database.execute(
                    "DELETE FROM exchanges WHERE conversation = ? AND position >= ?",
                    (id_, position),
                )
            database.execute(
                "INSERT INTO exchanges SELECT ?, ?, coalesce(max(position) + 1, 0), ?, ? "
                "FROM exchanges WHERE conversation = ?",
                (exchange.id, id_, question, _json(exchange), id_),
            )
            database.execute(
                "UPDATE conversations SET changed = ? WHERE id = ?", (time.time(), id_)
            )
        return exchange

    def keep(self, exchange: Exchange) -> None:
        """Save the outcome of an exchange, unless its conversation was deleted meanwhile."""
        with self._open() as database:
            _save(database, exchange)

    def rename(self, owner: str, id_: str, name: str) -> None:
        """Rename the conversation.

        Raises:
            InputError: the name is empty or too long, or the conversation was deleted.
        """
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"A name has 1 to {LONGEST_NAME} characters; choose another.")
        with self._open() as database:
            _check_owner(database, owner, id_)
            database.execute("UPDATE conversations SET name = ? WHERE id = ?", (name, id_))

    def delete(self, owner: str, id_: str) -> None:
        """Delete the conversation; its cases stay."""
        with self._open() as database:
            database.execute("DELETE FROM conversations WHERE owner = ? AND id = ?", (owner, id_))

    def rate(self, owner: str, id_: str, exchange: str, rating: Rating | None) -> None:
        """Rate an answer and keep it as a case; None takes both back.

        Raises:
            InputError: the answer was deleted, or the comment is too long.
        """
        if rating and len(rating.comment) > LONGEST_COMMENT:
            raise InputError(f"A comment has at most {LONGEST_COMMENT:,} characters; shorten it.")
        with self._open() as database:
            _check_owner(database, owner, id_)
            exchanges = _exchanges(database, id_)
            rated = next((each for each in exchanges if each.id == exchange), None)
            if rated is None or rated.answer is None:
                raise InputError("That answer is not there any more; reload the page.")
            _save(database, replace(rated, rating=rating))
            database.execute("DELETE FROM cases WHERE exchange = ?", (exchange,))
            if rating:
                asked = [each.question for each in exchanges[: exchanges.index(rated) + 1]]
                case = Case(exchange, time.time(), rating, tuple(asked), rated.answer)
                database.execute(
                    "INSERT INTO cases VALUES (?, ?, ?, ?)",
                    (exchange, owner, case.rated, _CASE_JSON.dump_json(case).decode()),
                )

    def cases(self) -> list[Case]:
        """The cases of all owners, in the order of their ratings."""
        with self._open() as database:
            rows = database.execute("SELECT record FROM cases ORDER BY rated, rowid").fetchall()
        return [_CASE_JSON.validate_json(record) for (record,) in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection with one transaction."""
        try:
            with closing(sqlite3.connect(self._path, timeout=_LOCK_TIMEOUT)) as database:
                database.execute("PRAGMA foreign_keys = ON")
                database.execute("PRAGMA secure_delete = ON")  # overwrites deleted rows
                database.executescript(_TABLES)
                with database:
                    yield database
        except sqlite3.Error as error:
            raise LibraryError(
                f"The conversations in {self._path} cannot be read or written ({error}); "
                "see that the disk has room, or move the file away."
            ) from error


def _like(word: str) -> str:
    """The pattern of what contains `word`, whose signs mean themselves."""
    return "%" + re.sub(r"([%_\\])", r"\\\1", word) + "%"


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
        return _EXCHANGE_JSON.validate_json(record)
    except ValidationError:
        return Exchange(id_, question, notice=_UNREADABLE)


def _save(database: sqlite3.Connection, exchange: Exchange) -> None:
    database.execute("UPDATE exchanges SET record = ? WHERE id = ?", (_json(exchange), exchange.id))


def _json(exchange: Exchange) -> str:
    return _EXCHANGE_JSON.dump_json(exchange).decode()
