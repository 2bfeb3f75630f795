"""Score of the later turns of a conversation."""

from assistant.evaluation.scorers.abstention import should_answer
from assistant.evaluation.scorers.wording import quoted
from assistant.evaluation.types import AnsweredQuestion, SampleType, Score
from assistant.types import Answer, Outcome


def follow_up(asked: AnsweredQuestion) -> Score | None:
    """1 if a later turn cites a right paper first, or refuses if no paper is right; else 0."""
    if asked.type is not SampleType.CHAT or asked.turn == 0 or asked.answer is None:
        return None
    should = should_answer(asked.expected)
    if should is False:
        is_right = asked.answer.outcome is not Outcome.ANSWERED
        return Score(float(is_right), f"{_begins(asked.answer)}; nothing is right")
    if not asked.expected.papers:
        return None
    is_right = any(each.paper.id in asked.expected.papers for each in asked.answer.citations[:1])
    expected = "a right paper" if is_right else "not a right paper"
    return Score(float(is_right), f"{_begins(asked.answer)}; {expected}")


def _begins(answer: Answer) -> str:
    if answer.outcome is not Outcome.ANSWERED:
        return f"refused ({answer.outcome.value})"
    if not answer.citations:
        return "cites nothing"
    return f"cites {quoted(answer.citations[0].paper.shown_title)} first"
