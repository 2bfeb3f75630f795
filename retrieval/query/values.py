"""Venues, decisions and years in a query: the possible spellings of a library's values."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from retrieval.query.words import Word, folded_words, words_of
from retrieval.text.names import WORD, folded

Spellings = dict[tuple[str, ...], tuple[str, ...]]
"""Values of records by the folded words that spell them."""
_ACRONYM = re.compile(r"\(([A-Za-z]{2,12})[ '’-]*(?:\d{2}|\d{4})?\)")
_SERIES = frozenset("proceedings advances annual".split())
"""Capitalised words of a venue's name that are not in its initials."""
_AWARDED = frozenset("outstanding award best distinguished honorable prize".split())
_YEAR = re.compile(r"(?:19|20)\d\d")
_GLUED = re.compile(r"([^\W\d_]{2,})[-'’]?((?:19|20)?\d\d)")
_RANGE = re.compile(r"((?:19|20)\d\d)[-–]((?:19|20)\d\d)")
_LAST_CENTURY = 50
"""Two-digit years from here on are of the last century."""
_COUNTS = tuple("zero one two three four five six seven eight nine ten".split())
_MOST_YEARS_BACK = 99
_CALLED = ("paper", "presentation", "talk")
_PERIODS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "Y": lambda low, _: (low, low),
    "Y-Y": lambda low, high: (low, high),
    "Y to Y": lambda low, high: (low, high),
    "from Y to Y": lambda low, high: (low, high),
    "between Y and Y": lambda low, high: (low, high),
    "since Y": lambda low, _: (low, 0),
    "after Y": lambda low, _: (low + 1, 0),
    "before Y": lambda low, _: (0, low - 1),
    "until Y": lambda low, _: (0, low),
    "this year": lambda now, _: (now, now),
    "last year": lambda now, _: (now - 1, now - 1),
    "last N years": lambda count, now: (now - count, now),
    "past N years": lambda count, now: (now - count, now),
    "the last N years": lambda count, now: (now - count, now),
    "the past N years": lambda count, now: (now - count, now),
}
"""First and last year of a period, 0 if open, from its numbers followed by the present year."""


@lru_cache(maxsize=8)
def venue_spellings(venues: tuple[str, ...]) -> Spellings:
    """Every venue by its name with and without year, its acronym and its initials."""
    return _spellings(venues, _venue_forms)


@lru_cache(maxsize=8)
def decision_spellings(decisions: tuple[str, ...]) -> Spellings:
    """Every decision in singular and plural; awards also together."""
    return _spellings(decisions, _decision_forms)


def longest_at(words: Sequence[Word], at: int, spellings: Spellings) -> tuple[int, tuple[str, ...]]:
    """The most words from `at` that spell a value: their number, and the values."""
    for width in range(min(max(map(len, spellings), default=0), len(words) - at), 0, -1):
        if values := spellings.get(folded_words(words[at : at + width])):
            return width, values
    return 0, ()


def venue_at(
    words: Sequence[Word], at: int, spellings: Spellings
) -> tuple[int, tuple[str, ...], int | None]:
    """The venue at `at`: number of words, values, and the year in or after its name."""
    width, values = longest_at(words, at, spellings)
    if width:
        year = year_of(words[at + width]) if at + width < len(words) else None
        return width + bool(year), values, year
    name, year = glued(words[at])
    return (1, values, year) if (values := spellings.get((name,), ())) else (0, (), None)


def glued(word: Word) -> tuple[str, int | None]:
    """The folded name and the year of `ICLR2022`, `iclr-22`; any other word and None."""
    found = _GLUED.fullmatch(word.folded)
    return (found[1], _century(found[2])) if found else (word.folded, None)


def year_of(word: Word) -> int | None:
    """The year that a word spells: 2022, '22; None if it is not one."""
    short = word.quoted and len(word.folded) == 2 and word.folded.isdecimal()  # noqa: PLR2004
    return _century(word.folded) if short or _YEAR.fullmatch(word.folded) else None


