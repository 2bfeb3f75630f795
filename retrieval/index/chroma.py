"""The store in Chroma: chunks with their vectors, and the paper records.

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

import json
import shutil
import sys
import threading
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import chromadb
import filelock
import numpy as np
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.api.types import Include, Where
from chromadb.config import Settings
from chromadb.errors import ChromaError

from retrieval.encoders.embedder import Vector
from retrieval.index.files import Journal
from retrieval.types import Chunk, Hit, LibraryError, Paper, Publication, Source

_PAGE = 2000
"""Records read or written at once, under SQLite's limit of variables."""

_USUAL_CHUNKS = 6
"""Number of chunks that few papers exceed."""

_SYNC_THRESHOLD = 1000
_MOST_UNSYNCED = 5000
_SYNCS = 20
"""How often vectors are saved in a `bulk` write, and how many may be unsaved: each write takes 8 ms
longer for every thousand of them."""

_CHUNKS: CreateCollectionConfiguration = {
    "hnsw": {
        "space": "cosine",
        "ef_construction": 200,
        "ef_search": 200,
        "max_neighbors": 24,
        "sync_threshold": _SYNC_THRESHOLD,
    }
}

_PAPERS: CreateCollectionConfiguration = {
    "hnsw": {
        "space": "l2",
        "ef_construction": 1,
        "max_neighbors": 2,
        "sync_threshold": _SYNC_THRESHOLD,
    }
}

DATABASE = "chroma.sqlite3"
_NO_VECTOR = [1.0]
_ALL_OF_A_CHUNK: Include = ["metadatas", "documents", "embeddings"]


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """A paper in the store."""

    paper: Paper
    chunk_count: int
    is_old: bool = False
    """Whether it was written when papers of different files were one if they had the same id."""


@dataclass(frozen=True, slots=True)
class NewPaper:
    """A paper to write, with its chunks and their vectors, each of shape (dimensions,)."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    vectors: tuple[Vector, ...]


class _Connection:
    """Chroma's client for one folder, shared within this process, and the turns to use it."""

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

    @contextmanager
    def turn(self, *, writing: bool) -> Iterator[None]:
        """Use Chroma exclusively, with its collections up to date."""
        with self.alone():
            self._catch_up()
            if not writing:
                yield
                if self._journal.have_changed():  # Chroma saves vectors also when it reads them
                    self.seen = self._journal.end()
                return
            self.seen = self._journal.begin()
            try:
                yield
            finally:
                # Chroma may have failed halfway; a Ctrl-C only comes after its calls.
                error = sys.exception()
                if not isinstance(error, Exception) and not _is_panic(error):
                    self.seen = self._journal.end()

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
        self.chunks = self._collection(client, "chunks", _CHUNKS)

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
        if self._client is not None:
            self._client.close()
            self._client = None

    def _open(self) -> Client:
        self.close()
        try:
            opened = self._new_client()
        except RuntimeError:  # Chroma had kept what it could not open before
            opened = self._new_client()
        self._client = client = opened
        self.chunks = self._collection(client, "chunks", _CHUNKS)
        self.papers = self._collection(client, "papers", _PAPERS)
        return client

    def _new_client(self) -> Client:
        settings = Settings(anonymized_telemetry=False)
        try:
            return cast("Client", chromadb.PersistentClient(str(self._folder), settings=settings))
        except AttributeError as error:  # Chroma closes what it could not open
            raise RuntimeError("the database cannot be opened") from error

    @staticmethod
    def _collection(
        client: Client, name: str, configuration: CreateCollectionConfiguration
    ) -> Collection:
        return client.get_or_create_collection(
            name, configuration=configuration, embedding_function=None
        )


@cache
def _connection(folder: Path) -> _Connection:
    return _Connection(folder)


def replace_records(folder: Path, stored: Sequence[StoredPaper]) -> None:
    """Put a new database of these records in the place of the one in `folder`.

    Until it is whole, the old one stays. The papers have no chunks: they are damaged.

    Raises:
        LibraryError: the folder cannot be written.
    """
    new = folder.with_name(f"{folder.name}.new") / folder.name
    shutil.rmtree(new.parent, ignore_errors=True)
    new.parent.mkdir()
    store = ChromaStore(new)
    for page in _pages(stored):
        store.write([NewPaper(each.paper, (), ()) for each in page], {})
    store.rewrite_records([each for each in stored if each.is_old])
    with alone(new) as made, alone(folder) as connection:
        made.close()
        connection.replace(new / DATABASE)
    shutil.rmtree(new.parent, ignore_errors=True)


