"""A query's papers, best first: filters that it names, first stage, reranking."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from retrieval.library import Library
from retrieval.query.lookup import Lookup
from retrieval.search.rerank import PaperReader, RerankSettings, read_papers, reranked
from retrieval.search.search import search
from retrieval.search.settings import SearchSettings
from retrieval.types import Passage


class QueryReader(PaperReader, Protocol):
    """What reads papers for a query, and knows whether it asks; see `Reader`."""

    def is_claim(self, text: str) -> bool:
        """Whether `text` states something."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found for a query."""

    passages: tuple[Passage, ...]
    """Best first."""
    notes: tuple[str, ...] = ()
    """One sentence for each filter of the query that no paper passes."""


def ranking(
    library: Library,
    query: str,
    limit: int,
    reader: QueryReader | None,
    stopped: Callable[[], bool],
    *,
    settings: SearchSettings | None = None,
) -> Ranking:
    """The papers that pass what `query` says about records, those that fit it best first.

    The first stage orders papers for a claim: it knows better than the reader, which learned what
    answers questions; see tests/benchmarks/reading.md.

    Args:
        library: what is searched.
        query: what is searched for.
        limit: papers at most.
        reader: reads the best papers; None for the first stage alone.
        stopped: looked at between two papers.
        settings: see `SearchSettings`.

    Raises:
        LibraryError: the library has no papers or cannot be read.
        Cancelled: `stopped()` became true.
    """
    library.ready_to_search()
    parsed = Lookup.over(library).parse(query, lookup=False)
    depth = max(limit, RerankSettings().depth)
    passages = search(library, query, depth, settings, filters=parsed.filters)
    nowhere = [each.said for each in parsed.unmatched]
    if parsed.filters and not passages:
        nowhere.append(parsed.said)
    if reader and not reader.is_claim(query):
        passages = reranked(passages, read_papers(query, passages, reader, stopped))
    notes = tuple(f"no paper {said} in this library" for said in nowhere)
    return Ranking(tuple(passages[:limit]), notes)
