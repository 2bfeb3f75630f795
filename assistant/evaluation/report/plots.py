"""Positions in the plots of the report, whose SVG is in the template."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_TICKS = 5
"""Approximate number of ticks on an axis."""
_MOST_BINS = 28


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high`, drawn from `first` to `last`."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """The position of a value; values outside are drawn at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Numbers of questions by their seconds."""

    median: float
    late: float
    """The 95th percentile."""
    end: float
    """Of the axis of seconds."""
    columns: tuple[tuple[float, float, int], ...]
    """From and to which seconds, and the number of questions, where there are any."""
    highest: int
    """The largest of these numbers."""


def histogram(seconds: Sequence[float]) -> Histogram:
    """The histogram of the seconds of at least one question."""
    median, late = np.percentile(seconds, (50, 95)).tolist()
    end = rounded_up(max(seconds))
    bins = min(_MOST_BINS, max(8, 2 * math.isqrt(len(seconds))))
    counts, edges = np.histogram(seconds, bins=bins, range=(0, end))
    columns = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return Histogram(
        median, late, end, tuple(each for each in columns if each[2]), int(counts.max())
    )


def rounded_up(highest: float, *, whole: bool = False) -> float:
    """The end of an axis that starts at 0 and shows `highest`."""
    if highest <= 0:
        return 1.0
    step = _step(highest, whole=whole)
    return round(step * math.ceil(highest / step - 1e-9), 9)


def ticks(highest: float, *, whole: bool = False) -> list[float]:
    """Ticks from 0 to `highest`, the end of an axis."""
    step = _step(highest, whole=whole)
    return [round(step * count, 9) for count in range(int(highest / step + 1e-6) + 1)]


def _step(highest: float, *, whole: bool) -> float:
    """A step of 1, 2 or 5 times a power of ten that gives about `_TICKS` ticks."""
    rough = highest / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    return max(1.0, step) if whole else step
