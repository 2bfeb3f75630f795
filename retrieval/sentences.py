"""Sentences of an abstract with exact character offsets.

Boundaries come from `sentencex`. It knows abbreviations, but not formulas, enumerations such as
`(1)` or `2)`, nor scholarly abbreviations such as `Eq.`; those are hidden from it behind as many
plain letters, so that every offset stays true.
"""

import re
from dataclasses import dataclass

import sentencex

_HIDDEN = "x"
_FORMULA = re.compile(r"\$[^$]+\$")
_URL = re.compile(r"https?://\S*[\w/]")
_ENUMERATOR = re.compile(r"\(?\b(?:\d{1,2}|[ivx]{1,4}|[a-hA-H])\)")
_NUMBERED = re.compile(r"(?<=[\s:;])\d{1,2}\.(?=\s+[a-z])")
_ABBREVIATION = re.compile(
    r"\b(?:[Ee]qs?|[Ff]igs?|[Ss]ecs?|[Tt]hms?|[Tt]abs?|[Aa]lgs?|[Rr]efs?|[Cc]f|[Rr]esp|approx"
    r"|et al|e\.g|i\.e|vs|w\.r\.t|s\.t|a\.k\.a|i\.i\.d|aka|[Nn]o)\.(?=\s+[^A-Z\s]|\s+[A-Z]\w*\s*\d)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `text == whole[start:end]`, without surrounding space."""

    start: int
    end: int
    text: str


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of `text` in order; together they hold every character that is not space."""
    sentences: list[Sentence] = []
    at = 0
    for piece in sentencex.segment("en", _disguise(text)):
        raw = text[at : at + len(piece)]
        start = at + len(raw) - len(raw.lstrip())
        at += len(piece)
        stripped = raw.strip()
        if stripped:
            sentences.append(Sentence(start, start + len(stripped), stripped))
    return sentences


def _disguise(text: str) -> str:
    text = _FORMULA.sub(_hide_formula, text)
    text = _URL.sub(_hide, text)
    text = _ENUMERATOR.sub(_hide, text)
    text = _NUMBERED.sub(_hide, text)
    return _ABBREVIATION.sub(_hide, text)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


def _hide_formula(found: re.Match[str]) -> str:
    """A formula may close a sentence with a full stop of its own: `$x = 1.$`."""
    formula = found.group()
    end = "." if formula[-2] in ".!?" else _HIDDEN
    return _HIDDEN * (len(formula) - 1) + end
