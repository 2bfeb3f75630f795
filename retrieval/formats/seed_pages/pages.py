"""Shared by the readers: numbered lines, and the result of reading a file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from retrieval.types import Record, Skipped

LONG_PARAGRAPH = 200
"""Characters from which a paragraph counts as an abstract, not a title."""
NAVIGATION = "navigation text, not part of a paper"
ReadProgress = Callable[[int, int], None]
"""Called while a file is read: records done, and their total."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line that is not blank, without its surrounding space."""

    number: int
    """From 1."""
    text: str
    after_blank: bool
    """Whether it follows a blank line or is the first."""


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """The result of reading a file."""

    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Skipped, ...] = ()
    """Remarks on records, such as a missing title."""


def no_progress(done: int, total: int) -> None:
    """Report nothing."""


def lines_of(text: str) -> Iterator[PageLine]:
    """The lines of `text` that are not blank."""
    after_blank = True
    for number, raw in enumerate(text.split("\n"), start=1):
        stripped = raw.strip()
        if stripped:
            yield PageLine(number, stripped, after_blank)
        after_blank = not stripped
