"""The queue for the one model: first come, first served, one request at a time."""

import threading
import time
from collections import deque
from collections.abc import Callable
from statistics import fmean
from typing import Self

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
        self.longest = longest
        self.clock = clock
        self.tickets: deque[Ticket] = deque()
        self.changed = threading.Condition()
        """To be held while the fields here are read or changed."""
        self.begun = 0.0
        """When the first ticket became the first."""
        self.turn_seconds: deque[float] = deque(maxlen=_TURNS)

    def __len__(self) -> int:
        """Places taken."""
        return len(self.tickets)

    def enter(self, owner: str = "") -> "Ticket":
        """Take the last place; as a context, the ticket leaves it at the end.

        An owner may have as many places as are free, so that there is always one for an owner who
        has none yet: half of the queue if nobody else waits (the dynamic thresholds of Choudhury
        and Hahne, 1998).

        Args:
            owner: the owner of the ticket; empty for no limit but the queue's own.

        Raises:
            BusyError: all places are taken, or all that `owner` may have.
        """
        with self.changed:
            self._check(owner)
            ticket = Ticket(self, owner)
            self.tickets.append(ticket)
            if len(self.tickets) == 1:
                self.begun = self.clock()
            return ticket

    def _check(self, owner: str) -> None:
        free = self.longest - len(self.tickets)
        if not free:
            raise BusyError(
                f"{len(self.tickets)} questions are waiting for the model already; "
                "ask again in a minute."
            )
        own = sum(ticket.owner == owner for ticket in self.tickets)
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
        self._had_its_turn = False

    def __enter__(self) -> Self:
        """Hold the place until the end of the context."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave."""
        self.leave()

    @property
    def ahead(self) -> int:
        """How many come first; 0 if this one has the turn."""
        with self._queue.changed:
            return self._queue.tickets.index(self)

    @property
    def seconds(self) -> float | None:
        """Estimated seconds until the turn; None before a first turn has ended."""
        queue = self._queue
        with queue.changed:
            ahead = queue.tickets.index(self)
            if not ahead or not queue.turn_seconds:
                return None if ahead else 0.0
            usual = fmean(queue.turn_seconds)
            return ahead * usual - min(usual, queue.clock() - queue.begun)

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for the turn; returns whether it came."""
        queue = self._queue
        with queue.changed:
            came = queue.changed.wait_for(lambda: queue.tickets[0] is self, seconds)
            self._had_its_turn |= came
            return came

    def leave(self) -> None:
        """Give up the place, before, during or after the turn; a second call does nothing."""
        queue = self._queue
        with queue.changed:
            if self not in queue.tickets:
                return
            if queue.tickets[0] is self:
                now = queue.clock()
                if self._had_its_turn:  # else its time in front says nothing about a turn
                    queue.turn_seconds.append(now - queue.begun)
                queue.begun = now
            queue.tickets.remove(self)
            queue.changed.notify_all()
