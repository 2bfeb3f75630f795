"""The adapter of a place for a server of Chroma, which several processes and machines may share.

A library has four kinds of collections there, whose names begin with its prefix: `chunks`,
`papers` (with the manifest as its metadata), `changes` (which papers each write touched, numbered)
and `writer` (the lease of the one writer, see `lease.py`). The revision is a name of the numbering
and the last number; a replica that knows an earlier number reads which papers have changed since.
"""

import json
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import filelock
import tenacity

from retrieval.index.connection import (
    MISSING,
    server_client,
    server_collection,
)
from retrieval.index.lease import Lease
from retrieval.index.manifest import Manifest, UnfinishedCopyError, manifest_of, manifest_text
from retrieval.index.place import make_home
from retrieval.index.server_errors import Address, explained, may_pass, nonsense
from retrieval.types import InputError, LibraryError, LibraryInUseError

SECONDS = 60.0
"""Time in which a request must be answered."""
PATIENCE = 20.0
"""Time in which a request that failed is repeated, enough for a server to start again."""
MOST_CHANGES = 2000
"""Noted writes from which the numbering begins anew, so that replicas make their indexes anew."""
_PAGE = 500
_MANIFEST = "manifest"
_VERSION = "1."


def address_of(text: str, token_file: Path | None = None) -> Address:
    """The address of `http://host:port?tenant=…&database=…&prefix=…`; the last three as needed.

    Raises:
        InputError: it is no such URL, or the file of the token cannot be read.
    """
    parts = urlsplit(text)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(given.keys() - {"tenant", "database", "prefix"})
    try:
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or unknown or not all(given.values()):
        wrong = f"it has the unknown part {unknown[0]!r}" if unknown else "it is no such URL"
        raise InputError(
            f"The Chroma server cannot be {text!r}: {wrong}; give http://HOST:PORT or "
            "https://HOST:PORT, if needed with ?tenant=NAME&database=NAME&prefix=NAME."
        )
    token = ""
    if token_file:
        try:
            token = token_file.expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"The token file {token_file} cannot be read ({error}); name a text file with "
                "nothing but the token."
            ) from error
    port = f":{parts.port}" if parts.port else (":8000" if parts.scheme == "http" else "")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return Address(f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}", token=token, **given)


