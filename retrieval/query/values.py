"""Venues, decisions and years in a query: how a library's own values may be spelled."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache

from retrieval.names import folded
from retrieval.query.words import Word, folded_words, words_of

Spellings = dict[tuple[str, ...], tuple[str, ...]]
"""Folded words, and the values of records that they stand for."""

_ACRONYM = re.compile(r"\(([A-Za-z]{2,12})[ '’-]*(?:\d{2}|\d{4})?\)")
_SERIES = frozenset("proceedings advances annual".split())
"""Capitalised words of a venue's name that its initials leave out."""
_AWARDED = frozenset("outstanding award best distinguished honorable honourable prize".split())
_YEAR = re.compile(r"(?:19|20)\d\d")
_GLUED = re.compile(r"([^\W\d_]{2,})[-'’]?((?:19|20)?\d\d)")
_RANGE = re.compile(r"((?:19|20)\d\d)[-–]((?:19|20)\d\d)")
_LAST_CENTURY = 50
"""Years of two digits from here on are of the last century."""
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@lru_cache(maxsize=8)
def venue_spellings(venues: tuple[str, ...]) -> Spellings:
    """Every venue by its name, with and without year, its acronym and its initials."""
    return _spellings(venues, _venue_forms)


@lru_cache(maxsize=8)
def decision_spellings(decisions: tuple[str, ...]) -> Spellings:
    """Every decision in the singular and plural; awards also together."""
    return _spellings(decisions, _decision_forms)


def longest_at(words: Sequence[Word], at: int, spellings: Spellings) -> tuple[int, tuple[str, ...]]:
    """How many words spell a value here, at most, and the values that they stand for."""
    for width in range(min(max(map(len, spellings), default=0), len(words) - at), 0, -1):
        if values := spellings.get(folded_words(words[at : at + width])):
            return width, values
    return 0, ()


def venue_at(
    words: Sequence[Word], at: int, spellings: Spellings
) -> tuple[int, tuple[str, ...], int | None]:
    """How many words name a venue here, which, and the year glued to it or behind it."""
    width, values = longest_at(words, at, spellings)
    if width:
        year = year_of(words[at + width]) if at + width < len(words) else None
        return width + bool(year), values, year
    name, year = glued(words[at])
    return (1, values, year) if (values := spellings.get((name,), ())) else (0, (), None)


def glued(word: Word) -> tuple[str, int | None]:
    """The folded name and the year of `ICLR2022`, `iclr-22`; without year the word as it is."""
    found = _GLUED.fullmatch(word.folded)
    return (found[1], _century(found[2])) if found else (word.folded, None)


def year_of(word: Word) -> int | None:
    """The year that a word is: 2022, '22."""
    short = word.quoted and len(word.folded) == 2 and word.folded.isdecimal()  # noqa: PLR2004
    return _century(word.folded) if short or _YEAR.fullmatch(word.folded) else None


