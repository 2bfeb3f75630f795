"""What a query says about the records of papers: authors, venue, year, decision; and what is left.

It is understood from the library's own values. Only strong signs filter: `oral` next to a venue, a
year or `papers` is a decision, in `oral cancer` it is not.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from retrieval.filters import NO_FILTERS, Filters
from retrieval.understanding.authors import Names, named, shown
from retrieval.understanding.people import Person, people_in
from retrieval.understanding.record_words import (
    mark_decisions,
    mark_venues_and_years,
    mark_years,
    venue_at,
    years_in_spans,
)
from retrieval.understanding.venues import Spellings, decision_spellings, venue_spellings
from retrieval.understanding.wording import (
    ABOUT,
    CLAIMS,
    CONTENT_ASKING,
    HERE,
    PAPERS,
    WRITE,
    Kind,
    Word,
    words_of,
)

_SEVERAL = re.compile(r"\s+(?:and|&)\s+|\s*;\s*", re.IGNORECASE)
"""What stands between the authors of one filter."""
MOST_TOPIC_WORDS = 8
"""Words of a topic in a request for papers; longer ones say more than a topic."""


class KnownValues(Names, Protocol):
    """What is known of a library's records; see `LexicalIndex`."""

    def values(self, field: str) -> list[str]:
        """The different values of `venue`, `year` or `decision`."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something named that the library does not have."""

    said: str
    """`by Ada Lovelace`, `at NeurIPS 2021`."""
    close: str = ""
    """An author of the library spelled alike."""
    is_author: bool = False


@dataclass(frozen=True, slots=True)
class Understood:
    """What a query says."""

    filters: Filters
    topic: str = ""
    """The words that are neither about records nor only asking, as typed."""
    hints: Filters = NO_FILTERS
    """What a question about a paper's record supposes of it: `was S4 an ICLR 2022 award?`"""
    said: str = ""
    """The filters in words: `by Yilun Du at ICLR 2023`."""
    missing: tuple[Missing, ...] = ()
    selects: bool = False
    """Whether papers that have nothing of the topic are not meant: `orals about diffusion`."""
    asks_for_papers: bool = False
    """Whether it asks for papers by their records, and for nothing that their abstracts say."""


@dataclass(frozen=True, slots=True)
class Given:
    """Filters as a person types them; empty fields ask nothing."""

    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return bool(self.authors or self.venue or self.year or self.decision)


@dataclass(slots=True)
class _Reading:
    """A query, word by word."""

    words: list[Word]
    people: list[Person] = field(default_factory=list)
    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    decisions: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    hints: Filters = NO_FILTERS

    @property
    def content(self) -> list[int]:
        """Where the words stand that are neither about records nor only asking."""
        return [at for at, word in enumerate(self.words) if not (word.kind or word.asks)]


def understand(query: str, known: KnownValues, *, names_alone: bool = False) -> Understood:
    """What `query` says about records; pure, but for what `known` knows.

    Args:
        query: anything; the first words of a long one are looked at.
        known: the values of the library's records.
        names_alone: whether a full name that nothing marks filters even in a question about
            content, as is right where people look papers up.
    """
    reading = _read(query, known, names_alone=names_alone)
    filters = Filters(
        authors=tuple(dict.fromkeys(person.terms for person in reading.people if person.terms)),
        venues=reading.venues,
        years=reading.years,
        decisions=reading.decisions,
    )
    missing = [
        *(
            Missing(
                f"by {person.typed}", shown(person.close) if person.close else "", is_author=True
            )
            for person in reading.people
            if not person.terms
        ),
        *(Missing(f"at {venue}") for venue in reading.elsewhere),
    ]
    topic = [reading.words[at].text for at in reading.content]
    introduced = _topic_is_introduced(reading)
    return Understood(
        filters=filters,
        topic=" ".join(topic),
        hints=reading.hints,
        said=said([person.typed for person in reading.people if person.terms], filters),
        missing=tuple(missing),
        selects=bool(topic) and (introduced or not filters.authors),
        asks_for_papers=bool(filters or missing) and _asks_for_papers(reading),
    )


def given_filters(given: Given, known: KnownValues) -> tuple[Filters, tuple[Missing, ...]]:
    """The filters that a person gave, in the library's values, and what it does not have."""
    authors = [name for typed in given.authors for name in _SEVERAL.split(typed) if name]
    people = [(author, named(author, known)) for author in authors]
    venues, year = _placed(given.venue, tuple(known.values("venue")))
    decisions = known.values("decision")
    decided = _valued(given.decision, decisions, _decisions_of(tuple(decisions)))
    missing = [
        *(Missing(f"by {author}", is_author=True) for author, terms in people if not terms),
        *([Missing(f"at {given.venue}")] if given.venue and not venues else []),
        *([Missing(f"with decision {given.decision}")] if given.decision and not decided else []),
    ]
    if year and given.year and year != given.year:
        missing.append(Missing(f"at {given.venue} of {given.year}"))
    filters = Filters(
        authors=tuple(terms for _, terms in people if terms),
        venues=venues,
        years=tuple(filter(None, [given.year or year])),
        decisions=decided,
    )
    return filters, tuple(missing)


def said(authors: Sequence[str], filters: Filters) -> str:
    """Filters in words: `by Yilun Du at ICLR 2023`; authors as they were typed."""
    years = " or ".join(map(str, filters.years))
    places = " or ".join(filters.venues)
    parts = (
        f"by {' and '.join(authors)}" if authors else "",
        f"at {places}" if places else "",
        f"{'' if places else 'of '}{years}" if years else "",
        f"with decision {' or '.join(filters.decisions)}" if filters.decisions else "",
    )
    return " ".join(filter(None, parts))


