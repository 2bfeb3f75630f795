"""Reader of a conference's awards page: award, sometimes a title, abstract; papers repeat."""

import re

from retrieval.markup import clean
from retrieval.merge import fold
from retrieval.readers.pages import LONG_PARAGRAPH, NAVIGATION, Line, Page, lines_of
from retrieval.types import Record, Skipped, Source

AWARDS = ("Outstanding Paper", "Honorable Mention")
_PRESENTATION = re.compile(r"^\[\s*[A-Z][a-z]+\s*\]\s*")
"""`[ Virtual ]`, how the talk was given."""


def matches(text: str) -> bool:
    """Whether `text` has at least one line that is an award."""
    return any(line.text in AWARDS for line in lines_of(text))


def read(text: str, file: str) -> Page:
    """One record for every paper awarded; such a page lists its papers more than once."""
    records: list[Record] = []
    skipped: list[Skipped] = []
    award: Line | None = None
    title: Line | None = None
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
    return Page(tuple(fold(records)), tuple(skipped))


def _unused(award: Line | None, title: Line | None, file: str) -> list[Skipped]:
    lines = [line for line in (award, title) if line is not None]
    return [Skipped(file, line.number, "an award without an abstract") for line in lines]


def _record(award: Line, title: Line | None, abstract: Line, file: str) -> Record:
    return Record(
        title=clean(_PRESENTATION.sub("", title.text)) if title else "",
        decision=award.text.lower(),
        abstract=clean(_PRESENTATION.sub("", abstract.text)),
        sources=(Source(file, award.number),),
    )
