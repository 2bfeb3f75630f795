"""Two retrievers' scores made one, between 0 and 1.

A convex sum of scaled scores (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for
Hybrid Retrieval") beats reciprocal rank fusion on the seeds in every setting tried, see
tests/benchmarks/ranking.md.
"""

from collections.abc import Mapping

RRF_CONSTANT = 60
"""What is added to every rank; the higher, the less the first places stand out."""


def convex_sum(
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


def reciprocal_rank_fusion(
    dense: Mapping[str, float], lexical: Mapping[str, float]
) -> dict[str, float]:
    """Sum of the reciprocal ranks in both rankings, for every key of `dense`.

    After Cormack, Clarke and Büttcher 2009, "Reciprocal Rank Fusion Outperforms Condorcet and
    Individual Rank Learning Methods". Of equal scores that of the lesser key ranks first.

    Args:
        dense: cosines of all candidates.
        lexical: scores of all that matched; a candidate that did not has no rank there.

    Returns:
        Shares of the highest sum, so in (0, 1]. Unlike a convex sum they tell the order but hardly
        how far one is behind another: the first two places differ by 0.02.
    """
    rankings = [_reciprocal_ranks(dense), _reciprocal_ranks(lexical)]
    return _shares({key: sum(each.get(key, 0.0) for each in rankings) for key in dense})


def _reciprocal_ranks(scores: Mapping[str, float]) -> dict[str, float]:
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: 1 / (RRF_CONSTANT + rank) for rank, key in enumerate(ranked, start=1)}


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores (at least 0) as shares of the highest."""
    high = max(scores.values(), default=0.0)
    return {key: score / high if high > 0 else 0.0 for key, score in scores.items()}
