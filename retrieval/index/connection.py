"""Chroma, embedded: opened for one folder and used in turns; and the client of a server.

No other module imports Chroma. It has two collections: `chunks` has every chunk with its vector;
`papers` has every record and the number of its chunks, with a meaningless vector, since Chroma
requires one.

Chroma alone supports neither several processes nor sudden ends:

- A process with an open collection does not see all writes of another one, and fails once that one
  shortens the log. Hence the turns: one call at a time on this machine, and a process opens the
  collections again if another one has written.
- From time to time Chroma overwrites the files of a collection's vectors; if it is killed then, or
  if they are damaged on disk, it cannot read them again, or crashes. Hence the journal of their
  checksums: if they differ, all vector files are removed and the chunks dropped, to be made again
  from the records. The records are in SQLite, and the vectors of `papers` mean nothing.
"""

import shutil
import sys
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import chromadb
import filelock
import httpx
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from retrieval.index.files import Journal
from retrieval.types import LibraryError

DATABASE = "chroma.sqlite3"

ANSWERED_ERRORS = (ChromaError,)
"""A server of Chroma refused what was asked."""
MISSING = NotFoundError
"""Chroma has no such tenant, database or collection."""
UNREACHED = httpx.TransportError
"""No answer came; the request may have been carried out."""

SYNC_THRESHOLD = 1000
"""New vectors after which Chroma saves all vectors of a collection."""

SERVER_SYNC_THRESHOLD = 5000
"""The same on a server, where it stays as it is: with 1,000, 100,000 papers take twice as long."""

_HNSW: dict[str, dict[str, Any]] = {
    "chunks": {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 24},
    "papers": {"space": "l2", "ef_construction": 1, "max_neighbors": 2},
}
"""How the vectors of each collection are linked."""


class Connection:
    """Chroma's client for one folder, shared within this process, and the turns to use it."""

    keeps_files = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal = Journal(folder.with_name(f"{folder.name}.json"), self._vector_files)
        self.seen = ""
        """The revision of the files when the collections were opened."""
        self._threads = threading.Lock()
        self._processes = filelock.FileLock(
            folder.with_name(f"{folder.name}.lock"), thread_local=False
        )
        self._client: Client | None = None
        self.chunks: Collection
        self.papers: Collection
        self._since, self._touched = "", set[str]()

    @contextmanager
    def turn(self, *, writing: bool = False) -> Iterator[None]:
        """Use Chroma exclusively, with its collections up to date.

        Raises `LibraryError` if the folder cannot be read or written, or the store is damaged.
        """
        try:
            with self.alone():
                self._catch_up()
                if writing:
                    self.seen = self._journal.begin()
                try:
                    yield
                finally:
                    # Chroma may have failed halfway; a Ctrl-C only comes after its calls.
                    error = sys.exception()
                    has_failed = isinstance(error, Exception) or _is_panic(error)
                    # Chroma saves vectors also when it reads them.
                    if not has_failed and (writing or self._journal.have_changed()):
                        self.seen = self._journal.end()
        except BaseException as error:
            known = isinstance(error, ChromaError | OSError | ValueError | RuntimeError)
            if not known and not _is_panic(error):
                raise
            raise LibraryError(
                f"The library in {self._folder.parent} cannot be read or written "
                f"({' '.join(str(error).split())[:200]}); check that the folder is writable and "
                "the disk has room, run `assistant doctor --repair`, or ingest the files again "
                "with another --home."
            ) from error

    def begin(self, revision: str) -> None:
        """Note the papers that are touched from this revision on."""
        self._since, self._touched = revision, set()

    def touch(self, ids: Iterable[str]) -> None:
        """Note that these papers are written or deleted."""
        self._touched.update(ids)

    def touched_since(self, revision: str) -> set[str] | None:
        """The ids of the papers touched since; None if that is not known."""
        return set(self._touched) if revision and revision == self._since else None

    def sync_every(self, vectors: int) -> None:
        """Have Chroma save the chunks' vectors after every `vectors` new ones."""
        if self.chunks.configuration_json["hnsw"].get("sync_threshold") != vectors:
            with warnings.catch_warnings():
                # Chroma mistakes collections without its embedding function for old ones.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.chunks.modify(configuration={"hnsw": {"sync_threshold": vectors}})
            self._open()  # the setting takes effect when the collection is opened

    def drop_vectors(self) -> None:
        """Remove all vectors and chunks; they can be made again from the records, which stay."""
        self.close()
        for folder in self._folder.glob("*/"):
            shutil.rmtree(folder)
        client = self._open()
        client.delete_collection("chunks")
        self.chunks = _collection(client, "chunks")

    @property
    def is_gone(self) -> bool:
        """Whether the database is missing or empty, though there was one."""
        database = self._folder / DATABASE
        is_there = database.exists() and database.stat().st_size > 0
        return not is_there and bool(self._journal.read().revision)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let nothing else use the files inside, in this process and in others."""
        with self._threads, self._processes.acquire(poll_interval=0.005):
            yield

    def replace(self, database: Path) -> None:
        """Put another database, without vectors, in the place of this one; inside `alone`."""
        self.close()
        for rest in self._folder.glob(f"{DATABASE}-*"):  # they would be written into the new one
            rest.unlink()
        database.replace(self._folder / DATABASE)
        for folder in self._folder.glob("*/"):
            shutil.rmtree(folder)
        self._journal.end()

    def _catch_up(self) -> None:
        entry = self._journal.read()
        if self._client is not None and self.seen == entry.revision:
            return
        if self.is_gone:
            raise RuntimeError("its database is gone")
        self.seen = entry.revision
        if is_torn := self._journal.is_torn(entry):  # to load torn vectors can crash the process
            self.drop_vectors()
        else:
            self._open()
        if is_torn or entry.writing or entry.files is None:
            self.seen = self._journal.end()

    def _vector_files(self) -> list[Path]:
        """The files of collections whose vectors were ever saved."""
        written = self._folder.glob("*/index_metadata.pickle")
        return [path for pickle in written for path in pickle.parent.iterdir()]

    def close(self) -> None:
        """Close the database; the next turn opens it again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _open(self) -> Client:
        self.close()
        try:
            opened = self._new_client()
        except RuntimeError:  # Chroma had kept what it could not open before
            opened = self._new_client()
        try:
            self.chunks, self.papers = _collection(opened, "chunks"), _collection(opened, "papers")
        except BaseException:  # the next turn opens it again
            opened.close()
            raise
        self._client = opened
        return opened

    def _new_client(self) -> Client:
        settings = Settings(anonymized_telemetry=False)
        try:
            return cast("Client", chromadb.PersistentClient(str(self._folder), settings=settings))
        except AttributeError as error:  # Chroma closes what it could not open
            raise RuntimeError("the database cannot be opened") from error


