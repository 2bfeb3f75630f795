"""Wording of the report: explanations of the metrics, and numbers as text with units."""

from collections.abc import Mapping
from enum import StrEnum

from assistant.evaluation.metrics import COUNTS, FAILED, METRIC_OF, Better

MEANINGS: Mapping[str, str] = {
    "facts": "Questions whose answer has every fact of a right answer, in a wording that counts.",
    "fact recall": "Of the facts that right answers have, those that the answers have.",
    "words": "How long the shown answers are; refusals are not counted.",
    "citation precision": "Of the papers that an answer cites, those that answer the question.",
    "citation recall": "Of the papers that answer a question, those that the answer cites.",
    "grounded": "Sentences of answers whose numbers, units and names all stand in what they cite.",
    "written": "Answers from abstracts that begin with what the model wrote or cut out.",
    "written words": "How long the sentences are that the model wrote, where it wrote any.",
    "written facts": "Questions where what the model wrote alone has every fact of a right answer.",
    "quotes verbatim": "Quotes that occur in their abstract letter by letter.",
    "evidence recall": "Sentences on which a right answer stands that the answer quotes or cites.",
    "abstention": "Questions answered that have an answer here, and refused that have none.",
    "false abstention": "Questions that have an answer here, and were refused.",
    "false answer": "Questions that no abstract answers, and were answered all the same.",
    "follow-up": "Later questions of a conversation whose first citation is a right paper.",
    "recall@1": "Of the right papers, those that were found at the first rank.",
    "recall@5": "Of the right papers, those among the first five found.",
    "recall@10": "Of the right papers, those among the first ten found.",
    "recall@100": "Of the right papers, those among the first hundred found.",
    "mrr@10": "1 where the first paper found is a right one, 1/2 where the second is, and so on; "
    "0 beyond the tenth.",
    "ndcg@10": "Right papers among the first ten, early ones counting more; 1 is the best order.",
    "r-precision": "With n right papers: those of them among the first n found.",
    "same again": "Questions that gave the same answer, byte for byte, when asked once more.",
    FAILED: "Samples that gave no answer at all, but an error.",
}
"""An explanation of every metric."""

CURVES: Mapping[str, str] = {
    "no abstract answers": "wrong to answer: no abstract answers the question",
    "not right": "wrong answers: no abstract answers the question, or a fact is missing",
}
"""Labels of the risk-coverage curves."""


class Unit(StrEnum):
    """The kind of number that a metric is."""

    SHARE = "share"
    """From 0 to 1, shown in per cent."""
    DECIMAL = "decimal"
    """From 0 to 1, shown as a decimal."""
    COUNT = "count"
    """From 0 up."""


_DECIMAL = frozenset({"mrr@10", "ndcg@10"})
NOTHING = "–"
"""Shown in place of a missing number."""
TOO_FEW = "too few for an interval"
"""Shown in place of an interval."""
_FEW = 0.1
"""Seconds below which milliseconds are shown."""
_MINUTE = 60
_PERCENT = "\N{NO-BREAK SPACE}%"


def unit_of(metric: str) -> Unit:
    """The unit of a metric."""
    if metric in COUNTS:
        return Unit.COUNT
    return Unit.DECIMAL if metric in _DECIMAL else Unit.SHARE


def label_of(metric: str) -> str:
    """The label of a metric; an unknown one is shown by its name."""
    return METRIC_OF[metric].label if metric in METRIC_OF else metric


def heading(label: str) -> str:
    """A label with a capital first letter; names such as nDCG stay as they are."""
    return label if label[1:2].isupper() else label[:1].upper() + label[1:]


def is_better_low(metric: str) -> bool:
    """Whether less is better."""
    return metric in METRIC_OF and METRIC_OF[metric].better is Better.LOWER


def goodness(metric: str, value: float) -> float | None:
    """The value on a scale from 0, worst, to 1, best; None for counts, which have no best."""
    if unit_of(metric) is Unit.COUNT:
        return None
    return 1 - value if is_better_low(metric) else value


def number(metric: str, value: float | None) -> str:
    """A figure with its unit: `55.3 %`, `0.844`, `56.2`."""
    if value is None:
        return NOTHING
    return bare(metric, value) + (_PERCENT if unit_of(metric) is Unit.SHARE else "")


def bare(metric: str, value: float) -> str:
    """A figure without its unit; shares of 0 and 1 have no decimals."""
    match unit_of(metric):
        case Unit.SHARE:
            return f"{100 * value:.0f}" if value in {0, 1} else f"{100 * value:.1f}"
        case Unit.DECIMAL:
            return f"{value:.3f}"
        case Unit.COUNT:
            return f"{value:.1f}"


def interval(metric: str, low: float | None, high: float | None) -> str:
    """An interval with one unit: `48.1 to 62.4 %`; `TOO_FEW` if there is none."""
    if low is None or high is None:
        return TOO_FEW
    return f"{bare(metric, low)} to {number(metric, high)}"


def difference(metric: str, value: float) -> str:
    """A difference with its sign: `+3.2` (percentage points), `−0.012`."""
    size = bare(metric, abs(value))
    sign = "−" if value < 0 else "+"
    return f"{sign}{size}" if size.strip("0.") else size


def score(value: float | None) -> str:
    """The score of one question: `1`, `0.67` or `not scored`."""
    if value is None:
        return "not scored"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def seconds(value: float) -> str:
    """A duration: `31 ms`, `2.1 s`, `3 min 20 s`, `1 h 5 min`."""
    if value < _FEW:
        return f"{1000 * value:.0f} ms"
    if value < _MINUTE:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s"
    return f"{minutes // _MINUTE} h {minutes % _MINUTE} min"
