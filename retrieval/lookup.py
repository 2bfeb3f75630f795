"""Citation lookup: papers by title, author, venue, year, decision, or a name in their text.

What a query says about authors, venue, year and decision is recognised by the library's own
values and filters; the words that are left rank by title (misspellings allowed) and by text.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from rapidfuzz import fuzz, process

from retrieval.types import Paper

NAME_MATCH = 88.0
"""Least similarity (0 to 100) of a full name in the query to an author's."""
SURNAME_MATCH = 85.0
"""Least similarity of a surname alone, taken only where the query marks it as a name."""
TITLE_MATCH = 78.0
"""Least similarity of the query's words to a title."""

Value = TypeVar("Value")

_WORD = re.compile(r"[\w$^\-+.]*\w")
_SPELLINGS = {
    "orals": "oral",
    "spotlights": "spotlight",
    "posters": "poster",
    "outstanding papers": "outstanding paper",
    "outstanding": "outstanding paper",
    "honorable mentions": "honorable mention",
    "honourable mention": "honorable mention",
    "honourable mentions": "honorable mention",
}
# Words that say what is wanted, not which paper.
_ASKING = frozenset(
    "a about all an and any anything are as at author authored authors award awards by can "
    "co-authored coauthored collection did do et al find for from get got has have i in is it "
    "list me of on or paper papers presented published s show that the their there they this "
    "to together was were what which who with work works wrote written you your venue year "
    "accepted decision everything something".split()
)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a paper must have; empty fields ask nothing."""

    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    decision: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A paper found, and why."""

    paper: Paper
    why: str
    score: float = field(default=0.0, compare=False)


class TextSearch(Protocol):
    """Ranks papers by the words of their text."""

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        """Ids with scores, best first."""


class Lookup:
    """Looks papers up among `papers`."""

    def __init__(self, papers: Iterable[Paper], text: TextSearch) -> None:
        """Learn the values that queries may name."""
        self._papers = {paper.id: paper for paper in papers}
        self._text = text
        names = {name for paper in self._papers.values() for name in paper.authors}
        self._author_by_plain = {plain(name): name for name in sorted(names)}
        self._plain_authors = list(self._author_by_plain)
        words_of = (name.split() for name in self._plain_authors if " " in name)
        self._short_names = {f"{first} {last}" for first, *middle, last in words_of if middle}
        """Names of three words or more without those in the middle."""
        self._venues = {plain(paper.venue): paper.venue for paper in self._papers.values()}
        self._venues.pop("", None)
        decisions = {paper.decision for paper in self._papers.values()} - {""}
        self._decision_spellings = {decision: decision for decision in sorted(decisions)} | {
            spelled: decision for spelled, decision in _SPELLINGS.items() if decision in decisions
        }
        self._years = {str(paper.year): paper.year for paper in self._papers.values() if paper.year}
        self._titles = {id_: plain(paper.title) for id_, paper in self._papers.items()}

    def find(self, query: str, limit: int, filters: Filters | None = None) -> list[Match]:
        """The papers that `query` and `filters` name, best first, each with the reason."""
        given = filters or Filters()
        understood, rest = self.understand(query)
        wanted = Filters(
            authors=given.authors + understood.authors,
            venue=given.venue or understood.venue,
            year=given.year or understood.year,
            decision=given.decision or understood.decision,
        )
        known = frozenset(
            sought
            for sought in wanted.authors
            if any(_is_part(plain(_no_possessive(sought)), name) for name in self._plain_authors)
        )
        allowed = {
            id_: why for id_ in self._papers if (why := self._why(id_, wanted, known)) is not None
        }
        ranked = self._ranked(rest, allowed) if rest else []
        if wanted.authors or (wanted != Filters() and not ranked):
            # Who filters by name wants all of that author; other words only put them in order.
            seen = {id_ for id_, _, _ in ranked}
            listed = sorted(allowed.keys() - seen, key=self._listing_order)
            ranked += [(id_, 0.0, "") for id_ in listed]
        return [
            Match(self._papers[id_], "; ".join(filter(None, (allowed[id_], why))), score)
            for id_, score, why in ranked[:limit]
        ]

    def understand(self, query: str) -> tuple[Filters, str]:
        """What `query` says about a paper's record, and the words that are left."""
        words = [found.group() for found in _WORD.finditer(query)]
        filters, words = self._take_authors(words)
        text = plain(" ".join(words))
        decisions, text = _take(text, self._decision_spellings)
        venues, text = _take(text, self._venues)
        years, text = _take(text, self._years)
        rest = " ".join(word for word in text.split() if word not in _ASKING)
        return (
            replace(
                filters,
                venue=_only(venues) or "",
                year=_only(years),
                decision=_only(decisions) or "",
            ),
            rest,
        )

    def _take_authors(self, words: list[str]) -> tuple[Filters, list[str]]:
        """Names of two to four words, and surnames before `et al`, out of the query."""
        taken: list[str] = []
        left: list[str] = []
        at = 0
        while at < len(words):
            name, width = self._author_at(words, at)
            if name:
                taken.append(name)
                at += width
            else:
                left.append(words[at])
                at += 1
        return Filters(authors=tuple(taken)), left

    def _author_at(self, words: Sequence[str], at: int) -> tuple[str, int]:
        for width in (4, 3, 2):
            span = [_no_possessive(word) for word in words[at : at + width]]
            if len(span) < width or plain(span[0]) in _ASKING or plain(span[-1]) in _ASKING:
                continue
            spelled = plain(" ".join(span))
            if spelled in self._author_by_plain:
                return self._author_by_plain[spelled], width
            if spelled in self._short_names:
                return spelled, width
            if all(word[:1].isupper() for word in span):
                close = process.extractOne(
                    spelled, self._plain_authors, scorer=fuzz.ratio, score_cutoff=NAME_MATCH
                )
                if close:
                    return self._author_by_plain[close[0]], width
        if [plain(word) for word in words[at + 1 : at + 3]] == ["et", "al"]:
            return plain(words[at]), 3
        return "", 0

    def _why(self, id_: str, wanted: Filters, known: frozenset[str]) -> str | None:
        """Why a paper passes the filters; nothing if it does not.

        Of `known` authors no other spelling counts: Sung Ju Hwang is not Hyung Ju Hwang.
        """
        paper = self._papers[id_]
        reasons: list[str] = []
        for sought in wanted.authors:
            author = _named(sought, paper.authors, misspelled=sought not in known)
            if author is None:
                return None
            reasons.append(f"author {author}")
        if wanted.venue and plain(wanted.venue) not in plain(paper.venue):
            return None
        if wanted.year and paper.year != wanted.year:
            return None
        if wanted.decision and not _same_decision(wanted.decision, paper.decision):
            return None
        if wanted.venue or wanted.year:
            reasons.append(f"venue {paper.venue} {paper.year or ''}".strip())
        if wanted.decision:
            reasons.append(f"decision {paper.decision}")
        return "; ".join(reasons)

    def _ranked(self, rest: str, allowed: dict[str, str]) -> list[tuple[str, float, str]]:
        found: dict[str, tuple[float, str]] = {}
        matches = self._text.search(rest, len(self._papers))
        top = matches[0][1] if matches else 1.0
        for id_, score in matches:
            if id_ in allowed:
                found[id_] = (score / top * TITLE_MATCH / 100, f"text matches “{rest}”")
        titles = {id_: self._titles[id_] for id_ in allowed if self._titles[id_]}
        for _, score, id_ in process.extract(
            rest, titles, scorer=_title_similarity, score_cutoff=TITLE_MATCH, limit=50
        ):
            found[id_] = (score / 100 + found.get(id_, (0.0, ""))[0], f"title matches “{rest}”")
        return sorted(
            ((id_, score, why) for id_, (score, why) in found.items()),
            key=lambda each: (-each[1], each[0]),
        )

    def _listing_order(self, id_: str) -> tuple[int, str]:
        paper = self._papers[id_]
        return -(paper.year or 0), plain(paper.shown_title)


