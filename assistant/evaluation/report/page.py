"""Renders `report.html`, a self-contained page, from rows, figures and record of a run.

The template escapes all text. The page's security policy allows no requests, and only its own
script and style, by their hashes.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assistant.evaluation.compare import Comparison
from assistant.evaluation.figures import Figures
from assistant.evaluation.metrics import METRICS
from assistant.evaluation.report import plots
from assistant.evaluation.report.made_with import groups
from assistant.evaluation.report.measures import (
    by_type,
    curves,
    measures,
    outcomes,
    shown_changes,
    spreads,
    types_of,
    unchanged,
)
from assistant.evaluation.report.samples import ShownSample, shown_sample
from assistant.evaluation.report.summary import summarize
from assistant.evaluation.report.wording import heading, label_of, seconds
from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import Row
from retrieval.index.files import write_whole

_FOLDER = Path(__file__).parent


def write_report(
    path: Path,
    figures: Figures,
    rows: Sequence[Row],
    record: Mapping[str, Any],
    comparison: Comparison | None,
) -> None:
    """Write the report of a run to `path`, whole or not at all.

    Args:
        path: the page, `report.html` in the run's folder.
        figures: of the run.
        rows: of the run, in any order.
        record: of the run, as JSON.
        comparison: with the baseline, if there is one.

    Raises:
        LibraryError: the folder cannot be written.
    """
    page = _page(figures, _in_order(rows, figures), record, comparison)
    # JSON can hold half a surrogate pair, a file cannot.
    write_whole(path, page.encode("utf-8", "replace").decode("utf-8"))


def _page(
    figures: Figures, rows: Sequence[Row], record: Mapping[str, Any], comparison: Comparison | None
) -> str:
    style, script = (
        (_FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js")
    )
    samples = [shown_sample(row, place) for place, row in enumerate(rows, start=1)]
    anchors = {sample.id: sample.anchor for sample in samples}
    return _template().render(
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704 - files of this package
        script=Markup(script),  # noqa: S704
        summary=summarize(figures, rows, record, comparison),
        figures=figures,
        headline=measures(figures, is_headline=True),
        others=measures(figures, is_headline=False),
        types=types_of(figures),
        by_type=by_type(figures),
        outcomes=outcomes(figures),
        risk=plots.risk_coverage(figures.curves) if any(figures.curves.values()) else None,
        curves=curves(figures),
        latencies=plots.latencies(figures.latencies) if figures.latencies else None,
        stages=spreads(figures.seconds, seconds),
        tokens=spreads(figures.tokens, lambda value: f"{value:,.0f}"),
        comparison=comparison,
        changes=shown_changes(comparison.changes, anchors) if comparison else (),
        unchanged=unchanged(comparison.changes) if comparison else [],
        gone=[label_of(metric) for metric in comparison.gone] if comparison else [],
        samples=samples,
        counts=_counts(samples),
        made_with=groups(record),
    )


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["swatch"] = plots.swatch
    environment.filters["count"] = counted
    environment.filters["heading"] = heading
    return environment.get_template("template.html")


def _policy(style: str, script: str) -> str:
    """A content security policy that allows only this style and this script."""
    return (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _in_order(rows: Sequence[Row], figures: Figures) -> list[Row]:
    """The rows in the order of the questions."""
    places = {id_: place for place, id_ in enumerate(figures.samples)}
    return sorted(rows, key=lambda row: places.get(row.id, len(places)))


def _counts(samples: Sequence[ShownSample]) -> dict[str, Any]:
    """Number of samples that each choice of the filter shows."""
    short = Counter(metric for sample in samples for metric in sample.short)
    return {
        "misses": sum(bool(sample.reasons) for sample in samples),
        "failed": sum(bool(sample.failed) for sample in samples),
        "unscored": sum(sample.is_unscored for sample in samples),
        "types": Counter(sample.type for sample in samples),
        "short": [
            (metric.score, metric.label, short[metric.score])
            for metric in METRICS
            if short[metric.score]
        ],
    }
