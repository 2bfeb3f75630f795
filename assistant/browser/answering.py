"""A question of the chat: kept, asked, and shown while its answer comes."""

import logging
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from assistant.browser.exchange_html import coming, searching, waiting
from assistant.conversations import Conversation, Exchange
from assistant.events import Chosen, Event, Finished, Found, Reranked
from assistant.pipeline.assistant import checked_question
from assistant.service import Service, Waiting
from assistant.types import AnswerSentence, Citation, Evidence
from retrieval.errors import Cancelled, UserError
from retrieval.types import Passage

_LOG = logging.getLogger(__name__)
_STOPPED = "Stopped."
_FAILED = "Something unexpected went wrong; ask again. The terminal shows more."


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, and where it is kept."""

    owner: str
    before: Conversation
    """The conversation up to the question."""
    exchange: Exchange


class Answering:
    """Asks the questions of all conversations."""

    def __init__(self, service: Service) -> None:
        """Nothing is asked yet."""
        self._service = service
        self._coming: dict[str, threading.Event] = {}

    @property
    def coming(self) -> frozenset[str]:
        """Ids of the exchanges whose answers are coming now.

        An answer that was stopped is not: whoever closed its page reads it to no end.
        """
        coming = self._coming.copy()
        return frozenset(id_ for id_, flag in coming.items() if not flag.is_set())

    def ask(self, question: str, id_: str, position: int | None, owner: str) -> Asked:
        """Keep the question, before it is answered.

        Args:
            question: what is asked.
            id_: the conversation; a new one is begun where there is none.
            position: which question of the conversation it takes the place of, and of all
                after it; nothing for a further one.
            owner: who asks.

        Raises:
            UserError: it cannot be asked or kept.
        """
        question = checked_question(question)
        kept = self._service.conversations
        conversation = kept.read(owner, id_) if id_ else None
        if conversation is None:
            conversation = kept.read(owner, kept.begin(owner, question))
            assert conversation is not None  # noqa: S101 - it was begun just now
        exchange = kept.ask(owner, conversation.id, question, position)
        before = conversation.exchanges[:position]
        return Asked(owner, replace(conversation, exchanges=before), exchange)

    def answer(self, asked: Asked, flag: threading.Event) -> Iterator[Markup]:
        """The answer as it grows; how it ended is kept.

        Raises:
            UserError: it cannot be kept.
        """
        self._coming[asked.exchange.id] = flag
        try:
            ended = yield from self._answered(asked, flag)
            self._service.conversations.keep(ended)
        finally:
            self._coming.pop(asked.exchange.id, None)

    def _answered(self, asked: Asked, flag: threading.Event) -> Generator[Markup, None, Exchange]:
        partial, question = _Coming(), asked.exchange.question
        yield partial.html()
        try:
            events = self._service.ask(question, asked.before.turns, flag.is_set, owner=asked.owner)
            for event in events:
                if isinstance(event, Finished):
                    return replace(asked.exchange, answer=event.answer, notice="")
                partial.take(event, question)
                yield partial.html()
        except Cancelled:
            notice = _STOPPED
        except UserError as error:
            notice = str(error)
        except Exception:
            _LOG.exception("A question could not be answered.")
            notice = _FAILED
        return partial.ended(asked.exchange, notice)


@dataclass(slots=True)
class _Coming:
    """An answer that is still coming."""

    standalone: str = ""
    passages: tuple[Passage, ...] = ()
    chosen: tuple[Evidence, ...] = ()
    sentences: list[AnswerSentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    line: Waiting | None = None
    """Who comes first, until the turn has come."""

    def take(self, event: Waiting | Event, question: str) -> None:
        """Add what an event tells."""
        self.line = event if isinstance(event, Waiting) else None
        match event:
            case Found():
                different = event.standalone_question != question
                self.standalone = event.standalone_question if different else ""
                self.passages = event.passages
            case Reranked():
                self.passages = event.passages
            case Chosen():
                self.chosen = event.evidence
            case Waiting() | Finished():
                pass
            case _:
                self.sentences.append(event.sentence)
                self.citations += event.citations

    def html(self) -> Markup:
        """What can be shown of it."""
        if self.line:
            return waiting(self.line.ahead, self.line.seconds)
        if not self.passages:
            return searching()
        return coming(self.standalone, self.passages, self.chosen, self.sentences, self.citations)

    def ended(self, exchange: Exchange, notice: str) -> Exchange:
        """What is kept of it where it did not come to its end."""
        shown, cited = tuple(self.sentences), tuple(self.citations)
        return replace(exchange, sentences=shown, citations=cited, notice=notice)
