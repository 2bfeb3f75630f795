"""Citation lookup: finds papers by title, author, venue, year, decision, or words of their text.

What a query says about records filters papers (see `metadata`). The other words rank them: by title
(also in part or misspelled), by the nickname of a method, by text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retrieval.index.lexical import LexicalIndex
from retrieval.index.lexical_fields import Card
from retrieval.library.library import Library
from retrieval.query.excerpts import Excerpt, QueryWords
from retrieval.query.metadata import ParsedQuery, parse_query, said
from retrieval.query.syntax import ExplicitFilters, explicit_filters
from retrieval.query.words import UnmatchedFilter, words_of
from retrieval.text.names import name_terms
from retrieval.text.titles import (
    TITLE_MATCH,
    has_name_letters,
    joined,
    likeness,
    plain_title,
    whole_likeness,
)
from retrieval.types import NO_FILTERS, Filters, Paper

LONGEST_QUERY = 1000
"""Characters of a query that are used; no title is longer."""
CANDIDATES = 300
"""Papers whose titles are compared with the query."""
MOST_RANKED = 2000
"""Papers that are ranked by their text."""
ON_TOPIC = 0.5
"""Share of a topic's words, weighted by rarity, from which a paper is on the topic."""
SURE_TITLE = 0.9
"""Likeness of a title from which a paper is meant, even if filters in the query do not fit."""
_FEW = 5
"""Papers that may share a nickname in any library; in a large one, one in a hundred may."""
_WIDEST_NAME = 3
"""Most words of a query that together may be a nickname."""
_LONG_TITLE = 20
"""Letters from which a title in a question is no accident."""
_SHORTEST_SMALL = 4
"""Letters of the shortest nickname that may be typed in small letters; `me` and `art` are words."""
_GIVERS = 2
"""Papers that may introduce the same nickname; a name of more is common."""
_HAVING = 3
"""Papers that may have a nickname that is meant as one in a question, or one in a thousand."""
_TEXT, _COVERED = 0.35, 0.35
"""Weights of the text's score and of the share of words found; a title's likeness has weight 1."""
_NAMED, _MENTIONED = 1.1, 0.75
"""Scores of a nickname that is the whole query, for papers that introduce or mention it."""
_GIVES, _MENTIONS = 0.8, 0.2
"""Scores of a nickname among other words, likewise."""
_WHOLE = 0.2
"""Extra weight of likeness to the whole title, which favours shorter titles."""
LEAST_SHARE = 0.25
"""Share of the words from which a paper is found by its text alone."""
_STRONG = 0.5
"""Share of the best score from which a match is strong; see tests/benchmarks/lookup.md."""
_ALL_WORDS = 0.95
"""Share of the words from which a text has the whole topic."""
_NEAR_CHUNKS = 100
"""Chunks whose papers are compared by meaning."""
_NEAR = 0.45
"""Least cosine of a query and a chunk of similar meaning; see tests/benchmarks/lookup.md."""
_ORDERED = 0.95
"""Likeness above which a title has the words in their order."""
_WORDS_SAID = 6
"""Words that a reason names at most."""

_NO_CARD = Card("", "", (), frozenset(), frozenset())

ReadPapers = Callable[[Sequence[str]], Mapping[str, Paper]]
"""Reads papers by their ids."""
Nearest = Callable[[str, int], Mapping[str, float]]
"""Papers with one of the chunks nearest to a text, with their cosine."""


