"""Reader of CSV: a header that names the columns, then one paper a row.

Comma, semicolon and tab are understood; a quoted abstract may run over several lines.
"""

import csv
import re
from collections.abc import Iterator, Sequence

from retrieval.formats.fields import checked, page_of
from retrieval.formats.seed_pages.pages import ParsedPage, ReadProgress, no_progress
from retrieval.text.names import first_name_first
from retrieval.types import Record, Skipped, Source

_DELIMITERS = ",;\t"

_COLUMNS = {
    "id": ("id", "paper id", "citation key", "key", "eid"),
    "title": ("title", "paper title", "article title", "document title", "name"),
    "abstract": ("abstract", "abstract note", "text", "summary"),
    "authors": ("authors", "author", "author s", "author names", "author full names"),
    "venue": (
        *("venue", "booktitle", "book title", "conference", "conference name", "journal"),
        *("publication title", "source title", "source", "container title", "proceedings"),
    ),
    "year": ("year", "publication year", "pub year", "date", "publication date"),
    "decision": ("decision", "presentation", "award"),
    "url": ("url", "link"),
    "doi": ("doi",),
}
"""Column names of each field in lower case, as this project and common databases write them."""

_NO_LETTERS = re.compile(r"[\W_]+")


def matches(text: str) -> bool:
    """Whether the first row names an abstract column and at least one other known column."""
    return bool(_delimiter(text))


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the table; unreadable rows are skipped with the reason."""
    lines = [f"{line}\n" for line in text.split("\n")]
    (_, header), *rows = [(at, row) for at, row in _rows(lines, _delimiter(text)) if row]
    fields = _fields_of(header)
    outcomes = (_outcome(row, fields, len(header), Source(file, at)) for at, row in rows)
    return page_of(outcomes, len(rows), progress)


def _delimiter(text: str) -> str:
    """The delimiter that gives the first row the most known columns; empty if too few are known."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    known = {delimiter: _fields_of(_header(first, delimiter)) for delimiter in _DELIMITERS}
    best = max(known, key=lambda delimiter: len(known[delimiter]))
    return best if "abstract" in known[best] and len(known[best]) > 1 else ""


def _header(line: str, delimiter: str) -> list[str]:
    _, row = next(_rows([line], delimiter), (1, []))
    return row if isinstance(row, list) else []


def _fields_of(header: Sequence[str]) -> dict[str, list[int]]:
    """The columns of each field, most reliable name first."""
    names = [_NO_LETTERS.sub(" ", name).strip().casefold() for name in header]
    found = {
        field: [names.index(known) for known in aliases if known in names]
        for field, aliases in _COLUMNS.items()
    }
    return {field: columns for field, columns in found.items() if columns}


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Each row, or the reason why it cannot be read, with its first line, from 1.

    After an unreadable row, reading continues with the next line: otherwise a quote that is never
    closed would swallow the rest of the table.
    """
    start = 0
    while start < len(lines):
        following = (lines[at] for at in range(start, len(lines)))
        reader = csv.reader(following, delimiter=delimiter, skipinitialspace=True, strict=True)
        at = start
        try:
            for row in reader:
                yield at + 1, row if any(cell.strip() for cell in row) else []
                at = start + reader.line_num
        except csv.Error as error:
            yield at + 1, f"not a row of CSV ({error})"
            start = at + 1
        else:
            return


def _outcome(
    row: list[str] | str, fields: dict[str, list[int]], width: int, source: Source
) -> Record | Skipped:
    if isinstance(row, str):
        return Skipped(source.file, source.line, row)
    if any(cell.strip() for cell in row[width:]):
        reason = f"the row has {len(row)} cells under {width} columns; a text may lack its quotes"
        return Skipped(source.file, source.line, reason)
    values: dict[str, object] = {
        field: next((row[at] for at in columns if at < len(row) and row[at].strip()), "")
        for field, columns in fields.items()
    }
    return checked({**values, "authors": _authors(str(values.get("authors", "")))}, source)


def _authors(names: str) -> str | list[str]:
    """`Last, First; Last, First` as names; names separated by commas alone are left as they are.

    One comma beside a single word is part of one name: `Doe, Jane`.
    """
    mark = ";" if ";" in names else " and "
    if mark in names or _is_one_name(names):
        return [first_name_first(name) for name in names.split(mark)]
    return names


def _is_one_name(names: str) -> bool:
    words = [len(part.split()) for part in names.split(",")]
    return len(words) == 2 and min(words) == 1  # noqa: PLR2004 - last and first
