"""The lease of the one writer to a library on a server of Chroma.

Chroma has no compare-and-set, but of several processes that make a collection of one name exactly
one succeeds. So each lease is a collection with a number of its own: the highest one counts, and a
process that wants the next lease makes the next number. The holder renews it every few seconds. A
lease is free once it is released, or once a waiting process has seen no renewal for `EXPIRY`
seconds on its own clock. Times of two machines decide only whether to wait or to refuse at once: a
wrong clock may make somebody come again `EXPIRY` seconds later, and never takes a lease from a
living holder.

What is left: a process that is stopped between the check of its lease and its request, for longer
than `EXPIRY`, may still send this one request. It writes by id what belongs there, and
`assistant doctor` finds it if it does not fit.
"""

import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from retrieval.index.connection import ANSWERED_ERRORS, MISSING, UNREACHED, RefusedError
from retrieval.types import LibraryError, LibraryInUseError

EXPIRY = 20.0
"""Seconds without renewal after which a lease is free."""
RENEWAL = 4.0
"""Seconds between two renewals."""
_WATCH = 0.5
_PAGE = 100


def now() -> float:
    """Seconds of a clock that also runs while this machine sleeps."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


def _here() -> str:
    """Names the space of process ids of this process."""
    with suppress(OSError):
        return f"{socket.gethostname()} {Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname()


class Lease:
    """One attempt to be the writer."""

    def __init__(self, client: Any, name: str, where: str) -> None:
        """Nothing is asked yet; `name` begins the names of the collections."""
        self._client, self._name, self._where = client, name, where
        self._mine: Any = None
        self._renewed, self._beats = 0.0, 0
        self._lost = False
        self._ended, self._one = threading.Event(), threading.Lock()

    def acquire(self) -> None:
        """Take the lease; waits for an expiry only if nobody seems to hold it.

        Raises:
            LibraryInUseError: another process is writing.
        """
        last = self._last()
        if last is not None and not self._is_free(last[1]):
            self._refuse(last[1])
        number = last[0] + 1 if last else 1
        try:
            self._mine = self._client.create_collection(
                f"{self._name}-{number}", metadata=self._fields(), embedding_function=None
            )
        except ANSWERED_ERRORS:
            if (other := self._last()) is None or other[0] < number:
                raise
            self._refuse(other[1])
        self._renewed = now()
        newest = self._last()
        if newest is not None and newest[0] > number:  # this number was used and removed before
            self._remove(number)
            self._refuse(newest[1])
        for each in self._numbers():
            if each < number:
                self._remove(each)
        threading.Thread(target=self._keep, daemon=True).start()

    def holder(self) -> str:
        """Who has the lease, in a sentence."""
        last = self._last()
        if last is None or (fields := last[1].metadata or {}).get("released"):
            return "Nobody is writing."
        seconds = time.time() - float(fields.get("at", 0))
        return (
            f"Process {fields.get('process')} on {_host(fields)} is writing; its lease was renewed "
            f"{seconds:.0f} seconds ago by its clock."
        )

    def release(self) -> None:
        """Free the lease; if the server does not answer, it expires."""
        self._ended.set()
        with self._one, suppress(Exception):
            self._mine.modify(metadata={**self._fields(), "released": True})

    def check(self) -> None:
        """Raise `LibraryError` if this process is not the writer any more."""
        if not self._lost and now() - self._renewed > 2 * RENEWAL:
            try:
                self._renew()
            except (UNREACHED, RefusedError):
                if now() - self._renewed > EXPIRY:  # else it is held, whatever the server does
                    raise
        if self._lost:
            raise LibraryError(
                f"This process was stopped or cut off from the library {self._where} for more than "
                f"{EXPIRY:.0f} seconds, and another one writes there now; run the command again."
            )

    def _keep(self) -> None:
        while not self._ended.wait(RENEWAL):
            with suppress(UNREACHED, RefusedError):  # the next one may come through
                self._renew()
            if self._lost:
                return

    def _renew(self) -> None:
        with self._one:
            if self._ended.is_set():
                return
            self._beats += 1
            try:
                self._mine.modify(metadata=self._fields())
                self._renewed = now()
            except MISSING:  # the next holder removes the leases before its own
                self._lost = True

    def _fields(self) -> dict[str, Any]:
        return {
            "host": _here(),
            "process": os.getpid(),
            "beat": self._beats,
            "at": time.time(),
            "released": False,
        }

    def _is_free(self, found: Any) -> bool:
        """Whether the lease was released, or its holder does not renew it."""
        fields = found.metadata or {}
        if fields.get("released") or _has_ended(fields):
            return True
        if 0 <= time.time() - float(fields.get("at", 0)) < EXPIRY:
            return False
        begun = now()
        while now() - begun < EXPIRY:
            time.sleep(_WATCH)
            last = self._last()
            if last is None or last[1].name != found.name:
                return False
            if (later := last[1].metadata or {}) != fields:
                return bool(later.get("released"))
        return True

    def _refuse(self, holder: Any) -> None:
        fields = holder.metadata or {}
        raise LibraryInUseError(
            f"The library {self._where} is being written by process {fields.get('process')} on "
            f"{_host(fields)}; wait until it has finished, or if it was killed "
            f"{EXPIRY:.0f} seconds."
        )

    def _numbers(self) -> dict[int, Any]:
        start = f"{self._name}-"
        found: dict[str, Any] = {}
        read = 0  # not those found: one made meanwhile moves others, which are read twice
        while page := self._client.list_collections(_PAGE, read):
            found |= {each.name: each for each in page}
            read += len(page)
        numbers = {name.removeprefix(start): name for name in found if name.startswith(start)}
        return {int(number): found[name] for number, name in numbers.items() if number.isdecimal()}

    def _last(self) -> tuple[int, Any] | None:
        return max(self._numbers().items(), default=None, key=lambda pair: pair[0])

    def _remove(self, number: int) -> None:
        with suppress(*ANSWERED_ERRORS):
            self._client.delete_collection(f"{self._name}-{number}")


def _host(fields: dict[str, Any]) -> str:
    return str(fields.get("host", "another machine")).split(" ", 1)[0]


def _has_ended(fields: dict[str, Any]) -> bool:
    """Whether the holder was a process of this machine that is gone."""
    if fields.get("host") != _here():
        return False
    try:
        os.kill(int(fields["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError):
        return False
    return False
