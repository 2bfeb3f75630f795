"""Papers for a follow-up: those of the conversation compete with what the search finds."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.conversation import Resolved
from retrieval.filters import NO_FILTERS, Filters
from retrieval.library import Library
from retrieval.query.lookup import Lookup
from retrieval.search import search
from retrieval.search_settings import SearchSettings
from retrieval.types import Paper, Passage

STAYING = 0.3
"""Added to the score of the paper that a follow-up goes on about; see
tests/benchmarks/conversation.md."""
_NEAREST = 20
"""Chunks looked at for the nearest other paper: more than one paper has."""


def candidates(
    library: Library,
    resolved: Resolved,
    limit: int,
    filters: Filters = NO_FILTERS,
    also: Sequence[str] = (),
    *,
    settings: SearchSettings | None = None,
) -> list[Passage]:
    """The papers found for a resolved question, best first, those cited before among them.

    Args:
        library: what is searched.
        resolved: the question in its conversation.
        limit: papers found, beside those that the conversation adds.
        filters: what the question says about records; they do not bind what it goes on about.
        also: ids of papers that compete as well.
        settings: how papers are found; see `SearchSettings`.

    Raises:
        LibraryError: the library has no papers or cannot be read.
    """
    if resolved.about:
        filters = NO_FILTERS
    also = [] if filters else [*also, *(paper.id for paper in resolved.mentioned)]
    found = search(library, resolved.standalone, limit, settings, filters=filters, also=also)
    return favoured(found, resolved)


def favoured(passages: Sequence[Passage], resolved: Resolved) -> list[Passage]:
    """What the question goes on about scores higher; that to which it seeks another comes last."""
    about = {paper.id for paper in resolved.about}
    besides = {paper.id for paper in resolved.besides}

    def score(passage: Passage) -> float:
        if passage.paper.id in about:
            return passage.score + STAYING
        return 0.0 if passage.paper.id in besides else passage.score

    scored = [replace(passage, score=score(passage)) for passage in passages]
    return sorted(scored, key=lambda passage: -passage.score)


def lead_of_others(library: Library, question: str, paper: Paper) -> float:
    """How much nearer to `question` the nearest other paper is than `paper`, in cosine.

    As far as can be if the question names another paper's method and not this one's; in small
    letters a method's name may be a common word, `cycle`.
    """
    if any(letter.isupper() for letter in question[1:]):
        named = {each.id for each in Lookup.over(library).named(question)}
        if named and paper.id not in named:
            return 1.0
    vector = library.embedder.embed(question)
    own = library.store.chunk_vectors([paper.id]).values()
    nearest = max((float(each @ vector) for each in own), default=0.0)
    others = library.store.nearest(vector, _NEAREST)
    return max((hit.score for hit in others if hit.paper_id != paper.id), default=0.0) - nearest
