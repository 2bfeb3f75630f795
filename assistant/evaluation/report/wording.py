"""Numbers and values of the report as text, with their units."""

from collections.abc import Mapping
from typing import Any

from assistant.evaluation.figures.metrics import METRIC_OF, Unit

_FEW = 0.1
"""Seconds below which milliseconds are shown."""
_MINUTE = 60


def heading(label: str) -> str:
    """A label with a capital first letter; names such as nDCG stay as they are."""
    return label if label[1:2].isupper() else label[:1].upper() + label[1:]


def bare(value: float, metric: str) -> str:
    """A figure without its unit; shares of 0 and 1 have no decimals."""
    match METRIC_OF[metric].unit:
        case Unit.SHARE:
            return f"{100 * value:.0f}" if value in {0, 1} else f"{100 * value:.1f}"
        case Unit.DECIMAL:
            return f"{value:.3f}"
        case Unit.COUNT:
            return f"{value:.1f}"


def number(value: float | None, metric: str) -> str:
    """A figure with its unit: `55.3 %`, `0.844`, `56.2`; a dash if there is none."""
    if value is None:
        return "–"
    percent = "\N{NO-BREAK SPACE}%" if METRIC_OF[metric].unit is Unit.SHARE else ""
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


def value(of: Any) -> str:
    """A value of the run record."""
    match of:
        case None | "":
            return "–"
        case bool():
            return "yes" if of else "no"
        case Mapping():
            return "none"
        case list() | tuple():
            return ", ".join(map(value, of)) or "none"
        case int():
            return f"{of:,}"
        case _:
            return str(of)


FILTERS = (heading, bare, number, difference, score, seconds, value)
"""What the template writes numbers with."""
