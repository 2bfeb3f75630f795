"""Stores conversations and rated answers in the library's database.

Each conversation belongs to one owner. A rated answer is also kept as a case for evaluation: the
questions that led to it, the answer and the rating. A case stays when its conversation is deleted.
"""

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, or_, select, update

from assistant.storage.database import Database
from assistant.storage.tables import CASES, CONVERSATIONS, EXCHANGES
from assistant.types import Answer, AnswerSentence, Citation, Turn
from retrieval.types import InputError, first_words

LONGEST_NAME = 80
"""Characters of a conversation's name."""
LONGEST_COMMENT = 2000
"""Characters of a rating's comment."""
MOST_LISTED = 100
"""Conversations that are listed at once."""
_MOST_WORDS = 10
"""Words of a search that count."""
_UNREADABLE = "This answer was kept by another version and cannot be shown; ask again."


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
    """The conversations of a database. Safe for many threads and processes.

    Every method raises `LibraryError` if the database cannot be read or written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, owner: str, words: str = "", limit: int = MOST_LISTED) -> list[Conversation]:
        """The owner's conversations without their exchanges, latest first.

        Args:
            owner: whose conversations.
            words: only those whose name, questions or answers contain all of these words.
            limit: how many at most.
        """
        searched = map(_has, words.split()[:_MOST_WORDS])
        table = CONVERSATIONS.c
        query = select(table.id, table.name, table.changed).where(table.owner == owner, *searched)
        query = query.order_by(table.changed.desc(), table.id).limit(limit)
        with self._database.reading() as connection:
            return [Conversation(*row) for row in connection.execute(query)]

    def read(self, owner: str, id_: str) -> Conversation | None:
        """The owner's conversation with this id, or None."""
        table = CONVERSATIONS.c
        query = select(table.id, table.name, table.changed).where(_is_own(owner, id_))
        with self._database.reading() as connection:
            row = connection.execute(query).first()
            return Conversation(*row, exchanges=_exchanges(connection, id_)) if row else None

    def begin(self, owner: str, question: str) -> str:
        """Add a conversation, named after its first question; returns its id."""
        id_, name = uuid4().hex, first_words(" ".join(question.split()), LONGEST_NAME)
        row = {"id": id_, "owner": owner, "name": name, "changed": time.time()}
        with self._database.writing() as connection:
            connection.execute(insert(CONVERSATIONS).values(row))
        return id_

    def ask(self, owner: str, id_: str, question: str, position: int | None = None) -> Exchange:
        """Add an exchange at the end, or replace all from `position` on by it.

        Raises:
            InputError: the conversation was deleted.
        """
        exchange = Exchange(uuid4().hex, question)
        row = {"id": exchange.id, "conversation": id_, "question": question, **_kept(exchange)}
        table = EXCHANGES.c
        with self._database.writing() as connection:
            _lock_own(connection, owner, id_)
            if position is not None:
                later = (table.conversation == id_) & (table.position >= position)
                connection.execute(delete(EXCHANGES).where(later))
            next_place = func.coalesce(func.max(table.position) + 1, 0)
            query = select(next_place).where(table.conversation == id_)
            row["position"] = connection.execute(query).scalar_one()
            connection.execute(insert(EXCHANGES).values(row))
            changed = update(CONVERSATIONS).where(_is_own(owner, id_)).values(changed=time.time())
            connection.execute(changed)
        return exchange

    def keep(self, exchange: Exchange) -> None:
        """Save the outcome of an exchange, unless its conversation was deleted meanwhile."""
        with self._database.writing() as connection:
            _save(connection, exchange)

    def rename(self, owner: str, id_: str, name: str) -> None:
        """Rename the conversation.

        Raises:
            InputError: the name is empty or too long, or the conversation was deleted.
        """
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"A name has 1 to {LONGEST_NAME} characters; choose another.")
        with self._database.writing() as connection:
            _lock_own(connection, owner, id_)
            renamed = update(CONVERSATIONS).where(CONVERSATIONS.c.id == id_).values(name=name)
            connection.execute(renamed)

    def delete(self, owner: str, id_: str) -> None:
        """Delete the conversation; its cases stay."""
        with self._database.writing() as connection:
            connection.execute(delete(CONVERSATIONS).where(_is_own(owner, id_)))

    def rate(self, owner: str, id_: str, exchange: str, rating: Rating | None) -> None:
        """Rate an answer and keep it as a case; None takes both back.

        Raises:
            InputError: the answer was deleted, or the comment is too long.
        """
        if rating and len(rating.comment) > LONGEST_COMMENT:
            raise InputError(f"A comment has at most {LONGEST_COMMENT:,} characters; shorten it.")
        with self._database.writing() as connection:
            _lock_own(connection, owner, id_)
            exchanges = _exchanges(connection, id_)
            rated = next((each for each in exchanges if each.id == exchange), None)
            if rated is None or rated.answer is None:
                raise InputError("That answer is not there any more; reload the page.")
            _save(connection, replace(rated, rating=rating))
            connection.execute(delete(CASES).where(CASES.c.exchange == exchange))
            if rating:
                asked = [each.question for each in exchanges[: exchanges.index(rated) + 1]]
                case = Case(exchange, time.time(), rating, tuple(asked), rated.answer)
                record = _CASE_JSON.dump_json(case).decode()
                row = {"exchange": exchange, "owner": owner, "rated": case.rated, "record": record}
                connection.execute(insert(CASES).values(row))

    def cases(self) -> list[Case]:
        """The cases of all owners, in the order of their ratings."""
        query = select(CASES.c.record).order_by(CASES.c.rated, CASES.c.exchange)
        with self._database.reading() as connection:
            return [_CASE_JSON.validate_json(record) for record in connection.scalars(query)]


def _has(word: str) -> ColumnElement[bool]:
    """Whether the name, a question or an answer of a conversation contains `word`."""
    table = EXCHANGES.c
    said = or_(
        table.question.icontains(word, autoescape=True),
        table.answer.icontains(word, autoescape=True),
    )
    named = CONVERSATIONS.c.name.icontains(word, autoescape=True)
    return or_(named, exists().where(table.conversation == CONVERSATIONS.c.id, said))


def _is_own(owner: str, id_: str) -> ColumnElement[bool]:
    return (CONVERSATIONS.c.owner == owner) & (CONVERSATIONS.c.id == id_)


def _lock_own(connection: Connection, owner: str, id_: str) -> None:
    """Keep others from changing the conversation until the transaction ends."""
    query = select(CONVERSATIONS.c.id).where(_is_own(owner, id_)).with_for_update()
    if connection.execute(query).first() is None:
        raise InputError("This conversation was deleted; begin a new one.")


def _exchanges(connection: Connection, id_: str) -> tuple[Exchange, ...]:
    table = EXCHANGES.c
    query = select(table.id, table.question, table.record).where(table.conversation == id_)
    rows = connection.execute(query.order_by(table.position))
    return tuple(_exchange(*row) for row in rows)


def _exchange(id_: str, question: str, record: str) -> Exchange:
    try:
        return _EXCHANGE_JSON.validate_json(record)
    except ValidationError:
        return Exchange(id_, question, notice=_UNREADABLE)


def _save(connection: Connection, exchange: Exchange) -> None:
    saved = update(EXCHANGES).where(EXCHANGES.c.id == exchange.id).values(_kept(exchange))
    connection.execute(saved)


def _kept(exchange: Exchange) -> dict[str, str | int]:
    """The columns of an exchange that its answer changes."""
    text = exchange.answer.text if exchange.answer else ""
    return {"record": _EXCHANGE_JSON.dump_json(exchange).decode(), "answer": text}
