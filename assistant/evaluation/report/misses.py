"""Which samples the report calls misses, and why."""

from collections.abc import Mapping

from assistant.evaluation.metrics import FAILED
from assistant.evaluation.report.wording import goodness
from assistant.evaluation.types import Row, Score

REASONS: Mapping[str, str] = {
    FAILED: "error",
    "facts": "a fact is missing",
    "abstention": "wrongly answered or refused",
    "follow-up": "follow-up cites another paper",
    "quotes verbatim": "a quote differs",
    "same again": "differs when asked again",
    "mrr@10": "first paper found is not a right one",
}
"""The scores that make a sample a miss if they are below the best, and the reason that is shown.

The other scores are gradual, and nearly every sample is below the best in one of them."""
_TOLERANCE = 1e-9
"""Sums of gains may end just below 1."""


def is_short(metric: str, score: Score) -> bool:
    """Whether a score is below the best; False without a value."""
    if score.value is None:
        return False
    reached = goodness(metric, score.value)
    return reached is not None and reached < 1 - _TOLERANCE


def short_metrics(row: Row) -> tuple[str, ...]:
    """The metrics in which a question of the sample is below the best score."""
    short = [
        metric
        for reply in row.replies
        for metric, score in reply.scores.items()
        if is_short(metric, score)
    ]
    return tuple(dict.fromkeys(([FAILED] if row.failed else []) + short))


def reasons(row: Row) -> tuple[str, ...]:
    """The reasons why the sample is a miss, empty if it is none."""
    short = set(short_metrics(row))
    return tuple(reason for metric, reason in REASONS.items() if metric in short)


def is_unscored(row: Row) -> bool:
    """Whether a score that applies has no value."""
    return any(score.value is None for reply in row.replies for score in reply.scores.values())
