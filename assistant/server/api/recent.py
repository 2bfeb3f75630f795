"""Remembers recent answers, to restore the conversation of a request that has only its texts.

A client sends the texts of a conversation, not the citations of its answers. Answers are therefore
kept for a while under a hash of the messages up to them, so that a follow-up question can refer to
the papers that they cite. For a forgotten answer only the question and the text are used.
"""

import hashlib
from collections.abc import Sequence

from assistant.pipeline.assistant import LONGEST_QUESTION, checked_question
from assistant.server.api.schemas import Message
from assistant.types import Answer, Outcome, Timings, Tokens, Turn
from retrieval.types import InputError

MOST_TURNS = 50
"""Last turns of a conversation that are used."""


class RecentAnswers:
    """The most recent answers by conversation."""

    def __init__(self, most: int = 500) -> None:
        """Start without answers.

        Args:
            most: number of answers kept; each takes about 20 kB with its papers.
        """
        self._most = most
        self._answers: dict[bytes, Answer] = {}

    def history(self, messages: Sequence[Message]) -> list[Turn]:
        """The turns before the question that `messages` end with."""
        turns: list[Turn] = []
        question = ""
        said = b""
        for message in spoken(messages)[:-1]:
            said = _hashed(said, message.role, message.text)
            if message.role == "assistant":
                turns += self._turn(question, message.text, said)
                question = ""
            else:
                turns += self._turn(question, "", b"")
                question = message.text
        return [*turns, *self._turn(question, "", b"")][-MOST_TURNS:]

    def remember(self, messages: Sequence[Message], answer: Answer) -> None:
        """Keep the answer to the question that `messages` end with."""
        said = b""
        for message in spoken(messages):
            said = _hashed(said, message.role, message.text)
        said = _hashed(said, "assistant", answer.text)
        self._answers.pop(said, None)  # the last to be forgotten
        self._answers[said] = answer
        if len(self._answers) > self._most:
            del self._answers[next(iter(self._answers))]

    def _turn(self, question: str, text: str, said: bytes) -> list[Turn]:
        """A turn, or none if the question is not valid."""
        try:
            question = checked_question(question[:LONGEST_QUESTION])
        except InputError:
            return []
        return [Turn(question, self._answers.get(said) or _forgotten(question, text))]


def spoken(messages: Sequence[Message]) -> list[Message]:
    """The messages of the user and the assistant."""
    return [message for message in messages if message.role in {"user", "assistant"}]


def _hashed(before: bytes, role: str, text: str) -> bytes:
    """The hash of a conversation with one more message; outer space in its text is ignored."""
    text_hash = hashlib.sha256(text.strip().encode("utf-8", "replace")).digest()
    return hashlib.sha256(before + role.encode() + text_hash).digest()


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
