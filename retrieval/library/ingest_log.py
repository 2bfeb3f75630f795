"""What became of the records of each file that was read: which were skipped or merged, and why.

The log is kept beside the library, and a file's part is replaced when the file is read again. A
library without one, or with a damaged one, only says less.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from retrieval.formats.merge import letters
from retrieval.index.files import write_whole
from retrieval.types import LibraryError, Record, Skipped, Source

FILE = "ingest.json"
_MOST = 500
"""Entries kept of each file."""


@dataclass(frozen=True, slots=True)
class IngestLog:
    """The entries by file; lines are those of the file."""

    skipped: Mapping[str, tuple[Skipped, ...]] = field(default_factory=dict)
    merged: Mapping[str, tuple[Skipped, ...]] = field(default_factory=dict)
    """Records of a paper that is in another place, too."""

    def why_merged(self, source: Source) -> str:
        """Why the record in this place was merged; empty if it is not known."""
        reasons = (
            each.reason for each in self.merged.get(source.file, ()) if each.line == source.line
        )
        return next(reasons, "")


_FORM = TypeAdapter(IngestLog)


def read_log(home: Path) -> IngestLog:
    """The log of the library in `home`; empty if there is none that can be read."""
    try:
        return _FORM.validate_json((home / FILE).read_bytes())
    except (OSError, ValidationError):
        return IngestLog()


def write_log(
    home: Path,
    files: Collection[str],
    skipped: Sequence[Skipped],
    records: Sequence[Record],
    folded: Sequence[Record],
) -> None:
    """Replace the parts of `files` in the log; a folder that cannot be written keeps the old one.

    Args:
        home: the library's folder.
        files: names of the files that were read.
        skipped: what was skipped in them.
        records: all their records.
        folded: the same after those of one paper were merged.
    """
    log = read_log(home)
    merged = _merged(records, folded)
    parts = (
        {file: entries for file, entries in before.items() if file not in files}
        | {
            file: tuple(own)
            for file in files
            if (own := [e for e in now if e.source == file][:_MOST])
        }
        for before, now in ((log.skipped, skipped), (log.merged, merged))
    )
    with suppress(LibraryError):
        write_whole(home / FILE, _FORM.dump_json(IngestLog(*parts)).decode())


def _merged(records: Sequence[Record], folded: Sequence[Record]) -> list[Skipped]:
    """The records that were merged into the first one of their paper."""
    at = {source: record for record in records for source in record.sources}
    merged: list[Skipped] = []
    for paper in folded:
        first, *others = paper.sources
        if first in at:
            merged += (
                Skipped(each.file, each.line, _reason(at[first], at[each]))
                for each in others
                if each in at
            )
    return merged


def _reason(one: Record, other: Record) -> str:
    if one.doi and one.doi.lower() == other.doi.lower():
        return "same DOI"
    if one.title and letters(one.title) == letters(other.title):
        return "same title"
    if one.given_id and one.given_id == other.given_id:
        return "same id"
    return "same abstract"
