"""Copies a library to another place, folder or server, and compares all of it.

Until all is compared, the copy's manifest says that it is unfinished, and nothing opens it. If the
same copy is run again, it continues: what is there and equal is not written again.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from retrieval.encoders.embedder import Vector
from retrieval.index.chroma import ChromaStore
from retrieval.index.manifest import MOVING, Manifest, UnfinishedCopyError
from retrieval.index.place import Place
from retrieval.index.records import NewPaper, StoredPaper, are_whole, chunk_ids
from retrieval.types import Chunk, LibraryError, Progress, silent

COPYING, COMPARING = "Copying papers", "Comparing papers"
_AT_ONCE = 128
_ROUNDING = 1e-6
"""Chroma scales vectors to unit length when it stores them, which may round the last digit."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Result of a copy; the fields of the command's JSON."""

    papers: int
    chunks: int
    written: int
    """Papers that were not in the copy yet."""
    seconds: float


def copy_library(source: Place, target: Place, progress: Progress = silent) -> Copied:
    """Copy the library at `source` to `target`, which has none or an unfinished copy.

    Raises:
        LibraryError: a place cannot be read or written, the source is not whole, or the target has
            papers of its own; or the copy differs in the end.
        LibraryInUseError: another process is writing to one of them.
    """
    started = time.monotonic()
    with source.writer(), target.writer():
        manifest, stored = _whole(source), ChromaStore(source.connection)
        _check_free(target)
        unfinished = target.write(replace(manifest, format=MOVING, writing=True))
        copied = ChromaStore(target.connection)
        papers, chunks = stored.count()
        with copied.bulk(papers):
            written = sum(
                _write(copied, page)
                for page in _differing(stored, copied, progress, COPYING, papers)
            )
        _drop_others(stored, copied)
        differing = sum(map(len, _differing(stored, copied, progress, COMPARING, papers)))
        if differing or copied.count() != (papers, chunks):
            raise LibraryError(
                f"{differing or 'Some'} papers of the copy {target.where} differ from the library "
                f"{source.where}; run the same command again."
            )
        target.write(replace(manifest, revision=unfinished.revision))
    return Copied(papers, chunks, written, round(time.monotonic() - started, 3))


def _whole(source: Place) -> Manifest:
    manifest = source.read()
    if manifest is None or not ChromaStore(source.connection).count()[0]:
        raise LibraryError(f"There is no library {source.where}; name one by --home or --chroma.")
    if manifest.writing:
        raise LibraryError(
            f"The last write to the library {source.where} was interrupted; complete it with "
            "`assistant doctor --repair`, then copy it."
        )
    return manifest


def _check_free(target: Place) -> None:
    try:
        manifest = target.read()
    except UnfinishedCopyError:
        return
    papers = ChromaStore(target.connection).count()[0] if manifest else 0
    if papers or (target.has_papers() and manifest is None):
        raise LibraryError(
            f"There is a library {target.where} already, with {papers:,} papers; copy to "
            f"{target.other}."
        )


@dataclass(frozen=True, slots=True)
class _Whole:
    """A paper as it is stored, with its chunks and vectors."""

    stored: StoredPaper
    chunks: tuple[Chunk, ...]
    vectors: tuple[Vector, ...]

    def equals(self, other: "_Whole | None") -> bool:
        """Whether all is the same, but for the rounding of vectors."""
        return (
            other is not None
            and (self.stored, self.chunks) == (other.stored, other.chunks)
            and np.allclose(self.vectors, other.vectors, rtol=0, atol=_ROUNDING)
        )


def _differing(
    stored: ChromaStore, copied: ChromaStore, progress: Progress, stage: str, papers: int
) -> Iterator[list[_Whole]]:
    """The papers that the copy lacks or has otherwise, page by page."""
    ids = sorted(stored.paper_ids())
    progress(stage, 0, papers, "papers")
    for at in range(0, len(ids), _AT_ONCE):
        page = ids[at : at + _AT_ONCE]
        expected, found = _read(stored, page), _read(copied, page)
        for id_ in page:
            each = expected.get(id_)
            if each is None or not are_whole(each.chunks, each.stored.paper):
                raise LibraryError(
                    f"The paper {id_!r} of the library to copy is damaged; run "
                    "`assistant doctor --repair` there first."
                )
        yield [each for id_, each in expected.items() if not each.equals(found.get(id_))]
        progress(stage, min(at + _AT_ONCE, papers), papers, "papers")


def _read(store: ChromaStore, ids: Sequence[str]) -> dict[str, _Whole]:
    """The papers with all their chunks and vectors; those that lack some are left out."""
    stored = store.stored_by_id(ids)
    named = {id_: chunk_ids(id_, range(each.chunk_count)) for id_, each in stored.items()}
    wanted = [id_ for chunks in named.values() for id_ in chunks]
    chunks, vectors = store.chunks_by_id(wanted), store.vectors(wanted)
    return {
        id_: _Whole(
            each,
            tuple(chunks[name] for name in named[id_]),
            tuple(vectors[name] for name in named[id_]),
        )
        for id_, each in stored.items()
        if all(name in chunks and name in vectors for name in named[id_])
    }


def _write(copied: ChromaStore, page: list[_Whole]) -> int:
    if page:
        before = copied.stored_by_id([each.stored.paper.id for each in page])
        earlier = {id_: each.chunk_count for id_, each in before.items()}
        new = [NewPaper(each.stored.paper, each.chunks, each.vectors) for each in page]
        copied.write(new, earlier)
        if old := [each.stored for each in page if each.stored.is_old]:
            copied.rewrite_records(old)
    return len(page)


def _drop_others(stored: ChromaStore, copied: ChromaStore) -> None:
    """Delete what an interrupted copy, or an earlier state of the library, left in the copy."""
    if others := sorted(set(copied.paper_ids()) - set(stored.paper_ids())):
        copied.delete(others)
    if copied.count()[1] != stored.count()[1]:
        copied.delete_chunks(copied.damage()[1])
    if copied.unreachable():
        copied.link_anew()
