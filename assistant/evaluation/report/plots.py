"""Plots as inline SVG.

No plotting library is used: the shapes take their colours from the page's style sheet, in light, in
dark and on paper, and need neither scripts nor fonts. They contain only numbers and labels of this
module.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from assistant.evaluation.types import CurvePoint

_WIDTH, _HEIGHT = 400, 250
"""Size of a plot with axes; a unit is about a pixel on a telephone."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 372, 30, 206
"""The frame between the axes."""
_BAR_WIDTH, _BAR_HEIGHT = 240, 16
_MARGIN = 4
"""Space beside a bar, for the ends of its interval."""
_TICKS = 5
"""Approximate number of ticks on an axis."""
_MOST_BINS = 28


@dataclass(frozen=True, slots=True)
class _Scale:
    """Values from `low` to `high`, drawn from `first` to `last`."""

    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        """The position of a value; values outside are drawn at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)


def metric_bar(value: float, interval: Sequence[float], end: float) -> Markup:
    """A bar from 0 with its interval; the numbers are shown beside it.

    Args:
        value: what the bar shows.
        interval: its two ends, empty if there is none.
        end: the value at which the track ends.
    """
    scale = _Scale(0, end, _MARGIN, _BAR_WIDTH - _MARGIN)
    return _svg(
        "bar",
        _BAR_WIDTH,
        _BAR_HEIGHT,
        _rect("track", scale.first, 4, scale.last - scale.first, 8),
        _rect("reached", scale.first, 4, max(0.0, scale.at(value) - scale.first), 8),
        *_whisker([scale.at(each) for each in interval]),
    )


def change_bar(value: float, interval: Sequence[float], reach: float, verdict: str) -> Markup:
    """A difference from 0 with its interval; the numbers are shown beside it.

    Args:
        value: the difference.
        interval: its two ends, empty if there is none.
        reach: the size at which the track ends on either side.
        verdict: on the change, as a class of the style sheet.
    """
    scale = _Scale(-reach, reach, _MARGIN, _BAR_WIDTH - _MARGIN)
    middle = _BAR_HEIGHT / 2
    dot = Markup('<circle class="dot" cx="{}" cy="{}" r="4"/>').format(scale.at(value), middle)
    return _svg(
        f"bar change {verdict}",
        _BAR_WIDTH,
        _BAR_HEIGHT,
        _line("track", scale.first, middle, scale.last, middle),
        _line("zero", scale.at(0), 0, scale.at(0), _BAR_HEIGHT),
        *_whisker([scale.at(each) for each in interval]),
        dot,
    )


def reach_of(ends: Iterable[float]) -> float:
    """The largest distance from 0, or 1 if all are 0."""
    return max((abs(end) for end in ends), default=0.0) or 1.0


def risk_coverage(curves: Mapping[str, Sequence[CurvePoint]]) -> Markup:
    """Share of wrong answers over share of questions answered, one line per curve."""
    top = _rounded_up(
        max((point.risk for points in curves.values() for point in points), default=0)
    )
    across = _Scale(0, 1, _LEFT, _RIGHT)
    up = _Scale(0, top, _BOTTOM, _TOP)
    lines = (
        _path(f"curve c{number}", [(across.at(each.coverage), up.at(each.risk)) for each in points])
        for number, points in enumerate(curves.values())
        if points
    )
    return _plot(
        "Risk-coverage curves: share of wrong answers over share of questions answered",
        _grid(up, [(tick, _percent(tick)) for tick in _ticks(top)]),
        _below(across, [(tick, _percent(tick)) for tick in _ticks(1)]),
        _titles("questions answered", "of those, wrong"),
        *lines,
    )


def latencies(seconds: Sequence[float]) -> Markup:
    """Histogram of the seconds of questions, at least one, with median and 95th percentile."""
    median, late = (float(each) for each in np.percentile(seconds, (50, 95)))
    end = _rounded_up(max(seconds))
    bins = min(_MOST_BINS, max(8, 2 * math.isqrt(len(seconds))))
    counts, edges = np.histogram(seconds, bins=bins, range=(0, end))
    across = _Scale(0, end, _LEFT, _RIGHT)
    up = _Scale(0, _rounded_up(int(counts.max()), whole=True), _BOTTOM, _TOP + 28)
    bars = (
        _rect(
            "column",
            across.at(left) + 0.5,
            up.at(count),
            across.at(right) - across.at(left) - 1,
            round(_BOTTOM - up.at(count), 1),
        )
        for count, (left, right) in zip(counts, pairwise(edges), strict=True)
        if count
    )
    return _plot(
        f"Histogram of seconds a question: half take up to {median:.1f} s, 95 % up to {late:.1f} s",
        _grid(up, [(tick, f"{tick:g}") for tick in _ticks(up.high, whole=True)]),
        _below(across, [(tick, f"{tick:g}") for tick in _ticks(end)]),
        _titles("seconds", "questions"),
        *bars,
        _mark(across, median, 32, f"half: {median:.1f} s"),
        _mark(across, late, 48, f"95 %: {late:.1f} s"),
    )


def swatch(number: int) -> Markup:
    """The line of a curve, for a legend."""
    return _svg("swatch", 26, 8, _path(f"curve c{number}", [(1, 4), (25, 4)]))


def _plot(label: str, *parts: Markup) -> Markup:
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(_WIDTH, _HEIGHT, label, Markup().join(parts))


def _svg(classes: str, width: int, height: int, *parts: Markup) -> Markup:
    return Markup(
        '<svg class="{}" viewBox="0 0 {} {}" aria-hidden="true" focusable="false">{}</svg>'
    ).format(classes, width, height, Markup().join(parts))


def _grid(up: _Scale, ticks: Iterable[tuple[float, str]]) -> Markup:
    """Lines across the plot with their values on the left."""
    return Markup().join(
        _line("base" if value == 0 else "grid", _LEFT, up.at(value), _RIGHT, up.at(value))
        + _text("tick", _LEFT - 6, up.at(value) + 4, label, "end")
        for value, label in ticks
    )


def _below(across: _Scale, ticks: Iterable[tuple[float, str]]) -> Markup:
    """Values below the plot."""
    return Markup().join(
        _text("tick", across.at(value), _BOTTOM + 16, label, "middle") for value, label in ticks
    )


def _titles(across: str, up: str) -> Markup:
    return _text("axis", _RIGHT, _HEIGHT - 8, f"{across} →", "end") + _text(
        "axis", 4, 12, f"↑ {up}", "start"
    )


def _mark(across: _Scale, value: float, height: float, label: str) -> Markup:
    """A line up from a value, with its label on the side that has room."""
    x = across.at(value)
    is_far = x > (_LEFT + _RIGHT) / 2
    beside = x - 5 if is_far else x + 5
    return _line("mark", x, height - 9, x, _BOTTOM) + _text(
        "note", beside, height, label, "end" if is_far else "start"
    )


def _whisker(ends: Sequence[float]) -> list[Markup]:
    middle = _BAR_HEIGHT / 2
    across = [_line("whisker", low, middle, high, middle) for low, high in pairwise(ends)]
    return across + [_line("whisker", end, middle - 4, end, middle + 4) for end in ends]


def _rect(class_: str, x: float, y: float, width: float, height: float) -> Markup:
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        class_, round(x, 1), y, round(width, 1), height
    )


def _line(class_: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        class_, x1, y1, x2, y2
    )


def _path(class_: str, points: Sequence[tuple[float, float]]) -> Markup:
    steps = "L".join(f"{x:g} {y:g}" for x, y in points)
    return Markup('<path class="{}" d="M{}"/>').format(class_, steps)


def _text(class_: str, x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        class_, x, y, anchor, text
    )


def _percent(value: float) -> str:
    return f"{100 * value:g} %"


def _step(highest: float, *, whole: bool = False) -> float:
    """A step of 1, 2 or 5 times a power of ten that gives about `_TICKS` ticks."""
    rough = highest / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    return max(1.0, step) if whole else step


def _rounded_up(highest: float, *, whole: bool = False) -> float:
    """The end of an axis that starts at 0 and shows `highest`."""
    if highest <= 0:
        return 1.0
    step = _step(highest, whole=whole)
    return round(step * math.ceil(highest / step - 1e-9), 9)


def _ticks(highest: float, *, whole: bool = False) -> list[float]:
    """Ticks from 0 to `highest`, the end of an axis."""
    step = _step(highest, whole=whole)
    return [round(step * count, 9) for count in range(int(highest / step + 1e-6) + 1)]
