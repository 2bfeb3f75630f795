"""The library in a folder: opened, locked for writing, kept consistent.

Chroma holds the truth; the lexical index is derived from it and rebuilt whenever the two
disagree. One process writes at a time.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import filelock

from retrieval.encoders.embedder import Embedder
from retrieval.index.chroma import ChromaStore
from retrieval.index.lexical import LexicalIndex
from retrieval.index.manifest import (
    Manifest,
    check_fit,
    new_manifest,
    read_manifest,
    write_manifest,
)
from retrieval.index.records import NewPaper
from retrieval.index.salvage import is_damaged
from retrieval.text.splitting import ChunkSettings, chunk_paper, embedded_text
from retrieval.types import LibraryError, LibraryInUseError, Paper


class Library:
    """The library of one home folder."""

    def __init__(self, home: Path, embedder: Embedder, chunks: ChunkSettings | None = None) -> None:
        """Open the library in `home`, made if it is missing.

        Raises:
            LibraryError: the folder cannot be used, or was made with another embedder or format.
        """
        self.home = home
        self.embedder = embedder
        self.chunk_settings = chunks or ChunkSettings()
        make_home(home)
        self._manifest_path = home / "library.json"
        self._lock = filelock.FileLock(home / "lock")
        self.store_folder = home / "chroma"
        self._manifest = self._opened_manifest()
        self.lexical = LexicalIndex(home / "lexical")
        self._ready: tuple[str, ...] = ()
        """The revisions of manifest, index and store when they last agreed."""

    @cached_property
    def store(self) -> ChromaStore:
        """The papers and chunks; opened here, since a damaged one can be repaired.

        Raises:
            LibraryError: it cannot be read or written.
        """
        return ChromaStore(self.store_folder)

    def _opened_manifest(self) -> Manifest:
        manifest = read_manifest(self._manifest_path)
        if manifest is None:
            manifest = self._manifest_made_anew()
        check_fit(manifest, self.embedder.name, self.chunk_settings, self.home)
        return manifest

    def _manifest_made_anew(self) -> Manifest:
        """The manifest of a new library, or of one whose manifest is lost.

        Which embedder made the vectors of that one is unknown, so they are dropped; the next write
        makes them anew.
        """
        manifest = new_manifest(self.embedder.name, self.chunk_settings)
        if self.store_folder.exists():
            manifest = manifest.begun()
            if not is_damaged(self.store_folder):  # else a repair makes all anew
                self.store.drop_chunks()
        write_manifest(self._manifest_path, manifest)
        return manifest

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Be the only writer inside; the lock ends with the process.

        Raises:
            LibraryInUseError: another process is writing.
        """
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise LibraryInUseError(
                f"The library in {self.home} is being written by another process; "
                "wait until it has finished, or use another --home."
            ) from error
        except OSError as error:
            raise LibraryError(
                f"The folder {self.home} cannot be written ({error.strerror}); "
                "choose another --home."
            ) from error
        try:
            # Another process may have written since this one opened the library.
            self._manifest = self._opened_manifest()
            yield
        finally:
            self._lock.release()

    @contextmanager
    def writing(
        self,
        *,
        reads: Collection[str] = (),
        removes: Collection[str] = (),
        replaces: Collection[tuple[str, str]] = (),
    ) -> Iterator[None]:
        """Change papers inside, within `exclusive`; at the end the lexical index is rebuilt.

        If this is interrupted, `was_interrupted` is true next time.

        Args:
            reads: names of the files whose papers are written.
            removes: names of the files that are removed; see `removed`.
            replaces: ids of papers that go once the new id with each is written; see `replaced`.
        """
        self._manifest = self._manifest.begun(reads=reads, removes=removes, replaces=replaces)
        write_manifest(self._manifest_path, self._manifest)
        yield
        if self.store.unreachable():
            self.store.link_anew()
        self._rebuild_lexical()
        self._manifest = self._manifest.ended()
        write_manifest(self._manifest_path, self._manifest)

    def show_written(self) -> None:
        """Make what is written so far searchable, inside `writing`."""
        self._rebuild_lexical()

    @property
    def was_interrupted(self) -> bool:
        """Whether the last write did not end."""
        return self._manifest.writing

    @property
    def needs_mending(self) -> bool:
        """Whether the last write did not end, or damage has cost the library its chunks."""
        papers, chunks = self.store.count()
        return self.was_interrupted or bool(papers and not chunks)

    @property
    def removed(self) -> tuple[str, ...]:
        """Names of the files that were removed and not read again since.

        After an interrupted removal some of their papers may still be here.
        """
        return self._manifest.removed

    @property
    def replaced(self) -> tuple[tuple[str, str], ...]:
        """Ids that an interrupted write was to replace, each with the new one."""
        return self._manifest.replaced

    @property
    def revision(self) -> str:
        """Changes with every write."""
        return self._manifest.revision

    def ready_to_search(self) -> None:
        """Bring the lexical index up to date with the store, and check that there are papers.

        Raises:
            LibraryError: the library has no papers, or was damaged by an interrupted write.
            LibraryInUseError: it must be repaired while another process writes.
        """
        stored = self.store.revision  # another process may have written, or torn the files
        if self._ready == (self.revision, self.lexical.revision, stored):
            return
        if not self._paper_count():
            raise LibraryError(
                f"The library in {self.home} has no papers; "
                "fill it with `assistant ingest`, or start `assistant serve`."
            )
        if self.lexical.revision != self.revision:
            self._agree()
        if self.lexical.revision == self.revision:
            self._ready = (self.revision, self.lexical.revision, stored)

    def _agree(self) -> None:
        try:
            with self.exclusive():
                if self.lexical.revision != self.revision:
                    self._rebuild_lexical()
        except LibraryInUseError:
            if not self.lexical.revision:
                raise
            # Until the other process has finished, the old index is used.

    def _paper_count(self) -> int:
        damaged = LibraryError(
            f"The library in {self.home} was damaged, by an interrupted write or on the disk; "
            "run `assistant ingest` to mend it."
        )
        try:
            papers, chunks = self.store.count()
        except LibraryError as error:
            if self.was_interrupted:
                raise damaged from error
            raise
        if papers and not chunks:
            raise damaged
        return papers

    def prepared(self, paper: Paper) -> NewPaper:
        """A paper with its chunks and their vectors, ready to be written."""
        chunks = tuple(chunk_paper(paper, self.embedder.count, self.chunk_settings))
        vectors = tuple(self.embedder.embed(embedded_text(paper, chunk)) for chunk in chunks)
        return NewPaper(paper, chunks, vectors)

    def _rebuild_lexical(self) -> None:
        papers = (stored.paper for stored in self.store.papers())
        self.lexical.rebuild(papers, self.revision)


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