@cache
def connection(folder: Path) -> Connection:
    """The connection of this process to a folder (absolute)."""
    return Connection(folder)


@contextmanager
def alone(folder: Path) -> Iterator[Connection]:
    """Let nothing else use the store in `folder` inside; see `Connection.alone`."""
    opened = connection(folder.resolve())
    with opened.alone():
        yield opened


class RefusedError(Exception):
    """A server, or a proxy before it, answered with a status that is not Chroma's own."""

    def __init__(self, status: int, answer: str) -> None:
        """The HTTP status and the beginning of the answer."""
        super().__init__(f"status {status}: {' '.join(answer.split())[:100]}")
        self.status = status


class _ServerClient(Client):
    """Chroma's client of a server, as of `chromadb.HttpClient`; one that fails is closed."""

    def __init__(self, url: str, headers: dict[str, str], tenant: str, database: str) -> None:
        """Asks the server whether tenant and database are there."""
        settings = Settings(
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=url,
            chroma_server_http_port=8000,  # not looked at, as the host is a whole URL
            chroma_server_headers=dict(headers),
        )
        try:
            super().__init__(tenant=tenant, database=database, settings=settings)
        except BaseException:  # nobody else gets hold of its two sessions
            for part in (self, getattr(self, "_admin_client", None)):
                if server := getattr(part, "_server", None):
                    server._session.close()
            raise


def server_client(
    url: str, headers: dict[str, str], seconds: float, tenant: str, database: str
) -> Any:  # Chroma's client, whose types differ between versions
    """A client of Chroma's server.

    Raises what Chroma or httpx raise; each request ends after `seconds` without an answer.
    """
    # Chroma's own first requests have no limit of time and lose the status of a proxy's answer.
    first = httpx.get(f"{url}/api/v2/auth/identity", headers=headers, timeout=seconds)
    _check_status(first)
    first.json()
    client: Any = _ServerClient(url, headers, tenant, database)
    session: httpx.Client = client._server._session
    session.timeout = httpx.Timeout(seconds)
    session.event_hooks = {"response": [_check_status]}
    # Chroma leaves both of its sessions open; the second one has done all it is for.
    weakref.finalize(client, session.close)
    client._admin_client._server._session.close()
    return client


def server_collection(client: Any, name: str, kind: str, metadata: dict[str, Any] | None) -> Any:
    """A collection of a server, made if it is missing; `kind` is `chunks` or `papers`."""
    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        settings: Any = {"hnsw": {**_HNSW[kind], "sync_threshold": SERVER_SYNC_THRESHOLD}}
        with suppress(ChromaError):  # another process may have just made it
            return client.create_collection(
                name, configuration=settings, metadata=metadata, embedding_function=None
            )
        return client.get_collection(name, embedding_function=None)


def _check_status(response: httpx.Response) -> None:
    if response.is_success:
        return
    answer = response.read().decode("utf-8", "replace")
    if response.status_code in {401, 403, 502, 503, 504} or '"error"' not in answer:
        raise RefusedError(response.status_code, answer)


def _collection(client: Client, name: str) -> Collection:
    settings: Any = {"hnsw": {**_HNSW[name], "sync_threshold": SYNC_THRESHOLD}}
    return client.get_or_create_collection(name, configuration=settings, embedding_function=None)


def _is_panic(error: BaseException | None) -> bool:
    """Whether Chroma's compiled part has given up, which is no `Exception`."""
    return type(error).__name__ == "PanicException"
