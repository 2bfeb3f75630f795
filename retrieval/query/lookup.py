"""Citation lookup: papers by title, author, venue, year, decision, or a name in their text.

What a query says about records filters (see `metadata`). The words that are left rank: by title
(in part, misspelled), by the nickname of a method, by text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.filters import NO_FILTERS, Filters
from retrieval.lexical import LexicalIndex
from retrieval.lexical_fields import Card
from retrieval.library import Library
from retrieval.names import name_terms
from retrieval.nicknames import joined
from retrieval.query.metadata import ParsedQuery, parse_query
from retrieval.query.syntax import ExplicitFilters, UnmatchedFilter, explicit_filters
from retrieval.query.words import words_of
from retrieval.titles import TITLE_MATCH, likeness, plain_title, whole_likeness
from retrieval.types import Paper

LONGEST_QUERY = 1000
"""Characters of a query that are looked at; no title is longer."""
CANDIDATES = 300
"""Papers whose title is compared with the query."""
ON_TOPIC = 0.5
"""Least share of a topic's words, by how rare they are, that a paper selected for it has."""
SURE_TITLE = 0.9
"""Likeness of a title from which a paper is meant, whatever else the query says wrongly."""
_FEW = 5
"""Papers that may share a nickname in a library of any size; in a large one, one in a hundred."""
_WIDEST_NAME = 3
"""Words of a query that may together be a nickname."""
_LONG_TITLE = 20
"""Letters of a title from which on it stands in a question by no accident."""
_GIVERS = 2
"""Papers that may call their method the same; a name of more is a common one."""
_TEXT, _COVERED = 0.35, 0.35
"""Weights of the text's score and of the share of words found, beside the title's likeness."""
_NAMED, _MENTIONED = 1.1, 0.75
"""What a nickname that is all that is sought counts: of a paper that gives it, that has it."""
_GIVES, _MENTIONS = 0.8, 0.2
"""What a nickname among other words counts, likewise."""
_WHOLE = 0.2
"""What likeness to the whole title counts, beside that to a part: the shorter title is meant."""
LEAST_SHARE = 0.25
"""Least share of the words asked for that a paper found by its text alone has."""

ReadPapers = Callable[[Sequence[str]], Mapping[str, Paper]]
"""Papers by their ids."""


@dataclass(frozen=True, slots=True)
class Match:
    """A paper found, and why."""

    paper: Paper
    why: str
    score: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a lookup found."""

    matches: tuple[Match, ...]
    """Best first."""
    total: int
    """How many papers fit, of which `matches` are the first."""
    note: str = ""
    """One sentence where something was not found."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """A paper's id with its reason by title, nickname or text."""

    id: str
    score: float
    why: str = ""
    fits: bool = True
    """Whether it is on the topic."""
    by_name: bool = False
    """Whether its title or nickname is sought, not only words of its text."""
    is_whole: bool = False
    """Whether its whole title, or a name in its text, is all that is sought."""


class _Asked:
    """What is sought by title, nickname and text."""

    def __init__(self, query: str, topic: str, tells: Callable[[str], bool]) -> None:
        self._whole = plain_title(query[:LONGEST_QUERY])
        self.topic = plain_title(topic)
        self.shown = topic
        spans = _names_in(query) | _names_in(topic)
        self.names = {name: whole for name, whole in spans.items() if whole or tells(name)}
        """Possible nicknames, joined, and whether each is all that is sought."""

    def likeness(self, title: str) -> float:
        """To the words sought or, since titles have words that ask too, to the whole query."""
        plain = plain_title(title)
        return max(likeness(self.topic, plain), likeness(self._whole, plain))

    def whole_likeness(self, title: str) -> float:
        """To the whole title."""
        plain = plain_title(title)
        return max(whole_likeness(self.topic, plain), whole_likeness(self._whole, plain))

    def nickname(self, card: Card) -> tuple[str, float]:
        """The best nickname of the paper that is sought, and what that counts."""
        worths = [
            (_NAMED if self.names[name] else _GIVES, name)
            for name in card.introduced & self.names.keys()
        ] + [
            (_MENTIONED if self.names[name] else _MENTIONS, name)
            for name in card.mentioned & self.names.keys()
        ]
        worth, name = max(worths, default=(0.0, ""))
        return (self.shown if self.names.get(name) else name), worth


