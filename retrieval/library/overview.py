"""Counts the papers of a library by file, venue, year and decision."""

import json
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from retrieval.index.files import checksum_of_fields, write_whole
from retrieval.library.library import Library
from retrieval.types import LibraryError, Paper

_FILE = "overview.json"

Counts = tuple[tuple[str, int], ...]
"""Values and their numbers of papers, most papers first; the empty value is unknown."""


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


class Overviews:
    """The overview of one library, counted once for every revision and kept beside it."""

    def __init__(self, library: Library) -> None:
        """Nothing is counted yet."""
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
                self._overview = last_overview(self._library.home, revision) or self._counted(
                    revision
                )
                self._revision = revision
            return self._overview

    def _counted(self, revision: str) -> Overview:
        overview = counted(
            (stored.paper for stored in self._library.store.papers()),
            self._library.store.count()[1],
        )
        fields = asdict(overview)
        kept = {"revision": revision, "overview": fields, "checksum": checksum_of_fields(fields)}
        with suppress(LibraryError):  # a folder may be read-only: counted again next time
            write_whole(self._library.home / _FILE, json.dumps(kept, ensure_ascii=False))
        return overview


def last_overview(home: Path, revision: str = "") -> Overview | None:
    """The overview last kept in `home`, of `revision` if given; None if there is none."""
    try:
        kept = json.loads((home / _FILE).read_text("utf-8"))
        sound = kept["checksum"] == checksum_of_fields(kept["overview"])
        fits = not revision or kept["revision"] == revision
        fields = {name: _read(value) for name, value in kept["overview"].items()}
        return Overview(**fields) if sound and fits else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _read(value: Any) -> Any:
    return tuple(map(tuple, value)) if isinstance(value, list) else value


def counted(papers: Iterable[Paper], chunks: int) -> Overview:
    """The overview of these papers."""
    total = 0
    sources, venues, years, decisions = (Counter[str]() for _ in range(4))
    for paper in papers:
        total += 1
        sources.update({source.file for source in paper.sources})
        venues[paper.venue] += 1
        years[str(paper.year or "")] += 1
        decisions[paper.decision] += 1
    return Overview(
        papers=total,
        chunks=chunks,
        sources=_by_size(sources),
        venues=_by_size(venues),
        years=tuple(sorted(years.items(), key=lambda each: int(each[0] or 0), reverse=True)),
        decisions=_by_size(decisions),
    )


def _by_size(counts: Counter[str]) -> Counts:
    """Most papers first, the unknown last."""
    return tuple(sorted(counts.items(), key=lambda each: (not each[0], -each[1], each[0])))
