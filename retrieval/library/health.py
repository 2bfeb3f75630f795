"""Checks whether a library is whole, and repairs it; writes papers and removes files' papers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from retrieval.formats.merge import PaperIndex, record_of
from retrieval.index.chroma import replace_records
from retrieval.index.records import StoredPaper
from retrieval.index.salvage import BEING_REPAIRED, keep, salvaged, set_aside
from retrieval.library.library import Library
from retrieval.library.overview import Overview, last_overview, overview_of
from retrieval.types import LibraryError, Paper, Progress, counted, silent

CHECKING = "Checking the library"
SALVAGING = "Reading the damaged database"
EMBEDDING = "Embedding papers"
REMOVING = "Removing papers"
BATCH = 64
"""Papers written at once: the most that an interruption loses."""
_GROWTH = 4
"""Factor of written papers after which they are made searchable again."""
COMPARING = "Comparing titles with abstracts"
_COMPARED = 1500
"""Characters of an abstract that are compared with its title."""
_LEAST_LIKENESS = 0.3
"""Cosine of title and abstract below which they may be of two papers: so are 0.3 % of the seeds'
papers, and 81 % of titles and abstracts of different seeds."""
_SHOWN = 5
_STEPS = 2
_REMOVED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Health:
    """Result of a check; the fields of the command's JSON."""

    papers: int
    chunks: int
    interrupted: bool
    """Whether the last write did not end."""
    readable: bool
    """Whether the chunks can be read."""
    damaged: int
    """Papers whose chunks do not make up their abstract."""
    stray: int
    """Chunks that belong to no paper."""
    unreachable: int
    """Chunks that no search by meaning finds."""
    unindexed: int
    """Papers missing in the lexical index."""
    overindexed: int
    """Papers only in the lexical index."""
    current: bool
    """Whether the lexical index was built from the current library."""
    mixed: tuple[str, ...] = ()
    """Ids of papers that may have the title of one paper and the abstract of another."""
    mixed_files: tuple[str, ...] = ()
    """The files that they were read from."""
    recovered: str = ""
    """What was read from a damaged database, in a sentence; empty if it was not damaged."""

    @property
    def sound(self) -> bool:
        """Whether nothing needs repair."""
        return not self.findings

    @property
    def findings(self) -> tuple[str, ...]:
        """One sentence for each problem."""
        said = (
            (self.interrupted, "The last write to the library was interrupted."),
            (not self.readable, "The chunks cannot be read; they have to be embedded anew."),
            (self.damaged, f"{_papers(self.damaged)} without the right chunks."),
            (self.stray, f"{counted(self.stray, 'chunk')} of no paper."),
            (self.unreachable, f"{counted(self.unreachable, 'chunk')} that no search finds."),
            (self.unindexed, f"{_papers(self.unindexed)} missing in the lexical index."),
            (self.overindexed, f"{_papers(self.overindexed)} only in the lexical index."),
            (not self.current, "The lexical index was built from another state of the library."),
            (bool(self.mixed), self._mixing),
        )
        return tuple(sentence for is_so, sentence in said if is_so)

    @property
    def _mixing(self) -> str:
        ids = ", ".join(map(repr, self.mixed[:_SHOWN]))
        more = ", …" if len(self.mixed) > _SHOWN else ""
        return (
            f"{_papers(len(self.mixed))} perhaps mixed of two with the same id ({ids}{more}); "
            f"ingest {' and '.join(self.mixed_files)} again, all in one command."
        )


