"""The risk-coverage curve against a twin that is slow and plain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scorer_cases import CAN, CANNOT, reply

from assistant.evaluation.scorers.risk_coverage import (
    JUDGES,
    JudgedAnswer,
    area_below,
    curve_of,
    judged_by,
)
from assistant.evaluation.types import CurvePoint

QUESTIONS = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.2, 0.5, 0.9]), st.booleans()))
"""Few confidences, so that many are equal."""


def slow_curve(judged: list[JudgedAnswer]) -> tuple[CurvePoint, ...]:
    """For every threshold, what it lets through."""
    points = []
    for threshold in sorted({confidence for confidence, _ in judged}, reverse=True):
        let_through = [wrong for confidence, wrong in judged if confidence >= threshold]
        coverage = len(let_through) / len(judged)
        points.append(CurvePoint(threshold, coverage, let_through.count(True) / len(let_through)))
    return tuple(points)


def slow_area(judged: list[JudgedAnswer]) -> float:
    """The mean over the questions of the risk at which each is let through."""
    risks = {point.confidence: point.risk for point in slow_curve(judged)}
    return sum(risks[confidence] for confidence, _ in judged) / len(judged)


@given(QUESTIONS)
def test_the_curve_is_that_of_the_twin(judged: list[JudgedAnswer]) -> None:
    assert curve_of(judged) == slow_curve(judged)


@given(QUESTIONS.filter(bool))
def test_the_area_is_that_of_the_twin(judged: list[JudgedAnswer]) -> None:
    assert area_below(curve_of(judged)) == pytest.approx(slow_area(judged))


@given(QUESTIONS.filter(bool))
def test_the_curve_ends_where_all_is_answered(judged: list[JudgedAnswer]) -> None:
    last = curve_of(judged)[-1]
    assert (last.coverage, last.risk) == (1.0, sum(wrong for _, wrong in judged) / len(judged))


def test_the_order_of_equal_confidences_does_not_matter() -> None:
    assert curve_of([(0.5, True), (0.5, False)]) == curve_of([(0.5, False), (0.5, True)])


def test_what_counts_as_wrong_decides_which_questions_count() -> None:
    replies = [
        reply(CAN, confidence=0.9, facts=1.0),
        reply(CAN, confidence=0.8, facts=0.0),
        reply(CANNOT, confidence=0.7),
        reply(CAN, "not_in_library", confidence=0.1, facts=0.0),
        reply(CANNOT, "not_in_library", confidence=0.0),
    ]
    judged = {name: judged_by(replies, judge) for name, judge in JUDGES.items()}
    assert judged == {
        "no abstract answers": [
            *((0.9, False), (0.8, False), (0.7, True), (0.1, False), (0.0, True)),
        ],
        "not right": [(0.9, False), (0.8, True), (0.7, True)],
    }
