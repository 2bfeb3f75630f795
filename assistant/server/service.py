"""One assistant shared by the browser pages and the HTTP API; requests for its model queue."""

import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from assistant.models.chat import Speed, measure
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.models.llama.reading_ahead import Begin, read_ahead, read_ahead_async
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.research.audit.audit import Audit, audit_in_turns
from assistant.research.audit.types import AuditedSentence
from assistant.research.pinned_store import Pins
from assistant.research.receipt import provenance_json, receipt_of
from assistant.research.table import EvidenceTable, checked_columns, fill
from assistant.server.history import Conversations
from assistant.server.jobs.board import JobBoard
from assistant.server.jobs.library import LibraryJobs
from assistant.server.jobs.pinned import PinnedJobs
from assistant.server.jobs.queue import RequestQueue, Ticket
from assistant.server.jobs.setup import Setup
from assistant.server.metrics import Metrics
from assistant.settings import Settings
from assistant.storage.database import database_of
from assistant.types import Answer, Completed, Event, Json, Turn
from retrieval.library.overview import Overview, Overviews
from retrieval.library.topics import TopicMaps, Topics
from retrieval.query.lookup import LONGEST_QUERY, Found, Listing, Lookup
from retrieval.query.syntax import ExplicitFilters
from retrieval.search.rerank import Ranking, ranking
from retrieval.types import Cancelled, LibraryError, NotReadyError, Paper, UserError, never

_WAITING_INTERVAL = 0.5
"""Seconds between two `Waiting` events."""
_SETTING_UP = (
    "The assistant is being set up: models and papers are fetched and read; "
    "try again in a few minutes."
)
_POLL_SECONDS = 0.05
"""Seconds between two checks whether a waiting request was stopped."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Other requests come first."""

    ahead: int
    """Number of requests before this one."""
    seconds: float | None
    """Estimated seconds until its turn; None if they cannot be estimated yet."""


