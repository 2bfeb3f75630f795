"""Reader of RIS, an export format of reference managers: lines of a tag and its text."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rispy import RisParser

from retrieval.formats.fields import checked, page_of
from retrieval.formats.seed_pages.pages import ParsedPage, ReadProgress, no_progress
from retrieval.text.names import first_name_first
from retrieval.types import Record, Skipped, Source

_START = "TY  -"
_END = "ER  -"
_TAGS = {
    "id": ("id",),
    "title": ("title", "primary_title", "translated_title"),
    "abstract": ("abstract", "notes_abstract"),
    "authors": ("authors", "first_authors"),
    "venue": (
        *("secondary_title", "journal_name", "alternate_title3", "alternate_title2", "BT"),
        *("alternate_title1", "custom3"),
    ),
    "year": ("year", "publication_year", "date"),
    "url": ("urls",),
    "doi": ("doi",),
}
"""rispy's names for the tags of each field, most reliable first."""


def matches(text: str) -> bool:
    """Whether at least one line opens a record."""
    return bool(re.search(f"^{_START}", text, re.MULTILINE))


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; a record without an abstract is skipped with the reason."""
    blocks = list(_blocks(text.split("\n")))
    return page_of(
        (_outcome(lines, Source(file, at)) for at, lines in blocks), len(blocks), progress
    )


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Each record's first line, from 1, and its lines.

    rispy would merge a record without an end line with the next one.
    """
    start, block, is_open = 0, list[str](), False
    for number, line in enumerate(lines, start=1):
        if line.startswith(_START):
            if is_open:
                yield start, [*block, _END]
            start, block, is_open = number, [], True
        if is_open:
            block.append(line)
            if line.startswith(_END):
                yield start, block
                is_open = False
    if is_open:
        yield start, block


def _outcome(lines: list[str], source: Source) -> Record | Skipped:
    found = RisParser(delimiter_tags_mapping={}).parse("\n".join(lines))
    if not found:
        return Skipped(source.file, source.line, "the record is cut off before its line ER")
    values = {field: _first(found[0], names) for field, names in _TAGS.items()}
    urls = values["url"] or [""]
    names = [first_name_first(name) for name in values["authors"] or []]
    return checked({**values, "url": urls[0], "authors": names}, source)


def _first(record: dict[str, Any], names: Iterable[str]) -> Any:
    others = {tag: " ".join(texts) for tag, texts in record.get("unknown_tag", {}).items()}
    return next((value for name in names if (value := record.get(name) or others.get(name))), None)
