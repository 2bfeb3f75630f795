"""Who is signed in: kept in memory, so that a restart signs everybody out."""

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

LIFETIME = 7 * 24 * 3600
"""Seconds from signing in to having to do so again."""
_MOST = 10_000
"""Sessions at once; the oldest give way."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has signed in."""

    name: str
    password: str
    """The hash that their password matched: with another password the session ends."""
    until: float
    """On the clock of `Sessions`, seconds."""


class Sessions:
    """The sessions by the hash of their token: memory holds nothing that opens one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody has signed in yet."""
        self._clock = clock
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def begin(self, name: str, password: str) -> str:
        """A new session; returns its token, 256 random bits."""
        self._forget_old()
        token = secrets.token_urlsafe(32)
        until = self._clock() + LIFETIME
        self._sessions[_hash(token)] = Session(name, password, until)
        return token

    def find(self, token: str) -> Session | None:
        """The session of a token, if it has not ended."""
        session = self._sessions.get(_hash(token))
        return session if session and self._clock() < session.until else None

    def end(self, token: str) -> None:
        """Sign out."""
        self._sessions.pop(_hash(token), None)

    def _forget_old(self) -> None:
        now = self._clock()
        for token, session in list(self._sessions.items()):
            # In the order of their beginning, and so of their end.
            if now < session.until and len(self._sessions) < _MOST:
                break
            del self._sessions[token]


def _hash(token: str) -> str:
    """A token is random enough that a quick hash hides it."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
