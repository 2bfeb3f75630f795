"""Hybrid search: dense and lexical retrieval, fused, one passage a paper.

Fusion is a convex sum of scaled scores (Bruch, Gai and Ingber 2023, "An Analysis of Fusion
Functions for Hybrid Retrieval"); on the seeds it beats reciprocal rank fusion in every setting
tried. See tests/benchmarks/ranking.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.chroma import paper_of
from retrieval.embedder import Vector
from retrieval.filters import NO_FILTERS, Filters
from retrieval.library import Library
from retrieval.types import Chunk, Hit, Paper, Passage


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the two retrievers are combined; chosen by cross-validation, see ranking.md."""

    dense_weight: float = 0.55
    """Share of the dense score, from 0 to 1."""
    dense_depth: int = 100
    """Chunks asked of the dense retriever."""
    filtered_depth: int = 1000
    """Chunks asked of it where many papers pass a filter, and most of the nearest may not."""
    lexical_depth: int = 30
    """Papers taken up because of their lexical score alone."""
    lexical_reach: int = 1000
    """Papers whose lexical score counts once they are candidates; a shorter list would score
    papers just behind its end as if no word had matched."""
    few: int = 200
    """Papers passing a filter up to which all of them are compared with the query."""


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
    vector = library.embedder.embed(query)
    matches = library.lexical.search(query, settings.lexical_reach, filters)
    sure = list(dict.fromkeys([*(id_ for id_, _ in matches[: settings.lexical_depth]), *also]))
    best = _nearest(library, vector, sure, settings, filters)
    similarity = {id_: hit.score for id_, hit in best.items()}
    scores = fuse(similarity, dict(matches), settings.dense_weight)
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))
    ranked = ranked[:limit] + [id_ for id_ in ranked[limit:] if id_ in also]
    return _passages(library, [best[id_] for id_ in ranked], scores)


def fuse(
    dense: Mapping[str, float], lexical: Mapping[str, float], dense_weight: float
) -> dict[str, float]:
    """Convex sum of both scores as shares of the best, for every key of `dense`.

    Args:
        dense: cosines of all candidates; those below 0 count as 0.
        lexical: scores of those that matched, above 0; a candidate that did not scores 0.
        dense_weight: share of the dense score, from 0 to 1.

    Returns:
        Scores in [0, 1]: 1 is the best by meaning and by words.
    """
    near = _shares({key: max(score, 0.0) for key, score in dense.items()})
    matched = _shares({key: lexical.get(key, 0.0) for key in dense})
    return {key: dense_weight * near[key] + (1 - dense_weight) * matched[key] for key in dense}


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores (at least 0) as shares of the highest."""
    high = max(scores.values(), default=0.0)
    return {key: score / high if high > 0 else 0.0 for key, score in scores.items()}


def _nearest(
    library: Library,
    vector: Vector,
    sure: Sequence[str],
    settings: SearchSettings,
    filters: Filters,
) -> dict[str, Hit]:
    """Every candidate's best chunk: the papers nearest to `vector`, and `sure` ones."""
    if not filters:
        best = _best_chunks(library.store.nearest(vector, settings.dense_depth))
        return best | _exact(library, vector, [id_ for id_ in sure if id_ not in best])
    passing = set(library.lexical.matching(filters, library.lexical.size))
    if len(passing) <= settings.few:
        return _exact(library, vector, sorted(passing))
    hits = library.store.nearest(vector, settings.filtered_depth)
    best = _best_chunks(hit for hit in hits if hit.paper_id in passing)
    return best | _exact(library, vector, [id_ for id_ in sure if id_ not in best])


def _best_chunks(hits: Iterable[Hit]) -> dict[str, Hit]:
    """Every paper's best hit."""
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.paper_id not in best or hit.score > best[hit.paper_id].score:
            best[hit.paper_id] = hit
    return best


def _exact(library: Library, vector: Vector, paper_ids: Sequence[str]) -> dict[str, Hit]:
    """The best chunks of some papers: what the dense retriever did not reach."""
    vectors = library.store.chunk_vectors(paper_ids)
    return _best_chunks(
        Hit(chunk_id, paper_of(chunk_id), float(found @ vector))
        for chunk_id, found in vectors.items()
    )


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