def typed_venue(typed: str, venues: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The venues that a person may mean by `typed`, and the year if that is typed too."""
    if found := _typed_value(typed, venues, venue_spellings(venues)):
        return found, None
    words = words_of(typed)
    width, found, year = venue_at(words, 0, venue_spellings(venues)) if words else (0, (), None)
    return (found, year) if width == len(words) else ((), None)


def typed_decision(typed: str, decisions: tuple[str, ...]) -> tuple[str, ...]:
    """The decisions that a person may mean by `typed`."""
    return _typed_value(typed, decisions, decision_spellings(decisions))


def years_at(
    words: Sequence[Word], at: int, known: Sequence[int], today: date
) -> tuple[int, tuple[int, ...]]:
    """How many words name years here, and the years.

    `2022`, `2020-2022`, `2020 to 2022`, `between 2020 and 2022`, `since 2022`, `before 2022`,
    `last year`, `the last two years` (those that begin less than three years ago).
    """
    if (
        words[at].folded == "the"
        and at + 1 < len(words)
        and words[at + 1].folded in ("last", "past")
    ):
        width, found = years_at(words, at + 1, known, today)
        return (width + 1, found) if width else (0, ())
    typed = [*folded_words(words[at : at + 4]), "", "", "", ""]
    years = [year_of(word) or 0 for word in words[at : at + 4]] + [0] * 4
    low, high, width = 0, 0, 0
    if found := _RANGE.fullmatch(typed[0]):
        low, high, width = int(found[1]), int(found[2]), 1
    elif (typed[0], typed[2]) in (("between", "and"), ("from", "to")) and years[1] and years[3]:
        low, high, width = years[1], years[3], 4
    elif typed[1] in ("to", "until") and years[0] and years[2]:
        low, high, width = years[0], years[2], 3
    elif typed[0] in _OPEN_SPANS and years[1]:
        (low, high), width = _OPEN_SPANS[typed[0]](years[1]), 2
    elif typed[0] in ("last", "past", "this") and typed[1] == "year":
        low, width = today.year - (typed[0] != "this"), 2
        high = low
    elif typed[0] in ("last", "past") and typed[2] == "years" and (count := _count(typed[1])):
        low, high, width = today.year - count, today.year, 3
    elif years[0]:
        low, high, width = years[0], years[0], 1
    return width, years_within(low, high, known) if width else ()


def years_within(low: int, high: int, known: Sequence[int]) -> tuple[int, ...]:
    """The known years from `low` to `high`; the bounds if there are none, so that nothing passes.

    A bound of 0 is open.
    """
    within = tuple(year for year in known if low <= year <= (high or year))
    return within or tuple(range(low or high, (high or low) + 1))


_OPEN_SPANS: dict[str, Callable[[int], tuple[int, int]]] = {
    "since": lambda year: (year, 0),
    "after": lambda year: (year + 1, 0),
    "before": lambda year: (0, year - 1),
    "until": lambda year: (0, year),
}


def _count(typed: str) -> int:
    if typed in _COUNTS:
        return _COUNTS.index(typed) + 1
    return int(typed) if typed.isdecimal() and len(typed) <= 2 else 0  # noqa: PLR2004 - not a year


def _century(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - already whole
        return year
    return year + (1900 if year >= _LAST_CENTURY else 2000)


def _spellings(values: Iterable[str], forms: Callable[[str], set[str]]) -> Spellings:
    found: dict[tuple[str, ...], set[str]] = {}
    for value in values:
        for form in forms(value):
            found.setdefault(tuple(form.split()), set()).add(value)
    return {words: tuple(sorted(those)) for words, those in found.items() if words}


def _venue_forms(venue: str) -> set[str]:
    words = re.findall(r"[^\W_]+", venue)
    undated = [word for word in words if not _YEAR.fullmatch(word)]
    forms = {folded(" ".join(words)), folded(" ".join(undated)), folded(venue)}
    forms |= {folded(inside) for inside in _ACRONYM.findall(venue)}
    named = [word for word in undated if word[0].isupper() and folded(word) not in _SERIES]
    if len(named) > 2:  # noqa: PLR2004 - two letters are the initials of anything
        forms.add(folded("".join(word[0] for word in named)))
    return forms


def _decision_forms(decision: str) -> set[str]:
    plain = " ".join(folded(decision).replace("-", " ").replace(":", " ").split())
    core = plain.removeprefix("notable ").removesuffix(" paper").removesuffix(" award")
    cores = {each for one in (plain, core) for each in _spelled_otherwise(one)}
    forms = {folded(decision), *cores}
    forms |= {f"{one} {kind}" for one in cores for kind in ("paper", "presentation", "talk")}
    if _AWARDED & set(plain.split()):
        forms |= {"best paper"} if "outstanding" in plain else set()
        forms |= {f"{form} award" for form in forms}
        forms |= {"award", "award winning", "award-winning", "award winner", "prize"}
    return {form for one in forms for form in (one, f"{one}s")}


def _spelled_otherwise(text: str) -> tuple[str, str]:
    return text.replace("honourable", "honorable"), text.replace("honorable", "honourable")


def _typed_value(typed: str, values: Iterable[str], spellings: Spellings) -> tuple[str, ...]:
    """Values spelled as `typed`, else those that have it as a part."""
    words = folded_words(words_of(typed))
    if not words:
        return ()
    part = f" {' '.join(words)} "
    return spellings.get(words) or tuple(
        value for value in values if part in f" {' '.join(folded_words(words_of(value)))} "
    )