@dataclass(frozen=True, slots=True)
class Match:
    """A paper found, with the reason."""

    paper: Paper
    why: str
    score: float = field(default=0.0, compare=False)
    excerpt: Excerpt = field(default=Excerpt(), compare=False)
    """The sentence of the abstract that has most of the query's words."""
    title_spans: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """Where the shown title has words of the query."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Result of a lookup."""

    matches: tuple[Match, ...]
    """Best first."""
    total: int
    """Number of papers that fit; `matches` are the first of them."""
    note: str = ""
    """One sentence if something was not found, otherwise empty."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """A paper's id with its score, by title, nickname, text or meaning."""

    id: str
    score: float
    share: float = 0.0
    """Share of the topic's words in its text."""
    like: float = 0.0
    """Likeness of its title and the query."""
    name: str = ""
    """`introduces “S4”` or `mentions “S4”`."""
    is_whole: bool = False
    """Whether the whole query is its title or a nickname of it."""
    is_similar: bool = False
    """Whether it was found by meaning alone."""

    @property
    def by_name(self) -> bool:
        """Whether it was found by title or nickname, not only by its text."""
        return bool(self.name) or self.like >= TITLE_MATCH

    @property
    def fits(self) -> bool:
        """Whether it is on the topic."""
        return self.by_name or self.share >= ON_TOPIC

    @property
    def is_near(self) -> bool:
        """Whether it is named, or its text has most of the topic."""
        return bool(self.name) or self.is_whole or self.share >= ON_TOPIC

    @property
    def is_found(self) -> bool:
        """Whether there is a reason to list it."""
        return self.by_name or self.share >= LEAST_SHARE


@dataclass(frozen=True, slots=True)
class Found:
    """The papers that a lookup found, before any is read."""

    ranked: tuple[_Scored, ...] = ()
    """Best first; the strong ones come before the others."""
    strong: int = 0
    """Number of strong matches."""
    filters: Filters = NO_FILTERS
    topic: str = ""
    note: str = ""
    """One sentence if something was not found, otherwise empty."""

    @property
    def ids(self) -> list[str]:
        """The ids of the papers, best first."""
        return [each.id for each in self.ranked]


class _LookupQuery:
    """A query to be matched with titles, nicknames and text."""

    def __init__(self, query: str, topic: str, is_distinctive: Callable[[str], bool]) -> None:
        self.topic = plain_title(topic)
        self._shown = topic
        self._wholes = (self.topic, plain_title(query))  # titles also have words of asking
        spans = _names_in(query) | _names_in(topic)
        self.names = {name: whole for name, whole in spans.items() if whole or is_distinctive(name)}
        """Possible nicknames, joined, and whether each is the whole query."""

    def scored(self, id_: str, card: Card, relevance: float, share: float) -> _Scored:
        """A paper's score and reason.

        Args:
            id_: the paper's id.
            card: its title and names; empty if neither may fit.
            relevance: score of its text, from 0 to 1.
            share: share of the topic's words in its text.
        """
        score = _TEXT * relevance + _COVERED * share
        title = plain_title(card.title)
        like = max(likeness(typed, title) for typed in self._wholes)
        named, name, verb = self._nickname(card)
        if named > like or (name and like < TITLE_MATCH):
            is_whole = self.names[name]
            said = f"{verb} “{self._shown if is_whole else name}”"
            return _Scored(id_, score + named, share, name=said, is_whole=is_whole)
        if like >= TITLE_MATCH:
            whole = max(whole_likeness(typed, title) for typed in self._wholes)
            score += like + _WHOLE * whole
            return _Scored(id_, score, share, like, is_whole=whole >= SURE_TITLE)
        return _Scored(id_, score, share)

    def _nickname(self, card: Card) -> tuple[float, str, str]:
        """The score of the paper's best nickname in the query, the name, and what it does to it.

        The score is 0 and the name empty if it has none.
        """
        weights = (
            (card.introduced, _NAMED, _GIVES, "introduces"),
            (card.mentioned, _MENTIONED, _MENTIONS, "mentions"),
        )
        scores = [
            (whole if self.names[name] else among, name, verb)
            for names, whole, among, verb in weights
            for name in names & self.names.keys()
        ]
        return max(scores, default=(0.0, "", ""))


