"""Filters that a person types as such: `author:"Ben Poole" year:>2021 -venue:ICLR -survey`."""

import re
from dataclasses import dataclass
from typing import Protocol

from retrieval.filters import NO_FILTERS, Filters
from retrieval.query.authors import Names, closest, named, shown
from retrieval.query.values import typed_decision, typed_venue, years_within

_SEVERAL = re.compile(r"\s+(?:and|&)\s+|\s*;\s*", re.IGNORECASE)
"""What stands between the authors of one filter."""
_TERM = re.compile(
    r'(?<!\S)(-?)(author|venue|year|decision):(?:"([^"]*)"|([^\s"]+))', re.IGNORECASE
)
_EXCLUDED_WORD = re.compile(r'(?<=\s)-(?:"([^"]+)"|([^\W\d_][^\s"]+))')
_YEARS = re.compile(r"(?:(?P<sign>[<>]=?)?(?P<year>\d{4})|(?P<low>\d{4})[-–](?P<high>\d{4})?)")


class KnownValues(Names, Protocol):
    """What is known of a library's records; see `LexicalIndex`."""

    def values(self, field: str) -> list[str]:
        """The different values of `venue`, `year` or `decision`."""


@dataclass(frozen=True, slots=True)
class UnmatchedFilter:
    """Something named that the library does not have."""

    field: str
    """`author`, `venue` or `decision`."""
    said: str
    """`by Ada Lovelace`, `at NeurIPS 2021`."""
    close: str = ""
    """An author of the library spelled alike."""


@dataclass(frozen=True, slots=True)
class ExplicitFilters:
    """Filters as a person types them into fields of their own; empty ones ask nothing."""

    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return bool(self.authors or self.venue or self.year or self.decision)


@dataclass(frozen=True, slots=True)
class TypedTerms:
    """The explicit terms of a query, and what is left of it."""

    text: str
    """The query without them."""
    filters: Filters = NO_FILTERS
    authors: tuple[str, ...] = ()
    """The authors of the filters, as typed."""
    unmatched: tuple[UnmatchedFilter, ...] = ()


def explicit_filters(
    given: ExplicitFilters, known: KnownValues
) -> tuple[Filters, tuple[UnmatchedFilter, ...]]:
    """The filters that a person gave, in the library's values, and what it does not have."""
    authors = [name for typed in given.authors for name in _SEVERAL.split(typed)]
    fields = [("author", name) for name in authors]
    fields += [("venue", given.venue), ("decision", given.decision)]
    filters, unmatched = NO_FILTERS, []
    for field, typed in fields:
        found = _resolved(field, typed, known) if typed else None
        if isinstance(found, UnmatchedFilter):
            unmatched.append(found)
        elif found:
            filters = filters.merged(found)
    if given.year and filters.years and filters.years != (given.year,):
        unmatched.append(UnmatchedFilter("venue", f"at {given.venue} of {given.year}"))
    years = Filters(years=(given.year,) if given.year else ())
    return years.also(filters), tuple(unmatched)


def explicit_terms(query: str, known: KnownValues) -> TypedTerms:
    """The terms `field:value` and `-word` of a query; what is none of them stays in the text."""
    filters, authors, unmatched = NO_FILTERS, [], []
    excluded: list[Filters] = []

    def take(term: re.Match[str]) -> str:
        nonlocal filters
        field, typed = term[2].lower(), term[3] or term[4] or ""
        found = _resolved(field, typed, known) if any(map(str.isalnum, typed)) else None
        if found is None:
            return term[0]
        if isinstance(found, Filters) and term[1]:
            excluded.append(found)
        elif isinstance(found, Filters):
            filters = filters.merged(found)
            authors.extend([typed] * bool(found.authors))
        elif not term[1]:  # what is not here need not be left out
            unmatched.append(found)
        return " "

    rest = _TERM.sub(take, query)
    words = [found[1] or found[2] for found in _EXCLUDED_WORD.finditer(rest)]
    negative = Filters(excluded=tuple(excluded), excluded_words=tuple(words))
    text = _EXCLUDED_WORD.sub(" ", rest)
    return TypedTerms(text, filters.also(negative), tuple(authors), tuple(unmatched))


def _resolved(field: str, typed: str, known: KnownValues) -> Filters | UnmatchedFilter | None:
    """The filter that a value typed for a field means; None if it is no such value."""
    if field == "author":
        terms = named(typed, known)
        return Filters(authors=(terms,)) if terms else unknown_author(typed, known)
    if field == "year":
        return _typed_years(typed, known)
    if field == "venue":
        venues, year = typed_venue(typed, tuple(known.values("venue")))
        years = (year,) if year else ()
        return Filters(venues=venues, years=years) if venues else unknown_venue(typed)
    decisions = typed_decision(typed, tuple(known.values("decision")))
    return Filters(decisions=decisions) if decisions else _unknown_decision(typed)


def unknown_author(typed: str, names: Names) -> UnmatchedFilter:
    """An author whom the library does not have, with a name spelled alike."""
    close = closest(typed, names)
    return UnmatchedFilter("author", f"by {typed}", shown(close) if close else "")


def unknown_venue(typed: str) -> UnmatchedFilter:
    """A venue that the library does not have."""
    return UnmatchedFilter("venue", f"at {typed}")


def _unknown_decision(typed: str) -> UnmatchedFilter:
    return UnmatchedFilter("decision", f"with decision {typed}")


def _typed_years(typed: str, known: KnownValues) -> Filters | None:
    found = _YEARS.fullmatch(typed)
    if not found:
        return None
    low = int(found["low"] or found["year"])
    high = int(found["high"] or 0) if found["low"] else low
    if sign := found["sign"]:
        strict = len(sign) == 1
        low, high = (low + strict, 0) if sign[0] == ">" else (0, low - strict)
    return Filters(years=years_within(low, high, known_years(known)))


def known_years(known: KnownValues) -> list[int]:
    """The years of the library's papers."""
    return sorted(int(year) for year in known.values("year"))
