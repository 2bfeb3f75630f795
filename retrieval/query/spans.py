"""Spans of a query's words that name something of records, and how they belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval.filters import NO_FILTERS, Filters
from retrieval.query.syntax import UnmatchedFilter
from retrieval.query.words import JOINERS, PAPERS, PLACES, Word, folded_at, folded_words

_NEGATIONS = frozenset({"not", "no", "nor", "without", "except", "excluding"})
_LITTLE = PLACES | {"a", "an", "the", "by", "with"}
"""What may stand between alternatives: `an oral or a poster`."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that name something of records: `words[start:end]`."""

    start: int
    end: int
    filters: Filters = NO_FILTERS
    name: str = ""
    """The author, as typed."""
    negated: bool = False
    unmatched: UnmatchedFilter | None = None
    """What is named, where the library does not have it."""

    def is_of_papers(self, words: Sequence[Word]) -> bool:
        """Whether `paper` or `papers` stands beside or inside, as in `papers from 2022`."""
        before = self.start - 2 if folded_at(words, self.start - 1) in PLACES else self.start - 1
        near = {folded_at(words, at) for at in (before, *range(self.start, self.end + 1))}
        return bool(near & PAPERS)


def positions(spans: Sequence[Span]) -> set[int]:
    """Where the words of spans stand."""
    return {at for span in spans for at in range(span.start, span.end)}


def is_joined(words: Sequence[Word], end: int, start: int) -> bool:
    """Whether what ends and what starts there are joined by `and`, `or` or a comma alone."""
    between = set(folded_words(words[end:start]))
    joiners = JOINERS | {"nor"}
    comma = words[end - 1].comma and start - end <= 1
    return between <= joiners | _LITTLE and bool(between & joiners or comma)


def clusters(words: Sequence[Word], spans: Sequence[Span]) -> list[Span]:
    """Venues, years and decisions that belong together as one: `the orals of ICLR 2022`."""
    found: list[Span] = []
    for span in spans:
        if found and _belongs(words, found[-1], span):
            merged = found[-1].filters.merged(span.filters)
            found[-1] = Span(found[-1].start, span.end, merged)
        else:
            found.append(span)
    return found


def with_negation(words: Sequence[Word], spans: Sequence[Span]) -> list[Span]:
    """The spans in order, those marked that follow `not`, `without`, …, also before an `or`."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda each: each.start):
        last = found[-1] if found else Span(0, 0)
        first = _negation(words, last.end, span.start)
        again = last.negated and is_joined(words, last.end, span.start)
        found.append(replace(span, start=first, negated=again or first < span.start))
    return found


def author_groups(words: Sequence[Word], people: Sequence[Span]) -> list[list[Span]]:
    """People of whom one must be an author stand together: `Ainsworth or Poole`."""
    chains: list[list[Span]] = []
    for person in people:
        if chains and is_joined(words, chains[-1][-1].end, person.start):
            chains[-1].append(person)
        else:
            chains.append([person])
    groups: list[list[Span]] = []
    for chain in chains:
        is_choice = "or" in folded_words(words[chain[0].end : chain[-1].start])
        groups += [chain] if is_choice else [[person] for person in chain]
    return groups


def _belongs(words: Sequence[Word], one: Span, two: Span) -> bool:
    """Side by side, with one little word between, or more alternatives of the same kind."""
    between = folded_words(words[one.end : two.start])
    if not words[one.end - 1].comma and between in ((), *((place,) for place in PLACES)):
        return True
    return _kinds(two) <= _kinds(one) and is_joined(words, one.end, two.start)


def _kinds(span: Span) -> set[str]:
    return {kind for kind in ("venues", "years", "decisions") if getattr(span.filters, kind)}


def _negation(words: Sequence[Word], least: int, start: int) -> int:
    """Where the `not` stands from which only asking words lead to `start`, else `start`."""
    for at in range(start - 1, least - 1, -1):
        if words[at].folded in _NEGATIONS:
            return at
        if not words[at].asks or words[at].comma:
            break
    return start
