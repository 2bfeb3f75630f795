"""Papers for a question in a conversation: those cited before compete with those found."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.pipeline.follow_up import StandaloneQuestion
from retrieval.filters import NO_FILTERS, Filters
from retrieval.library import Library
from retrieval.search.search import search
from retrieval.search.settings import SearchSettings
from retrieval.types import Paper, Passage

STAYING = 0.3
"""Added to the score of the paper that a follow-up goes on about; see
tests/benchmarks/conversation.md."""


def candidates(
    library: Library,
    standalone: StandaloneQuestion,
    limit: int,
    filters: Filters = NO_FILTERS,
    also: Sequence[str] = (),
    *,
    settings: SearchSettings | None = None,
) -> list[Passage]:
    """The papers found for a question, best first, those cited before among them.

    Args:
        library: what is searched.
        standalone: the question in its conversation.
        limit: papers found, beside those that the conversation adds.
        filters: what the question says about records; they do not bind what it goes on about.
        also: ids of papers that compete as well.
        settings: how papers are found; see `SearchSettings`.

    Raises:
        LibraryError: the library has no papers or cannot be read.
    """
    if standalone.focus_papers:
        filters = NO_FILTERS
    if standalone.found and not filters:
        return _without(standalone.found, standalone.excluded)[:limit]
    own = [paper.id for paper in (*standalone.history_papers, *standalone.focus_papers)]
    also = [] if filters else [*also, *own]
    found = search(library, standalone.text, limit, settings, filters=filters, also=also)
    return _favoured(_without(found, standalone.excluded), standalone)


def _without(passages: Sequence[Passage], excluded: Sequence[Paper]) -> list[Passage]:
    """The passages but for those of papers to which the question seeks another."""
    ids = {paper.id for paper in excluded}
    return [passage for passage in passages if passage.paper.id not in ids]


def _favoured(passages: Sequence[Passage], standalone: StandaloneQuestion) -> list[Passage]:
    """What the question goes on about scores higher."""
    focus = {paper.id for paper in standalone.focus_papers}
    scored = [
        replace(passage, score=passage.score + STAYING * (passage.paper.id in focus))
        for passage in passages
    ]
    return sorted(scored, key=lambda passage: -passage.score)
