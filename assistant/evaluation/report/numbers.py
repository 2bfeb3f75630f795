"""Numbers of the report: as text with their units, and as positions in plots."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assistant.evaluation.scorers import METRIC_OF

_FEW = 0.1
"""Seconds below which milliseconds are shown."""
_MINUTE = 60
_TICKS = 5
"""Approximate number of ticks on an axis."""
_MOST_BINS = 28


def heading(label: str) -> str:
    """A label with a capital first letter; names such as nDCG stay as they are."""
    return label if label[1:2].isupper() else label[:1].upper() + label[1:]


def bare(value: float, metric: str) -> str:
    """A figure without its unit; shares of 0 and 1 have no decimals."""
    match METRIC_OF[metric].unit:
        case "share":
            return f"{100 * value:.0f}" if value in {0, 1} else f"{100 * value:.1f}"
        case "decimal":
            return f"{value:.3f}"
        case "count":
            return f"{value:.1f}"


def number(value: float | None, metric: str) -> str:
    """A figure with its unit: `55.3 %`, `0.844`, `56.2`; a dash if there is none."""
    if value is None:
        return "–"
    percent = "\N{NO-BREAK SPACE}%" if METRIC_OF[metric].unit == "share" else ""
    return bare(value, metric) + percent


def difference(value: float, metric: str) -> str:
    """A difference with its sign: `+3.2` (percentage points), `−0.012`."""
    size = bare(abs(value), metric)
    sign = "−" if value < 0 else "+"
    return f"{sign}{size}" if size.strip("0.") else size


def score(value: float | None) -> str:
    """The score of one question: `1`, `0.67` or `not scored`."""
    if value is None:
        return "not scored"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def seconds(value: float) -> str:
    """A duration: `31 ms`, `2.1 s`, `3 min 20 s`, `1 h 5 min`."""
    if value < _FEW:
        return f"{1000 * value:.0f} ms"
    if value < _MINUTE:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s"
    return f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


def scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    """A function from values to positions, by which `low` is at `first` and `high` at `last`."""

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(first + share * (last - first), 1)

    return at


def histogram(seconds: Sequence[float]) -> dict[str, Any]:
    """Numbers of at least one question by seconds: columns, their highest, the end of the axis."""
    median, late = np.percentile(seconds, (50, 95)).tolist()
    end = rounded_up(max(seconds))
    bins = min(_MOST_BINS, max(8, 2 * math.isqrt(len(seconds))))
    counts, edges = np.histogram(seconds, bins=bins, range=(0, end))
    columns = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return {
        "median": median,
        "late": late,
        "end": end,
        "columns": [each for each in columns if each[2]],
        "highest": int(counts.max()),
    }


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
