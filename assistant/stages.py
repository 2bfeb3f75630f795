"""How far long work is, stage by stage, for whoever looks."""

import threading
import time
from dataclasses import dataclass

_SURE_AFTER = 1.0
"""Seconds of a stage from which what is left of it can be guessed."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of long work and how far it is."""

    name: str
    done: int = 0
    total: int = 0
    """0 where it is not known."""
    unit: str = ""
    left: float | None = None
    """Seconds that it will still take; nothing where that cannot be guessed."""


class Stages:
    """Collects what a `Progress` is told. Thread-safe."""

    def __init__(self) -> None:
        """No stage has begun."""
        self._changed = threading.Lock()
        self._stages: list[Stage] = []
        self._began = (0.0, 0)
        """When the last stage began, and how much of it was done then."""

    def report(self, stage: str, done: int, total: int, unit: str) -> None:
        """The stage has come so far; see `Progress`."""
        with self._changed:
            if not self._stages or self._stages[-1].name != stage:
                self._began = (time.monotonic(), done)
                self._stages.append(Stage(stage))
            self._stages[-1] = Stage(stage, done, total, unit, self._left(done, total))

    def now(self) -> tuple[Stage, ...]:
        """All stages so far."""
        with self._changed:
            return tuple(self._stages)

    def _left(self, done: int, total: int) -> float | None:
        at, before = self._began
        seconds = time.monotonic() - at
        if seconds < _SURE_AFTER or done <= before or total <= done:
            return None
        return seconds / (done - before) * (total - done)
