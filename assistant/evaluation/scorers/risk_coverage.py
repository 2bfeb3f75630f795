"""The risk-coverage curve: share of wrong answers over share of questions answered.

The curve is that of El-Yaniv and Wiener 2010, "On the Foundations of Noise-free Selective
Classification"; its area that of Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced Uncertainty
Estimation for Deep Neural Classifiers": the mean risk over all coverages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from assistant.evaluation.scorers.abstention import should_answer
from assistant.evaluation.types import CurvePoint, Reply
from assistant.types import Outcome

JudgedAnswer = tuple[float, bool]
"""A confidence, and whether the answer is wrong."""

Judge = Callable[[Reply], bool | None]
"""Whether a reply is wrong, None if that is not known."""


def curve_of(judged: Iterable[JudgedAnswer]) -> tuple[CurvePoint, ...]:
    """A point for every confidence, from the highest to the lowest.

    Questions of the same confidence share a point.
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


def area_below(curve: Sequence[CurvePoint]) -> float | None:
    """The mean risk over all coverages, None for a curve without points; less is better.

    Each step counts with the risk at its end.
    """
    if not curve:
        return None
    ends = [0.0, *(point.coverage for point in curve)]
    widths = (after - before for before, after in pairwise(ends))
    return sum(width * point.risk for width, point in zip(widths, curve, strict=True))


def judged_by(replies: Iterable[Reply], is_wrong: Judge) -> list[JudgedAnswer]:
    """The replies that have a confidence and can be judged."""
    judged = ((reply, is_wrong(reply)) for reply in replies)
    return [
        (reply.answer["confidence"], wrong)
        for reply, wrong in judged
        if wrong is not None and reply.answer and reply.answer["confidence"] is not None
    ]


def no_abstract_answers(reply: Reply) -> bool | None:
    """Whether any answer would be wrong; refused questions count, too."""
    should = should_answer(reply.expected)
    return None if should is None else not should


def not_right(reply: Reply) -> bool | None:
    """Whether the answer is wrong: no abstract answers, or a fact is missing.

    None if the question was refused or has no expected facts.
    """
    if reply.answer is None or reply.answer["outcome"] != Outcome.ANSWERED:
        return None
    if should_answer(reply.expected) is False:
        return True
    facts = reply.scores.get("facts")
    return facts.value != 1 if facts else None


JUDGES: Mapping[str, Judge] = {
    "no abstract answers": no_abstract_answers,
    "not right": not_right,
}
"""The definitions of wrong; each has a curve."""
