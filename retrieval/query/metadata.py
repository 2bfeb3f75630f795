"""Parses a query: authors, venue, year and decision of the papers it asks for, and its topic.

Only names, venues, years and decisions that the library's index has become filters.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date

from retrieval.index.lexical import LexicalIndex
from retrieval.query import values
from retrieval.query.people import lone_surnames, people_in, shown, strangers_in
from retrieval.query.syntax import explicit_terms, known_years
from retrieval.query.words import (
    PAPERS,
    PLACES,
    Span,
    UnmatchedFilter,
    Word,
    author_groups,
    clusters,
    folded_at,
    folded_words,
    positions,
    with_negation,
    words_of,
)
from retrieval.text.names import words_of_term
from retrieval.types import Filters

_COMMON = 200
"""A word is common if one text in 200 has it."""
_BEFORE_TOPIC = 3
"""Words before a topic in which `about` or `on` introduces it."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query."""

    filters: Filters
    topic: str = ""
    """The words, as typed, that neither name values of records nor are words of asking."""
    said: str = ""
    """The filters in words: `by Yilun Du at ICLR 2023`."""
    unmatched: tuple[UnmatchedFilter, ...] = ()
    explicit: bool = False
    """Whether it has terms such as `author:poole` or `-survey`."""
    introduced: bool = False
    """Whether `about` or `on` comes before the topic, so that other papers are not meant."""


def parse_query(
    query: str, known: LexicalIndex, *, lookup: bool, today: date | None = None
) -> ParsedQuery:
    """Parse `query` with the values of the library.

    Args:
        query: any text; only the first words of a long one are used.
        known: the library's words and records.
        lookup: whether it asks for papers, so that everything it names is a condition. In a
            question about content only these are: explicit terms, full names, and venues, years and
            decisions that are said of papers or are in the place of a venue.
        today: the day that `last year` is relative to; by default the present day.
    """
    typed = explicit_terms(query, known)
    words = words_of(typed.text)
    now = (today or date.today()).year  # noqa: DTZ011 - the person's own
    records = _records_in(words, known, now, lookup=lookup)
    strange = _strange_venues(words, positions(records), known, lookup=lookup)
    people = people_in(words, positions([*records, *strange]), known, lookup=lookup)
    strange += strangers_in(words, positions([*records, *people]), known, lookup=lookup)
    spans = with_negation(words, [*records, *people])
    topic = _topic(words, positions([*spans, *strange]))
    if lookup and (named := lone_surnames(words, topic, known)):
        spans = with_negation(words, [*records, *people, *named])
        topic = _topic(words, positions([*spans, *strange]))
    authors, filters = _conditions(words, spans)
    filters = typed.filters.also(filters)
    return ParsedQuery(
        filters=filters,
        topic=" ".join(words[at].text for at in topic),
        said=said([*typed.authors, *authors], filters),
        unmatched=(*typed.unmatched, *(span.unmatched for span in strange if span.unmatched)),
        explicit=typed.text != query,
        introduced=bool(topic) and _is_introduced(words, topic[0]),
    )


def said(authors: Sequence[str], filters: Filters) -> str:
    """Filters in words: `by Yilun Du at ICLR 2023`; authors as typed."""
    places, years = " or ".join(filters.venues), _years_said(filters.years)
    parts = (
        f"by {' and '.join(authors)}" if authors else "",
        f"at {places}" if places else "",
        f"{'' if places else 'of '}{years}" if years else "",
        f"with decision {' or '.join(filters.decisions)}" if filters.decisions else "",
        *(f"not {said(_shown_authors(each), each)}" for each in filters.excluded),
        *(f"without “{word}”" for word in filters.excluded_words),
    )
    return " ".join(filter(None, parts))


def _years_said(years: Sequence[int]) -> str:
    is_run = len(years) > 2 and [*years] == [*range(years[0], years[-1] + 1)]  # noqa: PLR2004
    return f"{years[0]} to {years[-1]}" if is_run else " or ".join(map(str, years))


def _shown_authors(filters: Filters) -> list[str]:
    """The name of each author, or the surname that several share."""
    return [
        shown(terms[0]) if len(terms) == 1 else words_of_term(terms[0])[-1].capitalize()
        for terms in filters.authors
    ]


