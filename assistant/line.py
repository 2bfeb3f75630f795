"""Who may use the model next: first come, first served, one at a time."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

from retrieval.errors import BusyError

_REMEMBERED = 20
"""Turns from which the length of the next is guessed."""


class Place:
    """A place in the line; `leave` gives it back, whether its turn came or not.

    Whoever left is in no line any more: the place is not to be asked then.
    """

    def __init__(self, line: "Line", owner: str) -> None:
        """Made by `Line.enter`."""
        self._line = line
        self.owner = owner
        self.had_its_turn = False

    @property
    def ahead(self) -> int:
        """How many come first; 0 once it is this one's turn."""
        return self._line.ahead_of(self)

    @property
    def seconds(self) -> float | None:
        """How long it will take until its turn, guessed from the last ones."""
        return self._line.seconds_until(self)

    def wait(self, seconds: float) -> bool:
        """Wait for the turn, for at most so long; whether it came."""
        return self._line.wait_for(self, seconds)

    def leave(self) -> None:
        """Let the next one go; nothing happens the second time."""
        self._line.let_go(self)


class Line:
    """The line before one model. Thread-safe."""

    def __init__(self, longest: int = 32, clock: Callable[[], float] = time.monotonic) -> None:
        """An empty line.

        Args:
            longest: places at most, the one whose turn it is included.
            clock: seconds, for how long a turn takes.
        """
        self._longest = longest
        self._clock = clock
        self._places: deque[Place] = deque()
        self._changed = threading.Condition()
        self._begun = 0.0
        """When the first one became the first."""
        self._took: deque[float] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        """Places taken."""
        return len(self._places)

    @contextmanager
    def place(self, owner: str = "") -> Iterator[Place]:
        """A place at the end, until the block is left; see `enter`.

        Raises:
            BusyError: all places are taken, or all that one owner may have.
        """
        place = self.enter(owner)
        try:
            yield place
        finally:
            place.leave()

    def enter(self, owner: str = "") -> Place:
        """The last place.

        An owner may have as many places as are free, so that there is always one for whoever has
        none yet: half of the line where nobody else waits (the dynamic thresholds of Choudhury and
        Hahne, 1998).

        Args:
            owner: to whom it belongs; places of nobody in particular count for nobody.

        Raises:
            BusyError: all places are taken, or all that `owner` may have.
        """
        with self._changed:
            self._check(owner)
            place = Place(self, owner)
            self._places.append(place)
            if len(self._places) == 1:
                self._begun = self._clock()
            return place

    def _check(self, owner: str) -> None:
        free = self._longest - len(self._places)
        if not free:
            raise BusyError(
                f"{len(self._places)} questions are waiting for the model already; "
                "ask again in a minute."
            )
        own = sum(place.owner == owner for place in self._places)
        if owner and own >= free:
            raise BusyError(
                f"{own} of your questions are waiting for the model already, and the places that "
                "are left are for others; ask again once one of yours is answered."
            )

    def ahead_of(self, place: Place) -> int:
        """How many come before `place`."""
        with self._changed:
            return self._places.index(place)

    def seconds_until(self, place: Place) -> float | None:
        """Seconds until the turn of `place`; nothing before a first turn has ended."""
        with self._changed:
            ahead = self._places.index(place)
            if not ahead or not self._took:
                return None if ahead else 0.0
            usual = fmean(self._took)
            return ahead * usual - min(usual, self._clock() - self._begun)

    def wait_for(self, place: Place, seconds: float) -> bool:
        """Wait until `place` is the first."""
        with self._changed:
            come = self._changed.wait_for(lambda: self._places[0] is place, seconds)
            place.had_its_turn |= come
            return come

    def let_go(self, place: Place) -> None:
        """Take `place` out."""
        with self._changed:
            if place not in self._places:
                return
            if self._places[0] is place:
                now = self._clock()
                if place.had_its_turn:  # who stopped before says nothing about the next
                    self._took.append(now - self._begun)
                self._begun = now
            self._places.remove(place)
            self._changed.notify_all()
