"""Remembers recent answers, to restore the conversation of a request that has only its texts.

A client sends the texts of a conversation, not the citations of its answers. Answers are therefore
kept for a while under a hash of the messages up to them, so that a follow-up question can refer to
the papers that they cite, whichever app process answers it. For a forgotten answer only the
question and the text are used.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, insert, select

from assistant.pipeline.assistant import LONGEST_QUESTION, checked_question
from assistant.server.api.schemas import Message
from assistant.storage.database import Database
from assistant.storage.tables import RECENT_ANSWERS
from assistant.types import Answer, Outcome, Timings, Tokens, Turn
from retrieval.types import InputError, LibraryError

MOST_TURNS = 50
"""Last turns of a conversation that are used."""
_SECONDS = 24 * 3600
"""Seconds that an answer is kept."""
_ANSWER_JSON = TypeAdapter(Answer)


class RecentAnswers:
    """The most recent answers by conversation."""

    def __init__(self, database: Database, most: int = 500) -> None:
        """Open nothing yet.

        Args:
            database: keeps the answers.
            most: number of answers kept; each takes about 20 kB with its papers.
        """
        self._database = database
        self._most = most

    def history(self, messages: Sequence[Message]) -> list[Turn]:
        """The turns before the question that `messages` end with."""
        exchanges: list[tuple[str, str, str]] = []
        question = ""
        said = b""
        for message in spoken(messages)[:-1]:
            said = _hashed(said, message.role, message.text)
            if message.role == "assistant":
                exchanges.append((question, message.text, said.hex()))
                question = ""
            else:
                exchanges.append((question, "", ""))
                question = message.text
        return self._turns([*exchanges, (question, "", "")])[-MOST_TURNS:]

    def remember(self, messages: Sequence[Message], answer: Answer) -> None:
        """Keep the answer to the question that `messages` end with, if the database can be used."""
        said = b""
        for message in spoken(messages):
            said = _hashed(said, message.role, message.text)
        said = _hashed(said, "assistant", answer.text)
        table = RECENT_ANSWERS.c
        newest = select(table.said).order_by(table.at.desc()).limit(self._most)
        record = _ANSWER_JSON.dump_json(answer).decode()
        with suppress(LibraryError), self._database.writing() as connection:
            now = self._database.now(connection)
            connection.execute(delete(RECENT_ANSWERS).where(table.said == said.hex()))
            row = {"said": said.hex(), "at": now, "record": record}
            connection.execute(insert(RECENT_ANSWERS).values(row))
            forgotten = (table.at < now - _SECONDS) | table.said.not_in(newest)
            connection.execute(delete(RECENT_ANSWERS).where(forgotten))

    def _turns(self, exchanges: Sequence[tuple[str, str, str]]) -> list[Turn]:
        """The turns of questions, texts and hashes, but for those without a valid question."""
        asked = [(_valid(question), text, said) for question, text, said in exchanges]
        asked = [each for each in asked if each[0]]
        answers = self._remembered([said for _, _, said in asked if said])
        return [
            Turn(question, answers.get(said) or _forgotten(question, text))
            for question, text, said in asked
        ]

    def _remembered(self, hashes: Sequence[str]) -> dict[str, Answer]:
        table, answers = RECENT_ANSWERS.c, {}
        if hashes:
            query = select(table.said, table.record).where(table.said.in_(hashes))
            with self._database.reading() as connection:
                for said, record in connection.execute(query):
                    with suppress(ValidationError):  # another version kept it
                        answers[said] = _ANSWER_JSON.validate_json(record)
        return answers


def spoken(messages: Sequence[Message]) -> list[Message]:
    """The messages of the user and the assistant."""
    return [message for message in messages if message.role in {"user", "assistant"}]


def _hashed(before: bytes, role: str, text: str) -> bytes:
    """The hash of a conversation with one more message; outer space in its text is ignored."""
    text_hash = hashlib.sha256(text.strip().encode("utf-8", "replace")).digest()
    return hashlib.sha256(before + role.encode() + text_hash).digest()


def _valid(question: str) -> str:
    """The question as it is asked; empty if it cannot be."""
    try:
        return checked_question(question[:LONGEST_QUESTION])
    except InputError:
        return ""


def _forgotten(question: str, text: str) -> Answer:
    """An answer whose text alone is known."""
    return Answer(
        question=question,
        standalone_question=question,
        outcome=Outcome.NOT_IN_LIBRARY,
        text=text[:LONGEST_QUESTION],
        sentences=(),
        citations=(),
        passages=(),
        model="",
        timings=Timings(0.0, 0.0, 0.0, 0.0),
        tokens=Tokens(0, 0),
    )
