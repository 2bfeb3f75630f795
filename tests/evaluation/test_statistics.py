"""Bootstrap intervals, and the risk-coverage curve against a twin that is slow and plain."""

import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.evaluation.figures.figures import (
    LEAST_SAMPLES,
    RESAMPLES,
    CurvePoint,
    area_below,
    interval,
    mean,
)
from assistant.pipeline.calibration import risk_coverage

SAMPLES = st.lists(
    st.lists(st.floats(0, 100), min_size=1, max_size=4), min_size=LEAST_SAMPLES, max_size=12
)


def ones(*values: float) -> list[list[float]]:
    """Samples of a question each."""
    return [[value] for value in values]


def test_the_mean_is_over_questions_not_over_samples() -> None:
    assert mean([[1.0], [1.0, 0.0, 0.0]]) == 0.5  # not (1 + 1/3) / 2


def test_the_ends_are_those_of_the_binomial_distribution() -> None:
    # 20 coins, 10 heads: the mean of a resample is Binomial(20, 1/2) / 20, whose 2.5 % and 97.5 %
    # points are 6 and 14 (P(X <= 5) = 0.0207, P(X <= 6) = 0.0577).
    assert interval(ones(*[0.0, 1.0] * 10), seed=1) == (0.30, 0.70)


def test_samples_that_all_score_the_same_leave_no_doubt() -> None:
    assert interval(ones(*[0.25] * 6), seed=1) == (0.25, 0.25)


def test_fewer_than_six_samples_have_no_interval() -> None:
    assert interval(ones(0.0, 0.2, 0.4, 0.6, 1.0), seed=1) == (None, None)


def test_the_turns_of_a_conversation_stay_together() -> None:
    # Of six conversations of 50 turns three are all right: Binomial(6, 1/2) / 6, whose ends are 1
    # and 5 (P(X = 0) = 0.016, P(X <= 1) = 0.11). Turns drawn one by one give about 0.44 to 0.56.
    low, high = interval([[1.0] * 50, [0.0] * 50] * 3, seed=1)
    assert (low, high) == (pytest.approx(1 / 6), pytest.approx(5 / 6))


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly() -> None:
    numbers = random.Random(3)  # noqa: S311
    samples = ones(*(numbers.random() for _ in range(100)))
    low, high = interval(samples, seed=1)
    other, _ = interval(samples, seed=2)
    assert low is not None
    assert high is not None
    assert interval(samples, seed=1) == (low, high)
    assert other != low
    assert other == pytest.approx(low, abs=0.05 * (high - low))


def test_draws_in_blocks_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = ones(*(index / 7 for index in range(37)))
    in_blocks = interval(samples, seed=5)
    monkeypatch.setattr("assistant.evaluation.figures.figures._BLOCK", 37 * RESAMPLES)
    assert interval(samples, seed=5) == in_blocks


def test_a_run_beside_itself_differs_by_nothing() -> None:
    samples = [[0.1 * index] * (1 + index % 3) for index in range(30)]
    assert interval(samples, seed=1, before=samples) == (0.0, 0.0)


def test_a_difference_that_all_samples_share_is_certain_however_they_spread() -> None:
    # Unpaired, the spread from 0 to 100 would drown it.
    before = ones(*map(float, range(0, 101, 10)))
    now = ones(*map(float, range(1, 102, 10)))
    assert interval(now, seed=1, before=before) == (pytest.approx(1.0), pytest.approx(1.0))


@given(SAMPLES, st.integers(0, 9))
@settings(max_examples=25)
def test_the_fast_interval_is_that_of_a_slow_twin(samples: list[list[float]], seed: int) -> None:
    means = []
    draws = np.random.default_rng(seed)
    for _ in range(40):
        drawn = [samples[place] for place in draws.integers(len(samples), size=len(samples))]
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    # 40 parts have 39 cuts: the first and the last are the 2.5 % and the 97.5 % points.
    cuts = statistics.quantiles(means, n=40, method="inclusive")
    ends = pytest.approx(cuts[0]), pytest.approx(cuts[-1])
    assert interval(samples, seed, resamples=40) == ends


@given(SAMPLES)
@settings(max_examples=25)
def test_an_interval_lies_within_the_samples(samples: list[list[float]]) -> None:
    means = [statistics.fmean(scores) for scores in samples]
    low, high = interval(samples, seed=1, resamples=200)
    assert low is not None
    assert high is not None
    assert min(means) - 1e-9 <= low <= high <= max(means) + 1e-9


def holds(truth: float, ends: tuple[float, float] | tuple[None, None]) -> bool:
    low, high = ends
    return low is not None and high is not None and low <= truth <= high


def test_intervals_hold_the_truth_about_95_times_in_a_hundred() -> None:
    """Means of conversations whose turns are alike, the hard case, drawn from a known truth."""
    numbers = np.random.default_rng(11)
    truth, trials, held = 0.7, 600, 0
    for trial in range(trials):
        chances = numbers.beta(7, 3, size=60)  # of a conversation's turns; its mean is the truth
        turns = numbers.integers(1, 5, size=60)
        right = numbers.binomial(turns, chances)
        samples = [[1.0] * r + [0.0] * (t - r) for r, t in zip(right, turns, strict=True)]
        held += holds(truth, interval(samples, seed=trial, resamples=500))
    assert 0.92 <= held / trials <= 0.97


def test_intervals_of_differences_hold_the_truth_about_95_times_in_a_hundred() -> None:
    numbers = np.random.default_rng(12)
    trials, held = 600, 0
    for trial in range(trials):
        hardness = numbers.normal(0, 5, size=50)  # what both runs share
        before = hardness + numbers.normal(0, 1, size=50)
        now = hardness + numbers.normal(0.3, 1, size=50)
        ends = interval(ones(*now), seed=trial, resamples=500, before=ones(*before))
        held += holds(0.3, ends)
    assert 0.92 <= held / trials <= 0.97


JUDGED = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.2, 0.5, 0.9]), st.booleans()), min_size=1)
"""Few confidences, so that many are equal."""


def slow_curve(judged: list[tuple[float, bool]]) -> list[tuple[float, float, float]]:
    """For every threshold, what it lets through."""
    points = []
    for threshold in sorted({confidence for confidence, _ in judged}, reverse=True):
        let_through = [wrong for confidence, wrong in judged if confidence >= threshold]
        coverage = len(let_through) / len(judged)
        points.append((threshold, coverage, let_through.count(True) / len(let_through)))
    return points


@given(JUDGED)
def test_curve_and_area_are_those_of_the_twin(judged: list[tuple[float, bool]]) -> None:
    curve = slow_curve(judged)
    assert risk_coverage(judged) == curve
    # The mean over the questions of the risk at which each is let through.
    risks = {confidence: risk for confidence, _, risk in curve}
    area = sum(risks[confidence] for confidence, _ in judged) / len(judged)
    assert area_below([CurvePoint(*point) for point in curve]) == pytest.approx(area)


def test_a_curve_by_hand() -> None:
    curve = risk_coverage([(0.9, False), (0.8, True), (0.8, False), (0.1, True)])
    assert curve == [(0.9, 0.25, 0.0), (0.8, 0.75, 1 / 3), (0.1, 1.0, 0.5)]
    area = area_below([CurvePoint(*point) for point in curve])
    assert area == pytest.approx(0.25 * 0 + 0.5 / 3 + 0.25 * 0.5)
