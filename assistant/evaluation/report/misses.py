"""What the report calls a miss."""

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
"""The scores that make a sample a miss where they are less than full, and how the report says so.

The other scores grade what these decide, so that nearly every sample would be a miss of one."""
_TOLERANCE = 1e-9
"""Sums of gains may end just below 1."""


def is_short(metric: str, score: Score) -> bool:
    """Whether a score is less than it could be; one without a value is not."""
    if score.value is None:
        return False
    reached = goodness(metric, score.value)
    return reached is not None and reached < 1 - _TOLERANCE


def short_metrics(row: Row) -> tuple[str, ...]:
    """The measures in which one of the sample's questions is short of the full score."""
    short = [
        metric
        for reply in row.replies
        for metric, score in reply.scores.items()
        if is_short(metric, score)
    ]
    return tuple(dict.fromkeys(([FAILED] if row.failed else []) + short))


def reasons(row: Row) -> tuple[str, ...]:
    """Why the sample is a miss; empty if it is none."""
    short = set(short_metrics(row))
    return tuple(reason for metric, reason in REASONS.items() if metric in short)


def is_unscored(row: Row) -> bool:
    """Whether a score that applies could not be given."""
    return any(score.value is None for reply in row.replies for score in reply.scores.values())