def check(library: Library, progress: Progress = silent) -> Health:
    """Check whether the library is whole; change nothing.

    Raises:
        LibraryInUseError: another process is writing.
        LibraryError: the database is damaged, or records cannot be read.
    """
    with library.exclusive():
        progress(CHECKING, 0, _STEPS, "steps")
        if library.is_damaged():
            raise LibraryError(
                f"The database in {library.place.database} is damaged; run `assistant doctor "
                "--repair` to make a new library of the papers that can be read."
            )
        if library.place.database is None:  # this replica may only not have followed yet
            library.bring_index_up_to_date()
        stored = list(library.store.papers())
        ids = {each.paper.id for each in stored}
        mixed = _mixed(library, stored, progress)
        try:
            damaged, stray = (len(found) for found in library.store.damage())
            readable = True
        except LibraryError:
            damaged, stray, readable = len(ids), 0, False
        progress(CHECKING, 1, _STEPS, "steps")
        indexed = set(library.lexical.ids) if library.lexical.revision else set[str]()
        health = Health(
            papers=len(ids),
            chunks=library.store.count()[1] if readable else 0,
            interrupted=library.was_interrupted,
            readable=readable,
            damaged=damaged,
            stray=stray,
            unreachable=len(library.store.unreachable()) if readable else 0,
            unindexed=len(ids - indexed),
            overindexed=len(indexed - ids),
            current=library.lexical.revision == library.revision or not (ids or indexed),
            mixed=tuple(sorted(paper.id for paper in mixed)),
            mixed_files=tuple(sorted({s.file for paper in mixed for s in paper.sources})),
        )
        progress(CHECKING, _STEPS, _STEPS, "steps")
    return health


def repair(library: Library, progress: Progress = silent) -> Health:
    """Make the library whole, as an ingest does after an interruption, and check it again.

    A damaged database is kept beside a new one of all its records that can be read.

    Raises:
        LibraryInUseError: another process is writing.
        LibraryError: the library cannot be read or written; or it is whole, but papers are lost.
    """
    with library.exclusive():
        is_current = library.lexical.revision == library.revision
        known = set(library.lexical.ids) if is_current else set[str]()
        copy = _salvage(library, known, progress)
        mend(library, progress)
        papers = [stored.paper for stored in library.store.papers()]
        kept = copy and keep(copy)
    health = check(library, progress)
    lost = len(known - {paper.id for paper in papers})
    if kept:
        return replace(health, recovered=_recovery(library, kept, papers, len(known)))
    if lost:
        raise LibraryError(
            f"The records of {counted(lost, 'paper')} could not be read and are lost; "
            f"{_papers(health.papers)} left, and the library is whole again. "
            "Ingest the files again with `assistant ingest`."
        )
    return health


def _salvage(library: Library, known: Collection[str], progress: Progress) -> Path | None:
    """Replace a damaged database by a new one of the records that can be read.

    Args:
        library: the library.
        known: ids of its papers, if they are known: records of deleted papers may be left.
        progress: called after each step.

    Returns:
        The copy of the database, also if an earlier repair replaced it and was interrupted; None
        if there is no damage.
    """
    folder = library.place.database
    if folder is None:
        return None
    if not library.is_damaged() and _is_open(library, known):
        return folder / BEING_REPAIRED if (folder / BEING_REPAIRED).exists() else None
    progress(SALVAGING, 0, _STEPS, "steps")
    copy = set_aside(folder)
    found = [each for each in salvaged(copy) if not known or each.paper.id in known]
    progress(SALVAGING, 1, _STEPS, "steps")
    replace_records(folder, found)
    progress(SALVAGING, _STEPS, _STEPS, "steps")
    return copy


def _is_open(library: Library, known: Collection[str]) -> bool:
    """Whether Chroma opens the database, and finds any of its papers: its tables may be damaged."""
    try:
        return not known or not set(known).isdisjoint(library.store.paper_ids())
    except LibraryError:
        return False


def _recovery(library: Library, kept: Path, papers: Sequence[Paper], known: int) -> str:
    """What was recovered from the damaged database, of which `known` papers were indexed.

    Raises:
        LibraryError: papers are lost, or it is not known how many there were.
    """
    before = last_overview(library.home)
    found, total = len(papers), known or (before.papers if before else None)
    if found == total:
        return (
            f"The database was damaged: all {found:,} papers were recovered into a new one; "
            f"the damaged one is kept as {kept}."
        )
    what = f"{counted(found, 'paper')} could be recovered, and how many there were is not known"
    if total and found < total:
        what = f"{found:,} of {total:,} papers were recovered, and {total - found:,} are lost"
    raise LibraryError(
        f"The database was damaged: {what}; the library is whole again, so ingest "
        f"{_lacking(before, papers)} again with `assistant ingest` (the damaged database is kept "
        f"as {kept})."
    )


