"""The metrics of a run: each is the mean of a score over all questions that have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assistant.evaluation import scorers
from assistant.evaluation.scorers import Scorer
from assistant.evaluation.types import AnsweredQuestion, Score


class Better(StrEnum):
    """Direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


class Unit(StrEnum):
    """The kind of number that a metric is."""

    SHARE = "share"
    """From 0 to 1, shown in per cent."""
    DECIMAL = "decimal"
    """From 0 to 1, shown as a decimal."""
    COUNT = "count"
    """From 0 up."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of a score."""

    name: str
    """Of the metric and of its scores."""
    label: str
    """A short description, which fits beside the figures in a terminal of 80 columns."""
    scorer: Scorer | None
    """None for the share of failed samples, which have no replies to score."""
    better: Better = Better.HIGHER
    unit: Unit = Unit.SHARE
    headline: bool = False
    """Whether it is shown first, and whether `--gate` fails if it is worse."""

    def gain(self, difference: float) -> float:
        """A difference with its sign so that more is better."""
        return difference if self.better is Better.HIGHER else -difference

    def goodness(self, value: float) -> float | None:
        """The value on a scale from 0, worst, to 1, best; None for counts, which have no best."""
        if self.unit is Unit.COUNT:
            return None
        return value if self.better is Better.HIGHER else 1 - value


FAILED = "failed"
"""The metric without a scorer: the share of samples that ended with an error."""
_LOWER, _COUNT, _DECIMAL = Better.LOWER, Unit.COUNT, Unit.DECIMAL

METRICS = (
    Metric("facts", "answers with all facts", scorers.all_facts, headline=True),
    Metric("fact recall", "facts in the answer", scorers.fact_recall),
    Metric("words", "words of an answer", scorers.words, _LOWER, _COUNT, headline=True),
    Metric("citation precision", "right citations", scorers.citation_precision, headline=True),
    Metric("citation recall", "right papers cited", scorers.citation_recall, headline=True),
    Metric("grounded", "names, numbers as cited", scorers.grounded, headline=True),
    Metric("written", "answers written first", scorers.written, headline=True),
    Metric("written words", "words the model wrote", scorers.written_words, _LOWER, _COUNT),
    Metric("written facts", "all facts written", scorers.written_facts, headline=True),
    Metric("quotes verbatim", "quotes word for word", scorers.quotes_verbatim, headline=True),
    Metric("evidence recall", "expected evidence cited", scorers.evidence_recall, headline=True),
    Metric("abstention", "right to answer or not", scorers.abstention, headline=True),
    Metric(
        "false abstention", "answerable, refused", scorers.false_abstention, _LOWER, headline=True
    ),
    Metric("false answer", "unanswerable, answered", scorers.false_answer, _LOWER, headline=True),
    Metric("follow-up", "understood follow-ups", scorers.follow_up, headline=True),
    Metric("recall@1", "right papers at rank 1", scorers.recall_at_1),
    Metric("recall@5", "right papers in first 5", scorers.recall_at_5),
    Metric("recall@10", "right papers in first 10", scorers.recall_at_10, headline=True),
    Metric("recall@100", "right papers in first 100", scorers.recall_at_100),
    Metric("mrr@10", "mean reciprocal rank", scorers.mrr_at_10, unit=_DECIMAL, headline=True),
    Metric("ndcg@10", "nDCG of first 10", scorers.ndcg_at_10, unit=_DECIMAL, headline=True),
    Metric("r-precision", "right papers in first n", scorers.r_precision),
    Metric("same again", "same bytes, asked again", scorers.same_again, headline=True),
    Metric(FAILED, "samples with an error", None, _LOWER, headline=True),
)
"""All metrics, in the order in which they are shown."""
METRIC_OF: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
"""The metrics by name."""


def scores_of(asked: AnsweredQuestion) -> dict[str, Score]:
    """Every score that applies, by its metric."""
    scores = {each.name: each.scorer(asked) for each in METRICS if each.scorer}
    return {name: score for name, score in scores.items() if score is not None}
