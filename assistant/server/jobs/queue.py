"""The queue for the model: as many turns at once as it has slots, fair by owner."""

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
    """A bounded queue in which as many tickets have their turn as the model has slots.

    A free slot goes to an owner with the fewest turns, first come first served: with one slot, to
    the first ticket. Thread-safe.
    """

    def __init__(
        self,
        longest: int = 32,
        clock: Callable[[], float] = time.monotonic,
        slots: Callable[[], int] = lambda: 1,
    ) -> None:
        """Make an empty queue.

        Args:
            longest: places at most, including those that have their turn.
            clock: seconds, to measure turns with.
            slots: how many may have their turn at once.
        """
        self.longest = longest
        self.clock = clock
        self._slots = slots
        self.tickets: deque[Ticket] = deque()
        self.changed = threading.Condition()
        """To be held while the fields here are read or changed."""
        self.turns: dict[Ticket, float] = {}
        """The tickets that have their turn, and since when."""
        self.turn_seconds: deque[float] = deque(maxlen=_TURNS)

    def __len__(self) -> int:
        """Places taken."""
        return len(self.tickets)

    @property
    def slots(self) -> int:
        """How many may have their turn at once."""
        return max(1, self._slots())

    @property
    def waiting(self) -> list["Ticket"]:
        """The tickets whose turn has not come, first come first."""
        return [ticket for ticket in self.tickets if ticket not in self.turns]

    def give_turns(self) -> None:
        """Give the free slots to those who wait; `changed` must be held."""
        while len(self.turns) < self.slots and (waiting := self.waiting):
            owners = [ticket.owner for ticket in self.turns]
            self.turns[min(waiting, key=lambda each: owners.count(each.owner))] = self.clock()
        self.changed.notify_all()

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
            self.give_turns()
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
        """How many come first; 0 if this one has its turn."""
        with self._queue.changed:
            return self._ahead()

    def _ahead(self) -> int:
        """With one slot the place in the queue, with more the turns that must end first."""
        queue = self._queue
        if self not in queue.tickets:
            raise ValueError("the ticket has left its queue")
        return 0 if self in queue.turns else queue.waiting.index(self) + 1

    @property
    def seconds(self) -> float | None:
        """Estimated seconds until the turn; None before a first turn has ended."""
        queue = self._queue
        with queue.changed:
            ahead = self._ahead()
            if not ahead or not queue.turn_seconds:
                return None if ahead else 0.0
            usual = fmean(queue.turn_seconds)
            passed = min(usual, queue.clock() - min(queue.turns.values()))
            return (ahead - 1) * usual / queue.slots + (usual - passed)

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for the turn; returns whether it came."""
        queue = self._queue
        with queue.changed:
            came = queue.changed.wait_for(lambda: self in queue.turns, seconds)
            self._had_its_turn |= came
            return came

    def leave(self) -> None:
        """Give up the place, before, during or after the turn; a second call does nothing."""
        queue = self._queue
        with queue.changed:
            if self not in queue.tickets:
                return
            queue.tickets.remove(self)
            begun = queue.turns.pop(self, None)
            if begun is not None and self._had_its_turn:  # else it says nothing about a turn
                queue.turn_seconds.append(queue.clock() - begun)
            queue.give_turns()
