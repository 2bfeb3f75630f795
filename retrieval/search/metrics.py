"""Measures of a ranking against relevant papers: recall, reciprocal rank, nDCG.

A ranking has ids, best first, each once; at least one id is relevant, or has a gain above 0; the
first `depth` places count. All measures are from 0 to 1.
"""

import math
from collections.abc import Collection, Mapping, Sequence


def recall(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Share of the relevant ids that are among the first `depth`."""
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """One over the place (from 1) of the first relevant id within `depth`; 0 without one."""
    return next(
        (1 / place for place, id_ in enumerate(ranking[:depth], start=1) if id_ in relevant), 0.0
    )


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    """Discounted gain of the first `depth`, as a share of the best possible.

    A gain counts by the logarithm of its place (Järvelin and Kekäläinen 2002, "Cumulated
    gain-based evaluation of IR techniques", with the gain itself, as trec_eval has it).
    """
    ideal = _discounted(sorted(gains.values(), reverse=True)[:depth])
    return _discounted([gains.get(id_, 0.0) for id_ in ranking[:depth]]) / ideal


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