def _read(query: str, known: KnownValues, *, names_alone: bool) -> _Reading:
    reading = _Reading(words_of(query))
    words = reading.words
    _mark_asking_together(words)
    venues = _venues_of(tuple(known.values("venue")))
    decisions = _decisions_of(tuple(known.values("decision")))
    reading.venues, reading.years, reading.elsewhere = mark_venues_and_years(
        words, venues, known.texts_with, known.size
    )
    mark_decisions(words, decisions)
    people = people_in(words, known)
    for person in people:
        for word in words[person.start : person.end]:
            word.kind = Kind.NAME
    reading.people = [person for person in people if _counts(person, reading, names_alone)]
    for person in people:
        if person not in reading.people:
            for word in words[person.start : person.end]:
                word.kind = None
    _mark_et_al(reading)
    years = tuple(dict.fromkeys((*reading.years, *mark_years(words))))
    reading.years = years_in_spans(words, years, [int(year) for year in known.values("year")])
    reading.decisions = mark_decisions(words, decisions)
    if _asks_whether(reading):
        _forget(reading, decisions)
    return reading


def _mark_asking_together(words: Sequence[Word]) -> None:
    """`How many papers …`, `… in your library`."""
    for one, two in pairwise(words):
        if (one.folded, two.folded) == ("how", "many") or (
            one.folded in ("the", "this", "your", "our", "my") and two.folded in HERE
        ):
            one.kind = two.kind = Kind.ASKING


def _mark_et_al(reading: _Reading) -> None:
    """`et al` belongs to the name before it, so that a year behind it is one of publication."""
    for person in reading.people:
        behind = reading.words[person.end : person.end + 2]
        if [word.folded for word in behind] == ["et", "al"]:
            for word in behind:
                word.kind = Kind.NAME


def _counts(person: Person, reading: _Reading, names_alone: bool) -> bool:  # noqa: FBT001
    """Whether a name is meant as a condition.

    Kaiming He's initialization is not his paper, and `Brown et al.` in a question about content
    may be cited by the papers that are meant.
    """
    cited = [word.folded for word in reading.words[person.end : person.end + 2]] == ["et", "al"]
    if (person.marked and not cited) or names_alone:
        return True
    words = {word.folded for word in reading.words if word.kind is None}
    if not reading.content:
        return True
    short = len(reading.content) <= MOST_TOPIC_WORDS
    return short and (bool(words & (PAPERS | WRITE)) or not words & CONTENT_ASKING)


def _asks_whether(reading: _Reading) -> bool:
    """Whether a record is what is asked about one paper: `was DiffStride an ICLR 2022 oral?`"""
    folded = [word.folded for word in reading.words]
    verbs = {"is", "was", "were", "did", "has"}
    pairs = list(pairwise([*folded, ""]))
    first = bool(pairs) and pairs[0][0] in verbs and pairs[0][1] not in ("there", "any", "some")
    later = any(verb in verbs and next_ in ("it", "this", "that") for verb, next_ in pairs)
    return (first or later) and bool(reading.content)


def _forget(reading: _Reading, decisions: Spellings) -> None:
    """Take back that venue, year and decision are conditions: they are what is asked."""
    reading.hints = Filters(venues=reading.venues, years=reading.years)
    reading.venues, reading.years, reading.decisions, reading.elsewhere = (), (), (), ()
    for before, word in pairwise(reading.words):
        one_of = before.kind or before.folded in ("a", "an", "or", "any")
        if word.kind is None and one_of and (word.folded,) in decisions:
            word.kind = Kind.ASKING


def _topic_is_introduced(reading: _Reading) -> bool:
    content = reading.content
    if not content:
        return False
    before = reading.words[: content[0]]
    return any(word.folded in ABOUT for word in before[-3:])


def _asks_for_papers(reading: _Reading) -> bool:
    words, content = reading.words, reading.content
    folded = [word.folded for word in words]
    spoken = any(
        (word.folded in PAPERS | WRITE and word.kind is None) or word.kind is Kind.DECISION
        for word in words
    )
    if not content:
        return bool(reading.people) or spoken
    if not spoken or len(content) > MOST_TOPIC_WORDS:
        return False
    run = words[content[0] : content[-1] + 1]
    inside = {word.folded for word in run}
    if any(word.kind for word in run) or inside & (CLAIMS | CONTENT_ASKING):
        return False
    if _topic_is_introduced(reading):
        asks_what = folded[0] == "what" and folded[1] in ("does", "do", "did", "is", "are")
        return not asks_what or bool(set(folded) & WRITE)
    return not set(folded) & CONTENT_ASKING


def _placed(typed: str, venues: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The venues that a person may mean by `typed`, and the year if that is typed too."""
    words = words_of(typed)
    if found := _valued(typed, venues, _venues_of(venues)):
        return found, None
    width, found, year = venue_at(words, 0, _venues_of(venues)) if words else (0, (), None)
    return (found, year) if width == len(words) else ((), None)


def _valued(typed: str, values: Iterable[str], spellings: Spellings) -> tuple[str, ...]:
    """The values that a person may mean by `typed`: spelled so, or having it as a part."""
    words = tuple(word.folded for word in words_of(typed))
    if not words:
        return ()
    part = " ".join(words)
    return spellings.get(words) or tuple(
        value for value in values if f" {part} " in f" {' '.join(_plain_words(value))} "
    )


def _plain_words(value: str) -> list[str]:
    return [word.folded for word in words_of(value)]


@lru_cache(maxsize=8)
def _venues_of(values: tuple[str, ...]) -> Spellings:
    return venue_spellings(values)


@lru_cache(maxsize=8)
def _decisions_of(values: tuple[str, ...]) -> Spellings:
    return decision_spellings(values)
