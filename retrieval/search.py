"""Hybrid search: dense and lexical retrieval, fused, one passage a paper.

Fusion is a convex sum of min-max scaled scores (Bruch, Gai and Ingber 2023, "An Analysis of Fusion
Functions for Hybrid Retrieval"); on the seeds it beats reciprocal rank fusion in every setting
tried. See tests/benchmarks/ranking.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.embedder import Vector
from retrieval.library import Library
from retrieval.types import Chunk, Hit, Paper, Passage


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the two retrievers are combined; chosen by measurement on the development questions."""

    dense_weight: float = 0.6
    """Share of the dense score, from 0 to 1; any value from 0.4 to 0.6 measures much the same."""
    dense_depth: int = 100
    """Chunks asked of the dense retriever."""
    lexical_depth: int = 30
    """Papers taken up because of their lexical score alone."""
    lexical_reach: int = 1000
    """Papers whose lexical score counts once they are candidates; a shorter list would score
    papers just behind its end as if no word had matched."""


def search(
    library: Library, query: str, limit: int, settings: SearchSettings | None = None
) -> list[Passage]:
    """The papers that fit `query` best, best first, at most `limit`.

    Raises:
        LibraryError: the library has no papers or cannot be read.
    """
    settings = settings or SearchSettings()
    library.ready_to_search()
    vector = library.embedder.embed(query)
    matches = library.lexical.search(query, settings.lexical_reach)
    best = _best_chunks(library.store.nearest(vector, settings.dense_depth))
    unseen = [id_ for id_, _ in matches[: settings.lexical_depth] if id_ not in best]
    best |= _best_chunks(_exact(library, vector, unseen))
    similarity = {id_: hit.score for id_, hit in best.items()}
    scores = fuse(similarity, dict(matches), settings.dense_weight)
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
    return _passages(library, [best[id_] for id_ in ranked], scores)


def fuse(
    dense: Mapping[str, float], lexical: Mapping[str, float], dense_weight: float
) -> dict[str, float]:
    """Convex sum of min-max scaled scores, for every key of `dense`.

    Args:
        dense: exact scores of all candidates.
        lexical: scores of those that matched; a candidate that did not scores the floor, 0.
        dense_weight: share of the dense score, from 0 to 1.
    """
    scaled = _min_max(dense)
    lexical_scaled = _min_max({key: lexical.get(key, 0.0) for key in dense})
    return {
        key: dense_weight * scaled[key] + (1 - dense_weight) * lexical_scaled[key] for key in dense
    }


def _min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved to [0, 1]; scores that are all equal tell nothing and become 0."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    span = high - low
    return {key: (score - low) / span if span > 0 else 0.0 for key, score in scores.items()}


def _best_chunks(hits: Iterable[Hit]) -> dict[str, Hit]:
    """Every paper's best hit."""
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.paper_id not in best or hit.score > best[hit.paper_id].score:
            best[hit.paper_id] = hit
    return best


def _exact(library: Library, vector: Vector, paper_ids: Sequence[str]) -> list[Hit]:
    """The cosines of all chunks of some papers: what the dense retriever did not reach."""
    stored = library.store.stored_by_id(paper_ids)
    chunk_ids = {
        f"{id_}:{ordinal}": id_
        for id_, each in stored.items()
        for ordinal in range(each.chunk_count)
    }
    vectors = library.store.vectors(list(chunk_ids))
    return [
        Hit(chunk_id, chunk_ids[chunk_id], float(found @ vector))
        for chunk_id, found in vectors.items()
    ]


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
