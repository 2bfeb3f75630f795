"""Scores of the papers found, by rank; see `retrieval.search.metrics` for the measures.

They apply if there are right papers, whether the question was answered or refused: the closest
papers of a refusal are ranked, too.
"""

from collections.abc import Callable, Mapping, Sequence

from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import AnsweredQuestion, SampleType, Score
from retrieval.search import metrics

_MOST_RANKS = 10
"""Ranks that an explanation names."""

Measure = Callable[[Sequence[str], Mapping[str, float]], float]
"""A function of ids, best first, and the gain of every right id."""


def recall_at_1(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers at rank 1."""
    return _recall(asked, 1)


def recall_at_5(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers in the first 5."""
    return _recall(asked, 5)


def recall_at_10(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers in the first 10."""
    return _recall(asked, 10)


def recall_at_100(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers in the first 100; only searches return that many."""
    return _recall(asked, 100) if asked.type is SampleType.RETRIEVAL else None


def mrr_at_10(asked: AnsweredQuestion) -> Score | None:
    """One over the rank of the first right paper; 0 if it is not in the first 10."""
    return _measured(asked, 10, lambda ids, gains: metrics.reciprocal_rank(ids, gains, 10))


def ndcg_at_10(asked: AnsweredQuestion) -> Score | None:
    """Discounted gain of the first 10, as a share of the best possible."""
    return _measured(asked, 10, lambda ids, gains: metrics.ndcg(ids, gains, 10))


def r_precision(asked: AnsweredQuestion) -> Score | None:
    """Share of right papers in the first n, for n right papers."""
    return _measured(asked, len(asked.expected.papers or ()), metrics.r_precision)


def _recall(asked: AnsweredQuestion, depth: int) -> Score | None:
    return _measured(asked, depth, lambda ids, gains: metrics.recall(ids, gains, depth))


def _measured(asked: AnsweredQuestion, depth: int, measure: Measure) -> Score | None:
    gains = asked.expected.papers
    if not gains:
        return None
    return Score(measure(asked.ranking, gains), _ranks(asked.ranking[:depth], gains, depth))


def _ranks(first: Sequence[str], gains: Mapping[str, float], depth: int) -> str:
    """The ranks of the right papers: `1 of 2 right papers in the first 10, at rank 3`."""
    ranks = [str(rank) for rank, id_ in enumerate(first, start=1) if id_ in gains]
    found = f"{len(ranks)} of {counted(len(gains), 'right paper')} in the first {depth}"
    more = ", …" if len(ranks) > _MOST_RANKS else ""
    return f"{found}, at rank {', '.join(ranks[:_MOST_RANKS])}{more}" if ranks else found
