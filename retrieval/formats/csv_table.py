"""Reader of tables: a header that names the columns, then one paper a row.

Comma, semicolon and tab are understood; a quoted abstract may run over several lines. Embase writes
a table of its own: a row for each field, an empty row after each paper.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from retrieval.formats.authors import people, person
from retrieval.formats.fields import (
    LONGEST_RECORD,
    ParsedPage,
    ReadProgress,
    checked,
    names_of,
    no_progress,
    page_of,
    texts,
)
from retrieval.formats.tagged import WEB_OF_SCIENCE, values_of
from retrieval.text.names import BETWEEN_WORDS
from retrieval.types import Record, Skipped, Source

_DELIMITERS = ",;\t"
_HEADER_WITHIN = 5
"""Lines among which the header is: some databases begin with a remark."""


_CITATION = re.compile(r"^(.{2,200}?) \(\d{4}\) \d")
"""`Nature Communications (2026) 17:1 Article Number: 32`: the source as Embase writes it."""
_BLOCKS = re.compile(r'\A\s*"TITLE",.*$(?s:.*?)^"ABSTRACT",', re.MULTILINE)

Row = list[str] | str
"""Cells, or the reason why they cannot be read; empty between rows."""


def matches(text: str) -> bool:
    """Whether one of the first rows names an abstract column and at least one other known one."""
    return bool(_delimiter(text) or _BLOCKS.match(text))


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the table; unreadable rows are skipped with the reason."""
    csv.field_size_limit(LONGEST_RECORD)
    delimiter = _delimiter(text)
    lines = [f"{line}\n" for line in text.split("\n")]
    if not delimiter:
        blocks = list(_embase_blocks(lines))
        outcomes = (_of_columns(cells, Source(file, at)) for at, cells in blocks)
        return page_of(outcomes, len(blocks), progress)
    first = next(at for at, line in enumerate(lines) if _known(line, delimiter, "abstract") > 1)
    (_, header), *rows = [(at, row) for at, row in _rows(lines, delimiter, first) if row]
    names = [_plain(name) for name in header]
    outcomes = (_outcome(row, names, Source(file, at)) for at, row in rows)
    return page_of(outcomes, len(rows), progress)


def has_titles(text: str) -> bool:
    """Whether the text is a table of papers, perhaps without abstracts."""
    return bool(_delimiter(text, needed="title"))


def _delimiter(text: str, needed: str = "abstract") -> str:
    """The delimiter that gives a first row the most known columns; empty if too few are known."""
    lines = [line for line in text[:LONGEST_RECORD].split("\n", 50) if line.strip()]
    first = lines[:_HEADER_WITHIN]
    known = {mark: [_known(line, mark, needed) for line in first] for mark in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda mark: max(known[mark], default=0))
    return best if max(known[best], default=0) > 1 else ""


def _known(line: str, delimiter: str, needed: str) -> int:
    """The number of fields that a line names as a header; 0 if `needed` is not among them."""
    _, row = next(_rows([line], delimiter), (1, []))
    names = {_plain(name) for name in row} if isinstance(row, list) else set()
    if {"au", "ti", "ab"} <= names or (needed == "title" and {"au", "ti"} <= names):
        return len(names)
    fields = {field for field, known in names_of("csv").items() if not names.isdisjoint(known)}
    return len(fields) if needed in fields else 0


def _plain(name: str) -> str:
    return BETWEEN_WORDS.sub(" ", name).strip().casefold()


def _rows(lines: Sequence[str], delimiter: str, start: int = 0) -> Iterator[tuple[int, Row]]:
    """Each row with its first line, from 1.

    After an unreadable row, reading continues with the next line: otherwise a quote that is never
    closed would swallow the rest of the table. In tables with tabs a quote may be just a sign.
    """
    width = 0
    while start < len(lines):
        following = (lines[at] for at in range(start, len(lines)))
        reader = csv.reader(following, delimiter=delimiter, skipinitialspace=True, strict=True)
        at = start
        try:
            for row in reader:
                if start + reader.line_num > at + 1 and _is_full(lines[at], delimiter, width):
                    raise csv.Error("a quote without its end")  # noqa: TRY301
                yield at + 1, row if any(cell.strip() for cell in row) else []
                width = width or len(row)
                at = start + reader.line_num
        except csv.Error as error:
            is_full = _is_full(lines[at], delimiter, width)
            yield (
                at + 1,
                lines[at][:-1].split("\t") if is_full else f"not a row of CSV ({error})",
            )
            start = at + 1
        else:
            return


def _is_full(line: str, delimiter: str, width: int) -> bool:
    """Whether a line of a table with tabs has as many cells as the first row, quotes aside."""
    return delimiter == "\t" and width > 1 and line.count("\t") + 1 == width


def _embase_blocks(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """The first line of each paper, and its cells by the name of their row."""
    start, block = 0, dict[str, list[str]]()
    for at, row in [*_rows(lines, ","), (0, [])]:
        if row and isinstance(row, list):
            start = start or at
            block.setdefault(_plain(row[0]), row[1:])
        elif block:
            yield start, block
            start, block = 0, {}


def _outcome(row: Row, names: Sequence[str], source: Source) -> Record | Skipped:
    if isinstance(row, str):
        return Skipped(source.file, source.line, row)
    if any(cell.strip() for cell in row[len(names) :]):
        reason = (
            f"the row has {len(row)} cells under {len(names)} columns; a text may lack its quotes"
        )
        return Skipped(source.file, source.line, reason)
    cells: dict[str, list[str]] = {}
    for name, cell in zip(names, row, strict=False):
        cells.setdefault(name, [cell])
    return _of_columns(cells, source)


def _of_columns(cells: Mapping[str, Sequence[str]], source: Source) -> Record | Skipped:
    if {"au", "ti", "ab"} <= cells.keys():  # a table of Web of Science, with the tags as names
        tags = {name.upper(): [text for text in row if text] for name, row in cells.items()}
        values = values_of(tags, WEB_OF_SCIENCE)
        authors = names_of(WEB_OF_SCIENCE)["authors"]
        names = next((tags[tag] for tag in authors if tags.get(tag)), [])
        return checked(values | {"authors": people("; ".join(names))}, source)
    columns = names_of("csv")
    values = {
        field: [text for name in names for text in cells.get(name, ())]
        for field, names in columns.items()
    }
    for field in ("authors", "keywords"):
        used = (cells[name] for name in columns[field] if texts(list(cells.get(name, ()))))
        values[field] = list(next(used, ()))
    values["kind"] += [
        "journal" if "journal" in name else "conference"
        for name in columns["venue"]
        if any(texts(list(cells.get(name, ()))))
        and ("journal" in name or name.startswith(("conference", "proceedings", "booktitle")))
    ]
    values["venue"] = [
        found[1] if (found := _CITATION.match(text)) else text.split("|")[0]
        for text in values["venue"]
    ]
    names = values["authors"]
    authors = [person(name) for name in names] if len(names) > 1 else people("".join(names))
    return checked(values | {"authors": authors}, source)
