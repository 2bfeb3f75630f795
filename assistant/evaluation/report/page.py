"""Renders `report.html`, a self-contained page, from figures, rows and record of a run.

The template escapes all text. The page's security policy allows no requests, and only its own
script and style, by their hashes.
"""

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from assistant.evaluation.figures.compare import Change, Comparison
from assistant.evaluation.figures.figures import EITHER_REFUSAL, Figure, Figures
from assistant.evaluation.records.record import RunRecord, leaves, record_json
from assistant.evaluation.scorers import FAILED, METRIC_OF, METRICS, is_cited, states
from assistant.evaluation.types import Row, Score
from assistant.generation.rendering import Block, blocks
from assistant.types import AnswerSentence, Citation, Json, SentenceKind
from retrieval.index.files import write_whole
from retrieval.types import Paper, counted

_FOLDER = Path(__file__).parent
REASONS: Mapping[str, str] = {
    FAILED: "error",
    "facts": "a fact is missing",
    "abstention": "wrongly answered or refused",
    "follow-up": "follow-up cites another paper",
    "quotes verbatim": "a quote differs",
    "same again": "differs when asked again",
    "mrr@10": "first paper found is not a right one",
}
"""The scores that make a sample a miss if they are below the best, and the reason that is shown.

The other scores are gradual, and nearly every sample is below the best in one of them."""
_TOLERANCE = 1e-9
"""Sums of gains may end just below 1."""
_NAMED = 3
"""Number of metrics shown as best, and as weakest."""
_GOOD = 0.9
"""Share of the best value from which a metric is called good."""
_FEW, _MINUTE = 0.1, 60
"""Seconds below which milliseconds are shown, and from which minutes are."""
_TICKS = 5
"""Approximate number of ticks on an axis."""
_MOST_BINS = 28


@dataclass(frozen=True, slots=True)
class ReportedSample:
    """A row, and what the page filters by."""

    row: Row
    anchor: str
    """Target of links, made from its place, as an id may have any characters."""
    short: tuple[str, ...]
    """Metrics in which a question is below the best score."""
    is_unscored: bool
    """Whether a score that applies has no value."""

    @property
    def reasons(self) -> list[str]:
        """Why it is a miss, empty if it is none."""
        return [reason for metric, reason in REASONS.items() if metric in self.short]


def write_report(
    path: Path,
    figures: Figures,
    rows: Sequence[Row],
    record: RunRecord,
    comparison: Comparison | None,
) -> None:
    """Write the report of a run, whole or not at all; rows are in the order of the questions."""
    samples = [reported(row, place) for place, row in enumerate(rows, start=1)]
    changes = comparison.changes if comparison else ()
    good, poor = _extremes(figures)
    page = _template().render(
        figures=figures,
        types=Counter(row.type.value for row in rows),
        good=good,
        poor=poor,
        comparison=comparison,
        share_reach=reach([each for each in changes if METRIC_OF[each.metric].unit != "count"]),
        typed={figure.metric for figure in figures.figures if figure.type},
        samples=samples,
        anchors={sample.row.id: sample.anchor for sample in samples},
        replies=[reply for row in rows for reply in row.replies],
        reasons=Counter(reason for sample in samples for reason in sample.reasons).most_common(),
        short=Counter(metric for sample in samples for metric in sample.short),
        record=record,
        title=Path(record.asking.file).name,
        begun=datetime.fromisoformat(record.times.begun),
        made_with=record_groups(record_json(record)),
    )
    # JSON can hold half a surrogate pair, a file cannot.
    write_whole(path, page.encode("utf-8", "replace").decode("utf-8"))


def reported(row: Row, place: int) -> ReportedSample:
    """A row as the sample at a place of the page, from 1."""
    scores = [each for reply in row.replies for each in reply.scores.items()]
    short = [metric for metric, score in scores if is_short(metric, score)]
    return ReportedSample(
        row=row,
        anchor=f"sample-{place}",
        short=tuple(dict.fromkeys([FAILED, *short] if row.failed else short)),
        is_unscored=any(score.value is None for _, score in scores),
    )


def is_short(metric: str, score: Score) -> bool:
    """Whether a score is below the best; False without a value."""
    reached = None if score.value is None else METRIC_OF[metric].goodness(score.value)
    return reached is not None and reached < 1 - _TOLERANCE


def record_groups(record: Json) -> dict[str, list[tuple[str, Any]]]:
    """The values of a run record by its parts, nested ones with dots; loose values come last."""
    parts = {name: part for name, part in record.items() if isinstance(part, dict)}
    loose = {name: part for name, part in record.items() if name not in parts}
    return {name: list(leaves(part)) for name, part in {**parts, "run": loose}.items() if part}


