"""The figures of a run (`figures.json`): metrics with intervals, outcomes, curves, speed."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.metrics import (
    FAILED,
    LEAST_SAMPLES,
    METRICS,
    RESAMPLES,
    Total,
    mean,
    mean_interval,
)
from assistant.evaluation.scorers import VERSION
from assistant.evaluation.scorers.abstention import EITHER_REFUSAL, outcome_labels
from assistant.evaluation.scorers.risk_coverage import JUDGES, area_below, curve_of, judged_by
from assistant.evaluation.types import CurvePoint, Reply, Row, SampleType
from assistant.types import Outcome
from retrieval.index.files import write_whole
from retrieval.types import InputError


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric over all samples or those of a type."""

    metric: str
    type: str
    """The type of the samples; empty: all."""
    value: float | None
    """None if no question could be scored."""
    low: float | None
    """Lower end of the 95 % interval, over samples drawn with replacement; None if too few have a
    score."""
    high: float | None
    scored: int
    """Questions."""
    unscored: int
    """Questions that the metric applies to, but that could not be scored."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of a time or a count over questions."""

    mean: float
    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class SampleScores:
    """The scores of a sample."""

    type: str
    failed: bool
    scores: tuple[Mapping[str, float | None], ...]
    """By metric; one mapping per turn."""

    def of(self, metric: str) -> dict[int, float | None]:
        """The scores of a metric by turn, for the turns that it applies to."""
        if metric == FAILED:
            return {0: float(self.failed)}
        return {turn: scores[metric] for turn, scores in enumerate(self.scores) if metric in scores}


