"""Figures and comparison of a run, as tables in a terminal and as one line of JSON for scripts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.evaluation.figures.compare import Change, Comparison, Verdict
from assistant.evaluation.figures.figures import LEAST_SAMPLES, Figure, Figures
from assistant.evaluation.scorers import FAILED, METRIC_OF, METRICS
from assistant.evaluation.types import SampleType
from assistant.types import Json, Outcome, rounded
from retrieval.types import counted

_NOTHING = "–"
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
        console.print(_outcomes(figures))
    console.print(_speed(figures))


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the changes since a baseline, and the samples won and lost."""
    columns = ("metric", "before", "now", "change", "95 % interval", "pairs", "")
    changes = map(_change, comparison.changes)
    console.print(_table(f"Since {comparison.baseline}", columns, changes))
    for line in _remarks(comparison):
        console.print(Text(line))


def summary_json(
    figures: Figures, comparison: Comparison | None, folder: Path, *, gate: bool
) -> Json:
    """Figures and comparison of a run as one JSON object, rounded; `gate`: with its result."""
    summary: Json = rounded(
        {
            "out": str(folder),
            "samples": len(figures.samples),
            "failed": sum(sample.failed for sample in figures.samples.values()),
            "metrics": _metrics(figures, ""),
            "by_type": {type_: _metrics(figures, type_) for type_ in _types(figures)},
            "outcomes": figures.outcomes,
            "areas": figures.areas,
            "seconds": {name: asdict(each) for name, each in figures.seconds.items()},
            "tokens": {name: asdict(each) for name, each in figures.tokens.items()},
            "comparison": comparison and _compared(comparison),
            "gate": ("passed" if comparison.passes else "failed") if gate and comparison else None,
        },
        _PLACES,
    )
    return summary


def _remarks(comparison: Comparison) -> Iterator[str]:
    """Remarks below the table of changes; the reasons of the gate come last."""
    for change in comparison.changes:
        if METRIC_OF[change.metric].headline and (change.won or change.lost):
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


def _ids(ids: Sequence[str]) -> str:
    """The first ids, and the number of the others."""
    named = ", ".join(ids[:_MOST_IDS]) or "none"
    return f"{named} and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else named


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table with a column of names, columns of numbers and, maybe, an explanation."""
    table = Table(
        title=Text(f"\n{title}"),  # a folder's name may have what rich takes for mark-up
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    for name in columns:
        is_text = name in (columns[0], "what it says")
        table.add_column(name, justify="left" if is_text else "right", no_wrap=not is_text)
    for row in rows:
        table.add_row(*row)
    return table


def _measures(title: str, figures: Figures, *, is_headline: bool) -> Table:
    columns = ("metric", "value", "95 % interval", "scored", "not", "what it says")
    chosen = (metric for metric in METRICS if metric.headline is is_headline)
    found = ((figure, metric) for metric in chosen if (figure := figures.of(metric.name)))
    return _table(title, columns, ([*_figure(each), metric.label] for each, metric in found))


def _figure(figure: Figure) -> list[str]:
    metric, value = figure.metric, figure.value
    interval = _NOTHING if value is None else _interval(metric, figure.low, figure.high)
    counts = (f"{figure.scored:,}", f"{figure.unscored:,}")
    return [_named(metric), _shown(metric, value), interval, *counts]


def _types(figures: Figures) -> list[str]:
    """The types that the run has samples of."""
    return [each.value for each in SampleType if figures.of(FAILED, each.value)]


def _by_type(figures: Figures, types: Sequence[str]) -> Table:
    rows = []
    for name in METRIC_OF:
        if figures.of(name):
            of_types = [figures.of(name, type_) for type_ in ("", *types)]
            cells = [_shown(name, each.value) if each else "" for each in of_types]
            rows.append([_named(name), *cells])
    return _table("By type", ("metric", "all", *types), rows)


def _outcomes(figures: Figures) -> Table:
    rows = ([right, *map("{:,}".format, row.values())] for right, row in figures.outcomes.items())
    return _table(
        "Questions by right outcome and by given outcome",
        [name.replace("_", " ") for name in ("right", *Outcome)],
        ([right.replace("_", " "), *counts] for right, *counts in rows),
    )


def _speed(figures: Figures) -> Table:
    seconds = [(f"{name}, seconds", each, 3) for name, each in figures.seconds.items()]
    tokens = [(f"tokens {name}", each, 0) for name, each in figures.tokens.items()]
    return _table(
        "Seconds and tokens",
        ("of a question", "mean", "median", "95th", "total"),
        (
            [name, *(f"{value:,.{places}f}" for value in asdict(spread).values())]
            for name, spread, places in (*seconds, *tokens)
        ),
    )


def _change(change: Change) -> list[str]:
    return [
        _named(change.metric),
        _shown(change.metric, change.before),
        _shown(change.metric, change.now),
        _shown(change.metric, change.difference, "+"),
        _interval(change.metric, change.low, change.high, "+"),
        f"{change.pairs:,}",
        "" if change.verdict is Verdict.SAME else change.verdict.value,
    ]


def _named(metric: str) -> str:
    return f"{metric} ↓" if METRIC_OF[metric].direction < 0 else metric


def _shown(metric: str, value: float | None, sign: str = "") -> str:
    """A value as text: shares with three decimals, counts with one."""
    places = 1 if METRIC_OF[metric].unit == "count" else 3
    return _NOTHING if value is None else f"{value:{sign}.{places}f}"


def _interval(metric: str, low: float | None, high: float | None, sign: str = "") -> str:
    if low is None:
        return "too few"
    return f"{_shown(metric, low, sign)} to {_shown(metric, high, sign)}"


def _metrics(figures: Figures, type_: str) -> Json:
    chosen = (asdict(each) for each in figures.figures if each.type == type_)
    return {each.pop("metric"): each for each in chosen if each.pop("type") == type_}


def _compared(comparison: Comparison) -> Json:
    return {
        "baseline": comparison.baseline,
        "left_out": comparison.left_out,
        "gone": list(comparison.gone),
        "worse": [change.metric for change in comparison.worse],
        "changes": {each.pop("metric"): each for each in map(asdict, comparison.changes)},
    }
