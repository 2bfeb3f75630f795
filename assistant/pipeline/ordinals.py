"""Papers that a message names by their place: `the second one`, `[2]`, `the latter`."""

import re
from dataclasses import dataclass

_PAPER = r"(?:papers?|works?|articles?|stud(?:y|ies)|publications?|ones?)"
_NUMBER_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINALS = {word: at for at, word in enumerate(_NUMBER_WORDS)} | {
    "1st": 0,
    "2nd": 1,
    "3rd": 2,
    **{f"{number}th": number - 1 for number in range(4, 11)},
}
_NOT_OF_A_TOPIC = (
    r"(?! (?:to\b|on\b|for\b|that\b|which\b|of (?!(?:them|these|those)\b)|about \w"
    r"|in (?!(?:the |your )?(?:list|answer|detail|short|brief)\b)))"
)
_PLACE = re.compile(
    rf"\b(?:the|that|your) (?:(?P<either>former|latter)(?: {_PAPER})?"
    rf"|(?P<rank>{'|'.join(_ORDINALS)}|last|previous|other) "
    rf"(?:one|paper|article|study|publication)\b{_NOT_OF_A_TOPIC}"
    rf"|(?P<bare>{'|'.join(_ORDINALS)})(?=\W*$))",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"\[(?P<mark>\d{1,2})\]|\b(?:paper|reference|citation) #?(?P<number>\d{1,2})\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Place:
    """One of several papers, by where it was mentioned."""

    start: int
    end: int
    """The words that say so stand at `message[start:end]`."""
    rank: str
    """`0` for the first, `1` for the second, …, or `last`, `previous`, `other`, `former`, …"""
    by_mark: bool = False
    """Whether the rank is the number of a citation, from 1."""


def place_in(message: str) -> Place | None:
    """The place that a message names, if it does."""
    if cited := _CITED.search(message):
        rank = cited["mark"] or cited["number"]
        return Place(cited.start(), cited.end(), rank, by_mark=True)
    found = _PLACE.search(message)
    if not found:
        return None
    word = (found["either"] or found["rank"] or found["bare"]).casefold()
    return Place(found.start(), found.end(), str(_ORDINALS.get(word, word)))
