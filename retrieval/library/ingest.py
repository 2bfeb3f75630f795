"""Adds the papers of files to a library, and removes those of a file."""

import difflib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retrieval.formats import files_of, read_file, shown
from retrieval.formats.merge import (
    PaperIndex,
    combine,
    dois_differ,
    fold,
    names_of,
    paper_of,
    readable_id,
    record_of,
    signs_of,
    years_differ,
)
from retrieval.index.records import StoredPaper
from retrieval.library.health import drop_files, mend, without_files, write_papers
from retrieval.library.ingest_log import write_log
from retrieval.library.library import Library
from retrieval.types import IngestReport, InputError, Paper, Progress, Record, Skipped, silent

READING = "Reading files"
_LEAST_SHOWN = 100
"""Records below which reading takes too little time for a progress bar."""
_NAMES_SHOWN = 3
"""Names of files suggested for an unknown one."""


def ingest(
    library: Library,
    paths: Iterable[Path],
    *,
    venue: str = "",
    year: int | None = None,
    progress: Progress = silent,
    names: Mapping[Path, str] | None = None,
    skips_files: bool = False,
    searchable: Callable[[], None] = lambda: None,
) -> IngestReport:
    """Read `paths` and bring the library up to date with them.

    Args:
        library: the library to change.
        paths: files, or folders of files.
        venue: venue of papers that have none in their file.
        year: year of papers that have none in their file.
        progress: called as records are read, then as new and changed papers are embedded.
        names: names for sources and errors of files that have another name on disk.
        skips_files: whether an unreadable file is skipped (as line 0) instead of an error.
        searchable: called when papers written so far can be searched, before the others are.

    Raises:
        InputError: a file cannot be read; then nothing is written.
        LibraryInUseError: another process is writing.
    """
    started = time.monotonic()
    reading = _Reading(venue, year, progress, names or {})
    for file in files_of(paths):
        reading.read(file, skips=skips_files)
    records = reading.records
    folded = fold(records)
    with library.exclusive():
        if library.needs_mending:
            mend(library, progress)
        plan = _planned(library, folded)
        _carry_out(library, plan, progress, searchable)
        write_log(library.home, reading.files, reading.skipped, records, folded)
    papers, chunks = library.store.count()
    return IngestReport(
        papers=papers,
        added=len(plan.added),
        updated=len(plan.updated) + len(plan.relabelled),
        unchanged=plan.unchanged,
        merged=len(records) - len(folded),
        chunks=chunks,
        seconds=round(time.monotonic() - started, 3),
        skipped=tuple(reading.skipped),
        notes=tuple(reading.notes),
    )


@dataclass(frozen=True, slots=True)
class Removal:
    """Effect of removing a file; the fields of the command's JSON."""

    source: str
    """The file's name."""
    removed: int
    """Papers that no other file has."""
    kept: int
    """Papers that stay because other files have them too."""
    papers: int
    """Papers left in the library."""
    seconds: float = 0.0
    completed: bool = False
    """Whether an earlier removal of the file was interrupted and is now complete."""


def removal_of(library: Library, source: str) -> Removal:
    """The effect that `remove_source` would have; nothing is changed.

    Raises:
        InputError: no paper was read from a file of this name.
        LibraryError: the library cannot be read.
    """
    kept, gone = without_files(library, {source})
    if not kept and not gone:
        raise InputError(_unknown(library, source))
    return Removal(source, len(gone), len(kept), library.store.count()[0] - len(gone))


def remove_source(library: Library, source: str, progress: Progress = silent) -> Removal:
    """Remove the papers that were read from the file `source`.

    The next ingest completes an interrupted removal. A removed file, also a seed, is not read again
    unless it is ingested by its name.

    Args:
        library: the library to change.
        source: the file's name in the sources of papers.
        progress: called as papers are removed.

    Raises:
        InputError: no paper was read from a file of this name.
        LibraryInUseError: another process is writing.
        LibraryError: the library cannot be read or written.
    """
    started = time.monotonic()
    with library.exclusive():
        completes = library.was_interrupted and source in library.removed
        if completes:
            kept, gone = without_files(library, {source})
        if library.needs_mending:
            mend(library, progress)
        if completes:
            papers = library.store.count()[0]
            removal = Removal(source, len(gone), len(kept), papers, completed=True)
        else:
            removal = removal_of(library, source)
            with library.writing(removes={source}):
                drop_files(library, {source}, progress)
    return replace(removal, seconds=round(time.monotonic() - started, 3))


