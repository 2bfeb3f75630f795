"""Who may use the model next: first come, first served, one at a time."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from retrieval.errors import BusyError

_REMEMBERED = 20
"""Turns from which the length of the next is guessed."""


class Place:
    """A place in the line; `leave` gives it back, whether its turn came or not."""

    def __init__(self, line: "Line") -> None:
        """Made by `Line.enter`."""
        self._line = line

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

    def __init__(self, longest: int = 32) -> None:
        """An empty line.

        Args:
            longest: places at most, the one whose turn it is included.
        """
        self._longest = longest
        self._places: deque[Place] = deque()
        self._changed = threading.Condition()
        self._begun = 0.0
        """When the first one's turn began."""
        self._took: deque[float] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        """Places taken."""
        return len(self._places)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A place at the end, until the block is left.

        Raises:
            BusyError: all places are taken.
        """
        place = self.enter()
        try:
            yield place
        finally:
            place.leave()

    def enter(self) -> Place:
        """The last place.

        Raises:
            BusyError: all places are taken.
        """
        with self._changed:
            if len(self._places) >= self._longest:
                raise BusyError(
                    f"{len(self._places)} questions are waiting for the model already; "
                    "ask again in a minute."
                )
            place = Place(self)
            self._places.append(place)
            if len(self._places) == 1:
                self._begun = time.monotonic()
            return place

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
            return ahead * usual - min(usual, time.monotonic() - self._begun)

    def wait_for(self, place: Place, seconds: float) -> bool:
        """Wait until `place` is the first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._places[0] is place, seconds)

    def let_go(self, place: Place) -> None:
        """Take `place` out."""
        with self._changed:
            if place not in self._places:
                return
            if self._places[0] is place:
                self._took.append(time.monotonic() - self._begun)
                self._begun = time.monotonic()
            self._places.remove(place)
            self._changed.notify_all()
