"""Papers written in small batches, and what an interrupted or damaged write left made whole."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from retrieval.chroma import StoredPaper
from retrieval.errors import LibraryError
from retrieval.library import Library
from retrieval.merge import DuplicateIndex, fingerprint
from retrieval.progress import Progress, silent
from retrieval.types import Paper

BATCH = 64
"""Papers written at once: what an interruption loses at most."""
EMBEDDING = "Embedding papers"
REMOVING = "Removing papers"
_REMOVED_AT_ONCE = 256


def write_papers(library: Library, papers: Sequence[Paper], progress: Progress) -> None:
    """Cut, embed and write papers over what there is of them; inside `Library.writing`."""
    stored = library.store.stored_by_id([paper.id for paper in papers])
    earlier = {id_: each.chunk_count for id_, each in stored.items()}
    progress(EMBEDDING, 0, len(papers), "papers")
    with library.store.bulk(len(papers)):
        for at in range(0, len(papers), BATCH):
            batch = []
            for done, paper in enumerate(papers[at : at + BATCH], start=at + 1):
                batch.append(library.prepared(paper))
                progress(EMBEDDING, done, len(papers), "papers")
            library.store.write(batch, earlier)


def mend(library: Library, progress: Progress = silent) -> None:
    """Make the library whole again, inside `Library.exclusive`.

    Papers whose chunks do not fit get them anew from their records, chunks of no paper go, the
    removal of files is completed, and the lexical index is built anew.

    Raises:
        LibraryError: the library cannot be read or written.
    """
    damaged, stray = _damage(library)
    with library.writing():
        library.store.delete_chunks(stray)
        drop_files(library, library.removed, progress)
        left = library.store.stored_by_id([paper.id for paper in damaged])
        if left:
            write_papers(library, [each.paper for each in left.values()], progress)
        library.store.delete(_superseded([each.paper for each in library.store.papers()]))


def drop_files(library: Library, files: Collection[str], progress: Progress) -> None:
    """Remove what only `files` gave, inside `Library.writing`; see `without_files`."""
    kept, gone = without_files(library, files)
    library.store.rewrite_records(kept)
    for at in range(0, len(gone), _REMOVED_AT_ONCE):
        progress(REMOVING, at, len(gone), "papers")
        library.store.delete_whole(gone[at : at + _REMOVED_AT_ONCE])
    if gone:
        progress(REMOVING, len(gone), len(gone), "papers")


def without_files(
    library: Library, files: Collection[str]
) -> tuple[list[StoredPaper], list[StoredPaper]]:
    """What would be without some files.

    Returns:
        Papers that other files give too, as they would be, and papers that would be gone.
    """
    kept: list[StoredPaper] = []
    gone: list[StoredPaper] = []
    for stored in library.store.papers() if files else ():
        sources = stored.paper.sources
        left = tuple(source for source in sources if source.file not in files)
        if len(left) == len(sources):
            continue
        if left:
            kept.append(replace(stored, paper=replace(stored.paper, sources=left)))
        else:
            gone.append(stored)
    return kept, gone


def _damage(library: Library) -> tuple[list[Paper], list[str]]:
    try:
        return library.store.damage()
    except LibraryError:
        library.store.drop_chunks()
        return library.store.damage()


def _superseded(papers: Sequence[Paper]) -> list[str]:
    """Papers that a paper with a given id was to replace: the same, under an id made here."""
    given = DuplicateIndex()
    for paper in papers:
        if paper.id_is_given:
            given.add(paper.id, fingerprint(paper.abstract))
    return [
        paper.id
        for paper in papers
        if not paper.id_is_given and given.find(fingerprint(paper.abstract))
    ]
