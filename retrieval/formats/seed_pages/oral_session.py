"""Reader of a conference's oral session: time slot, award, title, authors, abstract."""

import re

from retrieval.formats.seed_pages.awards import AWARDS
from retrieval.formats.seed_pages.pages import (
    LONG_PARAGRAPH,
    NAVIGATION,
    PageLine,
    ParsedPage,
    lines_of,
)
from retrieval.text.markup import clean
from retrieval.types import Record, Skipped, Source

_SLOT = re.compile(r"^[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]+ \d{1,2}:\d{2} - \d{1,2}:\d{2} [A-Z]{2,5}$")
_AUTHOR_MARK = " · "


def matches(text: str) -> bool:
    """Whether any line of `text` is a time slot."""
    return any(_SLOT.match(line.text) for line in lines_of(text))


def read(text: str, file: str) -> ParsedPage:
    """The talks of the session; a talk without an award has the decision `oral`."""
    records: list[Record] = []
    skipped: list[Skipped] = []
    talk: list[PageLine] = []
    for line in lines_of(text):
        if _SLOT.match(line.text):
            _close(talk, file, records, skipped)
            talk = [line]
        elif talk:
            talk.append(line)
        else:
            skipped.append(Skipped(file, line.number, NAVIGATION))
    _close(talk, file, records, skipped)
    return ParsedPage(tuple(records), tuple(skipped))


def _close(talk: list[PageLine], file: str, records: list[Record], skipped: list[Skipped]) -> None:
    if not talk:
        return
    slot, *rest = talk
    abstract = [line for line in rest if len(line.text) >= LONG_PARAGRAPH]
    if not abstract:
        skipped.extend(Skipped(file, line.number, "a talk without an abstract") for line in talk)
        return
    award, title = "", ""
    authors: tuple[str, ...] = ()
    for line in rest:
        if line in abstract:
            continue
        if line.text in AWARDS and not award:
            award = line.text.lower()
        elif _AUTHOR_MARK in line.text and not authors:
            authors = tuple(clean(name) for name in line.text.split(_AUTHOR_MARK) if name.strip())
        elif not title and not authors:
            title = clean(line.text)
        else:
            skipped.append(Skipped(file, line.number, "neither title, authors nor abstract"))
    records.append(
        Record(
            title=title,
            authors=authors,
            decision=award or "oral",
            abstract=clean(" ".join(line.text for line in abstract)),
            sources=(Source(file, slot.number),),
        )
    )
