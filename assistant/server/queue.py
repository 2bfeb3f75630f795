"""The queue for the one model: first come, first served, one request at a time."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

from retrieval.types import BusyError

_TURNS = 20
"""Turns whose mean length is the estimate for the next."""


class RequestQueue:
    """A bounded queue in which the first ticket has the turn. Thread-safe."""

    def __init__(self, longest: int = 32, clock: Callable[[], float] = time.monotonic) -> None:
        """Make an empty queue.

        Args:
            longest: places at most, including the one that has the turn.
            clock: seconds, to measure turns with.
        """
        self._longest = longest
        self._clock = clock
        self._tickets: deque[Ticket] = deque()
        self._changed = threading.Condition()
        self._begun = 0.0
        """When the first ticket became the first."""
        self._turn_seconds: deque[float] = deque(maxlen=_TURNS)

    def __len__(self) -> int:
        """Places taken."""
        return len(self._tickets)

    @contextmanager
    def ticket(self, owner: str = "") -> Iterator["Ticket"]:
        """A ticket that leaves the queue with the block; see `enter`.

        Raises:
            BusyError: all places are taken, or all that one owner may have.
        """
        ticket = self.enter(owner)
        try:
            yield ticket
        finally:
            ticket.leave()

    def enter(self, owner: str = "") -> "Ticket":
        """Take the last place.

        An owner may have as many places as are free, so that there is always one for an owner who
        has none yet: half of the queue if nobody else waits (the dynamic thresholds of Choudhury
        and Hahne, 1998).

        Args:
            owner: the owner of the ticket; empty for no limit but the queue's own.

        Raises:
            BusyError: all places are taken, or all that `owner` may have.
        """
        with self._changed:
            self._check(owner)
            ticket = Ticket(self, owner)
            self._tickets.append(ticket)
            if len(self._tickets) == 1:
                self._begun = self._clock()
            return ticket

    def ahead_of(self, ticket: "Ticket") -> int:
        """How many tickets come before this one."""
        with self._changed:
            return self._tickets.index(ticket)

    def seconds_until(self, ticket: "Ticket") -> float | None:
        """Estimated seconds until the ticket's turn; None before a first turn has ended."""
        with self._changed:
            ahead = self._tickets.index(ticket)
            if not ahead or not self._turn_seconds:
                return None if ahead else 0.0
            usual = fmean(self._turn_seconds)
            return ahead * usual - min(usual, self._clock() - self._begun)

    def wait_for(self, ticket: "Ticket", seconds: float) -> bool:
        """Wait at most `seconds` for the ticket's turn; returns whether it came."""
        with self._changed:
            came = self._changed.wait_for(lambda: self._tickets[0] is ticket, seconds)
            ticket.had_its_turn |= came
            return came

    def release(self, ticket: "Ticket") -> None:
        """Remove the ticket; a second call does nothing."""
        with self._changed:
            if ticket not in self._tickets:
                return
            if self._tickets[0] is ticket:
                now = self._clock()
                if ticket.had_its_turn:  # else its time in front says nothing about a turn
                    self._turn_seconds.append(now - self._begun)
                self._begun = now
            self._tickets.remove(ticket)
            self._changed.notify_all()

    def _check(self, owner: str) -> None:
        free = self._longest - len(self._tickets)
        if not free:
            raise BusyError(
                f"{len(self._tickets)} questions are waiting for the model already; "
                "ask again in a minute."
            )
        own = sum(ticket.owner == owner for ticket in self._tickets)
        if owner and own >= free:
            raise BusyError(
                f"{own} of your questions are waiting for the model already, and the places that "
                "are left are for others; ask again once one of yours is answered."
            )


class Ticket:
    """A place in a queue, made by `RequestQueue.enter`; of no use after `leave`."""

    def __init__(self, queue: RequestQueue, owner: str) -> None:
        """Belong to `owner`."""
        self._queue = queue
        self.owner = owner
        self.had_its_turn = False

    @property
    def ahead(self) -> int:
        """How many come first; 0 if this one has the turn."""
        return self._queue.ahead_of(self)

    @property
    def seconds(self) -> float | None:
        """Estimated seconds until the turn; see `RequestQueue.seconds_until`."""
        return self._queue.seconds_until(self)

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for the turn; returns whether it came."""
        return self._queue.wait_for(self, seconds)

    def leave(self) -> None:
        """Give up the place, before, during or after the turn."""
        self._queue.release(self)