class Lookup:
    """Looks papers up in one library."""

    def __init__(
        self, index: LexicalIndex, read: ReadPapers, nearest: Nearest = lambda _text, _limit: {}
    ) -> None:
        """Make a lookup; nothing is read yet.

        Args:
            index: the index of all papers.
            read: reads the few papers that are shown.
            nearest: finds papers by meaning; by default none.
        """
        self._index = index
        self._read = read
        self._nearest = nearest

    @classmethod
    def over(cls, library: Library) -> "Lookup":
        """The lookup of `library`."""

        def read(ids: Sequence[str]) -> Mapping[str, Paper]:
            return {id_: each.paper for id_, each in library.store.stored_by_id(ids).items()}

        def nearest(text: str, limit: int) -> Mapping[str, float]:
            hits = library.store.nearest(library.embedder.embed(text), limit)
            return {hit.paper_id: hit.score for hit in reversed(hits)}

        return cls(library.lexical, read, nearest)

    def find(self, query: str, limit: int, given: ExplicitFilters | None = None) -> Listing:
        """The papers that `query` and the filters `given` ask for, best first, with reasons."""
        return self.found(query, self.parse(query[:LONGEST_QUERY], lookup=True), limit, given)

    def everything(self) -> Found:
        """All papers, the latest first."""
        ids = self._index.matching(NO_FILTERS, self._index.size)
        return Found(tuple(_Scored(id_, 0.0) for id_ in ids), len(ids))

    def parse(self, question: str, *, lookup: bool) -> ParsedQuery:
        """Parse `question` with the values of this library; see `parse_query`."""
        return parse_query(question, self._index, lookup=lookup)

    def found(
        self, query: str, parsed: ParsedQuery, limit: int, given: ExplicitFilters | None = None
    ) -> Listing:
        """Like `find`, for a parsed query."""
        found = self.ranked(query, parsed, given)
        return Listing(self.matches(found, found.ids[:limit]), len(found.ranked), found.note)

    def ranked(
        self, query: str, parsed: ParsedQuery, given: ExplicitFilters | None = None
    ) -> Found:
        """Like `found`, before papers are read."""
        query, given = query[:LONGEST_QUERY], given or ExplicitFilters()
        filters, unmatched = explicit_filters(given, self._index)
        clash = _clash(filters, parsed.filters)
        if unmatched or clash:
            return Found(note=clash or _unmatched_sentence(unmatched))
        if parsed.unmatched:
            meant = [] if parsed.explicit else self._meant(query, parsed.topic, filters)
            note = _unmatched_sentence(parsed.unmatched)
            return Found(tuple(meant), len(meant), filters, parsed.topic, note)
        wanted = filters.also(parsed.filters)
        # Beside explicit filters, all typed words are the topic.
        ranked = self._ranked(query, parsed, wanted, of_topic=bool(given))
        if not parsed.explicit and not any(each.by_name for each in ranked):
            # If the whole query is a title or a nickname, that paper is meant whatever the filters.
            meant = self._meant(query, parsed.topic, filters)
            ranked = [each for each in meant if each.is_whole] or ranked
        if not ranked:
            conditions = " ".join(filter(None, (said(given.authors, filters), parsed.said)))
            note = self._nothing(query, parsed.topic, wanted, conditions)
            return Found((), 0, wanted, parsed.topic, note)
        strong, weak = _divided(ranked)
        return Found((*strong, *weak), len(strong), wanted, parsed.topic)

    def with_similar(self, found: Found) -> Found:
        """`found`, with papers of similar meaning behind the others.

        There are none if the query is a title or a nickname, or names no topic.
        """
        if not found.topic or any(each.is_whole for each in found.ranked[:1]):
            return found
        near = self._nearest(found.topic, _NEAR_CHUNKS)
        if found.filters:
            near = {
                id_: near[id_]
                for id_ in self._index.matching(found.filters, self._index.size)
                if id_ in near
            }
        seen = set(found.ids)
        more = [id_ for id_ in near if id_ not in seen and near[id_] >= _NEAR]
        more.sort(key=lambda id_: (-near[id_], id_))
        similar = (_Scored(id_, 0.0, is_similar=True) for id_ in more)
        return replace(found, ranked=(*found.ranked, *similar))

    def matches(self, found: Found, ids: Sequence[str]) -> tuple[Match, ...]:
        """The papers of `found` with these ids, in this order, with their reasons."""
        papers = self._read(ids)
        scored = {each.id: each for each in found.ranked}
        words = QueryWords(found.topic, self._index)
        return tuple(_match(papers[id_], scored[id_], found, words) for id_ in ids if id_ in papers)

    def named(self, question: str) -> tuple[Paper, ...]:
        """The papers that a question names by title or by nickname.

        A title counts whole, if it is long enough to be meant.
        """
        asked = joined(question)
        in_titles = self._index.title_words(question)
        titles = {
            card.id: joined(card.title) for card in self._index.titled(in_titles, [], CANDIDATES)
        }
        titled = sorted(
            id_ for id_, title in titles.items() if len(title) >= _LONG_TITLE and title in asked
        )
        words = words_of(question)
        spelled = {joined(word.text) for word in words if has_name_letters(word.text)}
        names = sorted(
            name
            for name in _names_in(question)
            if sum(map(str.isalpha, name)) > 1  # not 100k
            and self._is_rare(name, is_spelled=name in spelled)
        )
        giving = (self._index.introducing(name, _GIVERS + 1) for name in names)
        nicknamed = [id_ for ids in giving if len(ids) <= _GIVERS for id_ in ids]
        return tuple(self._read(list(dict.fromkeys([*titled, *nicknamed]))).values())

    def _meant(self, query: str, topic: str, filters: Filters) -> list[_Scored]:
        """The paper whose whole title or introduced nickname is in the query."""
        scored = self._scored(query, topic, filters) if topic else []
        sure = [each for each in scored if each.score >= SURE_TITLE and each.by_name]
        return sure if len(sure) == 1 else [each for each in sure if each.is_whole]

    def _ranked(
        self, query: str, parsed: ParsedQuery, filters: Filters, *, of_topic: bool
    ) -> list[_Scored]:
        """The papers that pass the filters, best first; only those on the topic if it is certain.

        Args:
            query: the query as typed.
            parsed: the parsed query.
            filters: the filters of the query and the explicit ones.
            of_topic: whether the rest of the query is certainly a topic.
        """
        scored = self._scored(query, parsed.topic, filters)
        if not filters or (parsed.topic and not filters.selects):
            return scored
        fitting = [each for each in scored if each.fits]
        of_topic = of_topic and bool(parsed.topic)
        if parsed.introduced or ((fitting or of_topic) and not parsed.filters.authors):
            return fitting
        seen = {each.id for each in scored}
        others = self._index.matching(filters, self._index.size)
        return scored + [_Scored(id_, 0.0) for id_ in others if id_ not in seen]

    def _scored(self, query: str, topic: str, filters: Filters) -> list[_Scored]:
        """Papers by title, nickname and text, each with its best reason."""
        if not topic:  # only words of asking, or a title made of them
            titled = self._scored(query, query, filters) if query and not filters else []
            return [each for each in titled if each.is_whole]
        asked = _LookupQuery(query, topic, self._is_distinctive)
        words = self._index.title_words(asked.topic)
        named = self._index.titled(words, list(asked.names), CANDIDATES, filters)
        texts = self._index.search(asked.topic, MOST_RANKED, filters)
        shares = dict(self._index.covered(asked.topic, MOST_RANKED, filters))
        relevance = {id_: score / texts[0][1] for id_, score in texts}
        cards = {card.id: card for card in named}
        scored = [
            asked.scored(
                id_, cards.get(id_, _NO_CARD), relevance.get(id_, 0.0), shares.get(id_, 0.0)
            )
            for id_ in dict.fromkeys((*cards, *relevance, *shares))
        ]
        found = (each for each in scored if each.is_found)
        return sorted(found, key=lambda each: (-each.score, each.id))

    def _is_distinctive(self, name: str) -> bool:
        """Whether a nickname distinguishes papers: RL does not, nor does FOR in a title."""
        few = max(_FEW, self._index.size // 100)
        return self._index.nicknamed(name) <= few and self._index.texts_with(name) <= 2 * few

    def _is_rare(self, name: str, *, is_spelled: bool) -> bool:
        """Whether hardly any papers have a nickname, so that a question with it means them.

        If it is not spelled like a name, as plain words count, too: `gptq` is, `backdoor` is not.
        """
        having, most = self._index.nicknamed(name), _HAVING
        if not is_spelled:
            having, most = max(having, self._index.texts_with(name)), _GIVERS
        is_long = is_spelled or len(name) >= _SHORTEST_SMALL
        return is_long and having <= max(most, self._index.size // 1000)

    def _nothing(self, query: str, topic: str, filters: Filters, conditions: str) -> str:
        """The sentence that explains why nothing was found."""
        if not conditions:
            return f"No paper of this library fits “{' '.join(query.split())[:80]}”."
        there = len(self._index.matching(filters, self._index.size)) if topic else 0
        if not there:
            return f"No paper {conditions} in this library."
        among = "The paper" if there == 1 else f"None of the {there:,} papers"
        return f"{among} {conditions} is {'not ' if there == 1 else ''}about “{topic}”."


def _names_in(text: str) -> dict[str, bool]:
    """Possible nicknames: up to three neighbouring words, joined.

    The value is whether they are the whole text.
    """
    words = [joined(word.text) for word in words_of(text)]
    return {
        name: width == len(words)
        for width in range(min(_WIDEST_NAME, len(words)), 0, -1)
        for at in range(len(words) - width + 1)
        if len(name := "".join(words[at : at + width])) > 1
    }


def _divided(ranked: Sequence[_Scored]) -> tuple[list[_Scored], list[_Scored]]:
    """Strong and weak matches, each in their order.

    A match is strong if its score is near the best one, and it is named or on the topic: words that
    are only like those of its title are not enough. If the query is no title or nickname, texts
    with the whole topic are strong, too.
    """
    least = _STRONG * max((each.score for each in ranked), default=0.0)
    is_name = any(each.is_whole for each in ranked)
    is_topic = any(each.share for each in ranked)
    strong: list[_Scored] = []
    weak: list[_Scored] = []
    for each in ranked:
        has_topic = not is_name and each.share >= _ALL_WORDS
        is_near = each.score >= least and (not is_topic or each.is_near)
        (strong if is_near or has_topic or each is ranked[0] else weak).append(each)
    return strong, weak


def _match(paper: Paper, scored: _Scored, found: Found, words: QueryWords) -> Match:
    title_spans = words.spans(paper.shown_title)
    excerpt = words.excerpt(paper.abstract)
    said = _words_said(paper, scored, words, found.topic)
    reasons = [*_records(paper, found.filters), scored.name, *said]
    if scored.is_similar and not any(reasons):
        reasons.append("similar meaning")
    why = "; ".join(filter(None, reasons))
    return Match(paper, why, scored.score, excerpt, title_spans)


def _words_said(paper: Paper, scored: _Scored, words: QueryWords, topic: str) -> list[str]:
    """The words of the query that the title and the abstract have, in their own spelling."""
    if scored.name and scored.is_whole:
        return []
    in_title = words.found_in(paper.title)
    in_text = words.found_in(paper.abstract)
    others = [word for stem, word in in_text.items() if stem not in in_title]
    if (scored.is_whole or scored.like > _ORDERED) and len(in_title) == words.count:
        said = " ".join(in_title.values()) or topic
        return [f"title matches “{said}”"]
    return [
        f"title has {_quoted([*in_title.values()])}" if in_title else "",
        f"abstract has {_quoted(others)}" if others else "",
    ]


def _quoted(words: Sequence[str]) -> str:
    more = ", …" if len(words) > _WORDS_SAID else ""
    return ", ".join(f"“{word}”" for word in words[:_WORDS_SAID]) + more


def _records(paper: Paper, filters: Filters) -> list[str]:
    """The fields of the record that filters ask for."""
    authors = [
        f"author {author}"
        for terms in filters.authors
        for author in paper.authors
        if set(name_terms(author)) & set(terms)
    ]
    where = f"{paper.venue} {paper.year or ''}".strip()
    return [
        *dict.fromkeys(authors),
        f"venue {where}" if (filters.venues or filters.years) and where else "",
        f"decision {paper.decision}" if filters.decisions else "",
    ]


def _clash(given: Filters, said: Filters) -> str:
    """One sentence if the query and the explicit filters exclude each other, otherwise empty."""
    for field_ in ("venues", "years", "decisions"):
        one, other = getattr(given, field_), getattr(said, field_)
        if one and other and not {*one} & {*other}:
            first, second = ", ".join(map(str, one)), ", ".join(map(str, other))
            return f"No paper can be both {first} and {second}; the query and the filter disagree."
    return ""


def _unmatched_sentence(unmatched: Sequence[UnmatchedFilter]) -> str:
    named = " and ".join(dict.fromkeys(each.said for each in unmatched))
    close = next((each.close for each in unmatched if each.close), "")
    offer = f" Did you mean {close}?" if close else ""
    return f"No paper {named} in this library.{offer}"
