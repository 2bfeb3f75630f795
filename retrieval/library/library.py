"""The library in a folder or on a server: opened, locked for writing, kept consistent.

Chroma holds the truth; the lexical index is derived from it, and updated or rebuilt whenever the
two disagree. One process writes at a time.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from retrieval.encoders.embedder import Embedder
from retrieval.index.chroma import ChromaStore
from retrieval.index.lexical import LexicalIndex
from retrieval.index.manifest import Manifest, check_fit, new_manifest
from retrieval.index.place import FolderPlace, Place
from retrieval.index.records import NewPaper
from retrieval.index.salvage import is_damaged
from retrieval.text.splitting import ChunkSettings, chunk_paper, embedded_text
from retrieval.types import LibraryError, LibraryInUseError, Paper

_UPDATED_FROM = 5000
"""Papers from which the lexical index is updated; that of fewer is rebuilt within two seconds."""
_LINKED_FROM = 20_000
"""Chunks from which only new ones are searched for at the end of a write."""
_SOUGHT = 50
"""Papers whose chunks are searched for then."""


class Library:
    """The library of one place."""

    def __init__(
        self,
        home: Path,
        embedder: Embedder,
        chunks: ChunkSettings | None = None,
        place: Place | None = None,
    ) -> None:
        """Open the library, made if it is missing.

        Args:
            home: folder of what belongs to this machine, and by default of the store.
            embedder: makes the vectors.
            chunks: how abstracts are cut.
            place: where the store is; by default in `home`.

        Raises:
            LibraryError: the place cannot be used, or was made with another embedder or format.
        """
        self.home = home
        self.embedder = embedder
        self.chunk_settings = chunks or ChunkSettings()
        self.place: Place = place or FolderPlace(home)
        self._manifest = self._opened_manifest()
        self.lexical = LexicalIndex(self.place.lexical)
        self._ready: tuple[str, ...] = ()
        """The revisions of manifest, index and store when they last agreed."""

    @cached_property
    def store(self) -> ChromaStore:
        """The papers and chunks; opened here, since a damaged one can be repaired.

        Raises:
            LibraryError: it cannot be read or written.
        """
        return ChromaStore(self.place.connection)

    def _opened_manifest(self) -> Manifest:
        manifest = self.place.read() or self._manifest_made_anew()
        check_fit(
            manifest, self.embedder.name, self.chunk_settings, self.place.where, self.place.other
        )
        return manifest

    def _manifest_made_anew(self) -> Manifest:
        """The manifest of a new library, or of one whose manifest is lost.

        Which embedder made the vectors of that one is unknown, so they are dropped; the next write
        makes them anew.
        """
        manifest = new_manifest(self.embedder.name, self.chunk_settings)
        if self.place.has_papers():
            manifest = manifest.begun()
            if not self.is_damaged():  # else a repair makes all anew
                self.store.drop_chunks()
        return self.place.write(manifest)

    def is_damaged(self) -> bool:
        """Whether the database is damaged; that of a server is left to the server."""
        return self.place.database is not None and is_damaged(self.place.database)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Be the only writer inside; the lock ends with the process.

        Raises:
            LibraryInUseError: another process is writing.
        """
        with self.place.writer():
            # Another process may have written since this one opened the library.
            self._manifest = self._opened_manifest()
            yield

    @contextmanager
    def writing(
        self,
        *,
        reads: Collection[str] = (),
        removes: Collection[str] = (),
        replaces: Collection[tuple[str, str]] = (),
        rebuilds: bool = False,
    ) -> Iterator[None]:
        """Change papers inside, within `exclusive`; at the end the lexical index is updated.

        If this is interrupted, `was_interrupted` is true next time.

        Args:
            reads: names of the files whose papers are written.
            removes: names of the files that are removed; see `removed`.
            replaces: ids of papers that go once the new id with each is written; see `replaced`.
            rebuilds: whether the lexical index is made anew in any case.
        """
        before = self.revision
        begun = self._manifest.begun(reads=reads, removes=removes, replaces=replaces)
        # After an interruption it is not known which papers have changed.
        self.place.begin("" if self.was_interrupted or rebuilds else before)
        self._manifest = self.place.write(begun)
        try:
            yield
            self._manifest = self.place.publish(self._manifest)
            self._link()
            self.show_written()
        finally:
            self.place.begin("")  # others may write from now on
        self._manifest = self.place.write(self._manifest.ended())

    def show_written(self) -> None:
        """Make what is written so far searchable, inside `writing`."""
        self._manifest = self.place.publish(self._manifest)
        self._update_lexical()
        self.place.begin(self.revision)

    def _link(self) -> None:
        """Link all vectors anew if a search does not reach some, at the end of a write."""
        if self.store.count()[1] >= _LINKED_FROM:
            touched = self.place.touched(self.lexical.revision)
            if touched is not None and self.store.finds(sorted(touched)[:_SOUGHT]):
                return
        if self.store.unreachable():
            self.store.link_anew()

    def bring_index_up_to_date(self) -> None:
        """Make the lexical index one of the current papers, inside `exclusive`."""
        if self.lexical.revision != self.revision:
            self._update_lexical()

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
        revision = self.place.current(self._manifest, stored)
        if self._ready == (revision, self.lexical.revision, stored):
            return
        if not self._paper_count():
            raise LibraryError(
                f"The library {self.place.where} has no papers; "
                "fill it with `assistant ingest`, or start `assistant serve`."
            )
        if self.lexical.revision != revision:
            self._agree()
            revision = self.place.current(self._manifest, stored)
        if self.lexical.revision == revision:
            self._ready = (revision, revision, stored)

    def _agree(self) -> None:
        try:
            with self.place.indexer():
                self._manifest = self._opened_manifest()
                self.bring_index_up_to_date()
        except LibraryInUseError:
            if not self.lexical.revision:
                raise
            # Until the other process has finished, the old index is used.

    def _paper_count(self) -> int:
        damaged = LibraryError(
            f"The library {self.place.where} was damaged, by an interrupted write or on the disk; "
            "run `assistant doctor --repair` to mend it."
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

    def _update_lexical(self) -> None:
        """Index the papers that were touched since the index was made, or all of them."""
        touched = self.place.touched(self.lexical.revision)
        if (
            touched is not None
            and self.lexical.size >= _UPDATED_FROM
            and self.lexical.can_update(touched)
        ):
            stored = self.store.stored_by_id(sorted(touched)).values()
            self.lexical.update((each.paper for each in stored), touched, self.revision)
        else:
            self.lexical.rebuild((each.paper for each in self.store.papers()), self.revision)
