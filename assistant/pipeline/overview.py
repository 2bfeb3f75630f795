"""Overviews: which of the papers found belong to a topic, and the groups in which they stand.

Whether a paper belongs is a logistic regression over four features, learned from grades of the
papers found for 200 topics by `tests/benchmarks/training/fit_topics.py`; see
tests/benchmarks/shapes.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from assistant.pipeline.abstention import logistic
from assistant.types import Evidence
from retrieval.index.chroma import ChromaStore
from retrieval.library.groups import grouped
from retrieval.library.library import Library
from retrieval.search.rerank import ReadPassage
from retrieval.search.search import paper_vectors
from retrieval.types import Passage

BELONGS = 0.35
"""Least probability that a paper belongs; half-way between too many papers and too few."""
_FIRST = 5
"""Papers that tell what the topic is: the best of the first stage."""
REST = "Further papers"
"""Stands above the papers of an overview that belong to no subtopic."""


@dataclass(frozen=True, slots=True)
class TopicFeatures:
    """Features from which `belongs` tells whether a paper belongs to a topic."""

    score: float
    """Its score in the first stage."""
    answered: float
    """How far its logit `answered` is above the highest of all papers; at most 0."""
    likeness: float
    """Cosine of its vector and those of the papers found first, itself aside."""
    title_share: float
    """Share of the topic that its title has; see `LexicalIndex.share`."""


WEIGHTS = TopicFeatures(score=5.01, answered=0.3, likeness=5.69, title_share=1.52)
BIAS = -7.56


def belongs(features: TopicFeatures) -> float:
    """Probability that the paper belongs to the topic, in [0, 1]."""
    return logistic(astuple(features), astuple(WEIGHTS), BIAS)


def features_of(
    library: Library, topic: str, found: Sequence[Passage], read: Sequence[ReadPassage]
) -> dict[str, TopicFeatures]:
    """The features of each paper that was read, by its id.

    `found` are the papers as the first stage returned them. Raises `LibraryError` if the library
    cannot be read.
    """
    scores = {each.paper.id: each.score for each in found}
    likeness = _likeness(library.store, scores, [each.passage.paper.id for each in read])
    best = max((each.read.answered for each in read), default=0.0)
    return {
        each.passage.paper.id: TopicFeatures(
            score=scores[each.passage.paper.id],
            answered=each.read.answered - best,
            likeness=likeness[each.passage.paper.id],
            title_share=library.lexical.share(topic, each.passage.paper.title),
        )
        for each in read
    }


def _likeness(
    store: ChromaStore, scores: Mapping[str, float], ids: Sequence[str]
) -> dict[str, float]:
    """See `TopicFeatures.likeness`; what was found first counts by its score.

    It is 0 for a paper that has gone from the library since it was found.
    """
    first = sorted(scores, key=lambda id_: -scores[id_])[:_FIRST]
    vectors = paper_vectors(store, dict.fromkeys([*first, *ids]))
    weighted = {id_: scores[id_] * vectors[id_] for id_ in first if id_ in vectors}
    likeness = dict.fromkeys(ids, 0.0)
    for id_ in vectors.keys() & likeness.keys():
        others = sum((own for at, own in weighted.items() if at != id_), 0 * vectors[id_])
        likeness[id_] = float(others @ vectors[id_] / (np.linalg.norm(others) or 1.0))
    return likeness


def by_subtopic(evidence: Sequence[Evidence], library: Library, topic: str) -> list[Evidence]:
    """The evidence of an overview in groups of like papers, each under its name."""
    papers = list({each.paper.id: each.paper for each in evidence}.values())
    groups = grouped(library, papers, topic)
    return [
        replace(each, heading=name or REST if len(groups) > 1 else "")
        for name, members in groups
        for paper in members
        for each in evidence
        if each.paper.id == paper.id
    ]
