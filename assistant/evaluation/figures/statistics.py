"""Means with 95 % bootstrap intervals over samples, risk-coverage curves, distributions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
"""Enough to give the ends of a 95 % interval to about a hundredth of its width."""
LEAST_SAMPLES = 6
"""Samples needed for an interval, by the sign test: five samples all become worse by chance once in
32 times, six once in 64, which is less than 2.5 %."""
_ENDS = (0.025, 0.975)
_BLOCK = 20_000
"""Draws at a time: few enough for a processor's cache."""


class Interval(NamedTuple):
    """The range of the figure in 95 % of resampled sets of samples."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Total:
    """Sum and number of the scores of a sample's questions."""

    sum: float
    count: int
    """At least 1."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Coverage and risk if this confidence were needed for an answer."""

    confidence: float
    coverage: float
    """Share of all questions."""
    risk: float
    """Share of wrong answers among these."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of a time or a count over questions."""

    mean: float
    median: float
    p95: float
    total: float


def mean(totals: Sequence[Total]) -> float:
    """The mean over all questions of at least one sample."""
    return sum(total.sum for total in totals) / sum(total.count for total in totals)


def mean_interval(totals: Sequence[Total], seed: int, resamples: int = RESAMPLES) -> Interval:
    """The 95 % interval of `mean`: samples are drawn with replacement, the same ones for a seed."""
    return _interval(_resampled_means(totals, seed, resamples))


def difference_interval(
    before: Sequence[Total], now: Sequence[Total], seed: int, resamples: int = RESAMPLES
) -> Interval:
    """The 95 % interval of `mean(now) - mean(before)`.

    Both runs have the same samples in the same order, and the same of them are drawn for both.
    """
    if len(before) != len(now):
        raise ValueError(f"{len(before)} samples cannot be paired with {len(now)}")
    means_before, means_now = (_resampled_means(run, seed, resamples) for run in (before, now))
    return _interval(means_now - means_before)


def _interval(resampled: npt.NDArray[np.float64]) -> Interval:
    low, high = np.quantile(resampled, _ENDS)
    return Interval(float(low), float(high))


def _resampled_means(totals: Sequence[Total], seed: int, resamples: int) -> npt.NDArray[np.float64]:
    """The mean of each set of as many samples drawn with replacement."""
    samples = len(totals)
    sums = np.array([total.sum for total in totals])
    counts = np.array([total.count for total in totals])
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // samples)
    blocks = []
    for start in range(0, resamples, rows):
        draws = random.integers(samples, size=(min(rows, resamples - start), samples))
        blocks.append(sums[draws].sum(axis=1) / counts[draws].sum(axis=1))
    return np.concatenate(blocks)


def risk_coverage(judged: Iterable[tuple[float, bool]]) -> tuple[CurvePoint, ...]:
    """The share of wrong answers over the share of questions answered, the surest first.

    The curve is that of El-Yaniv and Wiener 2010, "On the Foundations of Noise-free Selective
    Classification". Questions of the same confidence share a point.

    Args:
        judged: for each question the confidence, and whether its answer is wrong.
    """
    ordered = sorted(judged, key=itemgetter(0), reverse=True)
    points = []
    taken = wrong = 0
    for confidence, step in groupby(ordered, key=itemgetter(0)):
        mistakes = [is_wrong for _, is_wrong in step]
        taken += len(mistakes)
        wrong += sum(mistakes)
        points.append(CurvePoint(confidence, taken / len(ordered), wrong / taken))
    return tuple(points)


def area_below(curve: Sequence[CurvePoint]) -> float:
    """The mean risk over all coverages; less is better.

    Each step counts with the risk at its end (Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced
    Uncertainty Estimation for Deep Neural Classifiers").
    """
    coverages = pairwise([0.0, *(point.coverage for point in curve)])
    return sum(
        (after - before) * point.risk
        for (before, after), point in zip(coverages, curve, strict=True)
    )


def spread_of(values: Sequence[float]) -> Spread:
    """The distribution of at least one value."""
    return Spread(
        mean=float(np.mean(values)),
        median=float(np.median(values)),
        p95=float(np.percentile(values, 95)),
        total=float(sum(values)),
    )
