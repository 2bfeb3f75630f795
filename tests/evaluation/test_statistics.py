"""Bootstrap intervals, and the risk-coverage curve against a twin that is slow and plain."""

import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.evaluation.figures.statistics import (
    RESAMPLES,
    CurvePoint,
    Interval,
    Total,
    area_below,
    difference_interval,
    mean,
    mean_interval,
    risk_coverage,
)

FEW = st.lists(st.builds(Total, st.floats(0, 100), st.integers(1, 4)), min_size=1, max_size=12)


def ones(*values: float) -> list[Total]:
    """Samples of a question each."""
    return [Total(value, 1) for value in values]


def test_the_mean_is_over_questions_not_over_samples() -> None:
    assert mean([Total(1.0, 1), Total(1.0, 3)]) == 0.5  # not (1 + 1/3) / 2


def test_the_ends_are_those_of_the_binomial_distribution() -> None:
    # 20 coins, 10 heads: the mean of a resample is Binomial(20, 1/2) / 20, whose 2.5 % and 97.5 %
    # points are 6 and 14 (P(X <= 5) = 0.0207, P(X <= 6) = 0.0577).
    assert mean_interval(ones(*[0.0, 1.0] * 10), seed=1) == Interval(0.30, 0.70)


def test_samples_that_all_score_the_same_leave_no_doubt() -> None:
    assert mean_interval(ones(0.25, 0.25, 0.25, 0.25), seed=1) == Interval(0.25, 0.25)


def test_a_single_sample_is_all_that_can_be_drawn() -> None:
    assert mean_interval([Total(1.0, 4)], seed=1) == Interval(0.25, 0.25)


def test_the_turns_of_a_conversation_stay_together() -> None:
    # Two conversations of 50 turns, one all right and one all wrong: a resample has both, or the
    # one twice, or the other twice. Turns drawn one by one would give about 0.40 to 0.60.
    assert mean_interval([Total(50.0, 50), Total(0.0, 50)], seed=1) == Interval(0.0, 1.0)


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly() -> None:
    numbers = random.Random(3)  # noqa: S311
    totals = ones(*(numbers.random() for _ in range(100)))
    first = mean_interval(totals, seed=1)
    other = mean_interval(totals, seed=2)
    assert mean_interval(totals, seed=1) == first
    assert other != first
    assert other.low == pytest.approx(first.low, abs=0.05 * (first.high - first.low))


def test_draws_in_blocks_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = ones(*(index / 7 for index in range(37)))
    in_blocks = mean_interval(totals, seed=5)
    monkeypatch.setattr("assistant.evaluation.figures.statistics._BLOCK", 37 * RESAMPLES)
    assert mean_interval(totals, seed=5) == in_blocks


def test_a_run_beside_itself_differs_by_nothing() -> None:
    totals = [Total(0.1 * index, 1 + index % 3) for index in range(30)]
    assert difference_interval(totals, totals, seed=1) == Interval(0.0, 0.0)


def test_a_difference_that_all_samples_share_is_certain_however_they_spread() -> None:
    # Unpaired, the spread from 0 to 100 would drown it.
    before = ones(*map(float, range(0, 101, 10)))
    now = ones(*map(float, range(1, 102, 10)))
    interval = difference_interval(before, now, seed=1)
    assert interval.low == pytest.approx(1.0)
    assert interval.high == pytest.approx(1.0)


def test_samples_that_are_not_the_same_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="2 samples cannot be paired with 1"):
        difference_interval(ones(1, 2), ones(1), seed=1)


@given(FEW, st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_the_fast_interval_is_that_of_a_slow_twin(totals: list[Total], seed: int) -> None:
    means = []
    draws = np.random.default_rng(seed)
    for _ in range(40):
        drawn = [totals[place] for place in draws.integers(len(totals), size=len(totals))]
        means.append(sum(t.sum for t in drawn) / sum(t.count for t in drawn))
    interval = mean_interval(totals, seed, resamples=40)
    # 40 parts have 39 cuts: the first and the last are the 2.5 % and the 97.5 % points.
    cuts = statistics.quantiles(means, n=40, method="inclusive")
    assert interval.low == pytest.approx(cuts[0])
    assert interval.high == pytest.approx(cuts[-1])


@given(FEW)
@settings(max_examples=25, deadline=None)
def test_an_interval_lies_within_the_samples(totals: list[Total]) -> None:
    means = [total.sum / total.count for total in totals]
    interval = mean_interval(totals, seed=1, resamples=200)
    assert min(means) - 1e-9 <= interval.low <= interval.high <= max(means) + 1e-9


def test_intervals_hold_the_truth_about_95_times_in_a_hundred() -> None:
    """Means of conversations whose turns are alike, the hard case, drawn from a known truth."""
    numbers = np.random.default_rng(11)
    truth, held = 0.7, 0
    for trial in range(2000):
        chances = numbers.beta(7, 3, size=60)  # of a conversation's turns; its mean is the truth
        turns = numbers.integers(1, 5, size=60)
        right = numbers.binomial(turns, chances)
        totals = [Total(float(r), int(t)) for r, t in zip(right, turns, strict=True)]
        interval = mean_interval(totals, seed=trial, resamples=500)
        held += interval.low <= truth <= interval.high
    assert 0.93 <= held / 2000 <= 0.96


def test_intervals_of_differences_hold_the_truth_about_95_times_in_a_hundred() -> None:
    numbers = np.random.default_rng(12)
    held = 0
    for trial in range(2000):
        hardness = numbers.normal(0, 5, size=50)  # what both runs share
        before = hardness + numbers.normal(0, 1, size=50)
        now = hardness + numbers.normal(0.3, 1, size=50)
        interval = difference_interval(ones(*before), ones(*now), seed=trial, resamples=500)
        held += interval.low <= 0.3 <= interval.high
    assert 0.93 <= held / 2000 <= 0.96


JUDGED = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.2, 0.5, 0.9]), st.booleans()), min_size=1)
"""Few confidences, so that many are equal."""


def slow_curve(judged: list[tuple[float, bool]]) -> tuple[CurvePoint, ...]:
    """For every threshold, what it lets through."""
    points = []
    for threshold in sorted({confidence for confidence, _ in judged}, reverse=True):
        let_through = [wrong for confidence, wrong in judged if confidence >= threshold]
        coverage = len(let_through) / len(judged)
        points.append(CurvePoint(threshold, coverage, let_through.count(True) / len(let_through)))
    return tuple(points)


@given(JUDGED)
def test_curve_and_area_are_those_of_the_twin(judged: list[tuple[float, bool]]) -> None:
    curve = slow_curve(judged)
    assert risk_coverage(judged) == curve
    # The mean over the questions of the risk at which each is let through.
    risks = {point.confidence: point.risk for point in curve}
    area = sum(risks[confidence] for confidence, _ in judged) / len(judged)
    assert area_below(curve) == pytest.approx(area)


def test_a_curve_by_hand() -> None:
    curve = risk_coverage([(0.9, False), (0.8, True), (0.8, False), (0.1, True)])
    assert curve == (
        CurvePoint(0.9, 0.25, 0.0),
        CurvePoint(0.8, 0.75, 1 / 3),
        CurvePoint(0.1, 1.0, 0.5),
    )
    assert area_below(curve) == pytest.approx(0.25 * 0 + 0.5 / 3 + 0.25 * 0.5)
