"""From what the model writes to sentences with the notes they cite."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from assistant.types import Evidence
from retrieval.markup import visible
from retrieval.sentences import split_sentences

_LETTERS = "bcdfghjkmnpqrstvwxz"
_DIGITS = "23456789"
_TRIES = 20
"""Keys tried of one length before longer ones are: a text may hold every short one."""

_KEY = rf"[{_LETTERS}](?:[{_DIGITS}][{_LETTERS}])+"
# A number is no key, but small models are used to citing by them; as a mark it is removed, too.
_ITEM = rf"(?:{_KEY}|\d{{1,3}})"
_MARKED = rf"\[\s*({_ITEM}(?:\s*,\s*{_ITEM})*)\s*\]"
_MARK = re.compile(rf"\s*{_MARKED}")
_MARKS_BEHIND = re.compile(rf"(?:\s*{_MARKED})+\.?")
_SECOND_STOP = re.compile(rf"(?<=[.!?])((?:\s*{_MARKED})+)\.")
_MAY_BE_MARK = re.compile(r"(?:[\s\],.\d]|\[[\s,a-z\d]*)*")
_BULLET = re.compile(r"^[-*•]\s+")
_SPACE_BEFORE_POINT = re.compile(r"\s+([.,;:!?])")


def keys_of(question: str, evidence: Sequence[Evidence]) -> list[str]:
    """A short key for each piece of evidence, such as `k3x`; the same ones for the same prompt.

    Nobody who plants text in an abstract knows the question that makes the keys, and none of them
    stands in the texts of the prompt.
    """
    texts = "\n".join([question, *(each.text for each in evidence)]).casefold()
    keys: list[str] = []
    for each in evidence:
        seed = f"{question}\n{each.paper.id}\n{each.start}"
        fresh = (key for key in _candidates(seed) if key not in texts and key not in keys)
        keys.append(next(fresh))
    return keys


def _candidates(seed: str) -> Iterator[str]:
    """Keys without end, longer and longer ones."""
    for attempt in count():
        digest = hashlib.sha256(f"{seed}\n{attempt}".encode()).digest()
        length = min(3 + 2 * (attempt // _TRIES), len(digest))
        yield "".join(
            (_DIGITS if place % 2 else _LETTERS)[byte % len(_DIGITS if place % 2 else _LETTERS)]
            for place, byte in enumerate(digest[:length])
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as the model wrote it."""

    text: str
    """Without its citation marks."""
    notes: tuple[int, ...]
    """The pieces of evidence it cites, by their place from 1 on."""


def drafts(pieces: Iterable[str], keys: Sequence[str]) -> Iterator[Draft]:
    """The sentences of a stream of text, each as soon as the words of the next have begun.

    Read letter by letter, so that it does not matter how the stream is cut into pieces.
    """
    text = ""
    for letter in chain.from_iterable(pieces):
        text += letter
        *whole, last = _sentences(text)
        # What may still become a mark may belong to the sentence before it.
        if whole and not _MAY_BE_MARK.fullmatch(last):
            yield from _drafts(whole, keys)
            text = last
    yield from _drafts(_sentences(text), keys)


def _drafts(sentences: Iterable[str], keys: Sequence[str]) -> Iterator[Draft]:
    note_of = {key: note for note, key in enumerate(keys, start=1)}
    for sentence in sentences:
        cited = (key.strip() for marks in _MARK.findall(sentence) for key in marks.split(","))
        notes = dict.fromkeys(note_of[key] for key in cited if key in note_of)
        text = " ".join(_unmarked(visible(_SECOND_STOP.sub(r"\1", sentence))).split())
        text = _BULLET.sub("", _SPACE_BEFORE_POINT.sub(r"\1", text))
        if any(letter.isalnum() for letter in text):
            yield Draft(text, tuple(notes))


def _unmarked(text: str) -> str:
    """The text without its marks, those too that are whole only once another is taken out."""
    while (without := _MARK.sub("", text)) != text:
        text = without
    return text


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
