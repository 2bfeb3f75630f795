"""Reader of a page of papers, each a title and an abstract, with navigation text around them."""

from itertools import pairwise

from retrieval.markup import clean
from retrieval.readers.pages import LONG_PARAGRAPH, NAVIGATION, Line, Page, lines_of
from retrieval.types import Record, Skipped, Source

MINIMUM_SHARE = 0.6
"""Share of the lines that must be title-abstract pairs for a text to be such a page."""


def matches(text: str) -> bool:
    """Whether most of `text` is titles, each followed by one long paragraph."""
    lines = list(lines_of(text))
    return bool(lines) and 2 * len(_pairs(lines)) >= MINIMUM_SHARE * len(lines)


def read(text: str, file: str) -> Page:
    """The papers of the page, and every line that is neither title nor abstract."""
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
    return Page(tuple(records), tuple(skipped))


def _pairs(lines: list[Line]) -> list[tuple[Line, Line]]:
    return [
        (first, second)
        for first, second in pairwise(lines)
        if len(first.text) < LONG_PARAGRAPH <= len(second.text)
    ]
