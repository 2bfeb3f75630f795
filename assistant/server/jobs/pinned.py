"""The job that asks pinned questions again after the library has changed."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from assistant.pipeline.assistant import Assistant
from assistant.research.pinned import ask_due
from assistant.research.pinned_store import Pins
from assistant.server.jobs.queue import RequestQueue
from retrieval.types import Cancelled, NotReadyError, UserError

_POLL_SECONDS = 0.5
_LOOK_SECONDS = 60.0
"""Seconds after which it looks by itself: the process that asked may have died."""


class PinnedJobs:
    """Asks what is due in a thread of its own, whenever nobody waits for the model."""

    def __init__(self, pins: Pins, assistant: Callable[[], Assistant], queue: RequestQueue) -> None:
        """Start nothing yet; `assistant` may raise `NotReadyError`."""
        self._pins = pins
        self._assistant = assistant
        self._queue = queue
        self._woken = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pinned", daemon=True)

    def start(self) -> None:
        """Start the thread; it first asks what is due since the last start."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Ask what is due: a question was pinned, or the library has changed."""
        self._woken.set()

    def close(self) -> None:
        """Stop, now and from now on."""
        self._closed.set()
        self._woken.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._woken.wait(_LOOK_SECONDS)
            self._woken.clear()
            while not self._closed.is_set() and not self._has_asked():
                self._closed.wait(_POLL_SECONDS)

    def _has_asked(self) -> bool:
        """Ask what is due; False if people's questions come first, or there is no assistant yet."""
        if len(self._queue):
            return False
        try:
            for _ in ask_due(self._pins, self._assistant(), self._gives_way, turn=self._turn):
                pass
        except (Cancelled, NotReadyError):
            return False
        except UserError as error:
            print(f"assistant: {error}", file=sys.stderr, flush=True)
        return True

    def _gives_way(self) -> bool:
        return self._closed.is_set() or len(self._queue) > 1

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._queue.enter() as ticket:
            while not ticket.wait(_POLL_SECONDS):
                if self._closed.is_set():
                    raise Cancelled
            yield
