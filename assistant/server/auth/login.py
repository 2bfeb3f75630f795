"""Signing in: the login page, limits on failed attempts, and sessions."""

import asyncio
import hashlib
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
from fastapi.responses import HTMLResponse
from sqlalchemy import delete, insert, select

from assistant.storage.database import Database
from assistant.storage.tables import FAILURES, SESSIONS

LIFETIME = 7 * 24 * 3600
"""Seconds of a session."""
_MAX_SESSIONS = 10_000
"""Sessions at once; above this the oldest end."""
_WINDOW = 60.0
"""Seconds that a failure counts."""
_BY_ADDRESS = 10
"""Failures from one address in the window."""
_BY_NAME = 20
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
    """Verifies one password or key at a time: each costs processor time and 64 MiB.

    Failures are counted in the database, for all app processes together.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = asyncio.Lock()

    async def make(self, address: str, name: str, verify: Callable[[], str | None]) -> str | None:
        """Run `verify` in a thread and return its result; None counts as a failure.

        Raises:
            TooManyAttempts: too many have failed or are waiting.
            LibraryError: the database cannot be used.
        """
        counted = ((f"address {address}", _BY_ADDRESS), (f"name {name}", _BY_NAME))
        try:
            await asyncio.wait_for(self._turn.acquire(), _MAX_WAIT)
        except TimeoutError:
            raise TooManyAttempts(_MAX_WAIT) from None
        try:
            return await asyncio.to_thread(self._make, counted, verify)
        finally:
            self._turn.release()

    def _make(
        self, counted: Sequence[tuple[str, int]], verify: Callable[[], str | None]
    ) -> str | None:
        table = FAILURES.c
        with self._database.writing() as connection:
            now = self._database.now(connection)
            connection.execute(delete(FAILURES).where(table.at <= now - _WINDOW))
            for of, limit in counted:
                query = select(table.at).where(table.of == of).order_by(table.at.desc())
                failures = connection.scalars(query.limit(limit)).all()
                if len(failures) == limit:
                    raise TooManyAttempts(failures[-1] + _WINDOW - now)
        found = verify()
        if found is None:
            with self._database.writing() as connection:
                now = self._database.now(connection)
                rows = [{"of": of, "at": now} for of, _ in counted]
                connection.execute(insert(FAILURES), rows)
        return found


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user."""

    name: str
    password: str
    """Hash of the password at sign-in; the session ends when the password changes."""


class Sessions:
    """The sessions by the hashes of their tokens, so that the database holds no token.

    Every app process finds them there.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, name: str, password: str) -> str:
        """Begin a session; returns its token, 256 random bits."""
        token = secrets.token_urlsafe(32)
        table = SESSIONS.c
        oldest_kept = select(table.until).order_by(table.until.desc()).offset(_MAX_SESSIONS - 1)
        with self._database.writing() as connection:
            now = self._database.now(connection)
            row = {"token": _hash(token), "name": name, "password": password}
            connection.execute(insert(SESSIONS).values(**row, until=now + LIFETIME))
            least = connection.scalars(oldest_kept.limit(1)).first() or now
            connection.execute(delete(SESSIONS).where(table.until < max(least, now)))
        return token

    def find(self, token: str) -> Session | None:
        """The session of a token; None if there is none or it has ended."""
        table = SESSIONS.c
        query = select(table.name, table.password).where(table.token == _hash(token))
        with self._database.reading() as connection:
            row = connection.execute(query.where(table.until > self._database.now(connection)))
            found = row.first()
        return Session(*found) if found else None

    def end(self, token: str) -> None:
        """End the session of a token."""
        with self._database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.token == _hash(token)))


def _hash(token: str) -> str:
    """A quick hash is enough for a random token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(_TEMPLATE.read_text("utf-8"))
