"""Compares two runs over the same questions, sample by sample, and decides the gate.

The gate fails if a headline metric is worse and the interval of its difference excludes 0 (with
scores of 0 or 1: if four samples are lost and none is won, however many are unchanged), if no
sample has a score for it any more (else a run would pass by not being measured), or if more samples
end with an error, which is not a matter of chance.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from assistant.evaluation.figures import Figures, SampleScores, read_figures
from assistant.evaluation.metrics import (
    FAILED,
    HEADLINES,
    LEAST_SAMPLES,
    METRICS,
    Better,
    Interval,
    Metric,
    Total,
    difference_interval,
    mean,
)
from assistant.evaluation.rows import FIGURES, SAMPLES
from assistant.evaluation.scorers import VERSION
from retrieval.types import InputError

_NOISE = 1e-9
"""Rounding error of sums; smaller differences count as none."""


class Verdict(StrEnum):
    """Direction of a change beyond chance."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"


@dataclass(frozen=True, slots=True)
class Change:
    """A metric in two runs, over the samples that both could score."""

    metric: str
    before: float
    now: float
    difference: float
    low: float | None
    """Lower end of the 95 % interval of the difference, over pairs of samples drawn with
    replacement; None if there are too few."""
    high: float | None
    pairs: int
    """Samples."""
    unpaired: int
    """Samples with questions that only one of the runs could score."""
    verdict: Verdict
    won: tuple[str, ...]
    """Ids of the samples that score better now."""
    lost: tuple[str, ...]
    """Ids of those that score worse."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run compared with its baseline."""

    baseline: str
    """The baseline's folder."""
    changes: tuple[Change, ...]
    left_out: int
    """Samples that only one of the runs has."""
    gone: Mapping[str, int]
    """Metrics that no sample has a score for any more, with the number of samples that had one."""

    @property
    def worse(self) -> list[Change]:
        """The headline metrics that are worse; the gate fails on them."""
        return [
            change
            for change in self.changes
            if change.verdict is Verdict.WORSE and change.metric in HEADLINES
        ]

    @property
    def vanished(self) -> list[str]:
        """Headline metrics that are gone and had enough samples; the gate fails on them, too."""
        return [
            metric
            for metric, samples in self.gone.items()
            if metric in HEADLINES and samples >= LEAST_SAMPLES
        ]

    @property
    def passes(self) -> bool:
        """Whether the run passes the gate."""
        return not (self.worse or self.vanished)


def read_baseline(folder: Path) -> Figures:
    """The figures of the run in `folder`; its other files are not needed.

    Raises:
        InputError: there is no folder, no run in it, or a run that did not end.
    """
    if not folder.is_dir():
        raise InputError(
            f"The baseline {folder} is no folder; name the --out folder of an earlier run."
        )
    if (folder / FIGURES).exists():
        return read_figures(folder / FIGURES)
    if (folder / SAMPLES).exists():
        raise InputError(
            f"The run in {folder} did not end, so it is no baseline; "
            "give its command again to resume it."
        )
    raise InputError(
        f"{folder} holds no evaluation run (there is no {FIGURES}); "
        "name the --out folder of an earlier run."
    )


def check_baseline(
    before: Figures, questions_sha256: str, baseline: Path | str, ids: Collection[str] = ()
) -> None:
    """Check that a run of these questions can be compared with a baseline.

    Args:
        before: the baseline's figures.
        questions_sha256: of the run's file of questions.
        baseline: the baseline's folder.
        ids: of the run's samples, once they are known.

    Raises:
        InputError: the baseline has other questions, other scorers or none of these samples.
    """
    if before.questions_sha256 != questions_sha256:
        raise InputError(
            f"The baseline {baseline} is of another question set than this run; "
            "evaluate both on the same file."
        )
    if before.scorers != VERSION:
        raise InputError(
            f"The baseline {baseline} was scored by scorers {before.scorers}, and these are "
            f"{VERSION}; make the baseline again."
        )
    if ids and before.samples.keys().isdisjoint(ids):
        raise InputError(
            f"The baseline {baseline} and this run have no sample in common; "
            "choose --limit and --types as they were for the baseline."
        )