@dataclass(slots=True)
class _Plan:
    """The changes of an ingest."""

    added: list[Paper]
    updated: list[Paper]
    relabelled: list[StoredPaper]
    """Papers with changed fields only; their chunks and vectors stay."""
    replaced: list[tuple[str, str]]
    """Ids replaced by an id from a file, each with that one."""
    unchanged: int


class _Reading:
    """Reads files and reports progress over all of them; the total grows file by file."""

    def __init__(
        self, venue: str, year: int | None, progress: Progress, names: Mapping[Path, str]
    ) -> None:
        self.records: list[Record] = []
        self.skipped: list[Skipped] = []
        self.notes: list[Skipped] = []
        self.files: list[str] = []
        """Names of the files that were read."""
        self._venue = venue
        self._year = year
        self._progress = progress
        self._names = names
        self._before = 0
        self._of_file = 0

    def read(self, file: Path, *, skips: bool) -> None:
        name = self._names.get(file, "")
        self.files.append(name or shown(file.name))
        try:
            page = read_file(file, self._venue, self._year, self._report, name)
        except InputError as error:
            if not skips and file.is_file():
                raise
            self.skipped.append(Skipped(name or shown(file.name), 0, str(error)))
            return
        self._end_of_file(len(page.records))
        self.records += page.records
        self.skipped += page.skipped
        self.notes += page.notes

    def _report(self, done: int, total: int) -> None:
        self._of_file = total
        if self._before + total >= _LEAST_SHOWN:
            self._progress(READING, self._before + done, self._before + total, "records")

    def _end_of_file(self, papers: int) -> None:
        """Count a file's records; readers of pages report no progress, so it is reported here."""
        if not self._of_file:
            self._report(papers, papers)
        self._before += self._of_file
        self._of_file = 0


def _planned(library: Library, records: Sequence[Record]) -> _Plan:
    stored = _perhaps_copied(library, records)
    files = {source.file for record in records for source in record.sources}
    matcher = _Matcher([each.paper for each in stored.values()], files)
    plan = _Plan([], [], [], [], 0)
    taken = set(library.lexical.ids)
    for record, before in zip(records, matcher.papers_of(records), strict=True):
        if before is None:
            plan.added.append(_with_free_id(record, taken))
            taken.add(plan.added[-1].id)
            continue
        after = matcher.merged(before, record, taken)
        taken.add(after.id)
        # A paper with a given id that was written before ids were doubted is confirmed.
        if after == before and not (after.id_is_given and stored[before.id].is_old):
            plan.unchanged += 1
        elif (after.id, after.title, after.abstract) == (before.id, before.title, before.abstract):
            plan.relabelled.append(replace(stored[before.id], paper=after, is_old=False))
        else:
            plan.updated.append(after)
            if after.id != before.id:
                plan.replaced.append((before.id, after.id))
    return plan


def _perhaps_copied(library: Library, records: Sequence[Record]) -> dict[str, StoredPaper]:
    """The papers that share a sign with a record, by their ids: only they are compared with it."""
    library.bring_index_up_to_date()
    if not library.lexical.size:
        return {}
    found = {id_ for record in records for id_ in library.lexical.sharing(signs_of(record))}
    return library.store.stored_by_id([id_ for id_ in library.lexical.ids if id_ in found])


