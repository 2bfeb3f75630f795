"""From which confidence on a question is answered: measured on questions about the library.

The measure of a good threshold is the risk-coverage curve (El-Yaniv and Wiener 2010, "On the
Foundations of Noise-free Selective Classification"): the more questions are answered, the more of
the answers are ones that the library does not have.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pydantic

from retrieval.errors import InputError, LibraryError
from retrieval.files import write_whole

FILE = "calibration.json"
MOST_REFUSED = 0.08
"""Share of the answerable questions that may be refused, where the threshold is chosen."""
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
class Calibration:
    """A threshold, and what it was measured on."""

    least_confidence: float
    """Questions that the assistant is less sure of are not answered."""
    source: str
    """Where the questions are from."""
    answerable: int
    unanswerable: int
    wrongly_refused: float
    """Share of the answerable questions below the threshold."""
    refused: float
    """Share of the unanswerable questions below it."""
    auc: float
    """How often an answerable question is surer than an unanswerable one."""
    curve: tuple[Point, ...] = ()


DEFAULT = Calibration(
    least_confidence=0.2362,
    source="questions about the seeds",
    answerable=120,
    unanswerable=30,
    wrongly_refused=0.075,
    refused=0.9667,
    auc=0.9897,
)
"""For libraries without one of their own; see tests/benchmarks/answers.md."""

_FORM = pydantic.TypeAdapter(Calibration)


def calibrated(judged: Sequence[Judged], source: str) -> Calibration:
    """The threshold that refuses as many of the unanswerable questions as it may.

    Args:
        judged: at least `LEAST_QUESTIONS` of either kind.
        source: where they are from.

    Raises:
        InputError: there are too few.
    """
    answerable = sorted(each.confidence for each in judged if each.answerable)
    unanswerable = sorted(each.confidence for each in judged if not each.answerable)
    if min(len(answerable), len(unanswerable)) < LEAST_QUESTIONS:
        raise InputError(
            f"{len(answerable)} answerable and {len(unanswerable)} unanswerable questions are too "
            f"few to calibrate with; at least {LEAST_QUESTIONS} of each are needed."
        )
    least = math.floor(answerable[int(MOST_REFUSED * len(answerable))] * 10_000) / 10_000
    return Calibration(
        least_confidence=least,
        source=source,
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        wrongly_refused=_below(answerable, least),
        refused=_below(unanswerable, least),
        auc=round(sum(_below(unanswerable, each) for each in answerable) / len(answerable), 4),
        curve=_curve(answerable, unanswerable),
    )


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


def read_calibration(home: Path) -> Calibration:
    """The calibration of the library in `home`, or the default.

    Raises:
        LibraryError: it has one that cannot be read.
    """
    path = home / FILE
    try:
        return _FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return DEFAULT
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
