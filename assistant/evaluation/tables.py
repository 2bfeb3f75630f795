"""Figures and comparison of a run, as tables in a terminal and as one line of JSON for scripts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.evaluation.compare import Change, Comparison, Verdict
from assistant.evaluation.figures import Figure, Figures, Spread
from assistant.evaluation.metrics import (
    COUNTS,
    FAILED,
    HEADLINES,
    LEAST_SAMPLES,
    METRIC_OF,
    METRICS,
    Better,
)
from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import Json, SampleType
from assistant.types import Outcome

_IN_WORDS = {outcome.value: outcome.value.replace("_", " ") for outcome in Outcome}
_NOTHING = "–"
_TOO_FEW = "too few"
"""Shown in place of an interval."""
_MOST_IDS = 12
"""Ids of won or lost samples that are printed; the report has all."""
_PLACES = 4
"""Decimal places in JSON; intervals are wider than that."""


def print_figures(console: Console, figures: Figures) -> None:
    """Print headline figures, figures by type, outcomes and speed."""
    samples = counted(len(figures.samples), "sample")
    title = f"{samples}, headline figures (↓ less is better)"
    console.print(_measures(title, figures, is_headline=True))
    others = _measures("Other figures", figures, is_headline=False)
    if len(types := _types(figures)) > 1:
        console.print(_by_type(figures, types))
    elif others.row_count:
        console.print(others)
    if figures.outcomes:
        console.print(_outcomes(figures.outcomes))
    console.print(_speed(figures))


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the changes since a baseline, and the samples won and lost."""
    console.print(_changes(comparison))
    for line in _comparison_lines(comparison):
        console.print(Text(line))


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Remarks below the table of changes; the reasons of the gate come last."""
    for change in comparison.changes:
        if change.metric in HEADLINES and (change.won or change.lost):
            yield f"{change.metric}: won {_ids(change.won)}; lost {_ids(change.lost)}"
    if gone := [metric for metric in comparison.gone if metric not in comparison.vanished]:
        yield f"Scored in the baseline only: {', '.join(gone)}."
    if comparison.left_out:
        yield f"Samples that only one of the runs has: {comparison.left_out:,}."
    if max((change.pairs for change in comparison.changes), default=0) < LEAST_SAMPLES:
        yield f"Fewer than {LEAST_SAMPLES} samples in common: too few to say what is worse."
    if comparison.worse:
        worse = ", ".join(change.metric for change in comparison.worse)
        yield f"Worse beyond the interval: {worse}."
    if comparison.vanished:
        yield f"Headline metrics without a score now: {', '.join(comparison.vanished)}."
    if comparison.passes:
        yield "No headline metric is worse beyond its interval."


def summary_json(
    figures: Figures, comparison: Comparison | None, folder: Path, *, gate: bool
) -> Json:
    """Figures and comparison of a run as one JSON object, rounded.

    Args:
        figures: of the run.
        comparison: with the baseline, if there is one.
        folder: of the run.
        gate: whether the result of the gate is included.
    """
    return {
        "out": str(folder),
        "samples": len(figures.samples),
        "failed": sum(sample.failed for sample in figures.samples.values()),
        "metrics": _metrics_json(figures, ""),
        "by_type": {type_: _metrics_json(figures, type_) for type_ in _types(figures)},
        "outcomes": figures.outcomes,
        "areas": {wrong: _rounded(area) for wrong, area in figures.areas.items()},
        "seconds": _spreads_json(figures.seconds),
        "tokens": _spreads_json(figures.tokens),
        "comparison": comparison and _comparison_json(comparison),
        "gate": ("passed" if comparison.passes else "failed") if gate and comparison else None,
    }


def _table(title: str, first: str, *numbers: str) -> Table:
    """A table with a column of names and columns of numbers."""
    table = Table(
        title=Text(f"\n{title}"),  # a folder's name may have what rich takes for mark-up
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _measures(title: str, figures: Figures, *, is_headline: bool) -> Table:
    table = _table(title, "metric", "value", "95 % interval", "scored", "not")
    table.add_column("what it says")
    for metric in METRICS:
        figure = figures.of(metric.score)
        if metric.headline is is_headline and figure:
            table.add_row(_named(metric.score), *_figure_cells(figure), metric.label)
    return table


def _figure_cells(figure: Figure) -> tuple[str, ...]:
    has_value = figure.value is not None
    return (
        _shown(figure.metric, figure.value),
        _interval(figure.metric, figure.low, figure.high) if has_value else _NOTHING,
        f"{figure.scored:,}",
        f"{figure.unscored:,}",
    )


def _types(figures: Figures) -> list[str]:
    """The types that the run has samples of."""
    return [each.value for each in SampleType if figures.of(FAILED, each.value)]


def _by_type(figures: Figures, types: Sequence[str]) -> Table:
    table = _table("By type", "metric", "all", *types)
    for metric in METRICS:
        row = [figures.of(metric.score, type_) for type_ in ("", *types)]
        if row[0]:
            cells = (_shown(metric.score, each.value) if each else "" for each in row)
            table.add_row(_named(metric.score), *cells)
    return table


def _outcomes(outcomes: Mapping[str, Mapping[str, int]]) -> Table:
    given = [_IN_WORDS[outcome] for outcome in Outcome]
    table = _table("Questions by right outcome and by given outcome", "right", *given)
    for right, row in outcomes.items():
        counts = (f"{row.get(outcome, 0):,}" for outcome in Outcome)
        table.add_row(_IN_WORDS.get(right, right), *counts)
    return table


def _speed(figures: Figures) -> Table:
    table = _table("Seconds and tokens", "of a question", "mean", "median", "95th", "total")
    for stage, spread in figures.seconds.items():
        table.add_row(f"{stage}, seconds", *_spread_cells(spread, places=3))
    for what, spread in figures.tokens.items():
        table.add_row(f"tokens {what}", *_spread_cells(spread, places=0))
    return table


def _spread_cells(spread: Spread, places: int) -> list[str]:
    values = (spread.mean, spread.median, spread.p95, spread.total)
    return [f"{value:,.{places}f}" for value in values]


def _changes(comparison: Comparison) -> Table:
    numbers = ("before", "now", "change", "95 % interval", "pairs", "")
    table = _table(f"Since {comparison.baseline}", "metric", *numbers)
    for change in comparison.changes:
        table.add_row(
            _named(change.metric),
            _shown(change.metric, change.before),
            _shown(change.metric, change.now),
            _shown(change.metric, change.difference, "+"),
            _interval(change.metric, change.low, change.high, "+"),
            f"{change.pairs:,}",
            "" if change.verdict is Verdict.SAME else change.verdict.value,
        )
    return table


def _named(metric: str) -> str:
    return f"{metric} ↓" if METRIC_OF[metric].better is Better.LOWER else metric


def _shown(metric: str, value: float | None, sign: str = "") -> str:
    """A value as text: shares with three decimals, counts with one."""
    if value is None:
        return _NOTHING
    return f"{value:{sign}.{1 if metric in COUNTS else 3}f}"


def _interval(metric: str, low: float | None, high: float | None, sign: str = "") -> str:
    if low is None or high is None:
        return _TOO_FEW
    return f"{_shown(metric, low, sign)} to {_shown(metric, high, sign)}"


def _ids(ids: Sequence[str]) -> str:
    """The first ids, and the number of the others."""
    named = ", ".join(ids[:_MOST_IDS]) or "none"
    return f"{named} and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else named


def _metrics_json(figures: Figures, type_: str) -> Json:
    return {
        each.metric: _fields_json(each, without=("metric", "type"))
        for each in figures.figures
        if each.type == type_
    }


def _spreads_json(spreads: Mapping[str, Spread]) -> Json:
    return {name: _fields_json(spread) for name, spread in spreads.items()}


def _comparison_json(comparison: Comparison) -> Json:
    return {
        "baseline": comparison.baseline,
        "left_out": comparison.left_out,
        "gone": list(comparison.gone),
        "worse": [change.metric for change in comparison.worse],
        "changes": {
            change.metric: _fields_json(change, without=("metric",))
            for change in comparison.changes
        },
    }


def _fields_json(of: Figure | Spread | Change, without: Sequence[str] = ()) -> Json:
    """The fields of a record as JSON has them: floats rounded, tuples as lists."""
    return {name: _rounded(value) for name, value in asdict(of).items() if name not in without}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return round(value, _PLACES) if isinstance(value, float) else value