class ServerConnection:
    """The collections of a library on a server; requests that failed on the way are repeated.

    Each may be carried out twice without harm: what is written is written by id.
    """

    keeps_files = False

    def __init__(self, address: Address) -> None:
        self.address = address
        self.where = f"at {address.url} ({address.prefix!r})"
        self._client: Any = None
        self.version = ""
        self._opened: dict[str, Any] = {}
        self.chunks, self.papers = _Collection(self, "chunks"), _Collection(self, "papers")
        self.changes = _Collection(self, "changes")
        self.check_lease: Callable[[], None] = _nobody
        """Raises `LibraryError` if this process is not the writer."""
        self.writes = False
        """Whether this process is the writer."""
        self.changes_noted = 0
        """The number of the last change, known to the writer."""

    @contextmanager
    def turn(self, *, writing: bool = False) -> Iterator[None]:
        """Make requests inside; their errors become `LibraryError`."""
        try:
            if writing:
                self.check_lease()
            yield
        except (LibraryError, InputError):
            raise
        except Exception as error:
            if (said := explained(error, self.address)) is None:
                raise
            raise LibraryError(said) from error

    @property
    def seen(self) -> str:
        """The revision in the manifest."""
        manifest = self.manifest()
        return manifest.revision if manifest else ""

    def manifest(self) -> Manifest | None:
        """The manifest; None if the library has none yet."""
        with self.turn():
            fields = self._metadata()
            if fields is None:
                return None
            if _MANIFEST not in fields:
                raise LibraryError(
                    f"The collection {self.name_of('papers')!r} at {self.address.url} was not made "
                    "by this program; name another prefix, as ?prefix=NAME in --chroma."
                )
            return manifest_of(fields[_MANIFEST], f"The manifest of the library {self.where}")

    def set_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest; a new library is made with it, unless another process was first."""
        with self.turn(writing=True):
            fields = {_MANIFEST: manifest_text(manifest)}
            if self._metadata() is not None:
                self.papers.modify(metadata=fields)
                return
            self._collection("chunks")
            self._collection("changes")
            self._opened["papers"] = self._made("papers", fields)

    def _metadata(self) -> dict[str, Any] | None:
        """The metadata of the collection of papers; None if there is none."""

        def read() -> dict[str, Any] | None:
            try:
                found = self.client().get_collection(
                    self.name_of("papers"), embedding_function=None
                )
            except MISSING:
                return None
            self._opened["papers"] = found
            return found.metadata or {}

        fields: dict[str, Any] | None = _retried(read)
        return fields

    def touch(self, ids: Iterable[str]) -> None:
        """Note the papers under the next number, before they are written."""
        listed, number = sorted(ids), self.changes_noted + 1
        self.changes.upsert(
            ids=[f"{number:09}"], embeddings=[[1.0]], documents=[json.dumps(listed)]
        )
        self.changes_noted = number

    def touched(self, first: int, last: int) -> set[str] | None:
        """The papers noted under these numbers; None if some are missing."""
        noted: set[str] = set()
        with self.turn():
            for at in range(first, last + 1, _PAGE):
                ids = [f"{number:09}" for number in range(at, min(at + _PAGE, last + 1))]
                got = self.changes.get(ids=ids, include=["documents"])
                if len(got["ids"]) != len(ids):
                    return None
                noted.update(*map(json.loads, got["documents"]))
        return noted

    def forget_changes(self) -> None:
        """Begin the numbering anew."""
        self._drop("changes")
        self.changes_noted = 0

    def sync_every(self, vectors: int) -> None:
        """Left to the server."""

    def drop_vectors(self) -> None:
        """Remove the collection of the chunks and make a new one."""
        self._drop("chunks")

    def _drop(self, kind: str) -> None:
        def drop() -> None:
            self._opened.pop(kind, None)
            try:
                self.client().delete_collection(self.name_of(kind))
            except MISSING:  # it was, and the answer was lost
                return

        _retried(drop)
        self._collection(kind)

    def call(self, kind: str, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of a collection, repeated if it fails on the way."""

        def once() -> Any:
            try:
                return getattr(self._collection(kind), method)(*args, **options)
            except MISSING:  # another process has made the collection anew
                return getattr(self._collection(kind, fresh=True), method)(*args, **options)

        return _retried(once)

    def _collection(self, kind: str, *, fresh: bool = False) -> Any:
        if fresh or kind not in self._opened:
            self._opened[kind] = self._made(kind, None)
        return self._opened[kind]

    def _made(self, kind: str, metadata: dict[str, Any] | None) -> Any:
        """A collection, made if it is missing; that of the papers only with its manifest."""
        name, like = self.name_of(kind), "chunks" if kind == "chunks" else "papers"
        if kind == "papers" and metadata is None:
            return self.client().get_collection(name, embedding_function=None)
        return _retried(lambda: server_collection(self.client(), name, like, metadata))

    def name_of(self, kind: str) -> str:
        """The name of a collection."""
        return f"{self.address.prefix}-{kind}"

    def client(self) -> Any:
        """The client, opened on first use; a server that cannot be reached then is not tried again.

        Raises `LibraryError` if the server cannot be used.
        """
        if self._client is None:
            address, headers = self.address, {}
            if address.token:  # Chroma Cloud takes the second, proxies the first
                headers = {
                    "Authorization": f"Bearer {address.token}",
                    "X-Chroma-Token": address.token,
                }
            try:
                client = server_client(
                    address.url,
                    headers,
                    SECONDS,
                    tenant=address.tenant,
                    database=address.database,
                )
                version = str(client.get_version())
            except Exception as error:
                said = explained(error, address) or nonsense(address, error)
                raise LibraryError(said) from error
            if not version.startswith(_VERSION):
                raise LibraryError(
                    f"The Chroma server at {address.url} has the API {version!r}; this version of "
                    "the program needs 1.x: run `chroma run` of chromadb 1.5 or later."
                )
            self._client, self.version = client, version
        return self._client


class _Collection:
    """A collection whose methods are requests of a connection."""

    def __init__(self, connection: ServerConnection, kind: str) -> None:
        self._connection, self._kind = connection, kind

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *args, **options: self._connection.call(self._kind, method, *args, **options)