def _carry_out(
    library: Library, plan: _Plan, progress: Progress, searchable: Callable[[], None]
) -> None:
    if not (plan.added or plan.updated or plan.relabelled):
        return
    changed = [*plan.added, *plan.updated, *(each.paper for each in plan.relabelled)]
    reads = {source.file for paper in changed for source in paper.sources}
    with library.writing(reads=reads, replaces=plan.replaced):
        write_papers(library, plan.added + plan.updated, progress, searchable)
        library.store.rewrite_records(plan.relabelled)
        library.store.delete([old for old, _ in plan.replaced])


def _with_free_id(record: Record, taken: Collection[str]) -> Paper:
    """The new paper of a record, with its given id only if no other paper has it."""
    paper = paper_of(record)
    if paper.id not in taken:
        return paper
    base = paper.id if not paper.id_is_given else readable_id(record)
    id_, number = base, 1
    while id_ in taken:
        number += 1
        id_ = f"{base}-{number}"
    return replace(paper, id=id_, id_is_given=False)


class _Matcher:
    """Matches records with papers of the library, each paper once."""

    def __init__(self, papers: Sequence[Paper], files: set[str]) -> None:
        self._files = files
        self._papers = {paper.id: paper for paper in papers}
        self._index = PaperIndex()
        self._by_name: dict[tuple[str, str], list[str]] = {}
        for paper in papers:
            record = record_of(paper)
            self._index.add(paper.id, record, known_as=paper.id)
            for key in names_of(record):
                self._by_name.setdefault(key, []).append(paper.id)

    def papers_of(self, records: Sequence[Record]) -> list[Paper | None]:
        """The paper of each record; None if it is new.

        Stronger signs of all records come before weaker ones: last is the title within the same
        file, for an abstract that was rewritten there.
        """
        found: dict[int, Paper] = {}
        unclaimed = dict(self._papers)
        for kind in ("id", "doi", "title", "abstract", "name"):
            for at, record in enumerate(records):
                ids = () if at in found else self._papers_by(kind, record, unclaimed)
                id_ = next((each for each in ids if each in unclaimed), None)
                if id_ is not None:
                    found[at] = unclaimed.pop(id_)
        return [found.get(at) for at in range(len(records))]

    def _papers_by(
        self, kind: str, record: Record, unclaimed: Mapping[str, Paper]
    ) -> Iterable[str]:
        if kind != "name":
            return self._index.find(record, (kind,), unclaimed.__contains__)
        named = (id_ for key in names_of(record) for id_ in self._by_name.get(key, ()))
        return (id_ for id_ in named if _may_be_rewritten(record, self._papers[id_]))

    def merged(self, paper: Paper, record: Record, taken: Collection[str]) -> Paper:
        """The paper with the record's fields; fields from other files stay."""
        others = tuple(source for source in paper.sources if source.file not in self._files)
        if others:
            record = combine(replace(record_of(paper), sources=others), record)
        after = paper_of(record)
        is_free = after.id_is_given and (after.id == paper.id or after.id not in taken)
        if paper.id_is_given or not is_free:
            return replace(after, id=paper.id, id_is_given=paper.id_is_given)
        return after


def _may_be_rewritten(record: Record, paper: Paper) -> bool:
    """Whether nothing but the abstract says that a record of the paper's file is another paper."""
    before = record_of(paper)
    if record.given_id and before.given_id and record.given_id != before.given_id:
        return False
    named = record.authors and before.authors
    is_numbered = record.given_id and before.given_id
    return (
        not dois_differ(record, before)
        and not (named and record.authors != before.authors)
        and not (years_differ(record, before) and not is_numbered)
    )


def _unknown(library: Library, source: str) -> str:
    names = {each.file for stored in library.store.papers() for each in stored.paper.sources}
    if not names:
        return f"No paper was read from a file {source!r}: the library has no papers."
    by_letters = {name.casefold(): name for name in sorted(names)}
    near = difflib.get_close_matches(source.casefold(), by_letters, _NAMES_SHOWN, 0.3)
    shown = [by_letters[name] for name in near] or sorted(names)[:_NAMES_SHOWN]
    listed = ", ".join(map(repr, shown))
    return f"No paper was read from a file {source!r}; the nearest of {len(names)} are {listed}."