@contextmanager
def alone(folder: Path) -> Iterator[_Connection]:
    """Let nothing else use the store in `folder` inside; see `_Connection.alone`."""
    connection = _connection(folder.resolve())
    with connection.alone():
        yield connection


class ChromaStore:
    """The store of one library."""

    def __init__(self, folder: Path) -> None:
        """Open the store in `folder`, made if it is missing.

        Raises:
            LibraryError: the folder cannot be written, or the store is damaged.
        """
        self._folder = folder
        self._connection = _connection(folder.resolve())
        with self._turn():
            pass

    @property
    def _chunks(self) -> Collection:
        return self._connection.chunks

    @property
    def _papers(self) -> Collection:
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
        with self._turn():
            pages = list(_pages(_ids(self._papers)))
        for ids in pages:
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
                chunks |= {row[0]: _chunk(*row) for row in _rows(got)}
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
        return [
            Hit(chunk_id=id_, paper_id=paper_of(id_), score=1.0 - float(distance))
            for id_, distance in zip(found["ids"][0], (found["distances"] or [[]])[0], strict=True)
        ]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these chunks; unknown ids are left out."""
        vectors: dict[str, Vector] = {}
        for page in _pages(chunk_ids):
            with self._turn():
                got = self._chunks.get(ids=page, include=["embeddings"])
            rows = got["embeddings"]
            if rows is not None:
                vectors.update(
                    (id_, np.asarray(row, dtype=np.float32))
                    for id_, row in zip(got["ids"], rows, strict=False)
                )
        return vectors

    def chunk_vectors(self, paper_ids: Sequence[str]) -> dict[str, Vector]:
        """The vectors of all chunks of these papers, by chunk id."""
        vectors: dict[str, Vector] = {}
        asked, first = list(paper_ids), 0
        # Fetching by id is fastest, and the ids are known except for their number.
        while asked:
            ordinals = range(first, first + _USUAL_CHUNKS)
            vectors |= self.vectors([_chunk_id(id_, at) for id_ in asked for at in ordinals])
            asked = [id_ for id_ in asked if _chunk_id(id_, ordinals[-1]) in vectors]
            first += _USUAL_CHUNKS
        return vectors

    def write(self, papers: Sequence[NewPaper], earlier_chunks: Mapping[str, int]) -> None:
        """Write papers, replacing earlier versions.

        Chunks are written first, then the record; surplus chunks of an earlier version are deleted
        last. After an interruption at any point the chunks can be made again from the record.

        Args:
            papers: the papers to write.
            earlier_chunks: numbers of chunks of the papers that are already here, by id.
        """
        chunks = [chunk for new in papers for chunk in new.chunks]
        vectors = [vector for new in papers for vector in new.vectors]
        surplus = [
            _chunk_id(new.paper.id, ordinal)
            for new in papers
            for ordinal in range(len(new.chunks), earlier_chunks.get(new.paper.id, 0))
        ]
        with self._turn(writing=True):
            for at in range(0, len(chunks), _PAGE):
                page = chunks[at : at + _PAGE]
                self._chunks.upsert(
                    ids=[chunk.id for chunk in page],
                    embeddings=np.asarray(vectors[at : at + _PAGE]),
                    documents=[chunk.text for chunk in page],
                    metadatas=[_chunk_fields(chunk) for chunk in page],
                )
            self._papers.upsert(
                ids=[new.paper.id for new in papers],
                embeddings=np.asarray([_NO_VECTOR] * len(papers), dtype=np.float32),
                documents=[new.paper.abstract for new in papers],
                metadatas=[_paper_fields(new.paper, len(new.chunks)) for new in papers],
            )
            self._delete_chunks(surplus)

    @contextmanager
    def bulk(self, papers: int) -> Iterator[None]:
        """Save vectors less often inside; for writing about `papers` new papers.

        After every `sync_threshold` new vectors Chroma saves all vectors, which takes most of the
        time with 100,000 papers. At the end all are saved: unsaved ones would be inserted again
        whenever the library is opened.
        """
        _, chunks = self.count()
        coming = papers * _USUAL_CHUNKS // 2
        wanted = min(coming, (chunks + coming) // _SYNCS, _MOST_UNSYNCED)
        every = max(_SYNC_THRESHOLD, wanted)
        with self._turn(writing=True):
            self._connection.sync_every(every)
        yield
        if every > _SYNC_THRESHOLD:
            with self._turn(writing=True):
                self._connection.sync_every(_SYNC_THRESHOLD)
                self._touch()

    def _touch(self) -> None:
        """Rewrite one chunk unchanged, so that Chroma checks whether to save vectors."""
        self._put(self._chunks.get(limit=1, include=_ALL_OF_A_CHUNK))

    def _put(self, got: Any) -> None:
        """Write chunks that Chroma has returned."""
        self._chunks.upsert(
            ids=got["ids"],
            embeddings=got["embeddings"],
            documents=got["documents"],
            metadatas=got["metadatas"],
        )

    def unreachable(self) -> set[str]:
        """The ids of chunks that no search finds, whatever its limit.

        A search follows links from vector to vector, also through deleted chunks. If nearly all
        chunks were deleted, new ones can end up without a link to them.
        """
        with self._turn():
            ids = _ids(self._chunks)
        any_vector = self.vectors(ids[:1]).values()
        found = [hit for vector in any_vector for hit in self.nearest(vector, len(ids))]
        return set(ids) - {hit.chunk_id for hit in found}

    def link_anew(self) -> None:
        """Remove deleted chunks and link the others anew; last digits of their vectors may change.

        If this is interrupted, papers have no chunks: they are damaged.
        """
        with self._turn(writing=True):
            pages = [
                self._chunks.get(ids=page, include=_ALL_OF_A_CHUNK)
                for page in _pages(_ids(self._chunks))
            ]
            self._connection.drop_vectors()
            for got in pages:
                self._put(got)

    def rewrite_records(self, stored: Sequence[StoredPaper]) -> None:
        """Rewrite records of papers whose abstract and title, and so also chunks, are unchanged."""
        with self._turn(writing=True):
            for page in _pages(stored):
                self._papers.update(
                    ids=[each.paper.id for each in page],
                    metadatas=[
                        _paper_fields(each.paper, each.chunk_count, is_old=each.is_old)
                        for each in page
                    ],
                )

    def delete_chunks(self, ids: Sequence[str]) -> None:
        """Delete stray chunks."""
        with self._turn(writing=True):
            self._delete_chunks(ids)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete papers and their chunks, records first."""
        with self._turn(writing=True):
            for page in _pages(ids):
                self._papers.delete(ids=page)
                of_papers = cast("Where", {"paper_id": {"$in": page}})
                self._delete_chunks(self._chunks.get(where=of_papers, include=[])["ids"])

    def _delete_chunks(self, ids: Sequence[str]) -> None:
        """Delete chunks; if none is left, remove the links too, see `unreachable`."""
        for page in _pages(ids):
            self._chunks.delete(ids=page)
        if ids and not self._chunks.count():
            self._connection.drop_vectors()

    def damage(self) -> tuple[list[Paper], list[str]]:
        """Papers whose chunks do not fit, and ids of stray chunks, after an interrupted write.

        Changes nothing.

        Raises:
            LibraryError: the chunks cannot be read at all.
        """
        all_ids, chunks = self._readable_chunks()
        damaged: list[Paper] = []
        expected: set[str] = set()
        for stored in self.papers():
            ids = [_chunk_id(stored.paper.id, ordinal) for ordinal in range(stored.chunk_count)]
            expected.update(ids)
            if not _is_whole(stored.paper, [chunks[id_] for id_ in ids if id_ in chunks]):
                damaged.append(stored.paper)
        return damaged, [id_ for id_ in all_ids if id_ not in expected]

    def drop_chunks(self) -> None:
        """Drop all chunks because they cannot be read; every paper is then damaged."""
        with self._turn(writing=True):
            self._connection.drop_vectors()

    def _readable_chunks(self) -> tuple[list[str], dict[str, Chunk]]:
        """The ids of all chunks, and those chunks whose vector can be read back."""
        with self._turn():
            ids = _ids(self._chunks)
        chunks: dict[str, Chunk] = {}
        for page in _pages(ids):
            readable = self.vectors(page)
            chunks.update(self.chunks_by_id([id_ for id_ in page if id_ in readable]))
        return ids, chunks

    def _read(self, ids: Sequence[str]) -> list[StoredPaper]:
        with self._turn():
            got = self._papers.get(ids=list(ids), include=["metadatas", "documents"])
            return [stored_paper(*row) for row in _rows(got)]

    def drop_damaged_records(self) -> None:
        """Delete the records that cannot be read; their chunks are stray then."""
        with self._turn():
            ids = _ids(self._papers)
        damaged = [id_ for page in _pages(ids) for id_ in self._unreadable(page)]
        with self._turn(writing=True):
            for page in _pages(damaged):
                self._papers.delete(ids=page)

    def _unreadable(self, ids: Sequence[str]) -> list[str]:
        """Those of the papers whose records cannot be read, by halving."""
        try:
            self._read(ids)
        except LibraryError:
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:]) if middle else ()
            return [id_ for half in halves for id_ in self._unreadable(half)] or list(ids)
        return []

    @contextmanager
    def _turn(self, *, writing: bool = False) -> Iterator[None]:
        try:
            with self._connection.turn(writing=writing):
                yield
        except BaseException as error:
            known = isinstance(error, ChromaError | OSError | ValueError | RuntimeError)
            if not known and not _is_panic(error):
                raise
            raise LibraryError(
                f"The library in {self._folder.parent} cannot be read or written "
                f"({_one_line(error)}); check that the folder is writable and the disk has room, "
                "run `assistant doctor --repair`, or ingest the files again with another --home."
            ) from error