class ServerPlace:
    """A library on a server; `home` has the lexical index of this replica."""

    other = "another library (?prefix=NAME in --chroma)"
    database: Path | None = None

    def __init__(self, address: Address, home: Path) -> None:
        """Connect; raises `LibraryError` if the server cannot be used."""
        make_home(home)
        self.connection = ServerConnection(address)
        self.where = self.connection.where
        name = zlib.crc32(f"{address.url} {address.tenant} {address.database}".encode())
        self.lexical = home / f"lexical-{address.prefix}-{name:08x}"
        self._lock = filelock.FileLock(f"{self.lexical}.lock")
        self._numbering = ""

    def read(self) -> Manifest | None:
        """The manifest in the server."""
        try:
            return self.connection.manifest()
        except (ValueError, TypeError) as error:
            raise LibraryError(
                f"The manifest of the library {self.where} is damaged; copy the library there "
                "again with `assistant move`, or ingest the papers with another prefix."
            ) from error

    def write(self, manifest: Manifest) -> Manifest:
        """Write the manifest with the number of the last change as its revision."""
        if not self.connection.writes:  # a new library, perhaps just made by another process, too
            self.connection.set_manifest(replace(manifest, revision=f"{uuid.uuid4().hex}.0"))
            return self.read() or manifest
        numbered = f"{self._numbering}.{self.connection.changes_noted}"
        manifest = replace(manifest, revision=numbered)
        self.connection.set_manifest(manifest)
        return manifest

    def current(self, manifest: Manifest, revision: str) -> str:  # noqa: ARG002
        """That of the manifest in the server, which is also that of the store."""
        return revision

    publish = write

    def has_papers(self) -> bool:
        """Without a manifest there are none: it comes with the collection."""
        return False

    def facts(self) -> tuple[str, ...]:
        """What is known of the server."""
        address, connection = self.connection.address, self.connection
        with connection.turn():
            lease = Lease(connection.client(), connection.name_of("writer"), self.where)
            return (
                f"Chroma server {address.url}, API {connection.version}: tenant "
                f"{address.tenant!r}, database {address.database!r}, prefix {address.prefix!r}.",
                lease.holder(),
            )

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Hold the lease of the library, and the lock of this replica's index."""
        connection = self.connection
        with self.indexer():
            with connection.turn():
                lease = Lease(connection.client(), connection.name_of("writer"), self.where)
                lease.acquire()
            try:
                connection.check_lease, connection.writes = lease.check, True
                self._number()
                yield
            finally:
                connection.check_lease, connection.writes = _nobody, False
                lease.release()

    def _number(self) -> None:
        """Continue the numbering of changes, or begin anew if it is long or an end was cut off."""
        connection, manifest = self.connection, None
        with suppress(UnfinishedCopyError):
            manifest = self.read()
        self._numbering, _, last = (manifest.revision if manifest else "").rpartition(".")
        with connection.turn(writing=True):
            connection.changes_noted = connection.changes.count()
            is_cut = connection.changes_noted < int(last or 0)
            if not self._numbering or is_cut or connection.changes_noted > MOST_CHANGES:
                connection.forget_changes()
                self._numbering = uuid.uuid4().hex

    @contextmanager
    def indexer(self) -> Iterator[None]:
        """Hold the lock of this replica's index; others may write to the server meanwhile."""
        try:
            held = self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise LibraryInUseError(
                f"The library {self.where} is being written or indexed by another process of this "
                "machine; wait until it has finished."
            ) from error
        with held:
            yield

    def begin(self, revision: str) -> None:
        """All changes are noted in the server."""

    def touched(self, since: str) -> set[str] | None:
        """The papers whose changes are noted in the server."""
        numbering, _, first = since.rpartition(".")
        now, _, last = self.connection.seen.rpartition(".")
        if not numbering or numbering != now or int(first) > int(last):
            return None
        return self.connection.touched(int(first) + 1, int(last))


def _nobody() -> None:
    """Without a lease nothing is written but the manifest of a new library."""


def _retried(work: Callable[[], Any]) -> Any:
    repeated: Any = tenacity.Retrying(
        retry=tenacity.retry_if_exception(may_pass),
        wait=tenacity.wait_random_exponential(multiplier=0.2, max=3),
        stop=tenacity.stop_after_delay(PATIENCE),
        reraise=True,
    )
    return repeated(work)
