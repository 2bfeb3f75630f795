"""The store in Chroma: chunks with their vectors, and the paper records."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.encoders.embedder import Vector
from retrieval.index.connection import DATABASE, SYNC_THRESHOLD, alone, connection
from retrieval.index.place import StoreConnection
from retrieval.index.records import (
    NewPaper,
    StoredPaper,
    are_whole,
    chunk_fields,
    chunk_ids,
    paper_fields,
    paper_of,
    read_chunk,
    read_paper,
)
from retrieval.types import Chunk, Hit, LibraryError, Paper

_PAGE = 2000
"""Records read or written at once, under SQLite's limit of variables."""

_USUAL_CHUNKS = 6
"""Number of chunks that few papers exceed."""

_MOST_UNSYNCED = 5000
_SYNCS = 20
"""How often vectors are saved in a `bulk` write, and how many may be unsaved: each write takes 8 ms
longer for every thousand of them."""

_NO_VECTOR = [1.0]

_NEAR = 10
"""Chunks among which each should be found by its own vector; a few may be the same text."""


def replace_records(folder: Path, stored: Sequence[StoredPaper]) -> None:
    """Put a new database of these records in the place of the one in `folder`.

    Until it is whole, the old one stays. The papers have no chunks: they are damaged. Raises
    `LibraryError` if the folder cannot be written.
    """
    new = folder.with_name(f"{folder.name}.new") / folder.name
    shutil.rmtree(new.parent, ignore_errors=True)
    new.parent.mkdir()
    store = ChromaStore(new)
    for page in _pages(stored):
        store.write([NewPaper(each.paper, (), (), each.is_old) for each in page], {})
    with alone(new) as made, alone(folder) as replaced:
        made.close()
        replaced.replace(new / DATABASE)
    shutil.rmtree(new.parent, ignore_errors=True)


