"""Signing in: the login page, limits on failed attempts, and sessions."""

import asyncio
import hashlib
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
from fastapi.responses import HTMLResponse
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

LIFETIME = 7 * 24 * 3600
"""Seconds of a session."""
_MAX_SESSIONS = 10_000
"""Sessions at once; above this the oldest end."""
_BY_ADDRESS = RateLimitItemPerMinute(10, namespace="address")
"""Failures from one address."""
_BY_NAME = RateLimitItemPerMinute(20, namespace="name")
"""Failures for one name, from any address."""
_MAX_WAIT = 10.0
"""Seconds that an attempt may wait for its turn."""
_TEMPLATE = Path(__file__).with_name("login.html")


def login_page(status: int = 200, problem: str = "", name: str = "") -> HTMLResponse:
    """The login page, with a problem to show and the name that was typed."""
    return HTMLResponse(_template().render(problem=problem, name=name), status)


class TooManyAttempts(Exception):  # noqa: N818 - it reports a limit, not a fault
    """No attempt may be made now."""

    def __init__(self, seconds: float) -> None:
        """Allow the next attempt in `seconds`, rounded up."""
        super().__init__(seconds)
        self.seconds = max(1, math.ceil(seconds))


class Attempts:
    """Verifies one password or key at a time: each costs processor time and 64 MiB."""

    def __init__(self) -> None:
        """Count no failure yet."""
        self._failures = MovingWindowRateLimiter(MemoryStorage())
        self._turn = asyncio.Lock()

    async def make(self, address: str, name: str, verify: Callable[[], str | None]) -> str | None:
        """Run `verify` in a thread and return its result; None counts as a failure.

        Raises:
            TooManyAttempts: too many have failed or are waiting.
        """
        counted = ((_BY_ADDRESS, address), (_BY_NAME, name))
        try:
            await asyncio.wait_for(self._turn.acquire(), _MAX_WAIT)
        except TimeoutError:
            raise TooManyAttempts(_MAX_WAIT) from None
        try:
            for limit, of in counted:
                if not self._failures.test(limit, of):
                    reset = self._failures.get_window_stats(limit, of).reset_time
                    raise TooManyAttempts(reset - time.time())
            found = await asyncio.to_thread(verify)
            for limit, of in counted if found is None else ():
                self._failures.hit(limit, of)
        finally:
            self._turn.release()
        return found


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user."""

    name: str
    password: str
    """Hash of the password at sign-in; the session ends when the password changes."""
    until: float
    """Seconds on the clock of `Sessions`."""


class Sessions:
    """The sessions by the hashes of their tokens, so that memory holds no token."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without sessions."""
        self._clock = clock
        self._sessions: dict[str, Session] = {}

    def begin(self, name: str, password: str) -> str:
        """Begin a session; returns its token, 256 random bits."""
        token = secrets.token_urlsafe(32)
        self._sessions[_hash(token)] = Session(name, password, self._clock() + LIFETIME)
        if len(self._sessions) > _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return token

    def find(self, token: str) -> Session | None:
        """The session of a token; None if there is none or it has ended."""
        session = self._sessions.get(_hash(token))
        return session if session and self._clock() < session.until else None

    def end(self, token: str) -> None:
        """End the session of a token."""
        self._sessions.pop(_hash(token), None)


def _hash(token: str) -> str:
    """A quick hash is enough for a random token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(_TEMPLATE.read_text("utf-8"))
