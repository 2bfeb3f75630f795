"""The figures of a run: every metric with its interval, over all samples and by type."""

from collections.abc import Mapping
from dataclasses import dataclass

from assistant.evaluation.types import CurvePoint


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric over some samples."""

    metric: str
    type: str
    """The type of the samples; empty: all."""
    value: float | None
    """Nothing where no question could be scored."""
    low: float | None
    """The 95 % interval's lower end, over samples drawn with replacement."""
    high: float | None
    scored: int
    """Questions."""
    unscored: int
    """Questions that it applies to and that could not be scored."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How a measure spreads over questions."""

    mean: float
    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class SampleScores:
    """A sample's scores without its answers."""

    type: str
    question: str
    """The first of a conversation."""
    failed: bool
    scores: tuple[Mapping[str, float | None], ...]
    """By metric, a turn each."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that a run comes to: the contents of `figures.json`."""

    questions_sha256: str
    """Of the file of questions, in hexadecimal."""
    scorers: str
    """Version of the scorers."""
    seed: int
    """Of the intervals' draws."""
    resamples: int
    figures: tuple[Figure, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    """Questions by right outcome, then by given one: the 3 x 3 table of outcomes."""
    curves: Mapping[str, tuple[CurvePoint, ...]]
    """Risk-coverage curves by what counts as wrong."""
    areas: Mapping[str, float]
    """Area below each curve; less is better."""
    seconds: Mapping[str, Spread]
    """By stage of an answer."""
    tokens: Mapping[str, Spread]
    """Read and written by the model for an answer."""
    latencies: tuple[float, ...]
    """Seconds of every answer, in ascending order."""
    samples: Mapping[str, SampleScores]
    """By id, in the order of the questions."""

    def of(self, metric: str, type_: str = "") -> Figure | None:
        """One of the figures."""
        wanted = (metric, type_)
        return next((each for each in self.figures if (each.metric, each.type) == wanted), None)
