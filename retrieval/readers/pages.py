"""What the readers share: numbered lines and paragraphs, and what a file amounts to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from retrieval.types import Record, Skipped

Told = Callable[[int, int], None]
"""Told while a file is read: records done, and how many there are."""


def untold(done: int, total: int) -> None:
    """Tell nobody."""


LONG_PARAGRAPH = 200
"""Characters from which a paragraph is taken for an abstract rather than a title."""

NAVIGATION = "navigation text, not part of a paper"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank, without its surrounding space."""

    number: int
    """From 1."""
    text: str
    after_blank: bool
    """Whether a blank line, or nothing, comes before it."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader makes of a file."""

    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...] = ()


def lines_of(text: str) -> Iterator[Line]:
    """The lines of `text` that are not blank."""
    after_blank = True
    for number, raw in enumerate(text.split("\n"), start=1):
        stripped = raw.strip()
        if stripped:
            yield Line(number, stripped, after_blank)
        after_blank = not stripped
