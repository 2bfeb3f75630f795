"""Files into the library: what is new, what changed, and only that is embedded.

Safe to interrupt at any moment: papers are written in small batches, and the next ingest first
mends what an interrupted one left.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retrieval.chroma import StoredPaper
from retrieval.errors import InputError
from retrieval.library import Library
from retrieval.mending import mend, write_papers
from retrieval.merge import (
    DuplicateIndex,
    combine,
    fingerprint,
    fold,
    letters,
    paper_of,
    record_of,
)
from retrieval.progress import Progress, silent
from retrieval.readers import files_of, read_file
from retrieval.types import IngestReport, Paper, Record, Skipped

READING = "Reading files"
_WORTH_A_BAR = 100
"""Records below which reading is over before a bar could be seen."""


@dataclass(slots=True)
class _Plan:
    """What an ingest will do."""

    added: list[Paper]
    updated: list[Paper]
    relabelled: list[StoredPaper]
    """Changed in their fields only; their chunks and vectors stay."""
    replaced: list[str]
    """Ids that give way to an id that a file gives."""
    unchanged: int


def ingest(
    library: Library,
    paths: Iterable[Path],
    *,
    venue: str = "",
    year: int | None = None,
    progress: Progress = silent,
    names: Mapping[Path, str] | None = None,
    skips_files: bool = False,
) -> IngestReport:
    """Read `paths` and bring the library up to date with them.

    Args:
        library: where the papers go.
        paths: files, or folders of files.
        venue: venue of papers for which a file names none.
        year: year of papers for which a file names none.
        progress: told how many records are read, then how many of the papers that need it are
            embedded.
        names: what sources and errors call a file that has another name than on disk.
        skips_files: whether a file that cannot be read is skipped (as line 0) and the others read.

    Raises:
        InputError: a file cannot be read; nothing is written then.
        LibraryInUseError: another process is writing.
    """
    started = time.monotonic()
    reading = _Reading(venue, year, progress, names or {})
    for file in files_of(paths):
        reading.read(file, skips=skips_files)
    records, skipped = reading.records, reading.skipped
    folded = fold(records)
    with library.exclusive():
        if library.was_interrupted:
            mend(library, progress)
        plan = _planned(library, folded)
        _carry_out(library, plan, progress)
    papers, chunks = library.store.count()
    return IngestReport(
        papers=papers,
        added=len(plan.added),
        updated=len(plan.updated) + len(plan.relabelled),
        unchanged=plan.unchanged,
        merged=len(records) - len(folded),
        chunks=chunks,
        seconds=round(time.monotonic() - started, 3),
        skipped=tuple(skipped),
    )


class _Reading:
    """Reads files and counts records over all of them; how many there are shows file by file."""

    def __init__(
        self, venue: str, year: int | None, progress: Progress, names: Mapping[Path, str]
    ) -> None:
        self.records: list[Record] = []
        self.skipped: list[Skipped] = []
        self._venue = venue
        self._year = year
        self._progress = progress
        self._names = names
        self._before = 0
        self._of_file = 0

    def read(self, file: Path, *, skips: bool) -> None:
        name = self._names.get(file, "")
        try:
            page = read_file(file, self._venue, self._year, self._told, name)
        except InputError as error:
            if not skips:
                raise
            self.skipped.append(Skipped(name or file.name, 0, str(error)))
            return
        self._end_of_file(len(page.records))
        self.records += page.records
        self.skipped += page.skipped

    def _told(self, done: int, total: int) -> None:
        self._of_file = total
        if self._before + total >= _WORTH_A_BAR:
            self._progress(READING, self._before + done, self._before + total, "records")

    def _end_of_file(self, papers: int) -> None:
        """A page of papers is read at once and tells its number only here."""
        if not self._of_file:
            self._told(papers, papers)
        self._before += self._of_file
        self._of_file = 0


def _planned(library: Library, records: Sequence[Record]) -> _Plan:
    stored = {each.paper.id: each for each in library.store.papers()}
    match = _Matcher([each.paper for each in stored.values()], _files(records))
    plan = _Plan([], [], [], [], 0)
    taken = set(stored)
    for record, before in zip(records, match.papers_of(records), strict=True):
        if before is None:
            plan.added.append(_with_free_id(paper_of(record), taken))
            taken.add(plan.added[-1].id)
            continue
        after = match.merged(before, record)
        if after == before:
            plan.unchanged += 1
        elif (after.id, after.title, after.abstract) == (before.id, before.title, before.abstract):
            plan.relabelled.append(replace(stored[before.id], paper=after))
        else:
            plan.updated.append(after)
            if after.id != before.id:
                plan.replaced.append(before.id)
    return plan


def _carry_out(library: Library, plan: _Plan, progress: Progress) -> None:
    if not (plan.added or plan.updated or plan.relabelled):
        return
    changed = [*plan.added, *plan.updated, *(each.paper for each in plan.relabelled)]
    with library.writing(reads={source.file for paper in changed for source in paper.sources}):
        write_papers(library, plan.added + plan.updated, progress)
        library.store.rewrite_records(plan.relabelled)
        library.store.delete(plan.replaced)


def _with_free_id(paper: Paper, taken: Collection[str]) -> Paper:
    """Different papers may have the same title and beginning; no paper may overwrite another."""
    id_, number = paper.id, 1
    while id_ in taken:
        number += 1
        id_ = f"{paper.id}-{number}"
    return replace(paper, id=id_)


def _files(records: Iterable[Record]) -> set[str]:
    return {source.file for record in records for source in record.sources}


class _Matcher:
    """Finds the papers of the library that records belong to, each paper once."""

    def __init__(self, papers: Sequence[Paper], files: set[str]) -> None:
        self._files = files
        self._papers = {paper.id: paper for paper in papers}
        self._index = DuplicateIndex()
        self._by_name: dict[tuple[str, str], list[str]] = {}
        for paper in papers:
            self._index.add(paper.id, fingerprint(paper.abstract))
            for key in _names(record_of(paper)):
                self._by_name.setdefault(key, []).append(paper.id)

    def papers_of(self, records: Sequence[Record]) -> list[Paper | None]:
        """Each record's paper, or nothing if it is new.

        A surer sign of one record comes before a weaker sign of another: by id, by text, and last
        by name within the same file, for an abstract rewritten there.
        """
        found: dict[int, Paper] = {}
        unclaimed = dict(self._papers)

        def may_have(record: Record, id_: str) -> bool:
            return id_ in unclaimed and _may_join(record, unclaimed[id_])

        signs: tuple[Callable[[Record], list[str]], ...] = (
            lambda record: [record.given_id],
            lambda record: self._index.find(
                fingerprint(record.abstract), lambda id_: may_have(record, id_)
            ),
            lambda record: [id_ for key in _names(record) for id_ in self._by_name.get(key, ())],
        )
        for sign in signs:
            for at, record in enumerate(records):
                for id_ in sign(record) if at not in found else ():
                    if may_have(record, id_):
                        found[at] = unclaimed.pop(id_)
                        break
        return [found.get(at) for at in range(len(records))]

    def merged(self, paper: Paper, record: Record) -> Paper:
        """The paper as the files now have it; what other files gave it stays."""
        others = tuple(source for source in paper.sources if source.file not in self._files)
        if others:
            record = combine(replace(record_of(paper), sources=others), record)
        after = paper_of(record)
        return after if after.id_is_given else replace(after, id=paper.id)


def _may_join(record: Record, paper: Paper) -> bool:
    return not record.given_id or not paper.id_is_given or record.given_id == paper.id


def _names(record: Record) -> list[tuple[str, str]]:
    """What a record is called in each of its files: its title, or how its abstract begins."""
    name = letters(record.title) or letters(record.abstract)[:100]
    return [(source.file, name) for source in record.sources]
