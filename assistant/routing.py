"""Questions that the records answer by themselves: lists of papers, and who, where and when.

They need no model: every sentence is a paper's record, cited. When unsure, a question is not
routed, and goes the way of all others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.conversation import Resolved, cited_papers, without_small_talk
from assistant.records import Aspect, aspect_of, entry, record_sentence, sentence_about
from assistant.references import refers
from assistant.small_talk import reply_to
from assistant.types import Outcome, Turn
from retrieval.filters import Filters
from retrieval.library import Library
from retrieval.names import name_terms
from retrieval.nicknames import introduced, joined
from retrieval.query.lookup import Listing, Lookup
from retrieval.query.metadata import ParsedQuery
from retrieval.query.words import PAPERS, words_of
from retrieval.titles import likeness, plain_title
from retrieval.types import Paper, Passage

MOST_LISTED = 10
"""Papers of a list; the command for the rest is named with the last."""
SURE = 0.9
"""Likeness of a title from which it is taken to be the one that is asked about."""
_ENOUGH_WORDS = 3
"""Words of a title that name it, where they are less than half of it."""
_CLEAR = 0.1
"""How much worse the next paper must fit for the first to be the one that is asked about."""

_ASKS_AUTHORS = re.compile(
    r"\bwho (?:wrote|authored|(?:is|are|was|were) (?:the )?(?:(?:first|last|lead|senior) )?"
    r"(?:authors?|behind))\b|^\s*(?:the )?(?:first |last |lead )?authors? of\b|"
    r"\b(?:list|name|give|what are|tell me) (?:me )?(?:all )?the (?:first |last )?authors\b|"
    r"['’]s authors\b|\bauthors?(?: list| names?| and venue)?\s*\??\s*$|\bauthor list\b|"
    r"\bauthors? and venue\b|\bwrote (?:it|this|that)\b",
    re.IGNORECASE,
)
_ASKS_WHERE = re.compile(
    r"\b(?:which|what) (?:paper and (?:which |what )?)?(?:venue|conference|journal|year|"
    r"decision|award)\b|"
    r"\b(?:venue|decision) (?:of|for)\b|"
    r"\b(?:where|when) (?:was|were|is|did|has)\b.*"
    r"\b(?:published|appear|presented|accepted|come out|came out|released)\w*|"
    r"\b(?:is|was|were|did|has|get|got|win|won|receive)\b.*\b(?:an? |the )?(?:\S+ ){0,3}"
    r"(?:oral|spotlight|poster|award|outstanding paper|hono[u]?rable mention)s?\b\s*"
    r"(?:presentation|paper|talk)?\s*(?:or\b.*)?(?:at [\w' ]+)?\??\s*$",
    re.IGNORECASE,
)
_ASKS_WHICH_PAPER = re.compile(r"\b(?:which|what) paper and\b", re.IGNORECASE)
_ABOUT_CONTENT = re.compile(
    r"^\s*(?:how|why|explain|summari[sz]e|describe|compare)\b|"
    r"\b(?:authors?|they) (?:show|propos|argue|claim|find|found|use|suggest|report|say|mean|"
    r"explain|compare|evaluate|test|train|prove|introduce|define|get|do|conclude)\w*",
    re.IGNORECASE,
)
_NOT_ITS_NAME = frozenset(
    "and award award-winning awards came come decision first honorable honourable journal last "
    "list mention name names oral orals out outstanding poster posters presentation prize "
    "publication released spotlight spotlights talk".split()
)
_BY_THE_SAME = re.compile(
    r"\b(?:what else|what other|other|others|more|anything else|else|papers?|works?)\b.*"
    r"\b(?:by|from|of|did|has|have)\b.*\b(?:same (?:authors?|people|group|team)|they|them|he|she|"
    r"him|her|(?:these|those|the|its|their) authors?)\b",
    re.IGNORECASE,
)
_ASKS_HOW_MANY = re.compile(
    r"\W*how many (?:papers|abstracts|articles|publications)"
    r"(?: (?:are|is|do|does|you|we|have|hold|contain|know|there|here|stored|indexed|altogether|all|"
    r"in|total|the|this|your|library|collection|corpus|database))*\W*",
    re.IGNORECASE,
)
_WRITES = re.compile(r"\b(?:papers?|works?|wr[io]te|written|writes|publish\w*|authors?)\b", re.I)
_LONGEST_TOPIC, _LONGEST_FOLLOW_UP, _LONGEST_RECORD_QUESTION = 8, 12, 40
"""Words; longer questions ask for more than a record, and patterns take long on them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence about a paper's record."""

    text: str
    paper: Paper


