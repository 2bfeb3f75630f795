"""Files into the library: what is new, what changed, and only that is embedded.

Safe to interrupt at any moment: papers are written in small batches, and the next ingest first
mends what an interrupted one left.
"""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retrieval.chroma import StoredPaper
from retrieval.library import Library
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

BATCH = 64
"""Papers written at once: what an interruption loses at most."""

READING = "Reading files"
_WORTH_A_BAR = 100
"""Records below which reading is over before a bar could be seen."""
STAGE = "Embedding papers"


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
) -> IngestReport:
    """Read `paths` and bring the library up to date with them.

    Args:
        library: where the papers go.
        paths: files, or folders of files.
        venue: venue of papers for which a file names none.
        year: year of papers for which a file names none.
        progress: told how many records are read, then how many of the papers that need it are
            embedded.

    Raises:
        InputError: a file cannot be read; nothing is written then.
        LibraryInUseError: another process is writing.
    """
    started = time.monotonic()
    records, skipped = _read(files_of(paths), venue, year, progress)
    folded = fold(records)
    with library.exclusive():
        _mend(library, progress)
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


def _read(
    files: Iterable[Path], venue: str, year: int | None, progress: Progress
) -> tuple[list[Record], list[Skipped]]:
    records: list[Record] = []
    skipped: list[Skipped] = []
    told = _Reading(progress)
    for file in files:
        page = read_file(file, venue, year, told)
        told.end_of_file(len(page.records))
        records += page.records
        skipped += page.skipped
    return records, skipped


class _Reading:
    """Counts records over all files; how many there are shows file by file."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._before = 0
        self._of_file = 0

    def __call__(self, done: int, total: int) -> None:
        self._of_file = total
        if self._before + total >= _WORTH_A_BAR:
            self._progress(READING, self._before + done, self._before + total, "records")

    def end_of_file(self, papers: int) -> None:
        """A page of papers is read at once and tells its number only here."""
        if not self._of_file:
            self(papers, papers)
        self._before += self._of_file
        self._of_file = 0


def _mend(library: Library, progress: Progress) -> None:
    """Complete what an interrupted write left: its records make their chunks anew."""
    if not library.was_interrupted:
        return
    damaged, stray = library.store.damage()
    with library.writing():
        library.store.delete_chunks(stray)
        _write(library, damaged, progress)
        library.store.delete(_superseded([each.paper for each in library.store.papers()]))


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
    with library.writing():
        _write(library, plan.added + plan.updated, progress)
        library.store.rewrite_records(plan.relabelled)
        library.store.delete(plan.replaced)


def _write(library: Library, papers: Sequence[Paper], progress: Progress) -> None:
    stored = library.store.stored_by_id([paper.id for paper in papers])
    earlier = {id_: each.chunk_count for id_, each in stored.items()}
    progress(STAGE, 0, len(papers), "papers")
    with library.store.bulk(len(papers)):
        for at in range(0, len(papers), BATCH):
            batch = []
            for done, paper in enumerate(papers[at : at + BATCH], start=at + 1):
                batch.append(library.prepared(paper))
                progress(STAGE, done, len(papers), "papers")
            library.store.write(batch, earlier)


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
