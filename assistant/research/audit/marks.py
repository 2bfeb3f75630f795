"""Finds citations in drafts: cite commands, Pandoc's `[@key]`, authors with years."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass

_YEAR = r"(?:19|20)\d\d[a-z]?"
_PARTICLES = r"(?:(?:van|von|de|der|den|la|le|di|da|dos|del|al|bin|ben|ter|ten)\s+|d[’'])*"
_UNDATED = r"(?:n\.\s?d\.|in press|to appear|forthcoming)"
_WHEN = rf"(?:{_YEAR}(?:\s*,\s*{_YEAR})*|{_UNDATED})"
_NAME = rf"{_PARTICLES}[^\W\d_a-z]['’]?[^\W\d_]+(?:[-'’][^\W\d_]+)*"
_GIVEN = r"(?:[A-Z](?:\.|[^\W\d_]+)(?:-[A-Z][^\W\d_]*\.?)*\s+){0,2}?"
"""Given names before a surname: *Hong-You*, *J.*"""
_JOINT = r"(?:\s*,\s*(?:and|&)\s+|\s+(?:and|&)\s+|\s*,\s+|\s*\\&\s*)"
_ET_AL = r"(?:\s*,?\s+(?i:et~?\s*al)\b\.?)?"
_AUTHORS = rf"{_NAME}(?:{_JOINT}{_NAME})*{_ET_AL}"
_BRACKETED = re.compile(rf"\(([^()]{{0,400}}?\b{_WHEN}(?!\w)[^()]{{0,200}})\)")
_PIECE = re.compile(
    rf"(?:[a-z][^A-Z;]{{0,20}}?\s)??{_GIVEN}(?P<names>{_AUTHORS})\s*,?\s+(?P<years>{_WHEN})"
    r"(?:\s*,[^;]{0,40})?"
)
_NARRATIVE = re.compile(
    rf"(?<!\w)(?P<names>{_NAME}(?:{_JOINT}{_NAME}){{0,6}}{_ET_AL})(?:['’]s)?\s*"
    rf"[(\[](?P<years>{_WHEN})[)\]]"
)
_PANDOC = re.compile(r"\[[^\[\]@]{0,80}-?@[^\[\]]{1,400}\]|(?<![\w.@\[])@(?=[A-Za-z])[\w:.+/-]*\w")
_KEY = re.compile(r"(?<![\w.])@\{?([A-Za-z0-9_][\w:.+/-]*\w|\w)\}?")
_CITE = re.compile(
    r"\\(?P<command>(?:[a-zA-Z]*cite[a-zA-Z]*|footcite|parencite|textcite|autocite))\*?"
    r"\s*(?:\[[^\]]{0,200}\]\s*){0,2}\{(?P<keys>[^{}]{1,2000})\}"
)
_IN_TEXT = frozenset("citet Citet textcite Textcite citeauthor Citeauthor onlinecite".split())
"""Commands whose citation is a part of the sentence."""
_NUMBERS = re.compile(r"\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]")
"""`[12, 14-16]`: numbers of a list that is not given."""
_ENDS = ".!?"
_MONTHS = frozenset([*calendar.month_name[1:], *calendar.month_abbr[1:]])


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One work that a draft cites, as far as the mark tells."""

    text: str
    """As written."""
    key: str = ""
    names: tuple[str, ...] = ()
    """Surnames; all authors unless there is an `et al.`"""
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark: `draft[start:end]`."""

    start: int
    end: int
    shown: str
    """How the mark is shown in a sentence without markup."""
    works: tuple[CitedWork, ...]
    is_subject: bool
    """Whether the sentence needs it: *Smith (2023) shows*, `\\citet{smith}`."""


def find_marks(text: str, *, latex: bool) -> list[Mark]:
    """The citation marks of `text`, in order; they do not overlap."""
    found = [*(_cite_commands(text) if latex else _pandoc(text)), *_narrative(text)]
    found += _bracketed(text)
    found += (Mark(m.start(), m.end(), m[0], (), is_subject=False) for m in _NUMBERS.finditer(text))
    marks: list[Mark] = []
    for mark in sorted(found, key=lambda each: (each.start, -each.end)):
        if not marks or mark.start >= marks[-1].end:
            marks.append(mark)
    return marks


def _cite_commands(text: str) -> Iterator[Mark]:
    for found in _CITE.finditer(text):
        keys = [key.strip() for key in found["keys"].split(",") if key.strip()]
        if keys and keys != ["*"] and found["command"] != "nocite":
            subject = found["command"] in _IN_TEXT or _is_subject(text, found.start(), found.end())
            works = tuple(CitedWork(key, key) for key in keys)
            yield Mark(found.start(), found.end(), f"[{', '.join(keys)}]", works, subject)


def _pandoc(text: str) -> Iterator[Mark]:
    for found in _PANDOC.finditer(text):
        if keys := _KEY.findall(found[0]):
            works = tuple(CitedWork(f"@{key}", key) for key in keys)
            bare = not found[0].startswith("[")
            subject = bare or _is_subject(text, found.start(), found.end())
            yield Mark(found.start(), found.end(), found[0], works, subject)


def _narrative(text: str) -> Iterator[Mark]:
    for found in _NARRATIVE.finditer(text):
        works = tuple(_works(found[0], found["names"], found["years"]))
        yield Mark(found.start(), found.end(), found[0], works, is_subject=True)


def _bracketed(text: str) -> Iterator[Mark]:
    for found in _BRACKETED.finditer(text):
        pieces = [_PIECE.fullmatch(piece.strip()) for piece in found[1].split(";")]
        if all(each and not _is_date_or_venue(each) for each in pieces):
            works = [w for p in pieces if p for w in _works(p[0].strip(), p["names"], p["years"])]
            yield Mark(found.start(), found.end(), found[0], tuple(works), is_subject=False)


def _works(text: str, names: str, years: str) -> Iterator[CitedWork]:
    surnames = re.split(_JOINT, re.sub(rf"{_ET_AL}$", "", names.strip()))
    known = tuple(name.strip() for name in surnames if name.strip())
    for year in re.findall(r"\d{4}", years) or [None]:
        yield CitedWork(" ".join(text.split()), names=known, year=int(year) if year else None)


def _is_date_or_venue(piece: re.Match[str]) -> bool:
    """Whether a word and a year are no citation: `January 2023`, `ICLR 2023`."""
    name = piece["names"]
    return name in _MONTHS or (name[-2:].isupper() and f"{name} " in piece[0])


def _is_subject(text: str, start: int, end: int) -> bool:
    """Whether a sentence begins with this mark: `\\cite{a} show that`."""
    before, after = text[:start].rstrip()[-1:], text[end : end + 3].lstrip()[:1]
    return (not before or before in _ENDS) and after.islower()
