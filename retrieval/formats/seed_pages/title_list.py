"""Reader of a page that lists titles with abstracts among navigation text."""

from itertools import pairwise

from retrieval.formats.seed_pages.pages import (
    LONG_PARAGRAPH,
    NAVIGATION,
    PageLine,
    ParsedPage,
    lines_of,
)
from retrieval.text.markup import clean
from retrieval.types import Record, Skipped, Source

MINIMUM_SHARE = 0.6
"""Least share of lines in pairs of title and abstract."""


def matches(text: str) -> bool:
    """Whether most of `text` is titles, each followed by a long paragraph."""
    lines = list(lines_of(text))
    return bool(lines) and 2 * len(_pairs(lines)) >= MINIMUM_SHARE * len(lines)


def read(text: str, file: str) -> ParsedPage:
    """The papers of the page; lines that are neither title nor abstract are skipped."""
    lines = list(lines_of(text))
    pairs = _pairs(lines)
    used = {line for pair in pairs for line in pair}
    records = (
        Record(
            title=clean(title.text),
            abstract=clean(abstract.text),
            sources=(Source(file, title.number),),
        )
        for title, abstract in pairs
    )
    skipped = (Skipped(file, line.number, NAVIGATION) for line in lines if line not in used)
    return ParsedPage(tuple(records), tuple(skipped))


def _pairs(lines: list[PageLine]) -> list[tuple[PageLine, PageLine]]:
    return [
        (first, second)
        for first, second in pairwise(lines)
        if len(first.text) < LONG_PARAGRAPH <= len(second.text)
    ]
