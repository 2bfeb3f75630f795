"""Reader of a conference's awards page: award, sometimes a title, abstract; papers repeat."""

import re

from retrieval.formats.merge import fold
from retrieval.formats.seed_pages.pages import (
    LONG_PARAGRAPH,
    NAVIGATION,
    PageLine,
    ParsedPage,
    lines_of,
)
from retrieval.text.markup import clean
from retrieval.types import Record, Skipped, Source

AWARDS = ("Outstanding Paper", "Honorable Mention")
_PRESENTATION = re.compile(r"^\[\s*[A-Z][a-z]+\s*\]\s*")
"""`[ Virtual ]`: the form of the talk."""


def matches(text: str) -> bool:
    """Whether any line of `text` is an award."""
    return any(line.text in AWARDS for line in lines_of(text))


def read(text: str, file: str) -> ParsedPage:
    """One record for every awarded paper; such a page lists papers more than once."""
    records: list[Record] = []
    skipped: list[Skipped] = []
    award: PageLine | None = None
    title: PageLine | None = None
    for line in lines_of(text):
        if line.text in AWARDS:
            skipped += _unused(award, title, file)
            award, title = line, None
        elif award is None:
            skipped.append(Skipped(file, line.number, NAVIGATION))
        elif len(line.text) >= LONG_PARAGRAPH:
            records.append(_record(award, title, line, file))
            award, title = None, None
        elif title is None:
            title = line
        else:
            skipped.append(Skipped(file, line.number, "neither title nor abstract"))
    skipped += _unused(award, title, file)
    return ParsedPage(tuple(fold(records)), tuple(skipped))


def _unused(award: PageLine | None, title: PageLine | None, file: str) -> list[Skipped]:
    lines = [line for line in (award, title) if line is not None]
    return [Skipped(file, line.number, "an award without an abstract") for line in lines]


def _record(award: PageLine, title: PageLine | None, abstract: PageLine, file: str) -> Record:
    return Record(
        title=clean(_PRESENTATION.sub("", title.text)) if title else "",
        decision=award.text.lower(),
        abstract=clean(_PRESENTATION.sub("", abstract.text)),
        sources=(Source(file, award.number),),
    )
