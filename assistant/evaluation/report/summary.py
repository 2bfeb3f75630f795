"""The summary of a run at the top of the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.evaluation.compare import Comparison, Verdict
from assistant.evaluation.figures import Figure, Figures
from assistant.evaluation.metrics import FAILED, METRICS
from assistant.evaluation.report.misses import REASONS, reasons
from assistant.evaluation.report.wording import (
    goodness,
    interval,
    label_of,
    number,
    seconds,
)
from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import Row

_NAMED = 3
"""Number of metrics shown as best, and as weakest."""
_GOOD = 0.9
"""Share of the best value from which a metric is called good."""


@dataclass(frozen=True, slots=True)
class Named:
    """A metric with its figure as text."""

    label: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The texts and numbers of the summary."""

    title: str
    asked: str
    """Number of questions and papers, model, date and duration."""
    good: tuple[Named, ...]
    poor: tuple[Named, ...]
    misses: int
    samples: int
    by_reason: tuple[tuple[int, str], ...]
    compared: str
    """The comparison with the baseline; empty without one."""


def summarize(
    figures: Figures, rows: Sequence[Row], record: Mapping[str, Any], comparison: Comparison | None
) -> Summary:
    """Summarize a run."""
    missed = [found for row in rows if (found := reasons(row))]
    ranked = _ranked(figures)
    good = [each for reached, each in ranked if reached >= _GOOD]
    poor = [each for reached, each in reversed(ranked) if reached < _GOOD]
    by_reason = ((sum(reason in each for each in missed), reason) for reason in REASONS.values())
    return Summary(
        title=_title(record),
        asked=_asked(rows, record),
        good=tuple(_named(each) for each in good[:_NAMED]),
        poor=tuple(_named(each) for each in poor[:_NAMED]),
        misses=len(missed),
        samples=len(rows),
        by_reason=tuple(sorted((each for each in by_reason if each[0]), reverse=True)),
        compared=_compared(comparison) if comparison else "",
    )


def _ranked(figures: Figures) -> list[tuple[float, Figure]]:
    """Headline figures with how good they are, from 0 to 1, best first."""
    scored = (figures.of(metric.score) for metric in METRICS if metric.headline)
    reached = (
        (good, figure)
        for figure in scored
        if figure and figure.value is not None and figure.metric != FAILED
        if (good := goodness(figure.metric, figure.value)) is not None
    )
    return sorted(reached, key=lambda each: -each[0])


def _named(figure: Figure) -> Named:
    return Named(
        label_of(figure.metric),
        number(figure.metric, figure.value),
        interval(figure.metric, figure.low, figure.high),
    )


def _title(record: Mapping[str, Any]) -> str:
    name = str(_part(record, "asking", "file") or "").replace("\\", "/").rstrip("/")
    return name.rpartition("/")[2] or "Evaluation run"


def _asked(rows: Sequence[Row], record: Mapping[str, Any]) -> str:
    """`182 questions about 1,643 papers, answered by … on 22 November 2026 in 9 min 3 s.`"""
    return f"{_questions(rows, record)}, {' '.join(_answered(rows, record))}."


def _questions(rows: Sequence[Row], record: Mapping[str, Any]) -> str:
    questions = counted(sum(len(row.replies) for row in rows), "question")
    talks = sum(len(row.replies) > 1 for row in rows)
    if talks:
        questions += f" ({counted(talks, 'conversation')} among them)"
    papers = _part(record, "library", "papers")
    return f"{questions} over {counted(papers, 'paper')}" if papers else questions


def _answered(rows: Sequence[Row], record: Mapping[str, Any]) -> Iterator[str]:
    model = _part(record, "models", "chat", "name")
    is_answered = any(reply.answer for row in rows for reply in row.replies)
    yield f"answered by {model}" if model and is_answered else "asked"
    if begun := _part(record, "times", "begun"):
        yield f"on {_day(str(begun))}"
    if taken := _part(record, "times", "seconds"):
        yield f"in {seconds(float(taken))}"


def _part(record: Mapping[str, Any], *path: str) -> Any:
    """The value at a path of the record, or None."""
    part: Any = record
    for key in path:
        part = part.get(key) if isinstance(part, Mapping) else None
    return part


def _day(begun: str) -> str:
    """`22 November 2026` for an ISO 8601 time; other texts are returned unchanged."""
    try:
        when = datetime.fromisoformat(begun)
    except ValueError:
        return begun
    return f"{when.day} {when:%B %Y}"


def _compared(comparison: Comparison) -> str:
    worse, better = (
        [label_of(each.metric) for each in comparison.changes if each.verdict is verdict]
        for verdict in (Verdict.WORSE, Verdict.BETTER)
    )
    gate = "" if comparison.passes else " With --gate this run fails."
    if not worse and not better:
        return f"No measure differs by more than chance explains.{gate}"
    parts = [
        f"{word}: {', '.join(labels)}"
        for word, labels in (("worse", worse), ("better", better))
        if labels
    ]
    return f"Beyond what chance explains, {'; '.join(parts)}.{gate}"
