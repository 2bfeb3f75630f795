"""Renders `report.html`, a self-contained page, from figures, rows and record of a run.

The template escapes all text. The page's security policy allows no requests, and only its own
script and style, by their hashes.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assistant.evaluation.figures.compare import Change, Comparison
from assistant.evaluation.figures.figures import EITHER_REFUSAL, Figure, Figures
from assistant.evaluation.records.record import RunRecord, leaves, record_json
from assistant.evaluation.report import numbers
from assistant.evaluation.scorers import FAILED, METRIC_OF, METRICS, counted, is_cited, states
from assistant.evaluation.types import Json, Row, Score
from retrieval.index.files import write_whole

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
    """Write the report of a run to `path`, whole or not at all.

    Args:
        path: the page, `report.html` in the run's folder.
        figures: of the run.
        rows: of the run, in the order of the questions.
        record: of the run.
        comparison: with the baseline, if there is one.
    """
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


def ends(of: Figure | Change) -> list[float]:
    """Both ends of an interval, empty if there are too few samples."""
    return [] if of.low is None or of.high is None else [of.low, of.high]


def reach(changes: Sequence[Change]) -> float:
    """The largest distance from 0 of differences and their intervals, or 1 if all are 0."""
    distances = (abs(end) for each in changes for end in (each.difference, *ends(each)))
    return max(distances, default=0.0) or 1.0


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
    functions = (is_cited, is_short, reach, states)
    shapes = (numbers.histogram, numbers.rounded_up, numbers.scale, numbers.ticks)
    environment.globals |= {each.__name__: each for each in (*functions, *shapes)}
    texts = (numbers.bare, numbers.number, numbers.difference, numbers.score, numbers.seconds)
    filters = (*texts, numbers.heading, ends)
    environment.filters |= {each.__name__: each for each in filters} | {"count": counted}
    return environment.get_template("template.html")


def _policy(**allowed: str) -> str:
    """A content security policy that allows only these styles and scripts."""
    policy = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
    for kind, text in allowed.items():
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        policy += f"; {kind}-src 'sha256-{digest}'"
    return policy
