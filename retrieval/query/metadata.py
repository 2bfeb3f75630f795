"""What a query says about the records of papers: authors, venue, year, decision; and the topic.

Only what the library's own index proves is a filter: its names, venues, years and decisions.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import date

from retrieval.filters import NO_FILTERS, Filters
from retrieval.names import words_of_term
from retrieval.query.authors import shown
from retrieval.query.people import lone_surnames, people_in, stranger_at
from retrieval.query.spans import Span, author_groups, clusters, with_negation
from retrieval.query.syntax import (
    KnownValues,
    UnmatchedFilter,
    explicit_terms,
    known_years,
    unknown_author,
    unknown_venue,
)
from retrieval.query.values import (
    decision_spellings,
    glued,
    longest_at,
    venue_at,
    venue_spellings,
    year_of,
    years_at,
)
from retrieval.query.words import PAPERS, PLACES, Word, folded_words, words_of

_COMMON = 200
"""One text in so many has a word that is common."""
_BEFORE_TOPIC = 3
"""Words before a topic among which `about` or `on` introduces it."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query says."""

    filters: Filters
    topic: str = ""
    """The words that neither name records nor only ask, as typed."""
    said: str = ""
    """The filters in words: `by Yilun Du at ICLR 2023`."""
    unmatched: tuple[UnmatchedFilter, ...] = ()
    explicit: bool = False
    """Whether it has terms such as `author:poole` or `-survey`."""
    introduced: bool = False
    """Whether `about` or `on` stands before the topic, so that other papers are not meant."""


def parse_query(
    query: str, known: KnownValues, *, lookup: bool, today: date | None = None
) -> ParsedQuery:
    """What `query` says about records; pure, but for what `known` knows.

    Args:
        query: anything; the first words of a long one are looked at.
        known: the values of the library's records.
        lookup: whether it asks for papers, so that all that it names is a condition. In a question
            about content these are: explicit terms, full names, and venues, years and decisions
            that are said of papers or stand where a venue would.
        today: what `last year` starts from; by default the present day.
    """
    typed = explicit_terms(query, known)
    words = words_of(typed.text)
    records = _records_in(words, known, today or date.today(), lookup=lookup)  # noqa: DTZ011
    strange = _strange_venues(words, _positions(records), known, lookup=lookup)
    taken = _positions([*records, *strange])
    people = people_in(words, taken, known, lookup=lookup)
    taken |= _positions(people)
    strange += _strange_authors(words, taken, known, lookup=lookup)
    spans = with_negation(words, sorted([*records, *people], key=lambda span: span.start))
    topic = _topic(words, [*spans, *strange])
    if lookup and (named := lone_surnames(words, topic, known)):
        spans = with_negation(words, sorted([*spans, *named], key=lambda span: span.start))
        topic = _topic(words, [*spans, *strange])
    wanted = [span for span in spans if not span.negated]
    groups = author_groups(words, [span for span in wanted if span.name])
    filters = Filters(
        authors=tuple(_any_of(group) for group in groups),
        excluded=tuple(span.filters for span in spans if span.negated),
    )
    for span in wanted:
        if not span.name:
            filters = filters.merged(span.filters)
    authors = [*typed.authors, *(" or ".join(span.name for span in group) for group in groups)]
    filters = typed.filters.also(filters)
    return ParsedQuery(
        filters=filters,
        topic=" ".join(words[at].text for at in topic),
        said=said(authors, filters),
        unmatched=(*typed.unmatched, *(span.unmatched for span in strange if span.unmatched)),
        explicit=typed.text != query,
        introduced=bool(topic) and _is_introduced(words, topic[0]),
    )


def said(authors: Sequence[str], filters: Filters) -> str:
    """Filters in words: `by Yilun Du at ICLR 2023`; authors as they were typed."""
    places = " or ".join(filters.venues)
    years = _years_said(filters.years)
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
    """Everyone's name, or the surname that several share."""
    return [
        shown(terms[0]) if len(terms) == 1 else words_of_term(terms[0])[-1].capitalize()
        for terms in filters.authors
    ]


def _any_of(group: Sequence[Span]) -> tuple[str, ...]:
    terms = (term for span in group for names in span.filters.authors for term in names)
    return tuple(dict.fromkeys(terms))


def _positions(spans: Sequence[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end)}


def _topic(words: Sequence[Word], spans: Sequence[Span]) -> list[int]:
    """Where the words stand that neither name records nor only ask.

    Nor does one word that leads from `papers` to a record: `papers presented at ICLR`.
    """
    used = _positions(spans)
    free = [at for at, word in enumerate(words) if at not in used and not word.asks]
    return [at for at in free if not (at and _leads_to_record(words, at, used))]


