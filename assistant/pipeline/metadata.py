"""Answers from the library's records: lists of papers, and who wrote a paper, where and when.

Every sentence cites a paper's record, so no chat model is needed. The reader says what a message
asks for, and the index proves what it names; if either is unsure, the abstracts answer instead.
"""

from collections.abc import Sequence

from assistant.generation.answer_builder import MetadataAnswer, entry, record_sentence
from assistant.pipeline.follow_up import StandaloneQuestion, cited_papers
from assistant.pipeline.intent import papers_named_in
from assistant.types import Outcome, Turn
from retrieval.library.library import Library
from retrieval.query.lookup import Listing, Lookup
from retrieval.query.metadata import ParsedQuery
from retrieval.search.reader import MessageRead
from retrieval.text.names import name_terms
from retrieval.text.titles import likeness, plain_title
from retrieval.types import Filters, Paper, Passage

MOST_LISTED = 10
"""Papers of a list at most; the last one comes with the command for the rest."""
LIKELY_KIND = 0.5
"""Least probability of a message's kind."""
_SURE_LIKENESS = 0.9
"""Least likeness of a title to the one asked about."""
_ENOUGH_WORDS = 3
"""Words of a title that name it even if they are less than half of it."""
_CLEAR = 0.1
"""Least lead in score of the paper asked about over the next one."""


def answer_from_metadata(
    lookup: Lookup,
    standalone: StandaloneQuestion,
    message: MessageRead,
    parsed: ParsedQuery,
    *,
    named: Sequence[Paper] = (),
    history: Sequence[Turn] = (),
) -> MetadataAnswer | None:
    """The answer from records; None if the question asks for anything else.

    `message` is the question as the reader sees it, `parsed` what it says about records, and
    `named` are the papers of the library that it names.
    """
    known = None
    if message.kinds[message.kind] >= LIKELY_KIND:
        known = _by_kind(lookup, standalone, message.kind, named, history)
    if known or standalone.focus_papers:
        return known
    return _nothing_passes(lookup, standalone.question, parsed)


def _by_kind(
    lookup: Lookup,
    standalone: StandaloneQuestion,
    kind: str,
    named: Sequence[Paper],
    history: Sequence[Turn],
) -> MetadataAnswer | None:
    question = standalone.question
    parsed = lookup.parse(question, lookup=True)
    papers = standalone.focus_papers or papers_named_in(question, named)
    if kind == "by_authors" and not parsed.filters.authors:
        return _by_the_same(lookup, papers or cited_papers(history), history)
    if kind == "record":
        papers = papers or _titled(parsed.topic, lookup)
        return _records(papers) if papers else None
    lists = kind in ("list", "by_authors", "count") and not standalone.excluded
    if lists and (parsed.filters or parsed.unmatched):
        listing = lookup.found(question, parsed, MOST_LISTED)
        return _list(listing, parsed, _command(question, listing.total))
    return None


def _nothing_passes(lookup: Lookup, question: str, parsed: ParsedQuery) -> MetadataAnswer | None:
    """The answer that the library lacks the papers that a question about content asks about."""
    if not (parsed.filters or parsed.unmatched):
        return None
    listing = lookup.found("" if not parsed.unmatched else question, parsed, 1)
    if listing.matches or not listing.note:
        return None
    return MetadataAnswer(outcome=Outcome.NOT_IN_LIBRARY, note=listing.note)


def passages_of(library: Library, papers: Sequence[Paper]) -> list[Passage]:
    """Papers as passages, each with its first chunk."""
    first = {paper.id: f"{paper.id}:0" for paper in papers}
    chunks = library.store.chunks_by_id(list(first.values()))
    return [
        Passage(paper, chunks[first[paper.id]], score=1.0, similarity=0.0)
        for paper in papers
        if first[paper.id] in chunks
    ]


