"""The record of a search: what was searched for an answer, what was found and what was read."""

from collections.abc import Sequence
from typing import Final

from assistant.pipeline.question import ParsedQuestion, ReadPapers
from assistant.types import FoundPaper, SearchRecord
from retrieval.library.library import Library
from retrieval.search.rerank import ReadPassage
from retrieval.types import NO_FILTERS, Passage

_NOTHING_READ: Final = ReadPapers([], {}, 0)


def search_record(
    library: Library,
    parsed: ParsedQuestion,
    retrieved: Sequence[Passage],
    read: ReadPapers = _NOTHING_READ,
    threshold: float | None = None,
) -> SearchRecord:
    """The record of a search.

    Args:
        library: what was searched.
        parsed: the question.
        retrieved: the papers as retrieval returned them.
        read: those that were read.
        threshold: least confidence with which the question is answered; None if records answer.

    Raises:
        LibraryError: the library cannot be read.
    """
    index, query = library.lexical, parsed.standalone.text
    years = [int(year) for year in index.values("year")]
    first = {each.paper.id: each for each in retrieved}
    rest = [each for id_, each in first.items() if id_ not in read.probabilities]
    filters = NO_FILTERS if parsed.standalone.focus_papers else parsed.query.filters
    if parsed.metadata:
        matched = parsed.metadata.total or len(parsed.metadata.papers)
    else:
        matched = index.with_rare_words(query, filters, also=[each.paper for each in retrieved])
    return SearchRecord(
        query=query,
        papers=index.size,
        years=(min(years), max(years)) if years else (),
        matched=matched,
        found=(
            *(_read_paper(each, read, first) for each in read.papers),
            *map(_found_paper, rest),
        ),
        revision=library.store.revision,
        embedder=library.embedder.name,
        threshold=threshold,
    )


def _found_paper(passage: Passage) -> FoundPaper:
    paper = passage.paper
    return FoundPaper(paper.id, paper.shown_title, passage.score, passage.similarity)


def _read_paper(each: ReadPassage, read: ReadPapers, retrieved: dict[str, Passage]) -> FoundPaper:
    paper = each.passage.paper
    return FoundPaper(
        paper_id=paper.id,
        title=paper.shown_title,
        retrieval=retrieved.get(paper.id, each.passage).score,
        similarity=each.passage.similarity,
        score=each.passage.score,
        relevance=each.read.relevance,
        answered=each.read.answered,
        probability=read.probabilities.get(paper.id),
    )
