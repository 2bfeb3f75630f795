"""Explicit filters: from fields of their own, or as `field:value` and `-word` in a query."""

import re
from dataclasses import dataclass

from retrieval.index.lexical import LexicalIndex
from retrieval.query.people import closest, named
from retrieval.query.values import decision_spellings, typed_value, typed_venue, years_within
from retrieval.query.words import UnmatchedFilter
from retrieval.types import NO_FILTERS, Filters

_SEVERAL = re.compile(r"\s+(?:and|&)\s+|\s*;\s*", re.IGNORECASE)
"""Separators of the authors in one filter."""
_TERM = re.compile(
    r'(?<!\S)(-?)(author|venue|year|decision):(?:"([^"]*)"|([^\s"]+))', re.IGNORECASE
)
_EXCLUDED_WORD = re.compile(r'(?<=\s)-(?:"([^"]+)"|([^\W\d_][^\s"]+))')
_FORMULA = frozenset("$_^\\{}")
"""Signs of a formula, after which a dash does not exclude: `$K$ -armed bandits`."""
_YEARS = re.compile(r"(?P<sign>[<>]=?)?(?P<low>[12]\d{3})(?P<dash>[-–])?(?P<high>[12]\d{3})?")


@dataclass(frozen=True, slots=True)
class ExplicitFilters:
    """Filters as typed into fields of their own; empty ones are not used."""

    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""

    def __bool__(self) -> bool:
        """Whether any filter is used."""
        return bool(self.authors or self.venue or self.year or self.decision)


@dataclass(slots=True)
class TypedTerms:
    """The explicit terms of a query, and the rest of its text."""

    text: str
    filters: Filters = NO_FILTERS
    authors: tuple[str, ...] = ()
    """Authors of the filters, as typed."""
    unmatched: tuple[UnmatchedFilter, ...] = ()


def explicit_filters(
    given: ExplicitFilters, known: LexicalIndex
) -> tuple[Filters, tuple[UnmatchedFilter, ...]]:
    """The filters `given`, with the library's values, and those that it has no values for."""
    fields = [("author", name) for typed in given.authors for name in _SEVERAL.split(typed)]
    fields += [("venue", given.venue), ("decision", given.decision)]
    found = [_resolved(field, typed, known) for field, typed in fields if typed]
    unmatched = [each for each in found if isinstance(each, UnmatchedFilter)]
    filters = NO_FILTERS
    for each in found:
        filters = filters.merged(each) if isinstance(each, Filters) else filters
    if given.year and filters.years and filters.years != (given.year,):
        unmatched.append(UnmatchedFilter("venue", f"at {given.venue} of {given.year}"))
    years = Filters(years=(given.year,) if given.year else ())
    return years.also(filters), tuple(unmatched)


def explicit_terms(query: str, known: LexicalIndex) -> TypedTerms:
    """The terms `field:value` and `-word` of a query; the rest stays in its text."""
    terms = TypedTerms(query)
    excluded: list[Filters] = []
    words: list[str] = []

    def take(term: re.Match[str]) -> str:
        minus, field, typed = term[1], term[2].lower(), term[3] or term[4] or ""
        found = _resolved(field, typed, known) if any(map(str.isalnum, typed)) else None
        if isinstance(found, Filters) and minus:
            excluded.append(found)
        elif isinstance(found, Filters):
            terms.filters = terms.filters.merged(found)
            terms.authors += (typed,) if found.authors else ()
        elif found and not minus:  # an unknown value need not be excluded
            terms.unmatched += (found,)
        return " " if found else term[0]

    def leave_out(word: re.Match[str]) -> str:
        before = word.string[: word.start()].split()[-1:]
        if before and (len(before[0]) == 1 or not _FORMULA.isdisjoint(before[0])):
            return word[0]
        words.append(word[1] or word[2])
        return " "

    text = _TERM.sub(take, query)
    terms.text = _EXCLUDED_WORD.sub(leave_out, text)
    negative = Filters(excluded=tuple(excluded), excluded_words=tuple(words))
    terms.filters = terms.filters.also(negative)
    return terms


def known_years(known: LexicalIndex) -> list[int]:
    """The years of the library's papers."""
    return sorted(int(year) for year in known.values("year"))


def _resolved(field: str, typed: str, known: LexicalIndex) -> Filters | UnmatchedFilter | None:
    """The filter for a value typed for a field; None if a year is not one."""
    if field == "year":
        return _typed_years(typed, known)
    if field == "author":
        terms = named(typed, known)
        said = UnmatchedFilter("author", f"by {typed}", closest(typed, known))
        return Filters(authors=(terms,)) if terms else said
    values = tuple(known.values(field))
    if field == "venue":
        venues, year = typed_venue(typed, values)
        found = Filters(venues=venues, years=(year,) if year else ())
        return found if venues else UnmatchedFilter(field, f"at {typed}")
    decisions = typed_value(typed, values, decision_spellings(values))
    return Filters(decisions=decisions) or UnmatchedFilter(field, f"with decision {typed}")


def _typed_years(typed: str, known: LexicalIndex) -> Filters | None:
    """`2022`, `2020-2022`, `2020-`, `>2021`, `<=2021`."""
    found = _YEARS.fullmatch(typed)
    if not found or bool(found["high"]) > bool(found["dash"]) or (found["sign"] and found["dash"]):
        return None
    low = int(found["low"])
    high = int(found["high"] or 0) if found["dash"] else low
    if sign := found["sign"]:
        strict = len(sign) == 1
        low, high = (low + strict, 0) if sign[0] == ">" else (0, low - strict)
    return Filters(years=years_within(low, high, known_years(known)))