def _lacking(before: Overview | None, papers: Sequence[Paper]) -> str:
    """The names of files that have fewer papers than before."""
    now = dict(overview_of(papers, 0).sources)
    names = [name for name, count in (before.sources if before else ()) if now.get(name, 0) < count]
    return " and ".join(names[:_SHOWN]) if 0 < len(names) <= _SHOWN else "its files"


def mend(library: Library, progress: Progress = silent) -> None:
    """Make the library whole again, inside `Library.exclusive`.

    Damaged papers get new chunks from their records, stray chunks are deleted, the removal of files
    and the replacement of ids are completed, and the lexical index is rebuilt.

    Raises:
        LibraryError: the library cannot be read or written.
    """
    library.store.drop_damaged_records()
    damaged, stray = _damage(library)
    with library.writing(rebuilds=True):
        library.store.delete_chunks(stray)
        drop_files(library, library.removed, progress)
        left = library.store.stored_by_id([paper.id for paper in damaged])
        if left:
            write_papers(library, [each.paper for each in left.values()], progress)
        papers = [each.paper for each in library.store.papers()]
        present = {paper.id for paper in papers}
        replaced = [old for old, new in library.replaced if {old, new} <= present]
        library.store.delete(sorted({*replaced, *_superseded(papers)}))


def write_papers(
    library: Library,
    papers: Sequence[Paper],
    progress: Progress,
    searchable: Callable[[], None] = lambda: None,
) -> None:
    """Cut, embed and write papers, replacing earlier versions; inside `Library.writing`.

    Those written so far can be searched after the first batch, and again whenever there are four
    times as many; `searchable` is called then.
    """
    shown = BATCH
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
            if shown <= at + BATCH < len(papers):
                shown *= _GROWTH
                library.show_written()
                searchable()


def drop_files(library: Library, files: Collection[str], progress: Progress) -> None:
    """Remove papers that come only from `files`, inside `Library.writing`; see `without_files`."""
    kept, gone = without_files(library, files)
    library.store.rewrite_records(kept)
    for at in range(0, len(gone), _REMOVED_AT_ONCE):
        progress(REMOVING, at, len(gone), "papers")
        library.store.delete([each.paper.id for each in gone[at : at + _REMOVED_AT_ONCE]])
    if gone:
        progress(REMOVING, len(gone), len(gone), "papers")


def without_files(
    library: Library, files: Collection[str]
) -> tuple[list[StoredPaper], list[StoredPaper]]:
    """The effect of removing `files`; nothing is changed.

    Returns:
        Papers that other files have too, without these sources, and papers that only `files` have.
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
    """Ids made here of papers that are also in the library with a given id, which replaces them."""
    given = PaperIndex()
    for paper in papers:
        if paper.id_is_given:
            given.add(paper.id, record_of(paper))
    made = (paper for paper in papers if not paper.id_is_given)
    return [paper.id for paper in made if next(given.find(record_of(paper)), "")]


def _mixed(library: Library, stored: Sequence[StoredPaper], progress: Progress) -> list[Paper]:
    """Papers that may have the title of one paper and the abstract of another.

    Earlier versions took records of different files for one paper if they had the same id. A title
    is then unlike its abstract in meaning, which is only asked of papers that were written then and
    that several files have.
    """
    old = (each.paper for each in stored if each.is_old and each.paper.id_is_given)
    asked = [each for each in old if each.title and len({s.file for s in each.sources}) > 1]
    found = []
    for done, paper in enumerate(asked, start=1):
        title, abstract = map(library.embedder.embed, (paper.title, paper.abstract[:_COMPARED]))
        if float(np.dot(title, abstract)) < _LEAST_LIKENESS:
            found.append(paper)
        progress(COMPARING, done, len(asked), "papers")
    return found


def _papers(count: int) -> str:
    return f"{counted(count, 'paper')} {'is' if count == 1 else 'are'}"
