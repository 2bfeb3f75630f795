"""What is in a library: papers by file, venue, year and decision, and those in several places."""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from retrieval.index.files import load_cached, save_cached
from retrieval.library.library import Library
from retrieval.types import Paper, Source

_FILE = "overview.json"

Counts = tuple[tuple[str, int], ...]
"""Values and their numbers of papers, most papers first; the empty value is unknown."""


_COMMON_SHARE = 0.8
"""Share of a file's papers from which their venue and year name the file."""
_MOST_COPIES = 500
"""Papers in several places that are listed."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file whose papers were read."""

    name: str
    papers: int
    label: str = ""
    """Venue and year that most of its papers have; empty if they differ."""
    first: str = ""
    """Title of the paper that comes first in it."""


@dataclass(frozen=True, slots=True)
class Copies:
    """A paper that was found in several places."""

    title: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Numbers of papers; a paper from several files counts for each."""

    papers: int
    chunks: int
    sources: Counts
    venues: Counts
    years: Counts
    """As text, the latest first."""
    decisions: Counts
    files: tuple[SourceFile, ...] = ()
    """In the order of `sources`."""
    dated: tuple[tuple[str, str, int], ...] = ()
    """Venues and years with their numbers of papers, only those that are known."""
    copied: int = 0
    """Papers that were found in several places; `copies` are the first of them."""
    copies: tuple[Copies, ...] = ()


_FORM = TypeAdapter(Overview)


class Overviews:
    """The overview of one library, counted once for every revision and kept beside it."""

    def __init__(self, library: Library) -> None:
        self._counting = threading.Lock()
        self._library = library
        self._revision = ""
        self._overview: Overview | None = None

    def overview(self) -> Overview:
        """The overview of the current library.

        Raises:
            LibraryError: it cannot be read.
        """
        with self._counting:
            revision = self._library.store.revision
            if self._overview is None or self._revision != revision:
                known = last_overview(self._library.home, revision)
                self._overview = known or self._counted(revision)
                self._revision = revision
            return self._overview

    def _counted(self, revision: str) -> Overview:
        overview = overview_of(
            (stored.paper for stored in self._library.store.papers()),
            self._library.store.count()[1],
        )
        save_cached(self._library.home / _FILE, revision, overview, _FORM)
        return overview


def last_overview(home: Path, revision: str | None = None) -> Overview | None:
    """The overview last kept in `home`, of `revision` if given; None if there is none."""
    return load_cached(home / _FILE, revision, _FORM)


def overview_of(papers: Iterable[Paper], chunks: int) -> Overview:
    """The overview of these papers."""
    total = copied = 0
    sources, venues, years, decisions = (Counter[str]() for _ in range(4))
    dated: Counter[tuple[str, str]] = Counter()
    files: dict[str, _File] = {}
    copies: list[Copies] = []
    for paper in papers:
        total += 1
        for name in {source.file for source in paper.sources}:
            sources[name] += 1
            files.setdefault(name, _File()).add(paper, name)
        venues[paper.venue] += 1
        years[str(paper.year or "")] += 1
        decisions[paper.decision] += 1
        if paper.venue and paper.year:
            dated[paper.venue, str(paper.year)] += 1
        if len(paper.sources) > 1:
            copied += 1
            if len(copies) < _MOST_COPIES:
                copies.append(Copies(paper.shown_title, paper.sources))
    ordered = _by_size(sources)
    return Overview(
        papers=total,
        chunks=chunks,
        sources=ordered,
        venues=_by_size(venues),
        years=tuple(sorted(years.items(), key=lambda each: int(each[0] or 0), reverse=True)),
        decisions=_by_size(decisions),
        files=tuple(files[name].described(name, count) for name, count in ordered),
        dated=tuple((venue, year, count) for (venue, year), count in sorted(dated.items())),
        copied=copied,
        copies=tuple(sorted(copies, key=lambda each: each.title.casefold())),
    )


@dataclass(slots=True)
class _File:
    """What is known of one file so far."""

    where: Counter[str] = field(default_factory=Counter)
    first_line: int = 0
    first: str = ""

    def add(self, paper: Paper, name: str) -> None:
        self.where[f"{paper.venue} {paper.year or ''}".strip()] += 1
        line = min(source.line for source in paper.sources if source.file == name)
        if not self.first or line < self.first_line:
            self.first_line, self.first = line, paper.shown_title

    def described(self, name: str, papers: int) -> SourceFile:
        where, count = self.where.most_common(1)[0]
        return SourceFile(
            name, papers, where if count >= _COMMON_SHARE * papers else "", self.first
        )


def _by_size(counts: Counter[str]) -> Counts:
    """Most papers first, the unknown last."""
    return tuple(sorted(counts.items(), key=lambda each: (not each[0], -each[1], each[0])))