def compare(before: Figures, now: Figures, baseline: str, seed: int) -> Comparison:
    """Compare a run with its baseline, over the questions that both could score.

    Args:
        before: the baseline's figures.
        now: the run's figures.
        baseline: the baseline's folder.
        seed: of the intervals' draws.

    Raises:
        InputError: the runs cannot be compared.
    """
    check_baseline(before, now.questions_sha256, baseline, now.samples.keys())
    shared = {
        id_: (before.samples[id_], sample)
        for id_, sample in now.samples.items()
        if id_ in before.samples
    }
    changes = (_change(metric, shared, seed, now.resamples) for metric in METRICS)
    return Comparison(
        baseline=baseline,
        changes=tuple(change for change in changes if change),
        left_out=len(before.samples.keys() ^ now.samples.keys()),
        gone=_gone(shared),
    )


def _gone(shared: Mapping[str, tuple[SampleScores, SampleScores]]) -> dict[str, int]:
    """The metrics with scores in the baseline only, with the number of samples there."""
    gone = {}
    for metric in METRICS:
        had = sum(bool(_known(before.of(metric.score))) for before, _ in shared.values())
        if had and not any(_known(now.of(metric.score)) for _, now in shared.values()):
            gone[metric.score] = had
    return gone


@dataclass(frozen=True, slots=True)
class _Pair:
    """The scores of a sample's questions that both runs could score."""

    id: str
    before: Total
    now: Total

    @property
    def difference(self) -> float:
        """Difference of the sample's means."""
        return mean([self.now]) - mean([self.before])


def _change(
    metric: Metric,
    shared: Mapping[str, tuple[SampleScores, SampleScores]],
    seed: int,
    resamples: int,
) -> Change | None:
    """The change of a metric, None if no question has a score in both runs."""
    scores = [
        (id_, before.of(metric.score), now.of(metric.score))
        for id_, (before, now) in shared.items()
    ]
    pairs = [pair for each in scores if (pair := _pair(*each))]
    if not pairs:
        return None
    before, now = [pair.before for pair in pairs], [pair.now for pair in pairs]
    interval = difference_interval(before, now, seed, resamples)
    has_interval = len(pairs) >= LEAST_SAMPLES
    gains = {pair.id: _gain(metric, pair.difference) for pair in pairs}
    return Change(
        metric=metric.score,
        before=mean(before),
        now=mean(now),
        difference=mean(now) - mean(before),
        low=interval.low if has_interval else None,
        high=interval.high if has_interval else None,
        pairs=len(pairs),
        unpaired=sum(_known(before) != _known(now) for _, before, now in scores),
        verdict=_verdict(metric, mean(now) - mean(before), interval, len(pairs)),
        won=tuple(id_ for id_, gain in gains.items() if gain > _NOISE),
        lost=tuple(id_ for id_, gain in gains.items() if gain < -_NOISE),
    )


def _pair(
    id_: str, before: Mapping[int, float | None], now: Mapping[int, float | None]
) -> _Pair | None:
    """A sample's scores in the turns that both runs could score, None without any."""
    turns = sorted(_known(before) & _known(now))
    if not turns:
        return None
    return _Pair(id_, _total(before, turns), _total(now, turns))


def _known(scores: Mapping[int, float | None]) -> set[int]:
    return {turn for turn, score in scores.items() if score is not None}


def _total(scores: Mapping[int, float | None], turns: Sequence[int]) -> Total:
    return Total(sum(scores[turn] or 0.0 for turn in turns), len(turns))


def _gain(metric: Metric, difference: float) -> float:
    """A difference with its sign so that more is better."""
    return difference if metric.better is Better.HIGHER else -difference


def _verdict(metric: Metric, difference: float, interval: Interval, pairs: int) -> Verdict:
    """The verdict on a difference; without enough samples only errors count."""
    ends = (interval.low, interval.high) if metric.score != FAILED else (difference,)
    is_certain = pairs >= LEAST_SAMPLES or metric.score == FAILED
    gains = [_gain(metric, end) for end in ends]
    if is_certain and min(gains) > _NOISE:
        return Verdict.BETTER
    if is_certain and max(gains) < -_NOISE:
        return Verdict.WORSE
    return Verdict.SAME
