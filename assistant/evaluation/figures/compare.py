"""Compares two runs over the same questions, sample by sample, and decides the gate.

The gate fails if a headline metric is worse and the interval of its difference excludes 0 (with
scores of 0 or 1: if four samples are lost and none is won, however many are unchanged), if no
sample has a score for it any more (else a run would pass by not being measured), or if more samples
end with an error, which is not a matter of chance.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from assistant.evaluation.figures.figures import (
    LEAST_SAMPLES,
    Figures,
    SampleScores,
    interval,
    mean,
    read_figures,
)
from assistant.evaluation.records.record import FIGURES, SAMPLES
from assistant.evaluation.scorers import FAILED, METRIC_OF, METRICS, VERSION, Metric
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

    @property
    def is_changed(self) -> bool:
        """Whether any sample scores otherwise."""
        return bool(self.won or self.lost or self.difference)


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
        worse = (change for change in self.changes if change.verdict is Verdict.WORSE)
        return [change for change in worse if METRIC_OF[change.metric].headline]

    @property
    def vanished(self) -> list[str]:
        """Headline metrics that are gone and had enough samples; the gate fails on them, too."""
        return [
            metric
            for metric, samples in self.gone.items()
            if METRIC_OF[metric].headline and samples >= LEAST_SAMPLES
        ]

    @property
    def passes(self) -> bool:
        """Whether the run passes the gate."""
        return not (self.worse or self.vanished)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run that others are compared with."""

    folder: Path
    figures: Figures


def read_baseline(folder: Path) -> Baseline:
    """The run in `folder`, by its figures; raises InputError if none has ended there."""
    if not folder.is_dir():
        raise InputError(
            f"The baseline {folder} is no folder; name the --out folder of an earlier run."
        )
    if (folder / FIGURES).exists():
        return Baseline(folder, read_figures(folder / FIGURES))
    if (folder / SAMPLES).exists():
        raise InputError(
            f"The run in {folder} did not end, so it is no baseline; "
            "give its command again to resume it."
        )
    raise InputError(
        f"{folder} holds no evaluation run (there is no {FIGURES}); "
        "name the --out folder of an earlier run."
    )


def check_baseline(baseline: Baseline, questions_sha256: str, ids: Collection[str] = ()) -> None:
    """Check that a run of these questions can be compared with a baseline.

    Raises:
        InputError: it has other questions, other scorers, or none of the samples, once their `ids`
            are known.
    """
    before = baseline.figures
    if before.questions_sha256 != questions_sha256:
        raise InputError(
            f"The baseline {baseline.folder} is of another question set than this run; "
            "evaluate both on the same file."
        )
    if before.scorers != VERSION:
        raise InputError(
            f"The baseline {baseline.folder} was scored by scorers {before.scorers}, and these are "
            f"{VERSION}; make the baseline again."
        )
    if ids and before.samples.keys().isdisjoint(ids):
        raise InputError(
            f"The baseline {baseline.folder} and this run have no sample in common; "
            "choose --limit and --types as they were for the baseline."
        )


def compare(baseline: Baseline, now: Figures) -> Comparison:
    """A run beside its baseline, by the questions that both could score; see `check_baseline`."""
    check_baseline(baseline, now.questions_sha256, now.samples.keys())
    before = baseline.figures.samples
    shared = [id_ for id_ in now.samples if id_ in before]
    changes, gone = [], {}
    for metric in METRICS:
        pairs = {
            id_: (_known(before[id_], metric), _known(now.samples[id_], metric)) for id_ in shared
        }
        if change := _change(metric, pairs, now.seed, now.resamples):
            changes.append(change)
        had = sum(bool(old) for old, _ in pairs.values())
        if had and not any(new for _, new in pairs.values()):
            gone[metric.name] = had
    left_out = len(before.keys() ^ now.samples.keys())
    return Comparison(str(baseline.folder), tuple(changes), left_out, gone)


_ByTurn = Mapping[int, float]
"""The scores of a sample in one metric."""


def _known(sample: SampleScores, metric: Metric) -> _ByTurn:
    return {turn: score for turn, score in sample.of(metric.name).items() if score is not None}


def _change(
    metric: Metric, pairs: Mapping[str, tuple[_ByTurn, _ByTurn]], seed: int, resamples: int
) -> Change | None:
    """The change of a metric by each sample's scores before and now, None if none has both."""
    scores = {
        id_: tuple([run[turn] for turn in sorted(old.keys() & new.keys())] for run in (old, new))
        for id_, (old, new) in pairs.items()
        if old.keys() & new.keys()
    }
    if not scores:
        return None
    before, now = zip(*scores.values(), strict=True)
    difference = mean(now) - mean(before)
    low, high = interval(now, seed, resamples, before=before)
    gains = {
        id_: metric.direction * (mean([new]) - mean([old])) for id_, (old, new) in scores.items()
    }
    # Errors are not a matter of chance.
    decisive = (difference, difference) if metric.name == FAILED else (low, high)
    return Change(
        metric=metric.name,
        before=mean(before),
        now=mean(now),
        difference=difference,
        low=low,
        high=high,
        pairs=len(scores),
        unpaired=sum(old.keys() != new.keys() for old, new in pairs.values()),
        verdict=_verdict(metric, *decisive),
        won=tuple(id_ for id_, gain in gains.items() if gain > _NOISE),
        lost=tuple(id_ for id_, gain in gains.items() if gain < -_NOISE),
    )


def _verdict(metric: Metric, low: float | None, high: float | None) -> Verdict:
    """The verdict on a difference by its interval; without one nothing is certain."""
    if low is None or high is None:
        return Verdict.SAME
    gains = metric.direction * low, metric.direction * high
    if min(gains) > _NOISE:
        return Verdict.BETTER
    return Verdict.WORSE if max(gains) < -_NOISE else Verdict.SAME
