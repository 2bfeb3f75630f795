"""One assistant for many people: the browser app and the HTTP API ask it here, in turn."""

import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from assistant.conversations import CONVERSATIONS, Conversations
from assistant.events import Event, Finished
from assistant.ingesting import Ingesting
from assistant.line import Line, Place
from assistant.metrics import Metrics
from assistant.pipeline.assistant import Assistant, checked_question
from assistant.reading_ahead import read_ahead, read_ahead_async
from assistant.settings import Settings
from assistant.setup import Setup
from assistant.speed import Speed, measure
from assistant.types import Turn
from retrieval.errors import Cancelled, LibraryError, NotReadyError, UserError
from retrieval.overview import Overview, Overviews
from retrieval.progress import never
from retrieval.query.lookup import Listing, Lookup
from retrieval.query.syntax import ExplicitFilters
from retrieval.search.ranking import Ranking, ranking
from retrieval.types import Paper

_TOLD_EVERY = 0.5
"""Seconds between two events that tell a place in the line."""
_LOOK_SECONDS = 0.05
"""Between two looks at whether to go on waiting."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Others come first."""

    ahead: int
    """How many."""
    seconds: float | None
    """How long that will take; nothing where it cannot be guessed yet."""


class Service:
    """What many may ask at once; whoever needs the model waits for their turn."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is loaded before `setup.start()`."""
        self.settings = settings
        self.setup = Setup(settings)
        self.conversations = Conversations(settings.home / CONVERSATIONS)
        self.line = Line()
        self._closed = threading.Event()
        self.ingesting = Ingesting(lambda: self.assistant.library, self._recounted)
        self._overviews: Overviews | None = None
        self.speed: Speed | None = None
        """As it was measured last in this process."""
        self.metrics = Metrics(waiting=self.line.__len__)

    @property
    def assistant(self) -> Assistant:
        """The assistant.

        Raises:
            NotReadyError: it is not set up yet, or could not be.
        """
        state = self.setup.state
        if state.assistant is None:
            raise NotReadyError(
                state.error
                or "The assistant is being set up: models and papers are fetched and read; "
                "try again in a few minutes."
            )
        return state.assistant

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
        *,
        owner: str = "",
    ) -> Generator[Waiting | Event, None, None]:
        """The answer as it comes about, once those who came before have theirs.

        The work goes on in a thread of its own and gives the place in the line back whether or
        not the events are read to their end.

        Args:
            question: what is asked.
            history: what was asked before, and answered.
            stopped: looked at all the time; the model is free soon after it became true.
            owner: who asks, see `access.owner_of`; one owner may not take all places.

        Raises:
            NotReadyError: there is no assistant yet; raised at once.
            InputError: the question is empty or too long; raised at once.
            BusyError: too many are waiting; raised in place of the first event.
            LibraryError, Cancelled: see `Assistant.stream`.
        """
        return read_ahead(self._answering(question, history, owner), self._or_closed(stopped))

    def ask_async(
        self, question: str, history: Sequence[Turn] = (), *, owner: str = ""
    ) -> AsyncGenerator[Waiting | Event, None]:
        """As `ask`, read in an event loop; closing it stops the model.

        Raises:
            NotReadyError, InputError, BusyError, LibraryError: see `ask`.
            Cancelled: the server ends.
        """
        return read_ahead_async(self._answering(question, history, owner))

    def _answering(
        self, question: str, history: Sequence[Turn], owner: str
    ) -> Callable[[Callable[[], bool]], Iterator[Waiting | Event]]:
        """What begins an answer, given what stops it."""
        with self._counting():
            assistant = self.assistant
            checked_question(question)

        def begin(stopped: Callable[[], bool]) -> Iterator[Waiting | Event]:
            stopped = self._or_closed(stopped)
            events = partial(assistant.stream, question, history, stopped)
            return self._in_turn(events, stopped, owner)

        return begin

    def search(
        self,
        query: str,
        limit: int,
        *,
        reranked: bool,
        stopped: Callable[[], bool] = never,
        owner: str = "",
    ) -> Ranking:
        """The papers that fit `query` best; reranking them waits for the model.

        Raises:
            NotReadyError, BusyError, InputError, LibraryError, Cancelled: see `ask`.
        """
        assistant = self.assistant
        query = checked_question(query)
        if not reranked:
            return ranking(assistant.library, query, limit, None, stopped)
        stopped = self._or_closed(stopped)
        with self.line.place(owner) as place:
            for _ in self._until_turn(place, stopped):
                pass
            return ranking(assistant.library, query, limit, assistant.reader, stopped)

    async def search_async(
        self, query: str, limit: int, *, reranked: bool, owner: str = ""
    ) -> Ranking:
        """As `search`, awaited in an event loop; cancelling it stops the model.

        Raises:
            NotReadyError, BusyError, InputError, LibraryError, Cancelled: see `ask_async`.
        """

        def begin(stopped: Callable[[], bool]) -> Iterator[Ranking]:
            yield self.search(query, limit, reranked=reranked, stopped=stopped, owner=owner)

        async with aclosing(read_ahead_async(begin)) as found:
            return await anext(found)

    def lookup(self, query: str, limit: int, given: ExplicitFilters | None = None) -> Listing:
        """The papers that `query` and `given` name; see `Lookup.find`.

        Raises:
            NotReadyError: there is no assistant yet.
            InputError: the query is too long.
            LibraryError: the library has no papers or cannot be read.
        """
        library = self.assistant.library
        library.ready_to_search()
        query = checked_question(query) if query.strip() else ""
        return Lookup.over(library).find(query, limit, given)

    def measure_speed(self, stopped: Callable[[], bool] = never, owner: str = "") -> Speed:
        """How fast the model reads and writes, measured when its turn comes; kept in `speed`.

        Raises:
            NotReadyError, BusyError, Cancelled: see `ask`.
        """
        model = self.assistant.model
        stopped = self._or_closed(stopped)
        with self.line.place(owner) as place:
            for _ in self._until_turn(place, stopped):
                pass
            self.speed = measure(model, stopped)
        return self.speed

    def overview(self) -> Overview:
        """What is in the library; counted once for every state of it.

        Raises:
            NotReadyError: there is no assistant yet.
            LibraryError: the library cannot be read.
        """
        if self._overviews is None:
            self._overviews = Overviews(self.assistant.library)
        return self._overviews.overview()

    def _recounted(self, papers: int) -> None:
        self.setup.recount(papers)
        with suppress(LibraryError):  # whoever asks for it is told
            self.overview()

    def paper(self, id_: str) -> Paper | None:
        """The paper with this id, if there is one.

        Raises:
            NotReadyError: there is no assistant yet.
            LibraryError: the library cannot be read.
        """
        stored = self.assistant.library.store.stored_by_id([id_]).get(id_)
        return stored.paper if stored else None

    def close(self) -> None:
        """Stop whoever waits or is answered, now and later: the server ends."""
        self._closed.set()

    def _or_closed(self, stopped: Callable[[], bool]) -> Callable[[], bool]:
        return lambda: stopped() or self._closed.is_set()

    def _in_turn(
        self, events: Callable[[], Iterator[Event]], stopped: Callable[[], bool], owner: str
    ) -> Iterator[Waiting | Event]:
        with self._counting(), self.line.place(owner) as place:
            yield from self._until_turn(place, stopped)
            for event in events():
                if isinstance(event, Finished):
                    place.leave()  # the model is free before the answer is shown
                    self.metrics.answered(event.answer)
                yield event

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Count a question that ends here without an answer."""
        try:
            yield
        except Cancelled:
            self.metrics.ended("stopped")
            raise
        except UserError:
            self.metrics.ended("refused")
            raise
        except Exception:
            self.metrics.ended("failed")
            raise

    def _until_turn(self, place: Place, stopped: Callable[[], bool]) -> Iterator[Waiting]:
        came = time.monotonic()
        told = -_TOLD_EVERY
        while not place.wait(_LOOK_SECONDS):
            if stopped():
                raise Cancelled
            if time.monotonic() - told >= _TOLD_EVERY:
                told = time.monotonic()
                yield Waiting(place.ahead, place.seconds)
        self.metrics.waited(time.monotonic() - came)
