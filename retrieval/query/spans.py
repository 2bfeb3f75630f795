"""Spans of a query's words that name something of records, and how they belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval.filters import Filters
from retrieval.query.syntax import UnmatchedFilter
from retrieval.query.words import JOINERS, PAPERS, PLACES, Word, folded_words

NEGATIONS = frozenset({"not", "no", "without", "except", "excluding", "nor"})
_BETWEEN = PLACES | {"a", "an", "the", "by", "with"}
"""Little words that may stand between alternatives: `an oral or a poster`."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that name something of records: `words[start:end]`."""

    start: int
    end: int
    filters: Filters
    name: str = ""
    """The author, as typed."""
    negated: bool = False
    unmatched: UnmatchedFilter | None = None
    """What is named, where the library does not have it."""

    def beside(self, words: Sequence[Word]) -> tuple[str, str, str]:
        """The folded words around: two before, one behind; empty where there is none."""
        near = {at: words[at].folded for at in range(len(words))}
        second, first, behind = (
            near.get(at, "") for at in (self.start - 2, self.start - 1, self.end)
        )
        return second, first, behind

    def is_of_papers(self, words: Sequence[Word]) -> bool:
        """Whether `paper` or `papers` stands beside or inside."""
        second, first, behind = self.beside(words)
        inside = PAPERS & set(folded_words(words[self.start : self.end]))
        return bool(inside or {first, behind} & PAPERS or (first in PLACES and second in PAPERS))


def is_joined(words: Sequence[Word], end: int, start: int) -> bool:
    """Whether what ends and what starts there are joined by `and`, `or` or a comma alone."""
    between = set(folded_words(words[end:start]))
    comma = end > 0 and words[end - 1].comma
    return between <= JOINERS | _BETWEEN | {"nor"} and bool(
        between & (JOINERS | {"nor"}) or (comma and start - end <= 1)
    )


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
    """The spans, those marked that follow `not`, `without`, …, also before an `or`."""
    found: list[Span] = []
    for span in spans:
        last = found[-1] if found else None
        again = last is not None and last.negated and is_joined(words, last.end, span.start)
        first = _negation(words, last.end if last else 0, span.start)
        negated = first < span.start or again
        found.append(replace(span, start=min(first, span.start), negated=negated))
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
        inside = folded_words(words[chain[0].end : chain[-1].start])
        groups += [chain] if "or" in inside else [[person] for person in chain]
    return groups


def _belongs(words: Sequence[Word], one: Span, two: Span) -> bool:
    """Side by side, with one little word between, or more alternatives of the same kind."""
    between, comma = folded_words(words[one.end : two.start]), words[one.end - 1].comma
    if not comma and (not between or (len(between) == 1 and between[0] in PLACES)):
        return True
    return _kinds(two) <= _kinds(one) and is_joined(words, one.end, two.start)


def _kinds(span: Span) -> set[str]:
    kinds = ("venues", "years", "decisions")
    return {kind for kind in kinds if getattr(span.filters, kind)}


def _negation(words: Sequence[Word], least: int, start: int) -> int:
    """Where the `not` stands from which only asking words lead to `start`, else `start`."""
    for at in range(start - 1, least - 1, -1):
        if words[at].folded in NEGATIONS:
            return at
        if not words[at].asks or words[at].comma:
            return start
    return start
