"""Score of repeated questions: the same question should get the same answer."""

from assistant.evaluation.scorers.wording import share
from assistant.evaluation.types import AnsweredQuestion, Score


def same_again(asked: AnsweredQuestion) -> Score | None:
    """Share of the repeats that gave the same bytes, without timings."""
    return share(asked.again, "repeat") if asked.again else None
