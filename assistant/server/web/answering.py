"""Answers the questions of the chat tab: records each one, streams its answer and keeps the end."""

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assistant.pipeline.assistant import checked_question
from assistant.server.history import Conversation, Exchange
from assistant.server.service import Service, Waiting
from assistant.types import PartialAnswer
from retrieval.types import Cancelled, UserError

_LOG = logging.getLogger(__name__)
_STOPPED = "Stopped."
_FAILED = "Something unexpected went wrong; ask again. The terminal shows more."


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question that is recorded but not answered yet."""

    owner: str
    before: Conversation
    """The conversation up to the question."""
    exchange: Exchange


class Answering:
    """Answers the questions of all conversations."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._flags: dict[str, threading.Event] = {}

    @property
    def running(self) -> frozenset[str]:
        """Ids of the exchanges that are being answered; stopped answers are left out."""
        flags = self._flags.copy()
        return frozenset(id_ for id_, flag in flags.items() if not flag.is_set())

    def with_stopped(self, conversation: Conversation) -> Conversation:
        """The conversation as it is once the answers that are being stopped have ended."""
        flags = self._flags.copy()
        stopped = {id_ for id_, flag in flags.items() if flag.is_set()}
        exchanges = tuple(
            replace(each, notice=_STOPPED) if each.id in stopped else each
            for each in conversation.exchanges
        )
        return replace(conversation, exchanges=exchanges)

    def ask(self, question: str, id_: str, position: int | None, owner: str) -> PendingQuestion:
        """Record the question before it is answered.

        Args:
            question: the text as typed.
            id_: the conversation; a new one is begun if it does not exist.
            position: the question replaces the one at this position and all after it; None
                appends it.
            owner: the person who asks.

        Raises:
            UserError: the question is invalid or cannot be stored.
        """
        question = checked_question(question)
        kept = self._service.conversations
        conversation = kept.read(owner, id_) if id_ else None
        if conversation is None:
            conversation = kept.read(owner, kept.begin(owner, question))
            assert conversation is not None  # noqa: S101 - it was begun just now
        exchange = kept.ask(owner, conversation.id, question, position)
        before = conversation.exchanges[:position]
        return PendingQuestion(owner, replace(conversation, exchanges=before), exchange)

    def answer(
        self, pending: PendingQuestion, flag: threading.Event
    ) -> Iterator[tuple[PartialAnswer, Waiting | None]]:
        """The answer as it grows, with its place in the queue; its final state is stored.

        Args:
            pending: the question.
            flag: set by another thread to stop the answer.

        Raises:
            UserError: the final state cannot be stored.
        """
        exchange, shown = pending.exchange, PartialAnswer(pending.exchange.question)
        notice = _STOPPED  # kept if nobody reads on, which closes this generator
        self._flags[exchange.id] = flag
        try:
            yield shown, None
            events = self._service.ask(
                exchange.question, pending.before.turns, flag.is_set, owner=pending.owner
            )
            for event in events:
                if isinstance(event, Waiting):
                    yield shown, event
                elif not shown.add(event).answer:
                    yield shown, None
        except Cancelled:
            notice = _STOPPED if flag.is_set() else exchange.notice  # else this process ends
        except UserError as error:
            notice = str(error)
        except Exception:
            _LOG.exception("A question could not be answered.")
            notice = _FAILED
        finally:
            self._end(exchange, shown, notice)

    def _end(self, exchange: Exchange, shown: PartialAnswer, notice: str) -> None:
        """Store the answer, or what was shown of it."""
        try:
            if shown.answer:
                made_with = self._service.made_with()
                kept = replace(exchange, answer=shown.answer, notice="", made_with=made_with)
            else:
                sentences, citations = shown.sentences, shown.citations
                kept = replace(exchange, sentences=sentences, citations=citations, notice=notice)
            self._service.conversations.keep(kept)
        finally:
            self._flags.pop(exchange.id, None)


class Stops:
    """The stop flag of each session's current answer."""

    def __init__(self) -> None:
        self._flags: dict[str, threading.Event] = {}

    def begin(self, session: str) -> threading.Event:
        """A new flag for the session's next answer; an answer still running is stopped."""
        self.stop(session)
        self._flags[session] = threading.Event()
        return self._flags[session]

    def stop(self, session: str) -> None:
        """Stop the session's answer if there is one."""
        if flag := self._flags.get(session):
            flag.set()

    def is_current(self, session: str, flag: threading.Event) -> bool:
        """Whether the session still waits for the answer that `flag` stops."""
        return self._flags.get(session) is flag

    def is_idle(self, session: str) -> bool:
        """Whether the session waits for no answer and has stopped none."""
        return session not in self._flags

    def end(self, session: str) -> None:
        """Stop and forget the session: its page was closed or shows another conversation."""
        self.stop(session)
        self._flags.pop(session, None)