class Service:
    """Thread-safe facade of the assistant; model calls are queued.

    Every request raises `NotReadyError` if there is no assistant yet, `InputError` if the text is
    empty or too long, `LibraryError` if the library cannot be used, `BusyError` if too many wait
    for the model, and `Cancelled` if it was stopped or the server shuts down.
    """

    def __init__(self, settings: Settings) -> None:
        """Load nothing before `setup.start()`."""
        self.settings = settings
        self.setup = Setup(settings)
        self.database = database_of(settings)
        self.conversations = Conversations(self.database)
        self.queue = RequestQueue(slots=self._slots)
        self._closed = threading.Event()
        board = JobBoard(self.database)
        self.jobs = LibraryJobs(lambda: self.assistant.library, board, self._recount)
        self._overviews: Overviews | None = None
        self._topic_maps: TopicMaps | None = None
        self.pins = Pins(self.database)
        self.pinned = PinnedJobs(self.pins, lambda: self.assistant, self.queue)
        self.speed: Speed | None = None
        """As last measured in this process; None before."""
        self.metrics = Metrics(waiting=self.queue.__len__)

    @property
    def assistant(self) -> Assistant:
        """The assistant.

        Raises:
            NotReadyError: it is not set up yet, or could not be.
        """
        state = self.setup.state
        if state.assistant is None:
            raise NotReadyError(state.error or _SETTING_UP)
        return state.assistant

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
        *,
        owner: str = "",
    ) -> Generator[Waiting | Event, None, None]:
        """Answer a question in its turn, as a stream of events.

        A thread of its own does the work and leaves the queue, whether or not the events are read
        to their end.

        Args:
            question: what is asked.
            history: the answered questions of the conversation.
            stopped: polled; the model is free soon after it returns true.
            owner: who asks, see `auth.owner_of`; one owner may not take all places.

        Raises:
            NotReadyError, InputError: at once, the other errors in place of an event.
        """
        return read_ahead(self._answering(question, history, owner), self._or_closed(stopped))

    def ask_async(
        self,
        question: str,
        history: Sequence[Turn] = (),
        *,
        owner: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> AsyncGenerator[Waiting | Event, None]:
        """Like `ask`, for an event loop; closing the generator stops the model."""
        return read_ahead_async(self._answering(question, history, owner, sampling))

    def table(
        self,
        question: str,
        columns: Sequence[str],
        most: int,
        *,
        first: Sequence[Paper] = (),
        owner: str = "",
    ) -> Begin[EvidenceTable]:
        """Check a request for an evidence table; returns what fills it, cell by cell in its turn.

        See `research.table.fill` for the arguments, and `read_ahead` for what to do with it.
        """
        assistant, question = self.assistant, checked_question(question)
        columns = checked_columns(columns)

        def begin(stopped: Callable[[], bool]) -> Iterator[EvidenceTable]:
            stopped = self._or_closed(stopped)
            turn = partial(self._turn, owner, stopped)
            yield from fill(assistant, question, columns, most, stopped, first=first, turn=turn)

        return begin

    async def table_async(
        self, question: str, columns: Sequence[str], most: int, *, owner: str = ""
    ) -> EvidenceTable:
        """Like `table`, filled to its end for an event loop; cancelling stops the work."""
        begin = self.table(question, columns, most, owner=owner)
        async with aclosing(read_ahead_async(begin)) as tables:
            async for each in tables:
                filled = each
        return filled

    async def search_async(
        self, query: str, limit: int, *, reranked: bool, owner: str = ""
    ) -> Ranking:
        """Rank papers for `query`; reranking waits for the model, and cancelling stops it."""
        assistant, query = self.assistant, checked_question(query)

        def begin(stopped: Callable[[], bool]) -> Iterator[Ranking]:
            stopped = self._or_closed(stopped)
            if not reranked:
                yield ranking(assistant.library, query, limit, None, stopped)
                return
            with self._turn(owner, stopped):
                yield ranking(assistant.library, query, limit, assistant.reader, stopped)

        async with aclosing(read_ahead_async(begin)) as rankings:
            return await anext(rankings)

    def audit(
        self, audit: Audit, stopped: Callable[[], bool] = never, *, owner: str = ""
    ) -> Generator[AuditedSentence, None, None]:
        """Judge a draft's sentences, a few in each turn, so that others need not wait for all."""
        return read_ahead(self._auditing(audit, owner), self._or_closed(stopped))

    async def audit_async(self, audit: Audit, *, owner: str = "") -> list[AuditedSentence]:
        """Like `audit`, all at once for an event loop; cancelling stops the work."""
        async with aclosing(read_ahead_async(self._auditing(audit, owner))) as judged:
            return [each async for each in judged]

    def lookup(self, query: str, limit: int, given: ExplicitFilters | None = None) -> Listing:
        """Look papers up by their records; see `Lookup.find`."""
        library = self.assistant.library
        library.ready_to_search()
        query = checked_question(query) if query.strip() else ""
        return Lookup.over(library).find(query, limit, given)

    def found(self, query: str, given: ExplicitFilters) -> Found:
        """Like `lookup`, before papers are read, with papers of similar meaning; all if empty."""
        library = self.assistant.library
        library.ready_to_search()
        lookup = Lookup.over(library)
        if not query.strip() and not given:
            return lookup.everything()
        query = checked_question(query) if query.strip() else ""
        parsed = lookup.parse(query[:LONGEST_QUERY], lookup=True)
        return lookup.with_similar(lookup.ranked(query, parsed, given))

    def measure_speed(self, owner: str = "") -> Speed:
        """Measure how fast the model reads and writes, in its turn; kept in `speed`."""
        model = self.assistant.model
        stopped = self._or_closed(never)
        with self._turn(owner, stopped):
            self.speed = measure(model, stopped)
        return self.speed

    def overview(self) -> Overview:
        """The library's contents, counted once for each of its states."""
        if self._overviews is None:
            self._overviews = Overviews(self.assistant.library)
        return self._overviews.overview()

    def topics(self) -> Topics | None:
        """The topics of the library; None while they are computed."""
        if self._topic_maps is None:
            self._topic_maps = TopicMaps(self.assistant.library)
        return self._topic_maps.topics()

    def paper(self, id_: str) -> Paper | None:
        """The paper with this id, or None."""
        stored = self.assistant.library.store.stored_by_id([id_]).get(id_)
        return stored.paper if stored else None

    def made_with(self) -> Json | None:
        """What answers are made with now, for their receipts; None if it cannot be told."""
        try:
            return provenance_json(self.assistant, self.settings)
        except UserError:
            return None

    def receipt(self, answer: Answer, history: Sequence[Turn], sampling: Sampling) -> Json:
        """The receipt of an answer that was just made; see `receipt_of`."""
        made = provenance_json(self.assistant, self.settings)
        return receipt_of(answer, history, made, sampling)

    def parts(self) -> dict[str, str]:
        """What keeps each part that answers need from answering now; empty if nothing does."""
        assistant = self.assistant
        library, found = assistant.library, dict[str, str]()
        parts: dict[str, Callable[[], object]] = {
            "library": library.ready_to_search,
            "store": library.store.count,
            "database": lambda: self.conversations.listed("", limit=1),
            "model": assistant.model.check,
            "embedder": getattr(library.embedder, "check", lambda: None),
        }
        for part, check in parts.items():
            try:
                check()
                found[part] = ""
            except UserError as error:
                found[part] = str(error)
        return found

    def _slots(self) -> int:
        """Questions that the model answers at once."""
        assistant = self.setup.state.assistant
        return assistant.model.slots if assistant else 1

    def close(self) -> None:
        """Stop all requests, now and from now on, and adding files."""
        self._closed.set()
        self.pinned.close()
        self.jobs.cancel()

    def _answering(
        self,
        question: str,
        history: Sequence[Turn],
        owner: str,
        sampling: Sampling = LIKELIEST,
    ) -> Callable[[Callable[[], bool]], Iterator[Waiting | Event]]:
        """Check the request; returns the function that starts the events."""
        with self._count_failure():
            if self._closed.is_set():
                raise Cancelled
            assistant = self.assistant
            checked_question(question)

        def begin(stopped: Callable[[], bool]) -> Iterator[Waiting | Event]:
            stopped = self._or_closed(stopped)
            with self._count_failure(), self.queue.enter(owner) as ticket:
                yield from self._until_turn(ticket, stopped)
                for event in assistant.stream(question, history, stopped, sampling):
                    if isinstance(event, Completed):
                        ticket.leave()  # the model is free before the answer is shown
                        self.metrics.answered(event.answer)
                    yield event

        return begin

    def _auditing(
        self, audit: Audit, owner: str
    ) -> Callable[[Callable[[], bool]], Iterator[AuditedSentence]]:
        assistant = self.assistant

        def begin(stopped: Callable[[], bool]) -> Iterator[AuditedSentence]:
            stopped = self._or_closed(stopped)
            yield from audit_in_turns(
                assistant, audit, partial(self._turn, owner, stopped), stopped
            )

        return begin

    def _or_closed(self, stopped: Callable[[], bool]) -> Callable[[], bool]:
        return lambda: stopped() or self._closed.is_set()

    @contextmanager
    def _count_failure(self) -> Iterator[None]:
        """Count a question that ends without an answer."""
        try:
            yield
        except Exception as error:
            refused = "refused" if isinstance(error, UserError) else "failed"
            self.metrics.ended("stopped" if isinstance(error, Cancelled) else refused)
            raise

    @contextmanager
    def _turn(self, owner: str, stopped: Callable[[], bool]) -> Iterator[None]:
        """Wait for the model without reporting."""
        with self.queue.enter(owner) as ticket:
            for _ in self._until_turn(ticket, stopped):
                pass
            yield

    def _until_turn(self, ticket: Ticket, stopped: Callable[[], bool]) -> Iterator[Waiting]:
        began = time.monotonic()
        reported = -_WAITING_INTERVAL
        while not ticket.wait(_POLL_SECONDS):
            if stopped():
                raise Cancelled
            if time.monotonic() - reported >= _WAITING_INTERVAL:
                reported = time.monotonic()
                yield Waiting(ticket.ahead, ticket.seconds)
        self.metrics.waited(time.monotonic() - began)

    def _recount(self, papers: int) -> None:
        self.setup.recount(papers)
        self.pinned.wake()
        with suppress(LibraryError):  # raised again when the overview is asked for
            self.overview()


async def answer_of(events: AsyncGenerator[Waiting | Event, None]) -> Answer:
    """The whole answer, with which a stream of events ends."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Completed):
                return event.answer
    raise AssertionError("a stream of events ends with Completed")
