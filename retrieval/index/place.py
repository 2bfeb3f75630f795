"""Where a library is kept: the port, and its adapter for a folder of this machine.

A place has the store, the manifest, the turn of the one writer, and which papers a write touched.
`server.py` has the adapter for a server of Chroma.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import filelock

from retrieval.index.connection import connection
from retrieval.index.manifest import Manifest, read_manifest, write_manifest
from retrieval.types import LibraryError, LibraryInUseError


class StoreConnection(Protocol):
    """Chroma with the two collections of a library, used in turns."""

    chunks: Any
    """Every chunk with its vector."""
    papers: Any
    """Every record, with the number of its chunks."""
    keeps_files: bool
    """Whether this process itself has Chroma save vectors to files."""

    @property
    def seen(self) -> str:
        """The current revision of what is stored."""

    def turn(self, *, writing: bool = False) -> AbstractContextManager[None]:
        """Use the collections inside; raises `LibraryError` if that fails."""

    def touch(self, ids: Iterable[str]) -> None:
        """Note, before it is done, that these papers are written or deleted; in a writing turn."""

    def sync_every(self, vectors: int) -> None:
        """Have Chroma save the chunks' vectors after every `vectors` new ones."""

    def drop_vectors(self) -> None:
        """Remove all vectors and chunks; they can be made again from the records, which stay."""


class Place(Protocol):
    """Where one library is."""

    where: str
    """For sentences: "in /home/ann/papers"."""
    other: str
    """How to name another one: "another --home"."""
    lexical: Path
    """The folder of the lexical index, always on this machine."""

    @property
    def connection(self) -> StoreConnection:
        """The collections."""

    @property
    def database(self) -> Path | None:
        """The folder of Chroma's files; None if a server has them."""

    def read(self) -> Manifest | None:
        """The manifest; None if there is none that can be read. Raises `LibraryError`."""

    def write(self, manifest: Manifest) -> Manifest:
        """Write the manifest; return it as it was written, with its revision."""

    def current(self, manifest: Manifest, revision: str) -> str:
        """The revision of the library, whose store has `revision` and whose manifest was this."""

    def publish(self, manifest: Manifest) -> Manifest:
        """Within a write, let others see what is written so far."""

    def facts(self) -> tuple[str, ...]:
        """What `assistant doctor` says of the place, a sentence each."""

    def has_papers(self) -> bool:
        """Whether there is a store, though a manifest may be missing."""

    def writer(self) -> AbstractContextManager[None]:
        """Be the only writer inside; raises `LibraryInUseError`, or `LibraryError`."""

    def indexer(self) -> AbstractContextManager[None]:
        """Be the only one inside to change the lexical index; raises like `writer`."""

    def begin(self, revision: str) -> None:
        """Begin to note which papers are touched, at this revision of the lexical index."""

    def touched(self, since: str) -> set[str] | None:
        """Ids of the papers touched since a revision of the lexical index; None: not known."""


class FolderPlace:
    """A library in a home folder, in Chroma embedded in this process."""

    other = "another --home"

    def __init__(self, home: Path) -> None:
        """Make the folder if it is missing; raises `LibraryError` if that fails."""
        make_home(home)
        self.home, self.where = home, f"in {home}"
        self.lexical, self.database = home / "lexical", home / "chroma"
        self.connection = connection(self.database.resolve())
        self._manifest = home / "library.json"
        self._lock = filelock.FileLock(home / "lock")

    def read(self) -> Manifest | None:
        """The manifest, or its copy if it is damaged."""
        return read_manifest(self._manifest)

    def write(self, manifest: Manifest) -> Manifest:
        """Write the manifest and its copy."""
        write_manifest(self._manifest, manifest)
        return manifest

    def current(self, manifest: Manifest, revision: str) -> str:  # noqa: ARG002
        """That of the manifest, which is read again if the store has changed."""
        return manifest.revision

    def publish(self, manifest: Manifest) -> Manifest:
        """Others see it already."""
        return manifest

    def facts(self) -> tuple[str, ...]:
        """A folder has nothing to report."""
        return ()

    def has_papers(self) -> bool:
        """Whether there is a folder of Chroma's."""
        return self.database.exists()

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Hold the lock of the folder; it ends with the process."""
        try:
            held = self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise LibraryInUseError(
                f"The library {self.where} is being written by another process; "
                "wait until it has finished, or use another --home."
            ) from error
        except OSError as error:
            raise LibraryError(
                f"The folder {self.home} cannot be written ({error.strerror}); "
                "choose another --home."
            ) from error
        with held:
            yield

    indexer = writer

    def begin(self, revision: str) -> None:
        """Forget what was touched before."""
        self.connection.begin(revision)

    def touched(self, since: str) -> set[str] | None:
        """Only what this process touched is known."""
        return self.connection.touched_since(since)


def make_home(home: Path) -> None:
    """Make the folder of a library if there is none.

    Raises:
        LibraryError: it cannot be made.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LibraryError(
            f"The folder {home} cannot be made ({error.strerror}); choose another --home."
        ) from error