@dataclass(frozen=True, slots=True)
class Figures:
    """All results of a run: the contents of `figures.json`."""

    questions_sha256: str
    """Of the file of questions, in hexadecimal."""
    scorers: str
    """Version of the scorers."""
    seed: int
    """Of the intervals' draws."""
    resamples: int
    figures: tuple[Figure, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    """Numbers of questions by right outcome, then by given outcome."""
    curves: Mapping[str, tuple[CurvePoint, ...]]
    """Risk-coverage curves, by the definition of wrong."""
    areas: Mapping[str, float]
    """Area below each curve; less is better."""
    seconds: Mapping[str, Spread]
    """By stage of an answer; lookups and searches have a stage each."""
    tokens: Mapping[str, Spread]
    """Tokens that the model read and wrote, by stage."""
    latencies: tuple[float, ...]
    """Seconds of every answer, in ascending order."""
    samples: Mapping[str, SampleScores]
    """By id, in the order of the questions."""

    def of(self, metric: str, type_: str = "") -> Figure | None:
        """The figure of a metric over the samples of a type (default: all)."""
        wanted = (metric, type_)
        return next((each for each in self.figures if (each.metric, each.type) == wanted), None)


_FORM = TypeAdapter(Figures)
_PERCENTILE = 95


def make_figures(
    rows: Iterable[Row],
    order: Sequence[str],
    questions_sha256: str,
    seed: int,
    resamples: int = RESAMPLES,
) -> Figures:
    """Compute the figures of a run.

    Args:
        rows: of samples named in `order`, in any order; others are ignored.
        order: ids of the samples, in the order of the questions.
        questions_sha256: of the file of questions.
        seed: of the intervals' draws.
        resamples: how often samples are drawn for an interval.
    """
    by_id = {row.id: row for row in rows}
    ordered = [by_id[id_] for id_ in order if id_ in by_id]
    samples = {row.id: _scores(row) for row in ordered}
    ended = [row for row in ordered if not row.failed]
    replies = [reply for row in ended for reply in row.replies]
    curves = {wrong: curve_of(judged_by(replies, judge)) for wrong, judge in JUDGES.items()}
    return Figures(
        questions_sha256=questions_sha256,
        scorers=VERSION,
        seed=seed,
        resamples=resamples,
        figures=tuple(_figures(list(samples.values()), seed, resamples)),
        outcomes=_outcomes(replies),
        curves={wrong: curve for wrong, curve in curves.items() if curve},
        areas={
            wrong: area
            for wrong, curve in curves.items()
            if (area := area_below(curve)) is not None
        },
        seconds=_spreads(_seconds(row.type, reply) for row in ended for reply in row.replies),
        tokens=_spreads(map(_tokens, replies)),
        latencies=tuple(sorted(reply.seconds for reply in replies)),
        samples=samples,
    )


def write_figures(path: Path, figures: Figures) -> None:
    """Write the figures, whole or not at all.

    Raises:
        LibraryError: the folder cannot be written.
    """
    write_whole(path, _FORM.dump_json(figures, indent=1).decode() + "\n")


def read_figures(path: Path) -> Figures:
    """The figures that `write_figures` wrote.

    Raises:
        InputError: the file cannot be read or has no figures.
    """
    try:
        return _FORM.validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    except ValidationError as error:
        found = error.errors()[0]
        what = " ".join((*map(str, found["loc"]), found["msg"]))
        raise InputError(
            f"{path} has no figures of an evaluation run ({what}); run that evaluation again."
        ) from error


def _scores(row: Row) -> SampleScores:
    return SampleScores(
        type=row.type.value,
        failed=bool(row.failed),
        scores=tuple(
            {name: score.value for name, score in reply.scores.items()} for reply in row.replies
        ),
    )


def _figures(samples: Sequence[SampleScores], seed: int, resamples: int) -> Iterator[Figure]:
    """Every metric that applies to a question, over all samples and then by type."""
    for metric in METRICS:
        for type_ in ("", *(each.value for each in SampleType)):
            chosen = [sample for sample in samples if type_ in ("", sample.type)]
            scores = [list(sample.of(metric.score).values()) for sample in chosen]
            if any(scores):
                yield _figure(metric.score, type_, scores, seed, resamples)


def _figure(
    metric: str, type_: str, scores: Sequence[Sequence[float | None]], seed: int, resamples: int
) -> Figure:
    """A figure from the scores of each sample's questions."""
    known = [[value for value in sample if value is not None] for sample in scores]
    totals = [Total(sum(values), len(values)) for values in known if values]
    scored = sum(map(len, known))
    has_interval = len(totals) >= LEAST_SAMPLES
    interval = mean_interval(totals, seed, resamples) if has_interval else None
    return Figure(
        metric=metric,
        type=type_,
        value=mean(totals) if totals else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        scored=scored,
        unscored=sum(map(len, scores)) - scored,
    )


def _outcomes(replies: Iterable[Reply]) -> dict[str, dict[str, int]]:
    """The rows of the table of outcomes that have questions."""
    counts = Counter(
        outcome_labels(reply.expected, Outcome(reply.answer["outcome"]))
        for reply in replies
        if reply.answer is not None
    )
    rows = {
        right: {given.value: counts[right, given.value] for given in Outcome}
        for right in (*(outcome.value for outcome in Outcome), EITHER_REFUSAL)
    }
    return {right: row for right, row in rows.items() if any(row.values())}


def _seconds(type_: SampleType, reply: Reply) -> dict[str, float]:
    """Seconds by stage of a reply."""
    if reply.answer is None:
        return {"lookup" if type_ is SampleType.LOOKUP else "search": reply.seconds}
    timings: Mapping[str, float] = reply.answer["timings"]
    return {
        "retrieval": timings["retrieval"] - timings["rerank"],
        "rerank": timings["rerank"],
        "writing": timings["total"] - timings["retrieval"],
        "first sentence": timings["first_token"],
        "total": timings["total"],
    }


def _tokens(reply: Reply) -> dict[str, float]:
    if reply.answer is None:
        return {}
    tokens: Mapping[str, int] = reply.answer["tokens"]
    return {
        "read in reranking": tokens["rerank"],
        "read in writing": tokens["prompt"],
        "written": tokens["completion"],
    }


def _spreads(measured: Iterable[Mapping[str, float]]) -> dict[str, Spread]:
    """The distribution of each measure over the replies that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for measures in measured:
        for name, value in measures.items():
            values[name].append(value)
    return {name: _spread(each) for name, each in values.items()}


def _spread(values: Sequence[float]) -> Spread:
    return Spread(
        mean=statistics.fmean(values),
        median=statistics.median(values),
        p95=float(np.percentile(values, _PERCENTILE)),
        total=float(sum(values)),
    )
