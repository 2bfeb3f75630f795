"""Search: dense and lexical retrieval, fused or one of them alone, one passage a paper."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from retrieval.chroma import paper_of
from retrieval.embedder import Vector
from retrieval.filters import NO_FILTERS, Filters
from retrieval.library import Library
from retrieval.search.fusion import convex_sum, reciprocal_rank_fusion
from retrieval.search.settings import Retriever, SearchSettings
from retrieval.types import Chunk, Hit, Paper, Passage


def search(
    library: Library,
    query: str,
    limit: int,
    settings: SearchSettings | None = None,
    *,
    filters: Filters = NO_FILTERS,
    also: Sequence[str] = (),
) -> list[Passage]:
    """The papers that pass `filters` and fit `query` best, best first.

    Args:
        library: what is searched.
        query: what is searched for.
        limit: papers at most, beside those of `also`.
        settings: see `SearchSettings`.
        filters: what a paper's record must have; binds `also` too where few papers pass.
        also: ids of papers that are ranked whether they are found or not.

    Raises:
        LibraryError: the library has no papers or cannot be read.
    """
    settings = settings or SearchSettings()
    library.ready_to_search()
    asked = _Asked(
        library=library,
        vector=library.embedder.embed(query),
        matches=dict(library.lexical.search(query, settings.lexical_reach, filters)),
        passing=set(library.lexical.matching(filters, library.lexical.size)) if filters else None,
        also=also,
        limit=limit,
        settings=settings,
    )
    best, scores = _RETRIEVERS[settings.retriever](asked)
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))
    ranked = ranked[:limit] + [id_ for id_ in ranked[limit:] if id_ in also]
    return _passages(library, [best[id_] for id_ in ranked], scores)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query as it is put to a retriever."""

    library: Library
    vector: Vector
    matches: Mapping[str, float]
    """Lexical scores of papers that have words of the query and pass the filters, best first."""
    passing: set[str] | None
    """Papers that pass the filters; nothing where nothing is filtered."""
    also: Sequence[str]
    limit: int
    settings: SearchSettings

    def sure(self, matches: int) -> list[str]:
        """Candidates whatever their vectors: the best `matches`, and those of `also`."""
        papers = dict.fromkeys([*islice(self.matches, matches), *self.also])
        few = self.few
        return [id_ for id_ in papers if few is None or id_ in few]

    @property
    def few(self) -> set[str] | None:
        """The papers that pass, where they are so few that all are compared with the query."""
        if self.passing is None or len(self.passing) > self.settings.few:
            return None
        return self.passing


_Scored = tuple[dict[str, Hit], dict[str, float]]
"""Of every candidate the best chunk with its cosine; of every candidate the score, in [0, 1]."""


def _hybrid(asked: _Asked) -> _Scored:
    best = _nearest(asked, asked.sure(asked.settings.lexical_depth))
    return best, convex_sum(_cosines(best), asked.matches, asked.settings.dense_weight)


def _rrf(asked: _Asked) -> _Scored:
    best = _nearest(asked, asked.sure(asked.settings.lexical_depth))
    return best, reciprocal_rank_fusion(_cosines(best), asked.matches)


def _dense(asked: _Asked) -> _Scored:
    best = _nearest(asked, asked.sure(0))
    return best, convex_sum(_cosines(best), {}, 1.0)


def _bm25(asked: _Asked) -> _Scored:
    best = _exact(asked, asked.sure(asked.limit))
    return best, convex_sum(_cosines(best), asked.matches, 0.0)


_RETRIEVERS: Mapping[Retriever, Callable[[_Asked], _Scored]] = {
    Retriever.HYBRID: _hybrid,
    Retriever.RRF: _rrf,
    Retriever.DENSE: _dense,
    Retriever.BM25: _bm25,
}


def _cosines(best: Mapping[str, Hit]) -> dict[str, float]:
    return {id_: hit.score for id_, hit in best.items()}


def _nearest(asked: _Asked, sure: Sequence[str]) -> dict[str, Hit]:
    """Every candidate's best chunk: the papers nearest to the query, and `sure` ones."""
    if asked.few is not None:
        return _exact(asked, sorted(asked.few))
    passing, settings = asked.passing, asked.settings
    depth = settings.dense_depth if passing is None else settings.filtered_depth
    hits = asked.library.store.nearest(asked.vector, depth)
    best = _best_chunks(hit for hit in hits if passing is None or hit.paper_id in passing)
    return best | _exact(asked, [id_ for id_ in sure if id_ not in best])


def _exact(asked: _Asked, paper_ids: Sequence[str]) -> dict[str, Hit]:
    """The best chunks of some papers, whether the dense retriever reaches them or not."""
    vectors = asked.library.store.chunk_vectors(paper_ids)
    return _best_chunks(
        Hit(chunk_id, paper_of(chunk_id), float(found @ asked.vector))
        for chunk_id, found in vectors.items()
    )


def _best_chunks(hits: Iterable[Hit]) -> dict[str, Hit]:
    """Every paper's best hit."""
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.paper_id not in best or hit.score > best[hit.paper_id].score:
            best[hit.paper_id] = hit
    return best


def _passages(library: Library, hits: Sequence[Hit], scores: Mapping[str, float]) -> list[Passage]:
    """The papers and chunks of hits, those of an interrupted update left out."""
    stored = library.store.stored_by_id([hit.paper_id for hit in hits])
    chunks = library.store.chunks_by_id([hit.chunk_id for hit in hits])
    return [
        Passage(
            paper=stored[hit.paper_id].paper,
            chunk=chunks[hit.chunk_id],
            score=scores[hit.paper_id],
            similarity=hit.score,
        )
        for hit in hits
        if hit.paper_id in stored
        and hit.chunk_id in chunks
        and _fits(stored[hit.paper_id].paper, chunks[hit.chunk_id])
    ]


def _fits(paper: Paper, chunk: Chunk) -> bool:
    """Whether the chunk is of the present abstract; an interrupted update may leave others."""
    return paper.abstract[chunk.start : chunk.end] == chunk.text
