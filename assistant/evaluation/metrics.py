"""The measures of a run: which scores they are the mean of, and which way is better."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which way a measure is better."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of a score over all questions that it could be scored for."""

    score: str
    """Name of the scorer, and of the metric."""
    label: str
    """What it says, in words that fit beside the figures in a terminal of 80 columns."""
    better: Better = Better.HIGHER
    headline: bool = False
    """Whether it is shown first, and stops a run that is worse (`--gate`)."""


FAILED = "failed"
"""The one metric without a scorer: the share of samples that ended with an error."""

METRICS = (
    Metric("facts", "answers with all facts", headline=True),
    Metric("fact recall", "facts in the answer"),
    Metric("words", "words of an answer", Better.LOWER, headline=True),
    Metric("citation precision", "right citations", headline=True),
    Metric("citation recall", "right papers cited", headline=True),
    Metric("grounded", "names, numbers as cited", headline=True),
    Metric("written", "answers written first", headline=True),
    Metric("written words", "words the model wrote", Better.LOWER),
    Metric("written facts", "all facts written", headline=True),
    Metric("quotes verbatim", "quotes word for word", headline=True),
    Metric("evidence recall", "expected evidence cited", headline=True),
    Metric("abstention", "right to answer or not", headline=True),
    Metric("false abstention", "answerable, refused", Better.LOWER, headline=True),
    Metric("false answer", "unanswerable, answered", Better.LOWER, headline=True),
    Metric("follow-up", "understood follow-ups", headline=True),
    Metric("recall@1", "right papers at rank 1"),
    Metric("recall@5", "right papers in first 5"),
    Metric("recall@10", "right papers in first 10", headline=True),
    Metric("recall@100", "right papers in first 100"),
    Metric("mrr@10", "mean reciprocal rank", headline=True),
    Metric("ndcg@10", "nDCG of first 10", headline=True),
    Metric("r-precision", "right papers in first n"),
    Metric("same again", "same bytes, asked again", headline=True),
    Metric(FAILED, "samples with an error", Better.LOWER, headline=True),
)
"""All of them, in the order in which they are shown."""
METRIC_OF: Mapping[str, Metric] = {metric.score: metric for metric in METRICS}
"""By name."""
COUNTS = frozenset({"words", "written words"})
"""Names of those that count something; all others are shares of 1."""
HEADLINES = frozenset(metric.score for metric in METRICS if metric.headline)
"""Names of those that are shown first and that the gate goes by."""