def _conditions(words: Sequence[Word], spans: Sequence[Span]) -> tuple[list[str], Filters]:
    """The authors as typed, and the filters of all spans together."""
    wanted = [span for span in spans if not span.negated]
    groups = author_groups(words, [span for span in wanted if span.name])
    terms = [
        [t for span in group for terms in span.filters.authors for t in terms] for group in groups
    ]
    filters = Filters(
        authors=tuple(tuple(dict.fromkeys(each)) for each in terms),
        excluded=tuple(span.filters for span in spans if span.negated),
    )
    for span in wanted:
        filters = filters if span.name else filters.merged(span.filters)
    return [" or ".join(span.name for span in group) for group in groups], filters


def _topic(words: Sequence[Word], used: Set[int]) -> list[int]:
    """The indices of the topic's words, which neither name values nor are words of asking.

    A word that links `papers` to a value is left out, too: `papers presented at ICLR`.
    """

    def links(at: int) -> bool:
        behind = at + 1
        while behind not in used and behind < len(words) and words[behind].asks:
            behind += 1
        return folded_at(words, at - 1) in PAPERS and behind > at + 1 and behind in used

    free = [at for at, word in enumerate(words) if at not in used and not word.asks]
    return [at for at in free if not links(at)]


def _is_introduced(words: Sequence[Word], start: int) -> bool:
    before = folded_words(words[max(start - _BEFORE_TOPIC, 0) : start])
    return "about" in before or "on" in before


def _records_in(
    words: Sequence[Word], known: LexicalIndex, now: int, *, lookup: bool
) -> list[Span]:
    """Venues, years and decisions that are conditions; those that belong together as one span."""
    found = _values_in(words, known, now)
    beside = positions(found)
    together = clusters(words, [each for each in found if _is_meant(words, each, beside, known)])
    return [span for span in together if lookup or _is_of_records(words, span)]


def _values_in(words: Sequence[Word], known: LexicalIndex, now: int) -> list[Span]:
    """All spans that are spelled like a venue, a decision or a year."""
    venues = values.venue_spellings(tuple(known.values("venue")))
    decisions = values.decision_spellings(tuple(known.values("decision")))
    years = known_years(known)
    found: list[Span] = []
    at = 0
    while at < len(words):
        width, spelled, year = values.venue_at(words, at, venues)
        filters = Filters(venues=spelled, years=(year,) if year else ())
        if not width:
            width, spelled = values.longest_at(words, at, decisions)
            filters = Filters(decisions=spelled)
        if not width:
            width, within = values.years_at(words, at, years, now)
            filters = Filters(years=within)
        if width:
            found.append(Span(at, at + width, filters))
        at += max(width, 1)
    return found


def _is_meant(words: Sequence[Word], span: Span, others: Set[int], known: LexicalIndex) -> bool:
    """Whether words spelled like a value mean it.

    A common word does if it is in the place of a venue (Nature), in the plural, or not followed by
    another word of the topic, as in `oral cancer`; an unknown year if it is in the place of one.
    """
    last, before = words[span.end - 1], folded_at(words, span.start - 1)
    if span.end - span.start > 1 or {span.start - 1, span.end} & others or span.is_of_papers(words):
        return True
    if span.filters.venues:
        common = known.texts_with(last.folded) > known.size // _COMMON
        return bool(span.filters.years) or not common or (last.capital and before in PLACES)
    if span.filters.decisions:
        behind = words[span.end : span.end + 1]
        return last.folded.endswith("s") or not behind or behind[0].asks
    return {*span.filters.years} <= {*known_years(known)} or before in PLACES or len(words) == 1


def _is_of_records(words: Sequence[Word], span: Span) -> bool:
    """Whether a question about content says that papers have this venue, year, …"""
    placed = PLACES & set(folded_words(words[max(span.start - 1, 0) : span.end]))
    at_venue = span.filters.venues and (placed or span.filters.decisions)
    return span.is_of_papers(words) or bool(at_venue)


def _strange_venues(
    words: Sequence[Word], taken: Set[int], known: LexicalIndex, *, lookup: bool
) -> list[Span]:
    """Unknown names in capitals with a year in the place of a venue: `papers at NeurIPS 2021`."""
    found: list[Span] = []
    for at, word in enumerate(words):
        name, year = values.glued(word)
        end = at + 1 if year and str(year) in word.folded else at + 2
        dated = end == at + 1 or (end <= len(words) and values.year_of(words[end - 1]))
        is_name = sum(map(str.isupper, word.text)) > 1
        if at in taken or not (dated and is_name) or known.texts_with(name) > known.size // _COMMON:
            continue
        placed = folded_at(words, at - 1) in PLACES or end in taken
        if Span(at, end).is_of_papers(words) or (lookup and placed):
            place = f"at {' '.join(each.text for each in words[at:end])}"
            found.append(Span(at, end, unmatched=UnmatchedFilter("venue", place)))
    return found
