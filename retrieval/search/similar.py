"""Finds the papers most similar to one of the library, by the vectors of their chunks."""

from dataclasses import dataclass

import numpy as np

from retrieval.encoders.embedder import Vector
from retrieval.index.chroma import ChromaStore
from retrieval.types import Paper

_CHUNKS_A_PAPER = 4
"""Chunks requested for each paper; papers have two or three, and not all are near."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A paper similar to another."""

    paper: Paper
    similarity: float
    """Cosine of its nearest chunk and the other paper's mean vector."""


def similar(store: ChromaStore, paper_id: str, limit: int) -> tuple[Similar, ...]:
    """The papers nearest to the one with this id, nearest first; none if it is unknown.

    A paper's vector is the mean of the unit vectors of its chunks.

    Raises:
        LibraryError: the library cannot be read.
    """
    own = store.chunk_vectors([paper_id])
    if not own or limit < 1:
        return ()
    mean = np.mean(list(own.values()), axis=0)
    length = float(np.linalg.norm(mean))
    if not length:
        return ()
    nearness = _nearest(store, mean / length, limit + 1, len(own))
    nearness.pop(paper_id, None)
    ids = sorted(nearness, key=lambda id_: (-nearness[id_], id_))[:limit]
    papers = store.stored_by_id(ids)
    return tuple(Similar(papers[id_].paper, nearness[id_]) for id_ in ids if id_ in papers)


def _nearest(store: ChromaStore, vector: Vector, papers: int, own: int) -> dict[str, float]:
    """The cosines of at least `papers` nearest papers, if there are that many."""
    depth = own + papers * _CHUNKS_A_PAPER
    while True:
        hits = store.nearest(vector, depth)
        nearness: dict[str, float] = {}
        for hit in hits:
            nearness[hit.paper_id] = max(hit.score, nearness.get(hit.paper_id, -1.0))
        if len(nearness) >= papers or len(hits) < depth:
            return nearness
        depth *= 4
