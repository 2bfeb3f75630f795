"""How often passwords and keys may be tried."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

_MINUTE = 60.0
_BY_ADDRESS = 10
"""Failures a minute from one address."""
_BY_NAME = 20
"""Failures a minute for one name, from wherever."""
_NAMES = 10_000
"""Names and addresses that are remembered."""
_WAITING = 16
"""Who may wait for a hash to be computed."""
_PATIENCE = 10.0
"""Seconds for which they may."""


class TooManyAttempts(Exception):  # noqa: N818 - it reports a limit, not a fault
    """No further attempt is made now."""

    def __init__(self, seconds: float) -> None:
        """Worth another attempt in so many seconds."""
        super().__init__(seconds)
        self.seconds = max(1, math.ceil(seconds))


class Failures:
    """Failures of the last minute."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        """So many are allowed to each name."""
        self._limit = limit
        self._clock = clock
        self._times: dict[str, deque[float]] = {}

    def note(self, name: str) -> None:
        """One more."""
        times = self._times.pop(name, deque(maxlen=self._limit))
        times.append(self._clock())
        self._times[name] = times  # the last to fail is the last to be forgotten
        if len(self._times) > _NAMES:
            del self._times[next(iter(self._times))]

    def seconds_left(self, name: str) -> float:
        """Until the next attempt is allowed; 0 if it is now."""
        times = self._times.get(name)
        if times is None or len(times) < self._limit:
            return 0.0
        return max(0.0, times[0] + _MINUTE - self._clock())


class Attempts:
    """Attempts one after the other: each costs processor time and 64 MiB."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """None has been made yet."""
        self._by_address = Failures(_BY_ADDRESS, clock)
        self._by_name = Failures(_BY_NAME, clock)
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def make(self, address: str, name: str, verify: Callable[[], str | None]) -> str | None:
        """What `verify` finds, in a thread of its own; nothing counts as a failure.

        Raises:
            TooManyAttempts: too many have failed or wait.
        """
        await self._wait_for_turn()
        found = None
        try:
            left = max(self._by_address.seconds_left(address), self._by_name.seconds_left(name))
            if left:
                raise TooManyAttempts(left)
            found = await asyncio.to_thread(verify)
            if found is None:
                self._by_address.note(address)
                self._by_name.note(name)
        finally:
            self._turn.release()
        return found

    async def _wait_for_turn(self) -> None:
        if self._waiting >= _WAITING:
            raise TooManyAttempts(1)
        self._waiting += 1
        try:
            await asyncio.wait_for(self._turn.acquire(), _PATIENCE)
        except TimeoutError:
            raise TooManyAttempts(_PATIENCE) from None
        finally:
            self._waiting -= 1
