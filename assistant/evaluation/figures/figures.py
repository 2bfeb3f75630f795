"""The figures of a run (`figures.json`): means of scores with intervals, outcomes, curves, speed.

Intervals are of 95 %, by bootstrap: whole samples are drawn with replacement, so that the turns of
a conversation stay together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.questions.lines import contents
from assistant.evaluation.scorers import FAILED, METRICS, VERSION
from assistant.evaluation.types import Expected, Reply, Row, SampleType
from assistant.pipeline.calibration import risk_coverage
from assistant.types import Outcome
from retrieval.index.files import write_whole
from retrieval.types import InputError

Scores = Sequence[Sequence[float]]
"""The scores of each sample's questions; every sample has at least one."""
RESAMPLES = 10_000
"""Enough to give the ends of an interval to about a hundredth of its width."""
LEAST_SAMPLES = 6
"""Samples needed for an interval, by the sign test: five samples all become worse by chance once in
32 times, six once in 64, which is less than 2.5 %."""
_ENDS = (0.025, 0.975)
_BLOCK = 20_000
"""Draws at a time: few enough for a processor's cache."""
EITHER_REFUSAL = "either refusal"
"""The right outcome if no abstract answers and the kind of refusal is not known."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Coverage and risk if this confidence were needed for an answer."""

    confidence: float
    coverage: float
    """Share of all questions."""
    risk: float
    """Share of wrong answers among these."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of a time or a count over questions."""

    mean: float
    median: float
    p95: float
    total: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric over all samples or those of a type."""

    metric: str
    type: str
    """The type of the samples; empty: all."""
    value: float | None
    """None if no question could be scored."""
    low: float | None
    """Lower end of the interval; None if too few samples have a score."""
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


def mean(samples: Scores) -> float:
    """The mean over all questions of at least one sample."""
    return sum(map(sum, samples)) / sum(map(len, samples))


def interval(
    samples: Scores, seed: int, resamples: int = RESAMPLES, *, before: Scores | None = None
) -> tuple[float, float] | tuple[None, None]:
    """The ends of the interval of `mean(samples)`, None for each if there are too few samples.

    Args:
        samples: of a run.
        seed: the same seed draws the same samples.
        resamples: how often as many samples are drawn.
        before: the same samples in another run, in the same order; the interval is then that of the
            difference `mean(samples) - mean(before)`, and the same samples are drawn for both.
    """
    if len(samples) < LEAST_SAMPLES:
        return None, None
    means = _resampled_means(samples, seed, resamples)
    if before is not None:
        means = means - _resampled_means(before, seed, resamples)
    low, high = np.quantile(means, _ENDS)
    return float(low), float(high)


def _resampled_means(samples: Scores, seed: int, resamples: int) -> npt.NDArray[np.float64]:
    sums, counts = (np.array([of(sample) for sample in samples]) for of in (sum, len))
    random = np.random.default_rng(seed)
    size = len(samples)
    rows = max(1, _BLOCK // size)
    blocks = []
    for start in range(0, resamples, rows):
        draws = random.integers(size, size=(min(rows, resamples - start), size))
        blocks.append(sums[draws].sum(axis=1) / counts[draws].sum(axis=1))
    return np.concatenate(blocks)


def area_below(curve: Sequence[CurvePoint]) -> float:
    """The mean risk over all coverages; less is better.

    Each step counts with the risk at its end (Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced
    Uncertainty Estimation for Deep Neural Classifiers").
    """
    coverages = pairwise([0.0, *(point.coverage for point in curve)])
    return sum(
        (after - before) * point.risk
        for (before, after), point in zip(coverages, curve, strict=True)
    )


def make_figures(
    rows: Sequence[Row], questions_sha256: str, seed: int, resamples: int = RESAMPLES
) -> Figures:
    """The figures of a run by its rows, which are in the order of the questions."""
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
    curves = {
        wrong: tuple(CurvePoint(*point) for point in risk_coverage(each))
        for wrong, each in _judged(replies).items()
        if each
    }
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
        tokens=_spreads(
            {name: each.answer["tokens"][count] for name, count in _TOKENS.items()}
            for each in replies
            if each.answer
        ),
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
            scores = [score for each in chosen if (score := each.of(metric.name))]
            if scores:
                known = [[value for value in each.values() if value is not None] for each in scores]
                scored = sum(map(len, known))
                known = [values for values in known if values]
                low, high = interval(known, seed, resamples)
                value = mean(known) if known else None
                unscored = sum(map(len, scores)) - scored
                yield Figure(metric.name, str(type_), value, low, high, scored, unscored)


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


def _judged(replies: Iterable[Reply]) -> dict[str, list[tuple[float, bool]]]:
    """Confidences, each with whether it is wrong to answer, by two definitions of wrong.

    By the first, no abstract answers; refused questions count, too. By the second, which answers
    with a known right outcome have, that is so or a fact is missing.
    """
    judged: dict[str, list[tuple[float, bool]]] = {"no abstract answers": [], "not right": []}
    for reply in replies:
        answer, should = reply.answer, reply.expected.should_answer
        if answer is None or answer["confidence"] is None:
            continue
        if should is not None:
            judged["no abstract answers"].append((answer["confidence"], not should))
        facts = reply.scores.get("facts")
        if answer["outcome"] == Outcome.ANSWERED and (should is False or facts):
            is_wrong = should is False or (facts is not None and facts.value != 1)
            judged["not right"].append((answer["confidence"], is_wrong))
    return judged


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


_TOKENS = {"read in reranking": "rerank", "read in writing": "prompt", "written": "completion"}
"""Names of the counts of an answer."""


def _spreads(measured: Iterable[Mapping[str, float]]) -> dict[str, Spread]:
    """The distribution of each measure over the replies that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for measures in measured:
        for name, value in measures.items():
            values[name].append(value)
    return {
        name: Spread(
            mean=float(np.mean(each)),
            median=float(np.median(each)),
            p95=float(np.percentile(each, 95)),
            total=float(sum(each)),
        )
        for name, each in values.items()
    }