def _records(papers: Sequence[Paper]) -> MetadataAnswer:
    """Sentences that the records of papers support."""
    said = ((record_sentence(paper), paper) for paper in papers)
    if sentences := tuple((text, paper) for text, paper in said if text):
        return MetadataAnswer(sentences, papers=tuple(paper for _, paper in sentences))
    note = (
        f"The record of “{papers[0].shown_title}” in this library does not say who wrote it or "
        "where it appeared."
    )
    return MetadataAnswer((), Outcome.ABSTRACT_SILENT, note, tuple(papers))


def _command(query: str, papers: int) -> str:
    return f'assistant lookup "{query.replace(chr(34), "")}" -k {papers}'


def _list(listing: Listing, parsed: ParsedQuery, command: str = "") -> MetadataAnswer:
    """The papers of a listing; `command`, unless empty, lists all of them."""
    papers = tuple(match.paper for match in listing.matches)
    if listing.note or not papers:
        note = listing.note or "No paper of this library fits that."
        return MetadataAnswer((), Outcome.NOT_IN_LIBRARY, note)
    texts = [entry(paper) for paper in papers]
    more = listing.total - len(papers)
    if more > 0:
        texts[-1] += f", and {more:,} more" + (f" that `{command}` lists" if command else "")
    sentences = tuple((f"{text}.", paper) for text, paper in zip(texts, papers, strict=True))
    whole = _coverage(parsed, len(papers), listing.total)
    return MetadataAnswer(sentences, papers=papers, total=listing.total, coverage=whole)


def _coverage(parsed: ParsedQuery, shown: int, total: int) -> str:
    """Whether a list is complete, and by which rule."""
    topic = f" and the words “{parsed.topic}”" if parsed.topic else ""
    rule = f"“{parsed.said}”{topic}"
    if shown < total:
        return f"Not complete: {shown} of the {total:,} records here that fit {rule} are shown."
    return f"Complete by the records: no other one here fits {rule}."


def _titled(topic: str, lookup: Lookup) -> tuple[Paper, ...]:
    """The one paper whose title a question contains, if that is sure."""
    listing = lookup.found(topic, ParsedQuery(Filters(), topic=topic), 2) if topic else None
    if not listing or not listing.matches:
        return ()
    first, *others = listing.matches
    if any(first.score - other.score < _CLEAR for other in others):
        return ()
    asked, title = plain_title(topic), plain_title(first.paper.title)
    enough = len(asked.split()) >= _ENOUGH_WORDS or len(asked) * 2 >= len(title)
    return (first.paper,) if enough and likeness(asked, title) >= _SURE_LIKENESS else ()


def _by_the_same(
    lookup: Lookup, cited: Sequence[Paper], history: Sequence[Turn]
) -> MetadataAnswer | None:
    """Other papers by the authors of `cited[0]`, or by those of them that were asked for last."""
    if not cited:
        return None
    asked = lookup.parse(history[-1].question, lookup=True).filters if history else Filters()
    shared = {term for terms in asked.authors for term in terms}
    names = [name for name in cited[0].authors if shared & set(name_terms(name))]
    terms = tuple(dict.fromkeys(term for name in cited[0].authors for term in name_terms(name)))
    if not terms:
        return None
    whose = " and ".join(names) or f"the authors of “{cited[0].shown_title}”"
    filters = Filters(authors=asked.authors if names else (terms,))
    asked_for = ParsedQuery(filters, said=f"by {whose}")
    listing = lookup.found("", asked_for, MOST_LISTED + len(cited))
    known = {paper.id for paper in cited}
    others = tuple(match for match in listing.matches if match.paper.id not in known)
    if not others:
        note = f"No other paper by {whose} in this library."
        return MetadataAnswer((), Outcome.NOT_IN_LIBRARY, note)
    total = listing.total - (len(listing.matches) - len(others))
    command = _command(f"papers by {whose}", listing.total) if names else ""
    return _list(Listing(others[:MOST_LISTED], total), asked_for, command)
