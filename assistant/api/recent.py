"""The conversation behind a request that brings its messages as text.

A client sends what was said, not what it was said from. Answers given here are therefore kept for
a while, under a hash of the messages up to them, so that a follow-up is about the papers that they
cite. Of an answer that is not known any more, the question still helps.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

from assistant.api.schemas import Message
from assistant.pipeline.assistant import LONGEST_QUESTION, checked_question
from assistant.types import Answer, Outcome, Timings, Tokens, Turn
from retrieval.errors import InputError

MOST_TURNS = 50
"""Turns of a conversation that are looked at, the last ones."""


class RecentAnswers:
    """The answers given last, by the conversations that they belong to. Thread-safe."""

    def __init__(self, most: int = 500) -> None:
        """None is known yet.

        Args:
            most: answers kept; each takes about 20 kB with its papers.
        """
        self._most = most
        self._answers: OrderedDict[bytes, Answer] = OrderedDict()
        self._changed = threading.Lock()

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
        with self._changed:
            self._answers[said] = answer
            self._answers.move_to_end(said)
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)

    def _turn(self, question: str, text: str, said: bytes) -> list[Turn]:
        """The turn, if there was a question."""
        try:
            question = checked_question(question[:LONGEST_QUESTION])
        except InputError:
            return []
        with self._changed:
            known = self._answers.get(said)
        return [Turn(question, known or _forgotten(question, text))]


def spoken(messages: Sequence[Message]) -> list[Message]:
    """The messages of the two who talk."""
    return [message for message in messages if message.role in {"user", "assistant"}]


def _hashed(before: bytes, role: str, text: str) -> bytes:
    """The hash of a conversation that goes on; clients may cut space off the ends of a text."""
    text_hash = hashlib.sha256(text.strip().encode("utf-8", "replace")).digest()
    return hashlib.sha256(before + role.encode() + text_hash).digest()


def _forgotten(question: str, text: str) -> Answer:
    """An answer of which only the text is known."""
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
