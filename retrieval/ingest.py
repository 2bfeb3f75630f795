"""Files into the library: what is new, what changed, and only that is embedded.

Safe to interrupt at any moment: papers are written in small batches, and the next ingest first
mends what an interrupted one left.
"""

import time
from collections.abc import Iterable, Sequence
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
        progress: told how many of the papers that need it are embedded.

    Raises:
        InputError: a file cannot be read; nothing is written then.
        LibraryInUseError: another process is writing.
    """
    started = time.monotonic()
    records, skipped = _read(files_of(paths), venue, year)
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
    files: Iterable[Path], venue: str, year: int | None
) -> tuple[list[Record], list[Skipped]]:
    records: list[Record] = []
    skipped: list[Skipped] = []
    for file in files:
        page = read_file(file, venue, year)
        records += page.records
        skipped += page.skipped
    return records, skipped


def _mend(library: Library, progress: Progress) -> None:
    """Complete what an interrupted write left: its records make their chunks anew."""
    if not library.was_interrupted:
        return
    damaged, orphans = library.store.damage()
    with library.writing():
        library.store.delete(orphans)
        _write(library, damaged, progress)


def _planned(library: Library, records: Sequence[Record]) -> _Plan:
    stored = {each.paper.id: each for each in library.store.papers()}
    match = _Matcher([each.paper for each in stored.values()], _files(records))
    plan = _Plan([], [], [], [], 0)
    for record in records:
        before = match.existing(record)
        if before is None:
            plan.added.append(paper_of(record))
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
    earlier = {each.paper.id: each.chunk_count for each in library.store.papers()}
    progress(STAGE, 0, len(papers), "papers")
    for at in range(0, len(papers), BATCH):
        batch = []
        for done, paper in enumerate(papers[at : at + BATCH], start=at + 1):
            batch.append(library.prepared(paper))
            progress(STAGE, done, len(papers), "papers")
        library.store.write(batch, earlier)


def _files(records: Iterable[Record]) -> set[str]:
    return {source.file for record in records for source in record.sources}


class _Matcher:
    """Finds the paper of the library that a record belongs to, each paper once."""

    def __init__(self, papers: Sequence[Paper], files: set[str]) -> None:
        self._files = files
        self._papers = {paper.id: paper for paper in papers}
        self._index = DuplicateIndex()
        self._by_title: dict[tuple[str, str], str] = {}
        self._claimed: set[str] = set()
        for paper in papers:
            self._index.add(paper.id, fingerprint(paper.abstract))
            for source in paper.sources:
                self._by_title[source.file, letters(paper.title)] = paper.id

    def existing(self, record: Record) -> Paper | None:
        """The record's paper in the library, if it has one that no other record claimed."""
        for id_ in self._candidates(record):
            paper = self._papers.get(id_)
            if paper is not None and id_ not in self._claimed and _may_join(record, paper):
                self._claimed.add(id_)
                return paper
        return None

    def _candidates(self, record: Record) -> list[str]:
        """By id, by text, and last by title within the same file: an abstract rewritten there."""
        return [
            paper_of(record).id,
            *self._index.find(fingerprint(record.abstract)),
            *(
                self._by_title.get((source.file, letters(record.title)), "")
                for source in record.sources
                if record.title
            ),
        ]

    def merged(self, paper: Paper, record: Record) -> Paper:
        """The paper as the files now have it; what other files gave it stays."""
        others = tuple(source for source in paper.sources if source.file not in self._files)
        if others:
            record = combine(replace(record_of(paper), sources=others), record)
        after = paper_of(record)
        return after if after.id_is_given else replace(after, id=paper.id)


def _may_join(record: Record, paper: Paper) -> bool:
    return not record.given_id or not paper.id_is_given or record.given_id == paper.id
