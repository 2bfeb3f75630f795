"""Transactions on the database of a library: SQLite in its folder, or PostgreSQL by URL."""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from assistant.settings import Settings
from retrieval.types import InputError, LibraryError

FILE = "conversations.sqlite"
"""The SQLite file's name in the library's folder."""
_MIGRATIONS = Path(__file__).with_name("migrations")
_SECONDS = 10
"""Seconds that a write waits for another one, and a connection for the server."""
_UPGRADE_LOCK = 7_860_001
"""Any number: two processes that start together upgrade one after the other."""
_EXPECTED = "expected sqlite:///FILE or postgresql://USER@HOST/NAME"


class Database:
    """A database of the tables in `tables.py`. Safe for many threads and processes.

    Nothing is opened before the first transaction, which also makes or upgrades the tables.
    """

    def __init__(self, url: str) -> None:
        """Name the database.

        Args:
            url: `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.

        Raises:
            InputError: the URL is of another kind, or the driver is not installed.
        """
        self._url = _checked(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self._lock = threading.Lock()
        self._is_ready = False
        try:
            self._engine = create_engine(self._url, **_options(is_sqlite=self.is_sqlite))
        except ImportError as error:
            raise InputError(
                f"{error.name} is needed for {self.shown}; install it with "
                "`pip install 'abstracts-assistant[postgresql]'`."
            ) from error
        if self.is_sqlite:
            event.listen(self._engine, "connect", _prepare_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)

    @property
    def shown(self) -> str:
        """The file or the URL without its password, for messages."""
        return self._url.database or "" if self.is_sqlite else str(self._url)

    @property
    def exists(self) -> bool:
        """Whether a SQLite database has its file; a server's always has."""
        return not self.is_sqlite or Path(self._url.database or "").exists()

    def close(self) -> None:
        """Close the connections that are kept open; a later transaction opens others."""
        self._engine.dispose()

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that changes nothing.

        Raises:
            LibraryError: the database cannot be reached, read or upgraded.
        """
        return self._transaction(writes=False)

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that is kept whole, or not at all if the block raises.

        Raises:
            LibraryError: the database cannot be reached, written or upgraded.
        """
        return self._transaction(writes=True)

    def now(self, connection: Connection) -> float:
        """Seconds since 1970 on the one clock of all processes: the server's if there is one."""
        if self.is_sqlite:
            return time.time()
        return float(
            connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one()
        )

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        try:
            self._make_ready()
            with self._engine.execution_options(writes=writes).begin() as connection:
                yield connection
        except (SQLAlchemyError, CommandError) as error:
            raise LibraryError(self._sentence(error)) from error

    def _make_ready(self) -> None:
        """Make or upgrade the tables, once; again if a SQLite file was moved away."""
        with self._lock:
            if self._is_ready and self.exists:
                return
            with self._engine.execution_options(writes=True).begin() as connection:
                if not self.is_sqlite:
                    connection.execute(select(func.pg_advisory_xact_lock(_UPGRADE_LOCK)))
                config = Config()
                config.set_main_option("script_location", str(_MIGRATIONS))
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
            self._is_ready = True

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, CommandError):
            return (
                f"The conversations in {self.shown} were kept by a newer version of the assistant; "
                "update this one, or name another database."
            )
        why = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())[:300]
        if self.is_sqlite:
            return (
                f"The conversations in {self.shown} cannot be read or written ({why}); "
                "see that the disk has room, or move the file away."
            )
        return (
            f"The database {self.shown} cannot be used ({why}); see that the server is up, and "
            "that name, password and rights in --database are right."
        )


def database_of(settings: Settings) -> Database:
    """The database that the settings name; by default a SQLite file in the library's folder.

    Raises:
        InputError: see `Database`.
    """
    own = URL.create("sqlite", database=str(settings.home / FILE))
    return Database(settings.database or own.render_as_string())


def _checked(url: str) -> URL:
    """The URL with the driver that is used here."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = ""
    if backend == "sqlite":
        return parsed.set(drivername="sqlite+pysqlite")
    if backend in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    shown = url.rsplit("@", 1)[-1]
    raise InputError(f"The database {shown!r} cannot be used; {_EXPECTED}.")


def _options(*, is_sqlite: bool) -> dict[str, Any]:
    if is_sqlite:
        return {"poolclass": NullPool, "connect_args": {"timeout": _SECONDS}}
    settings = f"-c lock_timeout={_SECONDS}s -c statement_timeout={6 * _SECONDS}s"
    return {
        "pool_pre_ping": True,  # a server that was started again is not noticed otherwise
        "connect_args": {"connect_timeout": _SECONDS, "options": settings},
    }


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # `_begin_sqlite` begins transactions
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # overwrites deleted rows


def _begin_sqlite(connection: Connection) -> None:
    """Take the lock of writers at once: later, SQLite would refuse it without waiting."""
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
