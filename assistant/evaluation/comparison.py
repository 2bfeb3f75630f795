"""Two runs over the same questions, sample by sample."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a metric changed, beyond what chance explains."""

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
    low: float
    """The 95 % interval of the difference, over pairs of samples drawn with replacement."""
    high: float
    pairs: int
    """Samples."""
    verdict: Verdict
    won: tuple[str, ...]
    """Ids of the samples that score better now."""
    lost: tuple[str, ...]
    """Ids of those that score worse."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside its baseline."""

    baseline: str
    """The baseline's folder."""
    changes: tuple[Change, ...]
    left_out: int
    """Samples that only one of the runs has."""

    @property
    def worse(self) -> list[Change]:
        """The changes that the gate stops."""
        return [change for change in self.changes if change.verdict is Verdict.WORSE]