class Lookup:
    """Looks papers up in one library."""

    def __init__(self, index: LexicalIndex, read: ReadPapers) -> None:
        """Nothing is read here.

        Args:
            index: knows all papers.
            read: gives the few that are shown.
        """
        self._index = index
        self._read = read

    @classmethod
    def over(cls, library: Library) -> "Lookup":
        """A lookup in `library`."""

        def read(ids: Sequence[str]) -> Mapping[str, Paper]:
            return {id_: each.paper for id_, each in library.store.stored_by_id(ids).items()}

        return cls(library.lexical, read)

    def find(self, query: str, limit: int, given: ExplicitFilters | None = None) -> Listing:
        """The papers that `query` and the filters `given` name, best first, with reasons."""
        query = query[:LONGEST_QUERY]
        return self.found(query, self.parse(query, lookup=True), limit, given)

    def everything(self, limit: int) -> Listing:
        """All papers, the latest first, where nothing is asked."""
        ids = self._index.matching(NO_FILTERS, self._index.size)
        return Listing(
            self._matches([_Scored(id_, 0.0) for id_ in ids[:limit]], NO_FILTERS), len(ids)
        )

    def parse(self, question: str, *, lookup: bool) -> ParsedQuery:
        """What `question` says about the records of this library; see `parse_query`."""
        return parse_query(question, self._index, lookup=lookup)

    def found(
        self, query: str, parsed: ParsedQuery, limit: int, given: ExplicitFilters | None = None
    ) -> Listing:
        """As `find`, of a query that is parsed already."""
        filters, unmatched = explicit_filters(given or ExplicitFilters(), self._index)
        clash = _clash(filters, parsed.filters)
        if unmatched or clash:
            return Listing((), 0, clash or _unmatched_sentence(unmatched))
        if parsed.unmatched:
            meant = [] if parsed.explicit else self._meant(query, parsed.topic, filters)
            note = _unmatched_sentence(parsed.unmatched)
            return Listing(self._matches(meant[:limit], filters), len(meant), note)
        wanted = filters.also(parsed.filters)
        # Beside filters of their own, the words typed are all about the topic.
        ranked = self._ranked(query, parsed, wanted, of_topic=bool(given))
        if not parsed.explicit and not any(each.by_name for each in ranked):
            # A title or a method's name that is all that is sought is meant, wherever it appeared.
            meant = self._meant(query, parsed.topic, filters)
            ranked = [each for each in meant if each.is_whole] or ranked
        if not ranked:
            return Listing((), 0, self._nothing(query, parsed, wanted, given))
        return Listing(self._matches(ranked[:limit], wanted), len(ranked))

    def named(self, question: str) -> tuple[Paper, ...]:
        """The papers that a question names by their title, or by what they call their method."""
        names = sorted(name for name in _names_in(question) if _reads(name) and self._tells(name))
        giving = (self._index.introducing(name, _GIVERS + 1) for name in names)
        nicknamed = [id_ for ids in giving if len(ids) <= _GIVERS for id_ in ids]
        ids = dict.fromkeys([*self._titled_in(question), *nicknamed])
        return tuple(self._read(list(ids)).values())

    def _titled_in(self, question: str) -> list[str]:
        """The papers whose whole title stands in the question, if it is long enough to be meant."""
        asked = joined(question)
        words = self._index.title_words(question)
        found = {card.id: joined(card.title) for card in self._index.titled(words, [], CANDIDATES)}
        return sorted(
            id_ for id_, title in found.items() if len(title) >= _LONG_TITLE and title in asked
        )

    def _meant(self, query: str, topic: str, filters: Filters) -> list[_Scored]:
        """The paper whose whole title, or the name that it gives its method, is sought."""
        scored = self._scored(query, topic, filters) if topic else []
        sure = [each for each in scored if each.score >= SURE_TITLE and each.by_name]
        return sure if len(sure) == 1 else [each for each in sure if each.is_whole]

    def _ranked(
        self, query: str, parsed: ParsedQuery, filters: Filters, *, of_topic: bool
    ) -> list[_Scored]:
        """The papers that pass, best first; those alone that have the topic where one is sure.

        Args:
            query: as typed.
            parsed: what it says.
            filters: those of the query and those given beside it.
            of_topic: whether all its words but its filters are a topic.
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
        """Papers by title, nickname and text; of each the best reason."""
        if not topic:
            return [] if filters else self._wholly_titled(query)
        asked = _Asked(query, topic, self._tells)
        words = self._index.title_words(asked.topic)
        titled = self._index.titled(words, list(asked.names), CANDIDATES, filters)
        texts = self._index.search(asked.topic, CANDIDATES, filters)
        shares = dict(self._index.covered(asked.topic, CANDIDATES, filters))
        best_text = texts[0][1] if texts else 1.0
        relevance = {id_: score / best_text for id_, score in texts}
        cards = {card.id: card for card in titled}
        scored = [
            _score(
                id_,
                asked,
                cards.get(id_),
                relevance=relevance.get(id_, 0.0),
                share=shares.get(id_, 0.0),
            )
            for id_ in dict.fromkeys((*cards, *relevance, *shares))
        ]
        found = (each for each in scored if each.why)
        return sorted(found, key=lambda each: (-each.score, each.id))

    def _tells(self, name: str) -> bool:
        """Whether a nickname tells papers apart: RL does not, nor does FOR in a title."""
        few = max(_FEW, self._index.size // 100)
        return self._index.nicknamed(name) <= few and self._index.texts_with(name) <= 2 * few

    def _wholly_titled(self, query: str) -> list[_Scored]:
        """Papers whose whole title is the query, of which every word only asks."""
        plain = plain_title(query[:LONGEST_QUERY])
        titled = self._index.titled(self._index.title_words(plain), [], CANDIDATES)
        like = {card.id: whole_likeness(plain, plain_title(card.title)) for card in titled}
        return [
            _Scored(id_, like[id_], f"title matches “{plain}”")
            for id_ in sorted(like, key=lambda id_: (-like[id_], id_))
            if like[id_] >= SURE_TITLE
        ]

    def _matches(self, ranked: Sequence[_Scored], filters: Filters) -> tuple[Match, ...]:
        papers = self._read([each.id for each in ranked])
        return tuple(
            Match(papers[each.id], _why(papers[each.id], filters, each.why), each.score)
            for each in ranked
            if each.id in papers
        )

    def _nothing(
        self, query: str, parsed: ParsedQuery, filters: Filters, given: ExplicitFilters | None
    ) -> str:
        """Why nothing was found."""
        said = _said_of(parsed, given)
        if not said:
            return f"No paper of this library fits “{' '.join(query.split())[:80]}”."
        there = len(self._index.matching(filters, self._index.size)) if parsed.topic else 0
        if not there:
            return f"No paper {said} in this library."
        among = "The paper" if there == 1 else f"None of the {there:,} papers"
        return f"{among} {said} is {'not ' if there == 1 else ''}about “{parsed.topic}”."


def _reads(name: str) -> bool:
    """Whether a nickname has letters enough for one: 100k has not."""
    return sum(map(str.isalpha, name)) > 1


def _names_in(text: str) -> dict[str, bool]:
    """What may be a nickname: every word, and up to three neighbours, joined.

    The value is whether it is all of the text.
    """
    words = [joined(word.text) for word in words_of(text)]
    return {
        name: width == len(words)
        for width in range(min(_WIDEST_NAME, len(words)), 0, -1)
        for at in range(len(words) - width + 1)
        if len(name := "".join(words[at : at + width])) > 1
    }


def _score(
    id_: str, asked: _Asked, card: Card | None, *, relevance: float, share: float
) -> _Scored:
    """One paper's score.

    Args:
        id_: of the paper.
        asked: what is sought.
        card: of the paper, where its title or a nickname may fit.
        relevance: of its text, from 0 to 1.
        share: of the words sought that its text has.
    """
    score = _TEXT * relevance + _COVERED * share
    like = asked.likeness(card.title) if card else 0.0
    name, worth = asked.nickname(card) if card else ("", 0.0)
    if worth > like:
        is_whole = worth in (_NAMED, _MENTIONED)
        return _Scored(id_, score + worth, f"names “{name}”", by_name=True, is_whole=is_whole)
    if like >= TITLE_MATCH:
        whole = asked.whole_likeness(card.title) if card else 0.0
        why = f"title matches “{asked.shown}”"
        is_whole = whole >= SURE_TITLE
        return _Scored(id_, score + like + _WHOLE * whole, why, by_name=True, is_whole=is_whole)
    if name:
        return _Scored(id_, score + worth, f"names “{name}”", by_name=True)
    if share >= LEAST_SHARE:
        return _Scored(id_, score, f"text matches “{asked.shown}”", fits=share >= ON_TOPIC)
    return _Scored(id_, 0.0)


def _why(paper: Paper, filters: Filters, reason: str) -> str:
    """The reasons in plain words."""
    authors = [
        f"author {author}"
        for terms in filters.authors
        for author in paper.authors
        if set(name_terms(author)) & set(terms)
    ]
    where = f"{paper.venue} {paper.year or ''}".strip()
    reasons = [
        *dict.fromkeys(authors),
        f"venue {where}" if (filters.venues or filters.years) and where else "",
        f"decision {paper.decision}" if filters.decisions else "",
        reason,
    ]
    return "; ".join(filter(None, reasons))


def _clash(given: Filters, said: Filters) -> str:
    """A sentence where the query and the filters given exclude each other."""
    for one, other in (
        (given.venues, said.venues),
        (given.years, said.years),
        (given.decisions, said.decisions),
    ):
        if one and other and not {*one} & {*other}:
            first, second = ", ".join(map(str, one)), ", ".join(map(str, other))
            return f"No paper can be both {first} and {second}; the query and the filter disagree."
    return ""


def _unmatched_sentence(unmatched: Sequence[UnmatchedFilter]) -> str:
    named = " and ".join(dict.fromkeys(each.said for each in unmatched))
    close = next((each.close for each in unmatched if each.close), "")
    offer = f" Did you mean {close}?" if close else ""
    return f"No paper {named} in this library.{offer}"


def _said_of(parsed: ParsedQuery, given: ExplicitFilters | None) -> str:
    given = given or ExplicitFilters()
    parts = (
        f"by {' and '.join(given.authors)}" if given.authors else "",
        f"at {given.venue}" if given.venue else "",
        f"of {given.year}" if given.year else "",
        f"with decision {given.decision}" if given.decision else "",
        parsed.said,
    )
    return " ".join(filter(None, parts))