def _extremes(figures: Figures) -> tuple[list[Figure], list[Figure]]:
    """The best of the good headline figures, and the weakest of the others."""
    reached = [
        (share, figure)
        for metric in METRICS
        if metric.headline and metric.name != FAILED
        if (figure := figures.of(metric.name)) and figure.value is not None
        if (share := metric.goodness(figure.value)) is not None
    ]
    reached.sort(key=lambda each: -each[0])
    good = [figure for share, figure in reached if share >= _GOOD]
    poor = [figure for share, figure in reversed(reached) if share < _GOOD]
    return good[:_NAMED], poor[:_NAMED]


def answer_blocks(answer: Json) -> list[Block]:
    """The sentences of an answer, grouped as they are wherever answers are shown."""
    cited = {}
    for each in reversed(answer["citations"]):
        fields = {"id": each["paper_id"], "title": each["title"], "abstract": each["quote"]}
        cited[each["paper_id"]] = Paper(
            **fields, authors=(), venue="", year=None, decision="", sources=()
        )
    citations = [
        Citation(each["number"], cited[each["paper_id"]], each["quote"])
        for each in answer["citations"]
    ]
    sentences = [
        AnswerSentence(each["text"], SentenceKind(each["kind"]), tuple(each["citations"]))
        for each in answer["sentences"]
    ]
    return list(blocks(sentences, citations))


def ends(of: Figure | Change) -> list[float]:
    """Both ends of an interval, empty if there are too few samples."""
    return [] if of.low is None or of.high is None else [of.low, of.high]


def reach(changes: Sequence[Change]) -> float:
    """The largest distance from 0 of differences and their intervals, or 1 if all are 0."""
    distances = (abs(end) for each in changes for end in (each.difference, *ends(each)))
    return max(distances, default=0.0) or 1.0


def heading(label: str) -> str:
    """A label with a capital first letter; names such as nDCG stay as they are."""
    return label if label[1:2].isupper() else label[:1].upper() + label[1:]


def bare(value: float, metric: str) -> str:
    """A figure without its unit; shares of 0 and 1 have no decimals."""
    match METRIC_OF[metric].unit:
        case "share":
            return f"{100 * value:.0f}" if value in {0, 1} else f"{100 * value:.1f}"
        case "decimal":
            return f"{value:.3f}"
        case "count":
            return f"{value:.1f}"


def number(value: float | None, metric: str) -> str:
    """A figure with its unit: `55.3 %`, `0.844`, `56.2`; a dash if there is none."""
    if value is None:
        return "–"
    percent = "\N{NO-BREAK SPACE}%" if METRIC_OF[metric].unit == "share" else ""
    return bare(value, metric) + percent


def difference(value: float, metric: str) -> str:
    """A difference with its sign: `+3.2` (percentage points), `−0.012`."""
    size = bare(abs(value), metric)
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


def scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    """A function from values to positions, by which `low` is at `first` and `high` at `last`."""

    def at(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(first + share * (last - first), 1)

    return at


def histogram(seconds: Sequence[float]) -> dict[str, Any]:
    """Numbers of at least one question by seconds: columns, their highest, the end of the axis."""
    median, late = np.percentile(seconds, (50, 95)).tolist()
    end = ticks(max(seconds))[-1]
    bins = min(_MOST_BINS, max(8, 2 * math.isqrt(len(seconds))))
    counts, edges = np.histogram(seconds, bins=bins, range=(0, end))
    columns = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return {
        "median": median,
        "late": late,
        "end": end,
        "columns": [each for each in columns if each[2]],
        "highest": int(counts.max()),
    }


def ticks(highest: float, *, whole: bool = False) -> list[float]:
    """Ticks of an axis from 0 to an end that shows `highest`, by 1, 2 or 5 times a power of ten."""
    highest = highest if highest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(highest / _TICKS))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= highest / _TICKS)
    if whole:
        step = max(1.0, step)
    return [round(step * count, 9) for count in range(math.ceil(highest / step - 1e-9) + 1)]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (
        (_FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js")
    )
    environment.globals |= {
        "style": Markup(style),  # noqa: S704 - files of this package
        "script": Markup(script),  # noqa: S704
        "policy": _policy(style=style, script=script),
        "metrics": METRICS,
        "metric_of": METRIC_OF,
        "either_refusal": EITHER_REFUSAL,
    }
    functions = (answer_blocks, histogram, is_cited, is_short, reach, scale, states, ticks)
    environment.globals |= {each.__name__: each for each in functions}
    filters = (bare, difference, ends, heading, number, score, seconds)
    environment.filters |= {each.__name__: each for each in filters} | {"count": counted}
    return environment.get_template("template.html")


def _policy(**allowed: str) -> str:
    """A content security policy that allows only these styles and scripts."""
    policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
    for kind, text in allowed.items():
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        policy += f"; {kind}-src 'sha256-{digest}'"
    return policy
