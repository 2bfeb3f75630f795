"""Reader of formats with a tag and its text on each line: RIS, MEDLINE, Web of Science, EndNote.

The formats differ in their tags, in how a line begins, and in where a record does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.formats.authors import person
from retrieval.formats.fields import (
    ParsedPage,
    ReadProgress,
    checked,
    names_of,
    no_progress,
    page_of,
)
from retrieval.types import Record, Skipped, Source

WEB_OF_SCIENCE = "web_of_science"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What tells one format from the others."""

    name: str
    """Its table of tags in `names.toml`."""
    opening: re.Pattern[str]
    """The beginning of a record, by which a file is recognised."""
    start: str
    """Tag of a record's first line."""
    end: str
    """Tag of its last line; empty if a record ends where the next one starts."""
    tag: re.Pattern[str]
    """The beginning of a line: the tag is its group 1, the text what follows."""
    many: str
    """Tags of which each line, also without a tag, is a value of its own."""


_DIALECTS = tuple(
    Dialect(name, re.compile(opening, re.MULTILINE), start, end, re.compile(tag), many)
    for name, opening, start, end, tag, many in (
        ("ris", r"^TY {1,2}-", "TY", "ER", r"([A-Z][A-Z0-9])  -(?: |$)", "AU A1 KW UR SN"),
        ("medline", r"^PMID *- ?\d", "PMID", "", r"([A-Z]{2,4}) {0,2}- ", "FAU AU CN OT MH PT"),
        (
            WEB_OF_SCIENCE,
            r"\A(?:FN .*\n)?(?:VR .*\n)?PT [JBSCP]\b",
            *("PT", "ER", r"([A-Z][A-Z0-9])(?: |$)", "AU AF BA CA GP"),
        ),
        ("refer", r"^%0 ", "0", "", r"%([0-9A-Z@!?$+]) ", "A K U"),
    )
)
_RUN_TOGETHER = re.compile(r"(?<=\S)(?=(?:A[DN]|FU|FX|PU|WE|C[16]|RP)  - )")
"""Where Web of Science forgets to begin a new line in RIS."""
_LOOSE_TAG = re.compile(r"^[ \t]*([A-Z][A-Z0-9]) {1,2}-(?= |$)", re.MULTILINE)
"""A tag of RIS that is indented or followed by one space."""


def matches(text: str) -> bool:
    """Whether a line begins a record of one of the formats."""
    return _dialect(text) is not None


def read(text: str, file: str, progress: ReadProgress = no_progress) -> ParsedPage:
    """The papers of the file; a record without an abstract is skipped with the reason."""
    dialect = _dialect(text)
    assert dialect is not None  # noqa: S101 - `matches` is asked first
    if dialect.name == "ris":
        if not re.search(r"^TY  -", text, re.MULTILINE):
            text = _LOOSE_TAG.sub(r"\1  -", text)
        text = _RUN_TOGETHER.sub("\x00", text)
    blocks = list(_blocks(text.split("\n"), dialect))
    outcomes = (_outcome(tags, dialect, Source(file, at)) for at, tags in blocks)
    return page_of(outcomes, len(blocks), progress)


def values_of(tags: Mapping[str, Sequence[str]], dialect: str) -> dict[str, Any]:
    """The values of a record by field: all texts of its tags, but authors and keywords of one."""
    fields = names_of(dialect)
    values: dict[str, Any] = {
        field: [text for tag in names for text in tags.get(tag, ())]
        for field, names in fields.items()
    }
    for field in ("authors", "keywords"):
        used = (tags[tag] for tag in fields[field] if tags.get(tag))
        values[field] = list(next(used, ()))
    values["kind"] = ["; ".join(tags.get(tag, ())) for tag in fields["kind"]]
    groups = [(name, name) for name in values.pop("groups", ())]
    return values | {"authors": [*map(person, values["authors"]), *groups]}


def _dialect(text: str) -> Dialect | None:
    return next((dialect for dialect in _DIALECTS if dialect.opening.search(text)), None)


Block = list[tuple[str, str]]
"""The lines of a record as tag and text; a line without a tag has "" and continues a text."""


def _blocks(lines: Sequence[str], dialect: Dialect) -> Iterator[tuple[int, Block]]:
    """Each record's first line, from 1, and its lines."""
    start, block = 0, Block()
    for number, raw in enumerate(lines, start=1):
        for line in raw.split("\x00"):
            found = dialect.tag.match(line)
            tag = found[1] if found else ""
            if tag == dialect.start:
                if block:
                    yield start, [*block, (dialect.end, "")]
                start, block = number, []
            if start:
                block.append((tag, line[found.end() :] if found else line))
            if start and tag and tag == dialect.end:
                yield start, block
                start, block = 0, []
    if block:
        yield start, block


def _outcome(block: Block, dialect: Dialect, source: Source) -> Record | Skipped:
    if dialect.end and block[-1][0] != dialect.end:
        reason = f"the record is cut off before its line {dialect.end}"
        return Skipped(source.file, source.line, reason)
    return checked(values_of(_texts(block, dialect.many.split()), dialect.name), source)


def _texts(block: list[tuple[str, str]], many: Sequence[str]) -> dict[str, list[str]]:
    """The texts of each tag; a line without a tag continues the text before."""
    texts: dict[str, list[str]] = {}
    last = ""
    for tag, text in block:
        last = tag or last
        values = texts.setdefault(last, [])
        if tag or not values or (last in many and text.strip()):
            values.append(text.strip())
        else:
            values[-1] = f"{values[-1]} {text.strip()}".strip()
    return texts