def typed_value(typed: str, values: Iterable[str], spellings: Spellings) -> tuple[str, ...]:
    """The values that `typed` may mean: those spelled so, else those that contain it."""
    words = folded_words(words_of(typed))
    part = f" {' '.join(words)} "
    parts = (value for value in values if part in f" {' '.join(folded_words(words_of(value)))} ")
    return spellings.get(words) or (tuple(parts) if words else ())


def typed_venue(typed: str, venues: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The venues that `typed` may mean, and the year if it has one."""
    if found := typed_value(typed, venues, venue_spellings(venues)):
        return found, None
    words = words_of(typed)
    width, found, year = venue_at(words, 0, venue_spellings(venues)) if words else (0, (), None)
    return (found, year) if width == len(words) else ((), None)


def years_at(
    words: Sequence[Word], at: int, known: Sequence[int], now: int
) -> tuple[int, tuple[int, ...]]:
    """Number of words at `at` that name years, and the years; `now` is the present year."""
    signs, numbers = zip(*map(_signed, words[at : at + 4]), strict=True)
    for width in range(len(signs), 0, -1):
        if period := _PERIODS.get(" ".join(signs[:width])):
            given = (*(number for each in numbers[:width] for number in each), now, now)
            return width, years_within(*period(*given[:2]), known)
    return 0, ()


def years_within(low: int, high: int, known: Sequence[int]) -> tuple[int, ...]:
    """The known years from `low` to `high`, 0 if open; if none is known, all years between."""
    low, high = (high, low) if 0 < high < low else (low, high)
    within = tuple(year for year in known if low <= year <= (high or year))
    return within or tuple(range(low or high, (high or low) + 1))


def _signed(word: Word) -> tuple[str, tuple[int, ...]]:
    """The sign of a word in `_PERIODS`, `Y` for a year and `N` for a number, and its numbers."""
    if found := _RANGE.fullmatch(word.folded):
        return "Y-Y", (int(found[1]), int(found[2]))
    if year := year_of(word):
        return "Y", (year,)
    count = _COUNTS.index(word.folded) if word.folded in _COUNTS else word.folded
    if str(count).isdecimal() and int(count) <= _MOST_YEARS_BACK:
        return "N", (int(count),)
    return word.folded, ()


def _century(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= _LAST_CENTURY else 2000)  # noqa: PLR2004


def _spellings(values: Iterable[str], forms: Callable[[str], set[str]]) -> Spellings:
    found: dict[tuple[str, ...], set[str]] = {}
    for value in values:
        for form in forms(value):
            found.setdefault(tuple(form.split()), set()).add(value)
    return {words: tuple(sorted(those)) for words, those in found.items() if words}


def _venue_forms(venue: str) -> set[str]:
    words = WORD.findall(venue)
    undated = [word for word in words if not _YEAR.fullmatch(word)]
    named = [word for word in undated if word[0].isupper() and folded(word) not in _SERIES]
    initials = "".join(word[0] for word in named) if len(named) > 2 else ""  # noqa: PLR2004
    forms = (venue, " ".join(words), " ".join(undated), initials, *_ACRONYM.findall(venue))
    return set(map(folded, forms))


def _decision_forms(decision: str) -> set[str]:
    plain = " ".join(re.split(r"[\s:-]+", folded(decision))).replace("honourable", "honorable")
    core = plain.removeprefix("notable ").removesuffix(" paper").removesuffix(" award")
    forms = {folded(decision), plain, core, *(f"{core} {what}" for what in _CALLED)}
    if _AWARDED & set(plain.split()):
        forms |= {"best paper"} if "outstanding" in plain else set()
        forms |= {f"{form} award" for form in forms}
        forms |= {"award", "award winning", "award-winning", "award winner", "prize"}
    forms |= {form.replace("honorable", "honourable") for form in forms}
    return forms | {f"{form}s" for form in forms}
