"""The metrics of a run: means of scores, with 95 % bootstrap intervals over samples.

The measures of a single ranking are in `retrieval.search.metrics`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt


class Better(StrEnum):
    """Direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of a score over all questions that have it."""

    score: str
    """Name of the scorer, and of the metric."""
    label: str
    """A short description, which fits beside the figures in a terminal of 80 columns."""
    better: Better = Better.HIGHER
    headline: bool = False
    """Whether it is shown first, and whether `--gate` fails if it is worse."""


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
"""All metrics, in the order in which they are shown."""
METRIC_OF: Mapping[str, Metric] = {metric.score: metric for metric in METRICS}
"""The metrics by name."""
COUNTS = frozenset({"words", "written words"})
"""Names of metrics that count something; all others are shares of 1."""
HEADLINES = frozenset(metric.score for metric in METRICS if metric.headline)
"""Names of the headline metrics."""

RESAMPLES = 10_000
"""Enough to give the ends of a 95 % interval to about a hundredth of its width."""
LEAST_SAMPLES = 6
"""Samples needed for an interval, by the sign test: five samples all become worse by chance once in
32 times, six once in 64, which is less than 2.5 %."""
_ENDS = (0.025, 0.975)
_BLOCK = 20_000
"""Draws at a time: few enough for a processor's cache."""

_Floats = npt.NDArray[np.float64]
_Draws = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """The range of the figure in 95 % of resampled sets of samples."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Total:
    """Sum and number of the scores of a sample's questions."""

    sum: float
    count: int
    """At least 1."""


def mean(totals: Sequence[Total]) -> float:
    """The mean over all questions of at least one sample."""
    return sum(total.sum for total in totals) / sum(total.count for total in totals)


def mean_interval(totals: Sequence[Total], seed: int, resamples: int = RESAMPLES) -> Interval:
    """The 95 % interval of `mean`.

    Args:
        totals: of at least one sample; for a single one, both ends are its mean.
        seed: of the draws; the same seed and totals give the same interval.
        resamples: how often the samples are drawn with replacement.
    """
    return _interval(_means(totals), len(totals), seed, resamples)


def difference_interval(
    before: Sequence[Total], now: Sequence[Total], seed: int, resamples: int = RESAMPLES
) -> Interval:
    """The 95 % interval of `mean(now) - mean(before)`; the same samples are drawn for both.

    Args:
        before: of at least one sample.
        now: of the same samples, in the same order.
        seed: of the draws.
        resamples: how often the samples are drawn with replacement.
    """
    if len(before) != len(now):
        raise ValueError(f"{len(before)} samples cannot be paired with {len(now)}")
    means_before, means_now = _means(before), _means(now)
    return _interval(
        lambda draws: means_now(draws) - means_before(draws), len(now), seed, resamples
    )


def _means(totals: Sequence[Total]) -> Callable[[_Draws], _Floats]:
    """A function that gives the mean over the samples of each row of draws."""
    sums = np.array([total.sum for total in totals], dtype=np.float64)
    counts = np.array([total.count for total in totals], dtype=np.float64)
    return lambda draws: sums[draws].sum(axis=1) / counts[draws].sum(axis=1)


def _interval(
    statistic: Callable[[_Draws], _Floats], samples: int, seed: int, resamples: int
) -> Interval:
    values = np.concatenate([statistic(draws) for draws in _draws(samples, seed, resamples)])
    low, high = np.quantile(values, _ENDS)
    return Interval(float(low), float(high))


def _draws(samples: int, seed: int, resamples: int) -> Iterator[_Draws]:
    """Indices of samples drawn with replacement: one row per resample, in blocks of rows."""
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // samples)
    for start in range(0, resamples, rows):
        yield random.integers(samples, size=(min(rows, resamples - start), samples))
