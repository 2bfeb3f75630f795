"""The figures of a run as the page shows them, with units, explanations and bars."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assistant.evaluation.compare import Change
from assistant.evaluation.figures import Figure, Figures, Spread
from assistant.evaluation.metrics import FAILED, METRICS
from assistant.evaluation.report import plots
from assistant.evaluation.report.samples import OUTCOMES, RIGHT_OUTCOMES
from assistant.evaluation.report.wording import (
    CURVES,
    MEANINGS,
    NOTHING,
    TOO_FEW,
    Unit,
    bare,
    difference,
    goodness,
    interval,
    is_better_low,
    label_of,
    number,
    unit_of,
)
from assistant.evaluation.scorers.abstention import EITHER_REFUSAL
from assistant.evaluation.scorers.wording import counted
from assistant.types import Outcome

_SHADES = 10
"""Shades of the cells in the table by type."""


@dataclass(frozen=True, slots=True)
class ShownMeasure:
    """A metric over all samples."""

    label: str
    value: str
    interval: str
    better: str
    meaning: str
    counted: str
    bar: Markup


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric over the samples of a type."""

    value: str
    shade: int | None
    """How good it is, from 0 to `_SHADES`; None without a value or a best value."""
    counted: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A metric compared with the baseline."""

    label: str
    before: str
    now: str
    difference: str
    interval: str
    better: str
    verdict: str
    pairs: str
    bar: Markup
    won: tuple[tuple[str, str], ...]
    """Ids of samples with their anchors in the page; the anchor is empty for others."""
    lost: tuple[tuple[str, str], ...]


def measures(figures: Figures, *, is_headline: bool) -> list[ShownMeasure]:
    """The headline or the other metrics that have a figure over all samples."""
    named = (figures.of(metric.score) for metric in METRICS if metric.headline is is_headline)
    return [_measure(figure) for figure in named if figure]


def _measure(figure: Figure) -> ShownMeasure:
    metric = figure.metric
    return ShownMeasure(
        label=label_of(metric),
        value=number(metric, figure.value),
        interval=NOTHING if figure.value is None else interval(metric, figure.low, figure.high),
        better=_better(metric),
        meaning=MEANINGS.get(metric, ""),
        counted=_scored(figure),
        bar=_bar(figure),
    )


def _better(metric: str) -> str:
    return "less is better" if is_better_low(metric) else "more is better"


def _scored(figure: Figure) -> str:
    """Number of questions that were scored, and that could not be."""
    noun = "sample" if figure.metric == FAILED else "question"
    unscored = f", {figure.unscored:,} not scored" if figure.unscored else ""
    return counted(figure.scored, noun) + unscored


def _bar(figure: Figure) -> Markup:
    if figure.value is None:
        return Markup()
    ends = _ends(figure)
    end = 1.0 if unit_of(figure.metric) is not Unit.COUNT else 1.25 * max(figure.value, *ends, 1.0)
    return plots.metric_bar(figure.value, ends, end)


def types_of(figures: Figures) -> dict[str, int]:
    """Number of samples by type, in the order of the questions."""
    return dict(Counter(sample.type for sample in figures.samples.values()))


def by_type(figures: Figures) -> list[tuple[str, list[Cell]]]:
    """A line per metric that has figures by type: its label, and a cell per type."""
    types = types_of(figures)
    return [
        (metric.label, [_cell(figures.of(metric.score, type_)) for type_ in types])
        for metric in METRICS
        if any(figures.of(metric.score, type_) for type_ in types)
    ]


def _cell(figure: Figure | None) -> Cell:
    if figure is None or figure.value is None:
        return Cell("" if figure is None else NOTHING, None, "")
    reached = goodness(figure.metric, figure.value)
    shade = None if reached is None else round(_SHADES * min(max(reached, 0.0), 1.0))
    return Cell(bare(figure.metric, figure.value), shade, _scored(figure))


def outcomes(figures: Figures) -> list[tuple[str, list[tuple[str, int, bool]]]]:
    """For each right outcome: the given outcomes, with counts, and whether the two agree."""
    return [
        (
            RIGHT_OUTCOMES.get(right, right),
            [(OUTCOMES[name], given.get(name, 0), _agree(right, name)) for name in OUTCOMES],
        )
        for right, given in figures.outcomes.items()
    ]


def _agree(right: str, given: str) -> bool:
    return right == given or (right == EITHER_REFUSAL and given != Outcome.ANSWERED.value)


def curves(figures: Figures) -> list[tuple[str, str]]:
    """The legend of the curves: what counts as wrong, and the area below the curve."""
    return [
        (CURVES.get(wrong, wrong), f"{figures.areas[wrong]:.3f}" if wrong in figures.areas else "")
        for wrong in figures.curves
    ]


def spreads(
    spreads: Mapping[str, Spread], said: Callable[[float], str]
) -> list[tuple[str, list[str]]]:
    """For each stage: mean, median, 95th percentile and total, as text."""
    return [
        (
            stage.replace("_", " "),
            [said(each) for each in (spread.mean, spread.median, spread.p95, spread.total)],
        )
        for stage, spread in spreads.items()
    ]


def unchanged(changes: Sequence[Change]) -> list[str]:
    """Labels of the metrics that are the same in every sample."""
    return [label_of(each.metric) for each in changes if not _is_changed(each)]


def _is_changed(change: Change) -> bool:
    return bool(change.won or change.lost or change.difference)


def shown_changes(changes: Sequence[Change], anchors: Mapping[str, str]) -> Iterator[ShownChange]:
    """The metrics that changed in any sample; bars of shares have one scale."""
    shares = [each for each in changes if unit_of(each.metric) is not Unit.COUNT]
    reach = plots.reach_of(end for each in shares for end in (each.difference, *_ends(each)))
    for change in filter(_is_changed, changes):
        own = plots.reach_of((change.difference, *_ends(change)))
        yield _change(change, reach if change in shares else own, anchors)


def _ends(of: Figure | Change) -> tuple[float, ...]:
    """Both ends of an interval, empty if there are too few samples."""
    return () if of.low is None or of.high is None else (of.low, of.high)


def _change(change: Change, reach: float, anchors: Mapping[str, str]) -> ShownChange:
    metric = change.metric
    verdict = change.verdict.value
    unit = " points" if unit_of(metric) is Unit.SHARE else ""
    ends = _ends(change)
    return ShownChange(
        label=label_of(metric),
        before=number(metric, change.before),
        now=number(metric, change.now),
        difference=difference(metric, change.difference) + unit,
        interval=" to ".join(difference(metric, end) for end in ends) or TOO_FEW,
        better=_better(metric),
        verdict=verdict,
        pairs=_paired(change),
        bar=plots.change_bar(change.difference, ends, reach, verdict),
        won=tuple((id_, anchors.get(id_, "")) for id_ in change.won),
        lost=tuple((id_, anchors.get(id_, "")) for id_ in change.lost),
    )


def _paired(change: Change) -> str:
    """Number of paired samples, and of those that only one of the runs could score."""
    unpaired = f", {change.unpaired:,} in one run only" if change.unpaired else ""
    return counted(change.pairs, "sample") + unpaired
