"""Scores of the decision to answer or to refuse.

Either kind of refusal is right for a question that no abstract answers; only the table of outcomes
distinguishes them.
"""

from assistant.evaluation.types import AnsweredQuestion, Expected, Score
from assistant.types import Outcome

EITHER_REFUSAL = "either refusal"
"""The right outcome if no abstract answers and the kind of refusal is not known."""


def abstention(asked: AnsweredQuestion) -> Score | None:
    """1 if the decision to answer or to refuse is right, else 0."""
    should = should_answer(asked.expected)
    if asked.answer is None or should is None:
        return None
    given = asked.answer.outcome
    is_right = (given is Outcome.ANSWERED) == should
    what = "answered" if given is Outcome.ANSWERED else f"refused ({given.value})"
    why = "as it should be" if is_right else f"but should be {'answered' if should else 'refused'}"
    return Score(float(is_right), f"{what}, {why}")


def false_abstention(asked: AnsweredQuestion) -> Score | None:
    """1 if a question that can be answered is refused, else 0."""
    return _wrong(asked) if should_answer(asked.expected) is True else None


def false_answer(asked: AnsweredQuestion) -> Score | None:
    """1 if a question that no abstract answers is answered, else 0."""
    return _wrong(asked) if should_answer(asked.expected) is False else None


def should_answer(expected: Expected) -> bool | None:
    """Whether the question should be answered, None if that is not known."""
    if expected.outcome is not None:
        return expected.outcome is Outcome.ANSWERED
    return None if expected.papers is None else bool(expected.papers)


def outcome_labels(expected: Expected, given: Outcome) -> tuple[str, str] | None:
    """Row and column of a question in the table of outcomes, None if the row is not known.

    Rows are the right outcomes and `EITHER_REFUSAL`, columns the outcomes.
    """
    if expected.outcome is not None:
        return expected.outcome.value, given.value
    should = should_answer(expected)
    if should is None:
        return None
    return (Outcome.ANSWERED.value if should else EITHER_REFUSAL), given.value


def _wrong(asked: AnsweredQuestion) -> Score | None:
    score = abstention(asked)
    return Score(float(score.value == 0), score.why) if score else None