@dataclass(frozen=True, slots=True)
class Routed:
    """An answer from records."""

    entries: tuple[Entry, ...]
    outcome: Outcome = Outcome.ANSWERED
    note: str = ""
    """One sentence in place of entries, where there are none."""
    papers: tuple[Paper, ...] = ()
    """The papers that it is about."""


def route(
    lookup: Lookup,
    resolved: Resolved,
    parsed: ParsedQuery,
    history: Sequence[Turn] = (),
    *,
    lists: bool,
) -> Routed | None:
    """The answer from records, if the question asks for that and for nothing else.

    Args:
        lookup: in the library that is asked.
        resolved: the question in its conversation.
        parsed: what it says about records, as asked.
        history: the conversation so far.
        lists: whether it asks for papers by their records; see `parse_question`.
    """
    question = resolved.question
    if reply := reply_to(question) or _how_many(question, lookup):
        return Routed((), Outcome.NOT_IN_LIBRARY, reply)
    history = without_small_talk(history)
    known = _by_the_same(question, lookup, history) or _of_cited(resolved)
    if known or (history and refers(question)):
        return known
    if resolved.about:
        return _record(question, parsed, lookup)
    if lists:
        listing = lookup.found(question, parsed, MOST_LISTED)
        return _list(listing, _command(question, listing.total))
    return _record(question, parsed, lookup) or _nothing_there(question, parsed, lookup)


def parse_question(lookup: Lookup, question: str) -> tuple[ParsedQuery, bool]:
    """What a question says about records, and whether it asks for papers by them."""
    request = lookup.parse(question, lookup=True)
    if _asks_for_papers(question, request):
        return request, True
    return lookup.parse(question, lookup=False), False


def _asks_for_papers(question: str, parsed: ParsedQuery) -> bool:
    """Whether it asks for papers by their records rather than for what they say."""
    if not (parsed.filters or parsed.unmatched):
        return False
    words = [word.folded for word in words_of(question)]
    if not parsed.topic:
        return True
    said = {*words}
    asks_what = {"how", "why", "does"} & said or words[:2] == ["what", "do"]
    of_one = {*words[:1]} & {"is", "was", "were", "did", "has", "who"}
    spoken = (PAPERS | {"wrote", "written"}) & said or parsed.filters.decisions
    short = len(parsed.topic.split()) <= _LONGEST_TOPIC
    return bool(spoken) and short and not (asks_what or of_one)


def _how_many(question: str, lookup: Lookup) -> str:
    """How many papers there are, if `question` asks for that and for nothing else."""
    if len(question.split()) > _LONGEST_FOLLOW_UP or not _ASKS_HOW_MANY.fullmatch(question):
        return ""
    total = lookup.everything(0).total
    return f"This library has {total:,} {'paper' if total == 1 else 'papers'}."


def _of_cited(resolved: Resolved) -> Routed | None:
    """What the records say of the papers that a follow-up goes on about."""
    sentences = [(record_sentence(resolved.question, paper), paper) for paper in resolved.about]
    entries = tuple(Entry(sentence, paper) for sentence, paper in sentences if sentence)
    return Routed(entries, papers=tuple(entry.paper for entry in entries)) if entries else None


def passages_of(library: Library, papers: Sequence[Paper]) -> list[Passage]:
    """Papers as passages, each with its first chunk."""
    first = {paper.id: f"{paper.id}:0" for paper in papers}
    chunks = library.store.chunks_by_id(list(first.values()))
    return [
        Passage(paper, chunks[first[paper.id]], score=1.0, similarity=0.0)
        for paper in papers
        if first[paper.id] in chunks
    ]


def _command(query: str, papers: int) -> str:
    return f'assistant lookup "{query.replace(chr(34), "")}" -k {papers}'


def _list(listing: Listing, command: str = "") -> Routed:
    """The papers of a listing; `command`, if there is one, gives them all."""
    papers = tuple(match.paper for match in listing.matches)
    if listing.note:  # what was asked for is not here, whatever else is
        return Routed((), Outcome.NOT_IN_LIBRARY, listing.note)
    texts = [entry(paper) for paper in papers]
    more = listing.total - len(papers)
    if more > 0:
        texts[-1] += f", and {more:,} more" + (f" that `{command}` lists" if command else "")
    entries = (Entry(f"{text}.", paper) for text, paper in zip(texts, papers, strict=True))
    return Routed(tuple(entries), papers=papers)


