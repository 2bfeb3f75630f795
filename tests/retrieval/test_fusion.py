"""Fusion by hand, and against a slow twin."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.search.search import convex_sum, reciprocal_rank_fusion

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1), min_size=1)
MATCHES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 30))
TIED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 4))
"""Scores of which many are equal."""


@pytest.mark.parametrize(
    ("dense", "lexical", "weight", "fused"),
    [
        ({"a": 0.8, "b": 0.4, "c": 0.6}, {"b": 10.0}, 0.5, {"a": 0.5, "b": 0.75, "c": 0.375}),
        ({"a": 0.9, "b": 0.45}, {"a": 2.0, "b": 4.0}, 0.6, {"a": 0.8, "b": 0.7}),
        ({"a": 0.3}, {}, 0.6, {"a": 0.6}),
        ({}, {"a": 3.0}, 0.6, {}),
        ({"a": 1.0, "b": -0.2}, {"a": 1.0, "z": 9.0}, 0.5, {"a": 1.0, "b": 0.0}),
        ({"a": -0.3, "b": -0.1}, {"b": 2.0}, 0.5, {"a": 0.0, "b": 0.5}),
    ],
)
def test_the_convex_sum(
    dense: dict[str, float],
    lexical: dict[str, float],
    weight: float,
    fused: dict[str, float],
) -> None:
    assert convex_sum(dense, lexical, weight) == pytest.approx(fused)


@given(SCORES, MATCHES, st.floats(0, 1))
def test_scores_stay_between_0_and_1(
    dense: dict[str, float], lexical: dict[str, float], weight: float
) -> None:
    fused = convex_sum(dense, lexical, weight)
    assert fused.keys() == dense.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES, st.floats(0.1, 1))
def test_without_lexical_matches_the_dense_order_stays(
    dense: dict[str, float], weight: float
) -> None:
    fused = convex_sum(dense, {}, weight)
    for left, right in permutations(dense, 2):
        if dense[left] > dense[right]:
            assert fused[left] >= fused[right]


@pytest.mark.parametrize(
    ("dense", "lexical", "fused"),
    [
        # a: 1/61 + 1/62, b: 1/62, c: 1/63 + 1/61
        (
            {"a": 0.9, "b": 0.5, "c": 0.1},
            {"c": 3.0, "a": 2.0},
            {"a": 1.0, "b": 61 / 123, "c": (62 * 124) / (63 * 123)},
        ),
        # z, which is no candidate, keeps its rank: a: 1/61, b: 1/62 + 1/62
        ({"a": 0.5, "b": 0.4}, {"z": 9.0, "b": 1.0}, {"a": 31 / 61, "b": 1.0}),
        # however far the first is ahead
        ({"a": 0.9, "b": -0.9}, {}, {"a": 1.0, "b": 61 / 62}),
        ({"b": 0.5, "a": 0.5}, {}, {"a": 1.0, "b": 61 / 62}),
        ({}, {"a": 1.0}, {}),
    ],
)
def test_reciprocal_ranks(
    dense: dict[str, float], lexical: dict[str, float], fused: dict[str, float]
) -> None:
    assert reciprocal_rank_fusion(dense, lexical) == pytest.approx(fused)


def slow_rank(key: str, scores: Mapping[str, float]) -> int:
    return 1 + sum(
        scores[other] > scores[key] or (scores[other] == scores[key] and other < key)
        for other in scores
    )


def slow_fusion(dense: Mapping[str, float], lexical: Mapping[str, float]) -> dict[str, Fraction]:
    sums = {
        key: sum(
            (Fraction(1, 60 + slow_rank(key, each)) for each in (dense, lexical) if key in each),
            start=Fraction(0),
        )
        for key in dense
    }
    return {key: value / max(sums.values()) for key, value in sums.items()}


@given(TIED, TIED)
def test_reciprocal_ranks_against_the_slow_twin(
    dense: dict[str, float], lexical: dict[str, float]
) -> None:
    slow = {key: float(value) for key, value in slow_fusion(dense, lexical).items()}
    assert reciprocal_rank_fusion(dense, lexical) == pytest.approx(slow)
