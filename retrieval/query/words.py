"""The words of a query, and spans of them that name something."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval.text.names import folded
from retrieval.types import NO_FILTERS, Filters

MOST_WORDS = 200
"""Most words of a query that are used."""
PAPERS = frozenset({"paper", "papers"})
PLACES = frozenset({"at", "in", "from", "of"})
"""Words before a venue or a year."""
JOINERS = frozenset({"and", "or", "&"})
ASKING = (
    PAPERS
    | PLACES
    | JOINERS
    | frozenset(
        "a the an any all anything that this these those there here ones which what who when where "
        "is are was were do does did have has you your we me show list find give please on by for "
        "with about to but as not without authors author wrote written together "
        "published et al".split()
    )
)
"""Words of asking, which do not say which paper is meant."""
_NEGATIONS = frozenset({"not", "no", "nor", "without", "except", "excluding"})
_LITTLE = PLACES | {"a", "an", "the", "by", "with"}
"""Words allowed between alternatives: `an oral or a poster`."""
_WORD = re.compile(r"[^\W_](?:[\w.'’&+^$%/–-]*[\w%+])?|&")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query."""

    text: str
    """As typed, without a possessive's ending."""
    folded: str
    possessive: bool = False
    comma: bool = False
    """Whether a comma follows."""
    dot: bool = False
    """Whether a full stop follows."""
    quoted: bool = False
    """Whether an apostrophe comes before it, as in ICLR '22."""

    @property
    def capital(self) -> bool:
        """Whether its first letter is a capital."""
        return self.text[:1].isupper()

    @property
    def asks(self) -> bool:
        """Whether it is a word of asking, see `ASKING`."""
        return self.folded in ASKING


@dataclass(frozen=True, slots=True)
class UnmatchedFilter:
    """A condition on a value that the library does not have."""

    field: str
    """`author`, `venue` or `decision`."""
    said: str
    """`by Ada Lovelace`, `at NeurIPS 2021`."""
    close: str = ""
    """An author of the library with a similar name."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that name a value of records: `words[start:end]`."""

    start: int
    end: int
    filters: Filters = NO_FILTERS
    name: str = ""
    """The author, as typed."""
    negated: bool = False
    unmatched: UnmatchedFilter | None = None
    """The named value, if the library does not have it."""

    def is_of_papers(self, words: Sequence[Word]) -> bool:
        """Whether `paper` or `papers` is beside or inside it, as in `papers from 2022`."""
        before = self.start - 2 if folded_at(words, self.start - 1) in PLACES else self.start - 1
        near = {folded_at(words, at) for at in (before, *range(self.start, self.end + 1))}
        return bool(near & PAPERS)


def words_of(query: str) -> list[Word]:
    """The first `MOST_WORDS` words of `query`."""
    words: list[Word] = []
    for found in _WORD.finditer(query):
        if len(words) == MOST_WORDS:
            break
        typed = found.group()
        plain = _POSSESSIVE.sub("", typed)
        behind = query[found.end() : found.end() + 2]
        words.append(
            Word(
                text=plain,
                folded=folded(plain),
                possessive=plain != typed or (behind[:1] in ("'", "’") and typed.endswith("s")),
                comma=behind.removeprefix(".").startswith(","),
                dot=behind.startswith("."),
                quoted=query[max(found.start() - 1, 0) : found.start()] in ("'", "’"),
            )
        )
    return words


def folded_words(words: Sequence[Word]) -> tuple[str, ...]:
    """The folded words."""
    return tuple(word.folded for word in words)


def folded_at(words: Sequence[Word], at: int) -> str:
    """The folded word at an index; empty if there is none."""
    return words[at].folded if 0 <= at < len(words) else ""


def positions(spans: Sequence[Span]) -> set[int]:
    """The indices of the words of spans."""
    return {at for span in spans for at in range(span.start, span.end)}


def is_joined(words: Sequence[Word], end: int, start: int) -> bool:
    """Whether only `and`, `or` or a comma is between spans that end and start there."""
    between = set(folded_words(words[end:start]))
    joiners = JOINERS | {"nor"}
    comma = words[end - 1].comma and start - end <= 1
    return between <= joiners | _LITTLE and bool(between & joiners or comma)


def clusters(words: Sequence[Word], spans: Sequence[Span]) -> list[Span]:
    """Venues, years and decisions that belong together, merged: `the orals of ICLR 2022`."""
    found: list[Span] = []
    for span in spans:
        if found and _belongs(words, found[-1], span):
            merged = found[-1].filters.merged(span.filters)
            found[-1] = Span(found[-1].start, span.end, merged)
        else:
            found.append(span)
    return found


def with_negation(words: Sequence[Word], spans: Sequence[Span]) -> list[Span]:
    """The spans in order, negated after `not`, `without`, …, also in alternatives with `or`."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda each: each.start):
        last = found[-1] if found else Span(0, 0)
        first = _negation(words, last.end, span.start)
        again = last.negated and is_joined(words, last.end, span.start)
        found.append(replace(span, start=first, negated=again or first < span.start))
    return found


def author_groups(words: Sequence[Word], people: Sequence[Span]) -> list[list[Span]]:
    """Groups of people of whom one must be an author: `Ainsworth or Poole`."""
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
    """Whether spans are adjacent, one of `PLACES` apart, or alternatives of the same kind."""
    between = folded_words(words[one.end : two.start])
    if not words[one.end - 1].comma and between in ((), *((place,) for place in PLACES)):
        return True
    return _kinds(two) <= _kinds(one) and is_joined(words, one.end, two.start)


def _kinds(span: Span) -> set[str]:
    return {kind for kind in ("venues", "years", "decisions") if getattr(span.filters, kind)}


def _negation(words: Sequence[Word], least: int, start: int) -> int:
    """Index of a `not` with only words of asking between it and `start`, else `start`."""
    for at in range(start - 1, least - 1, -1):
        if words[at].folded in _NEGATIONS:
            return at
        if not words[at].asks or words[at].comma:
            break
    return start