def _ids(collection: Collection) -> list[str]:
    return list(collection.get(include=[])["ids"])


def _rows(got: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    return zip(got["ids"], got["metadatas"], got["documents"], strict=True)


def _pages(keys: Sequence[Any]) -> Iterator[list[Any]]:
    for at in range(0, len(keys), _PAGE):
        yield list(keys[at : at + _PAGE])


def _chunk_id(paper_id: str, ordinal: int) -> str:
    return f"{paper_id}:{ordinal}"


def _is_whole(paper: Paper, chunks: Sequence[Chunk]) -> bool:
    """Whether the chunks are of this abstract and cover all of it."""
    fit = all(paper.abstract[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    together = "".join(chunk.text for chunk in chunks)
    return fit and "".join(together.split()) == "".join(paper.abstract.split())


def paper_of(chunk_id: str) -> str:
    """The id of the paper that a chunk belongs to."""
    return chunk_id.rpartition(":")[0]


def _chunk_fields(chunk: Chunk) -> dict[str, str | int]:
    fields = asdict(chunk)
    return {name: fields[name] for name in ("paper_id", "ordinal", "start", "end")}


def _paper_fields(
    paper: Paper, chunk_count: int, *, is_old: bool = False
) -> dict[str, str | int | bool]:
    publication = json.dumps(asdict(paper.publication), ensure_ascii=False)
    fields: dict[str, str | int | bool] = {} if is_old else {"publication": publication}
    fields |= {
        "title": paper.title,
        "authors": json.dumps(paper.authors, ensure_ascii=False),
        "venue": paper.venue,
        "year": paper.year or 0,
        "decision": paper.decision,
        "url": paper.url,
        "doi": paper.doi,
        "sources": json.dumps([asdict(source) for source in paper.sources], ensure_ascii=False),
        "id_is_given": paper.id_is_given,
        "chunks": chunk_count,
    }
    return {**fields, "checksum": _checksum(fields, paper.abstract)}


def _checksum(fields: Mapping[str, Any], abstract: str) -> int:
    return zlib.crc32(json.dumps([fields, abstract], sort_keys=True).encode())


def stored_paper(id_: str, fields: dict[str, Any], abstract: str) -> StoredPaper:
    """The paper of a record; `ValueError` if it is damaged."""
    known = fields.pop("checksum", None)  # the first records had none
    if known is not None and known != _checksum(fields, abstract):
        raise ValueError(f"the record of the paper {id_!r} is damaged")
    try:
        fields["year"] = fields["year"] or None
        fields["authors"] = tuple(json.loads(fields["authors"]))
        fields["sources"] = tuple(Source(**source) for source in json.loads(fields["sources"]))
        chunk_count = int(fields.pop("chunks"))
        publication = fields.pop("publication", None)  # the first records had none
        fields["publication"] = _publication(publication or "{}")
        paper = Paper(id=id_, abstract=abstract, **fields)
        return StoredPaper(paper, chunk_count, is_old=publication is None)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"the record of the paper {id_!r} is damaged: {error}") from error


def _chunk(id_: str, fields: dict[str, Any], text: str) -> Chunk:
    """A stored chunk; `ValueError` if it is damaged."""
    try:
        return Chunk(id=id_, text=text, **fields)
    except TypeError as error:
        raise ValueError(f"the chunk {id_!r} is damaged: {error}") from error


def _publication(stored: str) -> Publication:
    """The publication; nothing is known of it in a library made before there were any."""
    found: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(stored).items()
    }
    return Publication(**found)


def _is_panic(error: BaseException | None) -> bool:
    """Whether Chroma's compiled part has given up, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
