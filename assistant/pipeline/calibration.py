"""From which confidence on a question is answered: measured on questions about the library.

The measure of a good threshold is the risk-coverage curve (El-Yaniv and Wiener 2010, "On the
Foundations of Noise-free Selective Classification"). The threshold is chosen on one half of the
questions, as a conformal quantile (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a
Random World"): a new question of the same kind is answered wrongly at most as often as promised.
What it does is reported on the other half.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pydantic

from retrieval.errors import InputError, LibraryError
from retrieval.files import write_whole

FILE = "abstention.json"
MOST_REFUSED = 0.05
"""Promised share of answerable questions that are refused, where people wrote the questions."""
MOST_ANSWERED = 0.10
"""Promised share of unanswerable questions that are answered, where sentences stand for questions:
of these the answerable ones are too easy to choose by."""
LEAST_QUESTIONS = 20
"""Answerable questions, and unanswerable ones, below which a threshold would be chance."""
CURVE_POINTS = 20


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, how sure the assistant was, and whether answering it would have been right."""

    confidence: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the risk-coverage curve."""

    threshold: float
    coverage: float
    """Share of all questions that are answered at this threshold."""
    risk: float
    """Share of those answered that the library has no answer to."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a threshold does on questions that it was not chosen by."""

    wrongly_refused: float
    """Share of the answerable questions below the threshold."""
    refused: float
    """Share of the unanswerable questions below it."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, and what it was measured on."""

    least_confidence: float
    """Questions that the assistant is less sure of are not answered."""
    source: str
    """Where the questions are from."""
    answerable: int
    unanswerable: int
    promise: str
    """What the threshold promises, in words."""
    before: Rates
    """What the threshold before does on the second half of the questions."""
    after: Rates
    """What this one does there."""
    auc: float
    """How often an answerable question is surer than an unanswerable one."""
    curve: tuple[Point, ...] = ()


DEFAULT_THRESHOLD = 0.2
"""For libraries without one of their own; see tests/benchmarks/reading.md."""

_FORM = pydantic.TypeAdapter(Calibration)


def calibrated(
    judged: Sequence[Judged], source: str, *, before: float, by_people: bool
) -> Calibration:
    """The threshold that keeps its promise, chosen on every second question of either kind.

    Args:
        judged: at least `LEAST_QUESTIONS` of either kind.
        source: where they are from.
        before: the threshold so far.
        by_people: whether people wrote the questions, so that the answerable ones are as hard as
            those to come.

    Raises:
        InputError: there are too few.
    """
    answerable = [each.confidence for each in judged if each.answerable]
    unanswerable = [each.confidence for each in judged if not each.answerable]
    if min(len(answerable), len(unanswerable)) < LEAST_QUESTIONS:
        raise InputError(
            f"{len(answerable)} answerable and {len(unanswerable)} unanswerable questions are too "
            f"few to calibrate with; at least {LEAST_QUESTIONS} of each are needed."
        )
    if by_people:
        share = _promised(MOST_REFUSED, len(answerable[::2]))
        least = -_quantile([-value for value in answerable[::2]], 1 - share)
        promise = f"at most {share:.0%} of answerable questions are refused"
    else:
        share = _promised(MOST_ANSWERED, len(unanswerable[::2]))
        least = math.nextafter(_quantile(unanswerable[::2], 1 - share), 1.0)
        promise = f"at most {share:.0%} of unanswerable questions are answered"
    checked = answerable[1::2], unanswerable[1::2]
    return Calibration(
        least_confidence=least,
        source=source,
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        promise=promise,
        before=Rates(*(_below(values, before) for values in checked)),
        after=Rates(*(_below(values, least) for values in checked)),
        auc=round(sum(_below(unanswerable, each) for each in answerable) / len(answerable), 4),
        curve=_curve(answerable, unanswerable),
    )


def _promised(wanted: float, questions: int) -> float:
    """The share that so many questions can promise, in whole percents: few can promise little."""
    return max(wanted, math.ceil(100 / (questions + 1)) / 100)


def _quantile(values: Sequence[float], share: float) -> float:
    """The conformal quantile: a new value is at most this with probability `share` or more."""
    ordered = sorted(values)
    return ordered[min(len(ordered), math.ceil(round((len(ordered) + 1) * share, 9))) - 1]


def _below(values: Sequence[float], threshold: float) -> float:
    return round(sum(value < threshold for value in values) / len(values), 4)


def _curve(answerable: Sequence[float], unanswerable: Sequence[float]) -> tuple[Point, ...]:
    """Risk and coverage from answering everything to answering the surest few."""
    ordered = sorted((*answerable, *unanswerable))
    points = []
    for step in range(CURVE_POINTS):
        threshold = ordered[step * len(ordered) // CURVE_POINTS]
        right = sum(value >= threshold for value in answerable)
        wrong = sum(value >= threshold for value in unanswerable)
        coverage = (right + wrong) / len(ordered)
        points.append(
            Point(round(threshold, 4), round(coverage, 4), round(wrong / (right + wrong), 4))
        )
    return tuple(points)


def threshold(home: Path) -> float:
    """From which confidence on the library in `home` is answered.

    Raises:
        LibraryError: it has a calibration that cannot be read.
    """
    own = read_calibration(home)
    return own.least_confidence if own else DEFAULT_THRESHOLD


def read_calibration(home: Path) -> Calibration | None:
    """The calibration of the library in `home`, if it has one of its own.

    Raises:
        LibraryError: it has one that cannot be read.
    """
    path = home / FILE
    try:
        return _FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, pydantic.ValidationError) as error:
        why = " ".join(str(error).split())[:200]
        raise LibraryError(
            f"{path} cannot be read ({why}); make it anew with `assistant calibrate`, or remove it."
        ) from error


def write_calibration(home: Path, calibration: Calibration) -> None:
    """Store a calibration with the library, whole or not at all.

    Raises:
        LibraryError: the folder cannot be written.
    """
    write_whole(home / FILE, _FORM.dump_json(calibration, indent=2).decode("utf-8"))
