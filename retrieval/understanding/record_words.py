"""The words of a query that name venues, years and decisions, marked as such."""

import operator
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from retrieval.understanding.venues import ELSEWHERE, Spellings
from retrieval.understanding.wording import (
    ABOUT,
    AND,
    BY,
    CONTENT_ASKING,
    PAPERS,
    SORTS,
    WRITE,
    Kind,
    Word,
)

_YEAR = re.compile(r"(?:19|20)\d\d")
_GLUED = re.compile(r"([^\W\d_]{2,})[-'’]?((?:19|20)?\d\d)")
_IN = frozenset("in of from at since during after before until between".split())
_OR = frozenset("or and to".split())
_BE = frozenset("are is was were".split())
_CHOOSE = frozenset("which what list show all any the many".split())
_ACCEPTED = frozenset({"published", "accepted", "presented"})
_WON = frozenset("win wins won winning get got receive received given".split())
_OPEN_SPANS: dict[str, Callable[[int, int], bool]] = {
    "since": operator.ge,
    "after": operator.gt,
    "before": operator.lt,
    "until": operator.le,
}
_CLOSED_SPANS = frozenset({("from", "to"), ("between", "and")})
_LAST_CENTURY = 50
"""Years of two digits from here on are of the last century."""


def mark_venues_and_years(
    words: Sequence[Word], spellings: Spellings, texts_with: Callable[[str], int], size: int
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    """Mark the words that name a venue or a year of publication.

    Args:
        words: of the query.
        spellings: how the library's venues may be spelled.
        texts_with: how many texts of the library have a word.
        size: how many texts the library has.

    Returns:
        The venues, the years, and venues that are known elsewhere, not in this library.
    """
    venues: list[str] = []
    years: list[int] = []
    elsewhere: list[str] = []
    at = 0
    while at < len(words):
        width, named, year = venue_at(words, at, spellings)
        rare = all(texts_with(word.folded) <= size // 200 for word in words[at : at + width])
        if named and (year or rare or _is_placed(words, at)):
            venues += named
            years += [year] if year else []
            _mark(words[at : at + width], Kind.VENUE)
        elif not named and (foreign := _foreign_at(words, at)):
            elsewhere.append(foreign)
            _mark(words[at : at + 1], Kind.VENUE)
        at += max(width, 1)
    years += mark_years(words)
    if elsewhere and not venues:
        years = []
    return tuple(dict.fromkeys(venues)), tuple(dict.fromkeys(years)), tuple(elsewhere)


def mark_decisions(words: Sequence[Word], spellings: Spellings) -> tuple[str, ...]:
    """Mark the words that name decisions, and give the decisions."""
    longest = max(map(len, spellings), default=0)
    found: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    while at < len(words):
        width = _width_at(words, at, longest, spellings, Kind.DECISION)
        if width:
            spelled = tuple(word.folded for word in words[at : at + width])
            found.append((at, at + width, spellings[spelled]))
        at += max(width, 1)
    alternatives = len(found) > 1 and any(word.folded == "or" for word in words)
    decisions: list[str] = []
    for start, end, values in found:
        if words[start].kind or _is_decision(words, start, end, alternatives=alternatives):
            _mark(words[start:end], Kind.DECISION)
            decisions += values
    return tuple(dict.fromkeys(decisions))


def venue_at(
    words: Sequence[Word], at: int, spellings: Spellings
) -> tuple[int, tuple[str, ...], int | None]:
    """How many words name a venue here, which, and the year that is written to it."""
    longest = min(max(map(len, spellings), default=0), len(words) - at)
    for width in range(longest, 0, -1):
        spelled = tuple(word.folded for word in words[at : at + width])
        if named := spellings.get(spelled):
            year = _short_year(words[at + width]) if at + width < len(words) else None
            return width + (1 if year else 0), named, year
    if glued := _GLUED.fullmatch(words[at].folded):
        return 1, spellings.get((glued[1],), ()), _century(glued[2])
    return 1, (), None


def _short_year(word: Word) -> int | None:
    if _YEAR.fullmatch(word.folded) or (word.quoted and re.fullmatch(r"\d\d", word.folded)):
        return _century(word.folded)
    return None


def _century(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:  # noqa: PLR2004 - already whole
        return year
    return year + (1900 if year >= _LAST_CENTURY else 2000)


def _is_placed(words: Sequence[Word], at: int) -> bool:
    """Whether a venue that is also an ordinary word, such as Nature, is meant as a venue."""
    before = words[at - 1].folded if at else ""
    papers = any(word.folded in PAPERS or word.folded == "published" for word in words)
    return words[at].capital and papers and before in (*_IN, "")


def _foreign_at(words: Sequence[Word], at: int) -> str:
    """A venue known elsewhere, with its year."""
    word = words[at]
    glued = _GLUED.fullmatch(word.folded)
    if (glued[1] if glued else word.folded) not in ELSEWHERE:
        return ""
    year = _short_year(words[at + 1]) if at + 1 < len(words) else None
    shouted = sum(char.isupper() for char in word.text) > 1
    if not (glued or year or shouted):
        return ""
    return f"{word.text} {year}" if year else word.text


def mark_years(words: Sequence[Word]) -> list[int]:
    """Years of publication: by a venue, a decision, `papers`, or behind `from` and the like."""
    found: list[int] = []
    for at, word in enumerate(words):
        if word.kind or not _YEAR.fullmatch(word.folded):
            continue
        before = words[at - 1] if at else None
        after = words[at + 1] if at + 1 < len(words) else None
        if _is_year(words, before, after):
            word.kind = Kind.YEAR
            found.append(int(word.folded))
    return found


def years_in_spans(
    words: Sequence[Word], years: Sequence[int], known: Sequence[int]
) -> tuple[int, ...]:
    """The years that are meant where some are ends of a span: `since 2020`, `from 2019 to 2021`.

    Args:
        words: of the query, whose years are marked; what opens a span is marked too.
        years: those that are named.
        known: the years of the library's papers.
    """
    meant = set(years)
    for before, word in pairwise(words):
        is_within, end = _OPEN_SPANS.get(before.folded), _year_of(word)
        if is_within and end in years:
            before.kind = Kind.YEAR
            within = {year for year in known if is_within(year, end)}
            meant = meant - {end} | within if within else meant
    for first, low, then, high in zip(words, words[1:], words[2:], words[3:], strict=False):
        if (first.folded, then.folded) in _CLOSED_SPANS and _year_of(low) and _year_of(high):
            first.kind = then.kind = Kind.YEAR
            meant |= {year for year in known if _year_of(low) < year < _year_of(high)}
    return tuple(years) if meant == set(years) else tuple(sorted(meant))


def _year_of(word: Word) -> int:
    """The year that a word is marked as; 0 if it is not."""
    return int(word.folded) if word.kind is Kind.YEAR and word.folded.isdecimal() else 0


def _is_year(words: Sequence[Word], before: Word | None, after: Word | None) -> bool:
    """Whether a number that may be a year stands where a year of publication would."""
    spoken = any(word.folded in PAPERS | WRITE | _ACCEPTED | SORTS for word in words)
    return (
        len(words) == 1
        or bool(after and (after.kind is Kind.VENUE or after.folded in PAPERS | SORTS))
        or bool(before and _precedes_year(words, before, spoken=spoken))
    )


def _precedes_year(words: Sequence[Word], before: Word, *, spoken: bool) -> bool:
    another = any(word.kind is Kind.YEAR for word in words)
    return (
        before.kind in (Kind.VENUE, Kind.YEAR, Kind.NAME)
        or before.folded in PAPERS | SORTS
        or (before.folded in _OR and another)
        or (before.folded in _IN and spoken)
    )


def _width_at(
    words: Sequence[Word], at: int, longest: int, spellings: Spellings, kind: Kind
) -> int:
    for width in range(min(longest, len(words) - at), 0, -1):
        span = words[at : at + width]
        free = all(word.kind in (None, kind) for word in span)
        if free and tuple(word.folded for word in span) in spellings:
            return width
    return 0


def _is_decision(words: Sequence[Word], start: int, end: int, *, alternatives: bool) -> bool:
    """Whether words spelled like a decision are meant as one, from what stands around them."""
    before = words[start - 1] if start else None
    after = words[end] if end < len(words) else None
    last = words[end - 1].folded
    if alternatives and not last.endswith("s"):
        return False
    speaks_of_papers = end - start > 1 and (last in PAPERS or "mention" in last)
    beside = (before and before.kind not in (None, Kind.ASKING)) or (
        after and (after.kind or after.folded in PAPERS)
    )
    alone = not (before or after)
    as_one = before and before.folded == "as" and any(w.folded in _ACCEPTED for w in words)
    return bool(
        speaks_of_papers
        or beside
        or alone
        or as_one
        or any(word.folded in _WON for word in words[:start][-2:])
        or _is_there_one(words, before, after)
        or _is_said_of_papers(words, before, after)
        or (last.endswith("s") and _is_plural_of_papers(before, after))
    )


def _is_there_one(words: Sequence[Word], before: Word | None, after: Word | None) -> bool:
    """`Is there an oral on …`."""
    asked = [word.folded for word in words[:2]] == ["is", "there"]
    return bool(asked and before and before.asks and after and after.folded in ABOUT)


def _is_said_of_papers(words: Sequence[Word], before: Word | None, after: Word | None) -> bool:
    """`Which papers … are orals`, `papers … that were oral`, `every oral from …`."""
    if before and after is None and before.folded in _BE:
        return any(word.folded in PAPERS for word in words)
    closes = after is None or after.folded in ABOUT | _IN | BY
    return bool(before and before.folded in ("each", "every") and closes)


def _is_plural_of_papers(before: Word | None, after: Word | None) -> bool:
    """`Which orals …`, `orals about …`, `list the spotlights`."""
    if before and before.folded in _CHOOSE:
        return True
    opens = before is None or (before.asks and before.folded not in ABOUT | CONTENT_ASKING)
    closes = after is None or after.folded in ABOUT | _IN | BY | AND | {"that", "which"}
    return opens and closes


def _mark(words: Sequence[Word], kind: Kind) -> None:
    for word in words:
        word.kind = kind
