"""The first stage of search, lexical and dense scores fused into one ranking; similar papers."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

import numpy as np

from retrieval.encoders.embedder import Vector
from retrieval.index.chroma import ChromaStore
from retrieval.index.records import paper_of
from retrieval.library.library import Library
from retrieval.types import (
    NO_FILTERS,
    Filters,
    Hit,
    Paper,
    Passage,
    Retriever,
    SearchSettings,
)

RRF_CONSTANT = 60
"""Added to every rank; the higher it is, the less the first places stand out."""

ALIKE_DENSE_WEIGHT = 0.65
"""Share of the dense score where papers like another are sought; see tests/benchmarks/shapes.md."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A paper similar to another."""

    paper: Paper
    similarity: float
    """Cosine of its nearest chunk and the other paper's mean vector."""


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

    The papers with the ids in `also` are ranked even if they are not found, and do not count for
    `limit`; if few papers pass the filters, these hold for them, too. Raises `LibraryError` if the
    library has no papers or cannot be read.
    """
    settings = settings or SearchSettings()
    library.ready_to_search()
    asked = _Search(
        library=library,
        vector=library.embedder.embed(query),
        matches=dict(library.lexical.search(query, settings.lexical_reach, filters)),
        passing=set(library.lexical.matching(filters, library.lexical.size)) if filters else None,
        also=also,
        limit=limit,
        settings=settings,
    )
    best = asked.candidates()
    scores = asked.scores(_cosines(best))
    ranked = sorted(scores, key=lambda id_: (-scores[id_], id_))
    ranked = ranked[:limit] + [id_ for id_ in ranked[limit:] if id_ in also]
    return _passages(library, [best[id_] for id_ in ranked], scores)


def similar(library: Library, paper_id: str, limit: int) -> tuple[Similar, ...]:
    """The papers most like the one with this id, the likest first; none if it is unknown.

    They are found as for a question, by the paper's vector and by the words of its title and its
    abstract. Raises `LibraryError` if the library has no papers or cannot be read.
    """
    library.ready_to_search()
    store, settings = library.store, SearchSettings(dense_weight=ALIKE_DENSE_WEIGHT)
    known = store.stored_by_id([paper_id])
    vectors = paper_vectors(store, known)
    if not vectors or limit < 1:
        return ()
    paper = known[paper_id].paper
    words = library.lexical.search(f"{paper.title} {paper.abstract}", settings.lexical_reach)
    asked = _Search(
        library=library,
        vector=vectors[paper_id],
        matches={id_: score for id_, score in words if id_ != paper_id},
        passing=None,
        also=(),
        limit=limit + 1,
        settings=settings,
    )
    cosines = _cosines(asked.candidates())
    cosines.pop(paper_id, None)
    scores = asked.scores(cosines)
    ids = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
    papers = store.stored_by_id(ids)
    return tuple(Similar(papers[id_].paper, cosines[id_]) for id_ in ids if id_ in papers)


def paper_vectors(store: ChromaStore, paper_ids: Iterable[str]) -> dict[str, Vector]:
    """The vector of each paper, by id: the mean of its chunks' unit vectors, scaled to length 1.

    Papers without a chunk have none. Raises `LibraryError` if the library cannot be read.
    """
    chunks: dict[str, list[Vector]] = {}
    for chunk_id, vector in store.chunk_vectors(list(paper_ids)).items():
        chunks.setdefault(paper_of(chunk_id), []).append(vector)
    means = {id_: np.mean(vectors, axis=0) for id_, vectors in chunks.items()}
    return {id_: mean / (np.linalg.norm(mean) or 1.0) for id_, mean in means.items()}


def convex_sum(
    dense: Mapping[str, float], lexical: Mapping[str, float], dense_weight: float
) -> dict[str, float]:
    """Convex sum of both scores as shares of the best, in [0, 1]; 1 is the best in both.

    `dense` has the cosines of all candidates, those below 0 count as 0; candidates that `lexical`
    lacks score 0 there. The dense score has the share `dense_weight`, from 0 to 1.
    """
    near = _shares({key: max(score, 0.0) for key, score in dense.items()})
    matched = _shares({key: lexical.get(key, 0.0) for key in dense})
    return {key: dense_weight * near[key] + (1 - dense_weight) * matched[key] for key in dense}


def reciprocal_rank_fusion(
    dense: Mapping[str, float], lexical: Mapping[str, float]
) -> dict[str, float]:
    """Sum of the reciprocal ranks in both rankings as a share of the highest sum, in (0, 1].

    After Cormack, Clarke and Büttcher 2009, "Reciprocal Rank Fusion Outperforms Condorcet and
    Individual Rank Learning Methods". `dense` has all candidates. Equal scores rank in the order of
    their keys. Differences mean little: the first two places differ by 0.02.
    """
    sums = dict.fromkeys(dense, 0.0)
    for scores in (dense, lexical):
        ranked = sorted(scores, key=lambda key: (-scores[key], key))
        for rank, key in enumerate(ranked, start=1):
            if key in sums:
                sums[key] += 1 / (RRF_CONSTANT + rank)
    return _shares(sums)


@dataclass(frozen=True, slots=True)
class _Search:
    """A query with what both sides need to know of it."""

    library: Library
    vector: Vector
    matches: Mapping[str, float]
    """Lexical scores of papers that match and pass the filters, best first."""
    passing: set[str] | None
    """Papers that pass the filters; None without filters."""
    also: Sequence[str]
    limit: int
    settings: SearchSettings

    def candidates(self) -> dict[str, Hit]:
        """The best chunk of every candidate: papers near the query, and `_sure` ones."""
        settings = self.settings
        if settings.retriever is Retriever.BM25:
            return self._exact(self._sure(self.limit))
        if self._few is not None:
            return self._exact(sorted(self._few))
        depth = settings.dense_depth if self.passing is None else settings.filtered_depth
        best = _nearest_papers(self.library.store, self.vector, depth, self.limit, self.passing)
        sure = self._sure(0 if settings.retriever is Retriever.DENSE else settings.lexical_depth)
        return best | self._exact([id_ for id_ in sure if id_ not in best])

    def scores(self, cosines: Mapping[str, float]) -> dict[str, float]:
        """The score of every candidate, in [0, 1]."""
        retriever = self.settings.retriever
        if retriever is Retriever.RRF:
            return reciprocal_rank_fusion(cosines, self.matches)
        alone = {Retriever.DENSE: 1.0, Retriever.BM25: 0.0}
        return convex_sum(cosines, self.matches, alone.get(retriever, self.settings.dense_weight))

    def _sure(self, matches: int) -> list[str]:
        """Candidates whatever their vectors: the best `matches` lexical matches, and `also`."""
        papers = dict.fromkeys([*islice(self.matches, matches), *self.also])
        return [id_ for id_ in papers if self._few is None or id_ in self._few]

    @property
    def _few(self) -> set[str] | None:
        """The papers that pass the filters if they are few; see `SearchSettings.few`."""
        is_few = self.passing is not None and len(self.passing) <= self.settings.few
        return self.passing if is_few else None

    def _exact(self, paper_ids: Sequence[str]) -> dict[str, Hit]:
        """The best chunks of these papers, also if the dense retriever does not find them."""
        vectors = self.library.store.chunk_vectors(paper_ids)
        return _best_chunks(
            Hit(chunk_id, paper_of(chunk_id), float(found @ self.vector))
            for chunk_id, found in vectors.items()
        )


def _nearest_papers(
    store: ChromaStore, vector: Vector, depth: int, least: int, passing: Set[str] | None = None
) -> dict[str, Hit]:
    """The best chunks of the papers nearest to a vector, of those in `passing` if it is given.

    `depth` chunks are requested, and more until there are `least` papers, or no more chunks.
    """
    while True:
        hits = store.nearest(vector, depth)
        best = _best_chunks(hit for hit in hits if passing is None or hit.paper_id in passing)
        if len(best) >= least or len(hits) < depth:
            return best
        depth *= 4


def _best_chunks(hits: Iterable[Hit]) -> dict[str, Hit]:
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.score > best.setdefault(hit.paper_id, hit).score:
            best[hit.paper_id] = hit
    return best


def _cosines(best: Mapping[str, Hit]) -> dict[str, float]:
    return {id_: hit.score for id_, hit in best.items()}


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores (at least 0) as shares of the highest."""
    high = max(scores.values(), default=0.0)
    return {key: score / high if high > 0 else 0.0 for key, score in scores.items()}


def _passages(library: Library, hits: Sequence[Hit], scores: Mapping[str, float]) -> list[Passage]:
    """The passages of hits, except those of an interrupted update."""
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
        and chunks[hit.chunk_id].fits(stored[hit.paper_id].paper.abstract)
    ]
