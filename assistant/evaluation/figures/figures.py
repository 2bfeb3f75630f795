"""The figures of a run (`figures.json`): metrics with intervals, outcomes, curves, speed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.figures.metrics import FAILED, METRICS
from assistant.evaluation.figures.statistics import (
    LEAST_SAMPLES,
    RESAMPLES,
    CurvePoint,
    Spread,
    Total,
    area_below,
    mean,
    mean_interval,
    risk_coverage,
    spread_of,
)
from assistant.evaluation.questions.lines import contents
from assistant.evaluation.scorers import VERSION
from assistant.evaluation.types import Expected, Reply, Row, SampleType
from assistant.types import Outcome
from retrieval.index.files import write_whole
from retrieval.types import InputError

EITHER_REFUSAL = "either refusal"
"""The right outcome if no abstract answers and the kind of refusal is not known."""


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


def make_figures(
    rows: Sequence[Row], questions_sha256: str, seed: int, resamples: int = RESAMPLES
) -> Figures:
    """Compute the figures of a run.

    Args:
        rows: in the order of the questions.
        questions_sha256: of the file of questions.
        seed: of the intervals' draws.
        resamples: how often samples are drawn for an interval.
    """
    samples = {
        row.id: SampleScores(
            type=row.type.value,
            failed=bool(row.failed),
            scores=tuple(
                {name: score.value for name, score in each.scores.items()} for each in row.replies
            ),
        )
        for row in rows
    }
    replied = [(row.type, reply) for row in rows if not row.failed for reply in row.replies]
    replies = [reply for _, reply in replied]
    judged = {wrong: _judged(replies, judge) for wrong, judge in _JUDGES.items()}
    curves = {wrong: risk_coverage(each) for wrong, each in judged.items() if each}
    return Figures(
        questions_sha256=questions_sha256,
        scorers=VERSION,
        seed=seed,
        resamples=resamples,
        figures=tuple(_figures(list(samples.values()), seed, resamples)),
        outcomes=_outcomes(replies),
        curves=curves,
        areas={wrong: area_below(curve) for wrong, curve in curves.items()},
        seconds=_spreads(_seconds(*each) for each in replied),
        tokens=_spreads(map(_tokens, replies)),
        latencies=tuple(sorted(reply.seconds for reply in replies)),
        samples=samples,
    )


def write_figures(path: Path, figures: Figures) -> None:
    """Write the figures, whole or not at all; raises LibraryError if that fails."""
    write_whole(path, _FORM.dump_json(figures, indent=1).decode() + "\n")


def read_figures(path: Path) -> Figures:
    """The figures that `write_figures` wrote; raises InputError if `path` has none."""
    try:
        return _FORM.validate_json(contents(path))
    except ValidationError as error:
        found = error.errors()[0]
        what = " ".join((*map(str, found["loc"]), found["msg"]))
        raise InputError(
            f"{path} has no figures of an evaluation run ({what}); run that evaluation again."
        ) from error


def _figures(samples: Sequence[SampleScores], seed: int, resamples: int) -> Iterator[Figure]:
    """Every metric that applies to a question, over all samples and then by type."""
    for metric in METRICS:
        for type_ in ("", *SampleType):
            chosen = [sample for sample in samples if type_ in ("", sample.type)]
            scores = [list(sample.of(metric.name).values()) for sample in chosen]
            if any(scores):
                yield _figure(metric.name, str(type_), scores, seed, resamples)


def _figure(
    metric: str, type_: str, scores: Sequence[Sequence[float | None]], seed: int, resamples: int
) -> Figure:
    """A figure from the scores of each sample's questions."""
    known = [[value for value in sample if value is not None] for sample in scores]
    totals = [Total(sum(values), len(values)) for values in known if values]
    scored = sum(map(len, known))
    low, high = None, None
    if len(totals) >= LEAST_SAMPLES:
        low, high = mean_interval(totals, seed, resamples)
    return Figure(
        metric=metric,
        type=type_,
        value=mean(totals) if totals else None,
        low=low,
        high=high,
        scored=scored,
        unscored=sum(map(len, scores)) - scored,
    )


def _outcomes(replies: Iterable[Reply]) -> dict[str, dict[str, int]]:
    """The rows of the table of outcomes that have questions."""
    counts = Counter(
        (_right_outcome(reply.expected), reply.answer["outcome"])
        for reply in replies
        if reply.answer is not None
    )
    rows = {
        right: {given.value: counts[right, given.value] for given in Outcome}
        for right in (*map(str, Outcome), EITHER_REFUSAL)
    }
    return {right: row for right, row in rows.items() if any(row.values())}


def _right_outcome(expected: Expected) -> str | None:
    if expected.outcome is None and expected.should_answer is False:
        return EITHER_REFUSAL
    return expected.outcome or (Outcome.ANSWERED if expected.should_answer else None)


def _judged(
    replies: Iterable[Reply], is_wrong: Callable[[Reply], bool | None]
) -> list[tuple[float, bool]]:
    """Confidence, and whether it is wrong, of the replies that have both."""
    judged = ((reply.answer, is_wrong(reply)) for reply in replies)
    return [
        (answer["confidence"], wrong)
        for answer, wrong in judged
        if wrong is not None and answer and answer["confidence"] is not None
    ]


def _no_abstract_answers(reply: Reply) -> bool | None:
    """Whether any answer would be wrong; refused questions count, too."""
    should = reply.expected.should_answer
    return None if should is None else not should


def _not_right(reply: Reply) -> bool | None:
    """Whether the answer is wrong: no abstract answers, or a fact is missing.

    None if the question was refused or has no expected facts.
    """
    if reply.answer is None or reply.answer["outcome"] != Outcome.ANSWERED:
        return None
    if reply.expected.should_answer is False:
        return True
    facts = reply.scores.get("facts")
    return facts.value != 1 if facts else None


_JUDGES = {"no abstract answers": _no_abstract_answers, "not right": _not_right}
"""The definitions of wrong; each has a curve."""


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
    return {name: spread_of(each) for name, each in values.items()}
