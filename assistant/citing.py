"""From what the model writes to sentences with the notes they cite."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from retrieval.sentences import split_sentences

_NUMBERS = r"\[\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*\]"
_MARK = re.compile(rf"\s*{_NUMBERS}")
_MARKS_BEHIND = re.compile(rf"(?:\s*{_NUMBERS})+\.?")
_SECOND_STOP = re.compile(rf"(?<=[.!?])((?:\s*{_NUMBERS})+)\.")
_MAY_BE_MARK = re.compile(r"[\s\[\],.\d]*")
_BULLET = re.compile(r"^[-*•]\s+")
_SPACE_BEFORE_POINT = re.compile(r"\s+([.,;:!?])")


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as the model wrote it."""

    text: str
    """Without its citation marks."""
    notes: tuple[int, ...]
    """The numbers it cites, those that exist."""


def drafts(pieces: Iterable[str], note_count: int) -> Iterator[Draft]:
    """The sentences of a stream of text, each as soon as the words of the next have begun.

    Read letter by letter, so that it does not matter how the stream is cut into pieces.
    """
    text = ""
    for letter in chain.from_iterable(pieces):
        text += letter
        *whole, last = _sentences(text)
        # What may still become a mark may belong to the sentence before it.
        if whole and not _MAY_BE_MARK.fullmatch(last):
            yield from _drafts(whole, note_count)
            text = last
    yield from _drafts(_sentences(text), note_count)


def _drafts(sentences: Iterable[str], note_count: int) -> Iterator[Draft]:
    for sentence in sentences:
        numbers = (int(number) for marks in _MARK.findall(sentence) for number in marks.split(","))
        kept = dict.fromkeys(number for number in numbers if 1 <= number <= note_count)
        text = " ".join(_MARK.sub("", _SECOND_STOP.sub(r"\1", sentence)).split())
        text = _BULLET.sub("", _SPACE_BEFORE_POINT.sub(r"\1", text))
        if any(letter.isalnum() for letter in text):
            yield Draft(text, tuple(kept))


def _sentences(text: str) -> list[str]:
    """`text` in pieces, one a sentence; the last may still grow.

    A line is never joined with the next. Marks behind a full stop stay with their sentence; those
    at the beginning of a line belong to what follows.
    """
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        begun = len(pieces)
        at = 0
        for sentence in split_sentences(line):
            piece = line[at : sentence.end]
            at = sentence.end
            lead = _MARKS_BEHIND.match(piece) if len(pieces) > begun else None
            if lead:
                pieces[-1] += piece[: lead.end()]
                piece = piece[lead.end() :]
            if piece:
                pieces.append(piece)
        if len(pieces) == begun:
            pieces.append("")
        pieces[-1] += line[at:]
    if text.endswith("\n"):
        pieces.append("")
    return pieces or [""]