def plain(text: str) -> str:
    """`text` in lower case without accents, for comparison."""
    decomposed = unicodedata.normalize("NFKD", text.replace("ł", "l").replace("Ł", "L"))
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(kept.casefold().replace("’", "'").split())


def _title_similarity(query: str, title: str, *, score_cutoff: float | None = None) -> float:
    """Whole titles compare whole; a query shorter than the title may be a part of it."""
    whole = fuzz.ratio(query, title, score_cutoff=score_cutoff)
    if len(query) < len(title):
        return max(whole, 0.97 * fuzz.partial_ratio(query, title), _token_similarity(query, title))
    return max(whole, _token_similarity(query, title))


def _token_similarity(query: str, title: str) -> float:
    """For words left out or in another order; a single word says too little."""
    return 0.95 * fuzz.token_set_ratio(query, title) if len(query.split()) > 1 else 0.0


def _is_part(wanted: str, name: str) -> bool:
    """Whether `name` has all words of `wanted`."""
    return set(wanted.split()) <= set(name.split())


def _named(sought: str, authors: Sequence[str], *, misspelled: bool) -> str | None:
    """The author whom `sought` names: whole, in part, or `misspelled`."""
    wanted = plain(_no_possessive(sought))
    for author in authors:
        if _is_part(wanted, plain(author)):
            return author
    for author in authors if misspelled else ():
        known = plain(author)
        surname = known.split()[-1] if known else ""
        compared, least = (
            (known, NAME_MATCH) if len(wanted.split()) > 1 else (surname, SURNAME_MATCH)
        )
        if fuzz.ratio(wanted, compared) >= least:
            return author
    return None


def _same_decision(wanted: str, decision: str) -> bool:
    sought = plain(wanted)
    return decision in (sought, _SPELLINGS.get(sought))


def _take(text: str, spellings: Mapping[str, Value]) -> tuple[set[Value], str]:
    """The values spelled out in `text`, and the text without them; longer spellings first."""
    found: set[Value] = set()
    for spelled in sorted(spellings, key=len, reverse=True):
        shorter, count = re.subn(rf"\b{re.escape(spelled)}\b", " ", text)
        if count:
            found.add(spellings[spelled])
            text = shorter
    return found, text


def _only(values: set[Value]) -> Value | None:
    """The value if there is just one: several leave open which is meant."""
    return next(iter(values)) if len(values) == 1 else None


def _no_possessive(word: str) -> str:
    return re.sub(r"['’]s$", "", word)