def _leads_to_record(words: Sequence[Word], at: int, used: Set[int]) -> bool:
    behind = next((i for i in range(at + 1, len(words)) if i in used or not words[i].asks), -1)
    return words[at - 1].folded in PAPERS and behind > at + 1 and behind in used


def _is_introduced(words: Sequence[Word], start: int) -> bool:
    before = words[max(start - _BEFORE_TOPIC, 0) : start]
    return any(word.folded in ("about", "on") for word in before)


def _records_in(
    words: Sequence[Word], known: KnownValues, today: date, *, lookup: bool
) -> list[Span]:
    """Venues, years and decisions that are conditions; those of one place as one span."""
    found = _values_in(words, known, today)
    at_values = _positions(found)
    proven = [span for span in found if _is_proven(words, span, at_values, known)]
    together = clusters(words, proven)
    return together if lookup else [span for span in together if _is_of_records(words, span)]


def _values_in(words: Sequence[Word], known: KnownValues, today: date) -> list[Span]:
    """All words that are spelled like a venue, a decision or a year."""
    venues = venue_spellings(tuple(known.values("venue")))
    decisions = decision_spellings(tuple(known.values("decision")))
    years = known_years(known)
    found: list[Span] = []
    at = 0
    while at < len(words):
        width, values, year = venue_at(words, at, venues)
        filters = Filters(venues=values, years=(year,) if year else ())
        if not width:
            width, values = longest_at(words, at, decisions)
            filters = Filters(decisions=values)
        if not width:
            width, within = years_at(words, at, years, today)
            filters = Filters(years=within)
        if width:
            found.append(Span(at, at + width, filters))
        at += max(width, 1)
    return found


def _is_proven(words: Sequence[Word], span: Span, at_values: Set[int], known: KnownValues) -> bool:
    """Whether words spelled like a value mean it, in a query that asks for papers.

    An ordinary word does where it stands as a venue would (Nature), is in the plural or no other
    word of the topic follows it (`oral cancer` has one); an unknown year where years stand.
    """
    last = words[span.end - 1]
    beside = bool({span.start - 1, span.end} & at_values) or span.is_of_papers(words)
    _, before, behind = span.beside(words)
    if beside or span.end - span.start > 1:
        return True
    if span.filters.venues:
        common = known.texts_with(last.folded) > known.size // _COMMON
        return bool(span.filters.years) or not common or (last.capital and before in PLACES)
    if span.filters.decisions:
        ends = span.end == len(words) or words[span.end].asks
        return last.folded.endswith("s") or ends or words[span.end].capital
    known_year = set(span.filters.years) <= set(known_years(known))
    return known_year or before in PLACES or len(words) == 1


def _is_of_records(words: Sequence[Word], span: Span) -> bool:
    """Whether a question about content says of papers that they are of this venue, year, …"""
    placed = PLACES & set(folded_words(words[max(span.start - 1, 0) : span.end]))
    return span.is_of_papers(words) or bool(span.filters.venues and placed)


def _strange_venues(
    words: Sequence[Word], taken: Set[int], known: KnownValues, *, lookup: bool
) -> list[Span]:
    """Names in capitals with a year that stand where a venue would: `papers at NeurIPS 2021`."""
    found: list[Span] = []
    for at, word in enumerate(words):
        name, year = glued(word)
        end = at + 1 if year and str(year) in word.folded else at + 2
        dated = end == at + 1 or (end <= len(words) and year_of(words[end - 1]))
        shouted = sum(map(str.isupper, word.text)) > 1
        if not (dated and shouted) or known.texts_with(name) > known.size // _COMMON:
            continue
        span = Span(at, end, NO_FILTERS)
        placed = span.beside(words)[1] in PLACES or end in taken
        if at not in taken and (span.is_of_papers(words) or (lookup and placed)):
            typed = " ".join(each.text for each in words[at:end])
            found.append(replace(span, unmatched=unknown_venue(typed)))
    return found


def _strange_authors(
    words: Sequence[Word], taken: Set[int], known: KnownValues, *, lookup: bool
) -> list[Span]:
    """Names behind `by` that nobody in the library has; in a question, of two words or papers'."""
    found = [stranger_at(words, at, taken, known) for at in range(1, len(words))]
    return [
        replace(span, unmatched=unknown_author(span.name, known))
        for span in found
        if span and (lookup or span.end - span.start > 1 or span.beside(words)[0] in PAPERS)
    ]