def _record(question: str, parsed: ParsedQuery, lookup: Lookup) -> Routed | None:
    """What a record says of the one paper that the question names."""
    if len(question.split()) > _LONGEST_RECORD_QUESTION:
        return None
    aspect = _aspect(question)
    subject = " ".join(
        word for word in parsed.topic.split() if word.casefold() not in _NOT_ITS_NAME
    )
    if aspect is Aspect.NONE or not subject or _ABOUT_CONTENT.search(question):
        return None
    paper = _the_paper(subject, lookup.found(subject, replace(parsed, topic=subject), 2))
    if paper is None:
        return None
    if _ASKS_WHICH_PAPER.search(question):
        return Routed((Entry(f"{entry(paper)}.", paper),), papers=(paper,))
    sentence = sentence_about(aspect, paper)
    if sentence:
        return Routed((Entry(sentence, paper),), papers=(paper,))
    lacks = "where it appeared" if aspect is Aspect.APPEARED else "who wrote it"
    note = f"The record of “{paper.shown_title}” in this library does not say {lacks}."
    return Routed((), Outcome.ABSTRACT_SILENT, note, (paper,))


def _nothing_there(question: str, parsed: ParsedQuery, lookup: Lookup) -> Routed | None:
    """That the papers are not here of which a question about content is asked.

    Where the author is not, a title or a method that is named may still be here. A venue that no
    paper has may be spoken of without being where papers appeared: `the NeurIPS 2021 challenge`.
    """
    if any(each.field == "author" for each in parsed.unmatched):
        listing = lookup.found(question, parsed, 1)
    elif parsed.filters:
        listing = lookup.found("", ParsedQuery(parsed.filters, said=parsed.said), 1)
    else:
        return None
    return None if listing.matches else Routed((), Outcome.NOT_IN_LIBRARY, listing.note)


def _aspect(question: str) -> Aspect:
    who, where = _ASKS_AUTHORS.search(question), _ASKS_WHERE.search(question)
    if who and where:
        return Aspect.BOTH
    if who:
        return Aspect.AUTHORS
    return Aspect.APPEARED if where else Aspect.NONE


def _the_paper(subject: str, listing: Listing) -> Paper | None:
    """The paper that `subject` names, if that is sure: by its title or by its method's name."""
    if not listing.matches:
        return None
    first, *others = listing.matches
    if any(first.score - other.score < _CLEAR for other in others):
        return None
    asked, title = plain_title(subject), plain_title(first.paper.title)
    enough = len(asked.split()) >= _ENOUGH_WORDS or len(asked) * 2 >= len(title)
    if enough and likeness(asked, title) >= SURE:
        return first.paper
    # Without a colon, what a title names may well be the method of others: Can BERT …?
    head = first.paper.title if ":" in first.paper.title else ""
    given = set(introduced(head, first.paper.abstract))
    words = [joined(word) for word in subject.split()]
    spans = {"".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1)}
    return first.paper if given & {span for span in spans if len(span) > 1} else None


def _by_the_same(question: str, lookup: Lookup, history: Sequence[Turn]) -> Routed | None:
    """Other papers by the authors of the paper cited last, or by those asked for last."""
    cited = cited_papers(history)
    if not cited or len(question.split()) > _LONGEST_FOLLOW_UP:
        return None
    if not (_BY_THE_SAME.search(question) and _WRITES.search(question)):
        return None
    if aspect_of(question) is not Aspect.NONE and "else" not in question.casefold().split():
        return None
    asked = lookup.parse(history[-1].question, lookup=True).filters.authors
    names = [name for name in cited[0].authors if _is_one_of(name, asked)]
    anyone = tuple(dict.fromkeys(term for name in cited[0].authors for term in name_terms(name)))
    if not anyone:
        return None
    whose = " and ".join(names) or f"the authors of “{cited[0].shown_title}”"
    wanted = ParsedQuery(Filters(authors=asked if names else (anyone,)), said=f"by {whose}")
    listing = lookup.found("", wanted, MOST_LISTED + len(cited))
    known = {paper.id for paper in cited}
    others = tuple(match for match in listing.matches if match.paper.id not in known)
    if not others:
        note = f"No other paper by {whose} in this library."
        return Routed((), Outcome.NOT_IN_LIBRARY, note)
    total = listing.total - (len(listing.matches) - len(others))
    command = _command(f"papers by {whose}", listing.total) if names else ""
    return _list(Listing(others[:MOST_LISTED], total), command)


def _is_one_of(name: str, asked: Sequence[Sequence[str]]) -> bool:
    return any(set(name_terms(name)) & set(terms) for terms in asked)