class ChromaStore:
    """The store of one library. Every method raises `LibraryError` if the store is damaged."""

    def __init__(self, where: Path | StoreConnection) -> None:
        """Open the store in a folder or on a server, made if it is missing.

        Raises `LibraryError` if it cannot be written, or the store is damaged.
        """
        self._connection: StoreConnection = (
            connection(where.resolve()) if isinstance(where, Path) else where
        )
        self._turn = self._connection.turn
        with self._turn():
            pass

    @property
    def _chunks(self) -> Any:
        """Chroma's collection, which `drop_vectors` replaces."""
        return self._connection.chunks

    @property
    def _papers(self) -> Any:
        return self._connection.papers

    @property
    def revision(self) -> str:
        """Changes with every write of any process, and when torn vectors are dropped."""
        with self._turn():
            return self._connection.seen

    def count(self) -> tuple[int, int]:
        """Numbers of papers and of chunks."""
        with self._turn():
            return self._papers.count(), self._chunks.count()

    def papers(self) -> Iterator[StoredPaper]:
        """All papers, in any order."""
        for ids in _pages(self.paper_ids()):
            yield from self._read(ids)

    def stored_by_id(self, ids: Sequence[str]) -> dict[str, StoredPaper]:
        """The papers with these ids; unknown ids are left out."""
        return {stored.paper.id: stored for page in _pages(ids) for stored in self._read(page)}

    def chunks_by_id(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks with these ids; unknown ids are left out."""
        chunks: dict[str, Chunk] = {}
        for page in _pages(ids):
            with self._turn():
                got = self._chunks.get(ids=page, include=["metadatas", "documents"])
                chunks |= {row[0]: read_chunk(*row) for row in _rows(got)}
        return chunks

    def nearest(self, vector: Vector, limit: int) -> list[Hit]:
        """The chunks nearest to a query's vector; the score is the cosine."""
        with self._turn():
            size = self._chunks.count()
            if not size:
                return []
            found = self._chunks.query(
                query_embeddings=np.asarray([vector]),
                n_results=min(limit, size),
                include=["distances"],
            )
        # A server writes the shortest digits of a 32-bit number, which are another 64-bit one.
        distances = np.asarray((found["distances"] or [[]])[0], dtype=np.float32)
        return [
            Hit(chunk_id=id_, paper_id=paper_of(id_), score=1.0 - float(distance))
            for id_, distance in zip(found["ids"][0], distances, strict=True)
        ]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these chunks; ids that are unknown or unreadable are left out."""
        vectors: dict[str, Vector] = {}
        for page in _pages(chunk_ids):
            with self._turn():
                got = self._chunks.get(ids=page, include=["embeddings"])
            rows = got["embeddings"] if got["embeddings"] is not None else ()
            for id_, row in zip(got["ids"], rows, strict=False):
                vectors[id_] = np.asarray(row, dtype=np.float32)
        return vectors

    def chunk_vectors(self, paper_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of all chunks of these papers, by chunk id."""
        vectors: dict[str, Vector] = {}
        asked, first = list(paper_ids), 0
        # Fetching by id is fastest, and the ids are known except for their number.
        while asked:
            ordinals = range(first, first + _USUAL_CHUNKS)
            of_papers = {id_: chunk_ids(id_, ordinals) for id_ in asked}
            vectors |= self.vectors([chunk for chunks in of_papers.values() for chunk in chunks])
            asked = [id_ for id_, chunks in of_papers.items() if chunks[-1] in vectors]
            first += _USUAL_CHUNKS
        return vectors

    def write(self, papers: Sequence[NewPaper], earlier_chunks: Mapping[str, int]) -> None:
        """Write papers; `earlier_chunks` has the numbers of chunks of those that it replaces.

        Chunks are written first, then the record; surplus chunks of an earlier version are deleted
        last. After an interruption at any point the chunks can be made again from the record.
        """
        made = [pair for new in papers for pair in zip(new.chunks, new.vectors, strict=True)]
        stored = [StoredPaper(new.paper, len(new.chunks), new.is_old) for new in papers]
        surplus = [
            id_
            for each in stored
            for id_ in chunk_ids(
                each.paper.id, range(each.chunk_count, earlier_chunks.get(each.paper.id, 0))
            )
        ]
        with self._turn(writing=True):
            self._connection.touch(each.paper.id for each in stored)
            for page in _pages(made):
                self._chunks.upsert(
                    ids=[chunk.id for chunk, _ in page],
                    embeddings=np.asarray([vector for _, vector in page]),
                    documents=[chunk.text for chunk, _ in page],
                    metadatas=[chunk_fields(chunk) for chunk, _ in page],
                )
            self._papers.upsert(
                ids=[each.paper.id for each in stored],
                embeddings=np.asarray([_NO_VECTOR] * len(stored), dtype=np.float32),
                documents=[each.paper.abstract for each in stored],
                metadatas=[paper_fields(each) for each in stored],
            )
            self._delete_chunks(surplus)

    @contextmanager
    def bulk(self, papers: int) -> Iterator[None]:
        """Save vectors less often inside; for writing about `papers` new papers.

        After every `SYNC_THRESHOLD` new vectors Chroma saves all vectors, which takes most of the
        time with 100,000 papers. At the end all are saved: unsaved ones would be inserted again
        whenever the library is opened.
        """
        if not self._connection.keeps_files:
            yield
            return
        _, chunks = self.count()
        coming = papers * _USUAL_CHUNKS // 2
        wanted = min(coming, (chunks + coming) // _SYNCS, _MOST_UNSYNCED)
        every = max(SYNC_THRESHOLD, wanted)
        with self._turn(writing=True):
            self._connection.sync_every(every)
        yield
        if every > SYNC_THRESHOLD:
            with self._turn(writing=True):
                self._connection.sync_every(SYNC_THRESHOLD)
                # A chunk rewritten unchanged makes Chroma check whether to save vectors.
                self._put(self._whole_chunks(limit=1))

    def unreachable(self) -> set[str]:
        """The ids of chunks that no search finds, whatever its limit.

        A search follows links from vector to vector, also through deleted chunks. If nearly all
        chunks were deleted, new ones can end up without a link to them.
        """
        ids = self._chunk_ids()
        any_vector = self.vectors(ids[:1]).values()
        found = [hit for vector in any_vector for hit in self.nearest(vector, len(ids))]
        return set(ids) - {hit.chunk_id for hit in found}

    def finds(self, paper_ids: Sequence[str]) -> bool:
        """Whether a search finds the chunks of these papers by their own vectors."""
        vectors = self.chunk_vectors(paper_ids)
        return all(
            id_ in {hit.chunk_id for hit in self.nearest(vector, _NEAR)}
            for id_, vector in vectors.items()
        )

    def link_anew(self) -> None:
        """Remove deleted chunks and link the others anew; last digits of their vectors may change.

        If this is interrupted, papers have no chunks: they are damaged.
        """
        ids = self._chunk_ids()
        with self._turn(writing=True):
            pages = [self._whole_chunks(ids=page) for page in _pages(ids)]
            self._connection.drop_vectors()
            for got in pages:
                self._put(got)

    def rewrite_records(self, stored: Sequence[StoredPaper]) -> None:
        """Rewrite records of papers whose abstract and title, and so also chunks, are unchanged."""
        with self._turn(writing=True):
            for page in _pages(stored):
                self._connection.touch(each.paper.id for each in page)
                self._papers.update(
                    ids=[each.paper.id for each in page],
                    metadatas=[paper_fields(each) for each in page],
                )

    def delete_chunks(self, ids: Sequence[str]) -> None:
        """Delete stray chunks."""
        with self._turn(writing=True):
            self._delete_chunks(ids)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete papers and their chunks, records first."""
        with self._turn(writing=True):
            for page in _pages(ids):
                self._connection.touch(page)
                self._papers.delete(ids=page)
                of_papers = self._chunks.get(where={"paper_id": {"$in": page}}, include=[])
                self._delete_chunks(of_papers["ids"])

    def damage(self) -> tuple[list[Paper], list[str]]:
        """Papers whose chunks do not fit, and ids of stray chunks, after an interrupted write.

        Changes nothing. Raises `LibraryError` if the chunks cannot be read at all.
        """
        stray = dict.fromkeys(self._chunk_ids())
        chunks: dict[str, Chunk] = {}
        for page in _pages(list(stray)):
            chunks |= self.chunks_by_id(list(self.vectors(page)))
        damaged: list[Paper] = []
        for stored in self.papers():
            ids = chunk_ids(stored.paper.id, range(stored.chunk_count))
            if not are_whole((chunks[id_] for id_ in ids if id_ in chunks), stored.paper):
                damaged.append(stored.paper)
            for id_ in ids:
                stray.pop(id_, None)
        return damaged, list(stray)

    def drop_chunks(self) -> None:
        """Drop all chunks because they cannot be read; every paper is then damaged."""
        with self._turn(writing=True):
            self._connection.drop_vectors()

    def drop_damaged_records(self) -> None:
        """Delete the records that cannot be read; their chunks are stray then."""
        pages = _pages(self.paper_ids())
        suspects = [id_ for page in pages if not self._is_readable(page) for id_ in page]
        damaged = [id_ for id_ in suspects if not self._is_readable([id_])]
        with self._turn(writing=True):
            for page in _pages(damaged):
                self._connection.touch(page)
                self._papers.delete(ids=page)

    def _is_readable(self, ids: Sequence[str]) -> bool:
        try:
            self._read(ids)
        except LibraryError:
            return False
        return True

    def paper_ids(self) -> list[str]:
        """The ids of all papers, in any order."""
        with self._turn():
            return list(self._papers.get(include=[])["ids"])

    def _chunk_ids(self) -> list[str]:
        with self._turn():
            return list(self._chunks.get(include=[])["ids"])

    def _read(self, ids: Sequence[str]) -> list[StoredPaper]:
        with self._turn():
            got = self._papers.get(ids=list(ids), include=["metadatas", "documents"])
            return [read_paper(*row) for row in _rows(got)]

    def _whole_chunks(self, **chosen: Any) -> Any:
        return self._chunks.get(include=["metadatas", "documents", "embeddings"], **chosen)

    def _put(self, got: Any) -> None:
        """Write chunks that Chroma has returned."""
        names = ("ids", "embeddings", "documents", "metadatas")
        self._chunks.upsert(**{name: got[name] for name in names})

    def _delete_chunks(self, ids: Sequence[str]) -> None:
        """Delete chunks; if none is left, remove the links too, see `unreachable`."""
        for page in _pages(ids):
            self._chunks.delete(ids=page)
        if ids and not self._chunks.count():
            self._connection.drop_vectors()


def _rows(got: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    return zip(got["ids"], got["metadatas"], got["documents"], strict=True)


def _pages(keys: Sequence[Any]) -> Iterator[list[Any]]:
    for at in range(0, len(keys), _PAGE):
        yield list(keys[at : at + _PAGE])
