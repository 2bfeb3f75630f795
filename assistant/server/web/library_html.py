"""The library tab as HTML, and the lines above the tabs: setup progress, papers and model.

Every text from outside is escaped here.
"""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from assistant.server.jobs.ingest import JobState, Stage
from assistant.server.jobs.setup import SetupState
from assistant.server.web.html import error_html, panel, panel_error
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.library.overview import Counts, Overview
from retrieval.types import IngestReport, Skipped

_SHOWN = 8
"""Rows of a table before the rest is folded."""
_MOST_ROWS = 200
"""Rows of a table, the folded ones included."""
_MOST_SKIPPED = 200
"""Skipped places that are listed."""
_UNFOLDED = 5
"""Skipped places up to which their list is open."""
_LONGEST_IN_SECONDS = 90
"""Seconds from which a duration is given in minutes."""
_MEGABYTE = 1_000_000


def setup_html(state: SetupState) -> str:
    """The progress of the first start, or why it failed."""
    if state.error:
        return _block(error_html(state.error))
    intro = Markup(
        "<p><strong>Setting up.</strong> The first start fetches two small models and reads the "
        "papers; this takes a few minutes and happens once.</p>"
    )
    stages = Markup().join(_setup_stage(stage) for stage in state.stages)
    return _block(intro + Markup('<ul class="stages">{}</ul>').format(stages))


def library_html(papers: int, model: str) -> str:
    """The line that names the library's size and the model."""
    return _block(
        Markup("<span>{} papers · answered on this machine by {}</span>").format(
            f"{papers:,}", model
        )
    )


def overview_html(overview: Overview) -> str:
    """Counts of papers by file, venue, year and decision."""
    head = Markup("<h2>In the library</h2><p>{} in {}</p>").format(
        _counted(overview.papers, "paper"), _counted(overview.chunks, "chunk")
    )
    if not overview.papers:
        return panel(head + Markup("<p>It is empty: add files above.</p>"))
    tables = Markup().join(
        (
            _table("Files", "File", overview.sources, overview.papers, _removal_button),
            _table("Venues", "Venue", overview.venues, overview.papers),
            _table("Years", "Year", overview.years, overview.papers),
            _table("Decisions", "Decision", overview.decisions, overview.papers),
        )
    )
    return panel(head + Markup('<div class="lib-tables">{}</div>').format(tables))


def removal_html(removal: Removal) -> str:
    """The question before a file's papers are removed."""
    stay = (
        Markup(" {} that other files contain too {}; only this source is removed.").format(
            _counted(removal.kept, "paper"), "stays" if removal.kept == 1 else "stay"
        )
        if removal.kept
        else ""
    )
    return panel(
        Markup(
            '<p role="alert"><strong>Remove “{}”?</strong> {} {} from the library.{} '
            "The file itself is not touched.</p>"
        ).format(
            removal.source,
            _counted(removal.removed, "paper"),
            "goes" if removal.removed == 1 else "go",
            stay,
        )
    )


def ingest_html(job: JobState) -> str:
    """The progress or the outcome of adding files; empty if none were added."""
    if job.number == 0 or job.kind != "ingest":
        return ""
    if job.running:
        return panel(_running(job, "Stopping" if job.stopping else "Adding papers"))
    if job.error:
        return panel(panel_error(job.error) + _written(job))
    if job.stopped:
        return panel(
            Markup(
                '<p role="status"><strong>Stopped.</strong> The library is whole. '
                "Add the files again to continue.</p>"
            )
            + _written(job)
        )
    return panel(_report(job.report) if job.report else Markup())


def removed_html(job: JobState) -> str:
    """The progress or the outcome of removing a file; empty if none was removed."""
    if job.kind != "remove":
        return ""
    if job.running:
        return panel(_running(job, "Removing papers"))
    if job.error or job.removal is None:
        return panel(panel_error(job.error))
    done = job.removal
    stayed = Markup(", {} stayed with other sources").format(done.kept) if done.kept else ""
    return panel(
        Markup('<p role="status"><strong>Removed “{}”:</strong> {} gone{}.</p>').format(
            done.source, _counted(done.removed, "paper"), stayed
        )
    )


def health_html(job: JobState) -> str:
    """The progress or the outcome of a check or repair, or a line on what a check covers."""
    if job.kind not in {"check", "repair"}:
        return panel(
            Markup(
                "<p>A check shows whether every paper has its chunks, the index matches the papers "
                "and the last write was completed.</p>"
            )
        )
    if job.running:
        return panel(_running(job, "Checking" if job.kind == "check" else "Repairing"))
    if job.error or job.health is None:
        return panel(panel_error(job.error))
    return panel(_found(job.health, repaired=job.kind == "repair"))


def duration(seconds: float) -> str:
    """A duration, rounded to minutes or seconds."""
    if seconds >= _LONGEST_IN_SECONDS:
        return f"{round(seconds / 60)} min"
    return f"{max(1, round(seconds))} s"


def _setup_stage(stage: Stage) -> Markup:
    done, total, unit = _amounts(stage)
    if not total:
        return Markup("<li>{}<progress></progress></li>").format(stage.name)
    return Markup(
        '<li>{} <progress max="{}" value="{}" aria-label="{}"></progress> {:,} of {:,} {}</li>'
    ).format(stage.name, total, done, stage.name, done, total, unit)


def _found(health: Health, *, repaired: bool) -> Markup:
    if health.sound:
        done = "Repaired: the library is whole." if repaired else "The library is whole."
        return Markup('<p role="status"><strong>{}</strong> {} in {}, all indexed.</p>').format(
            done, _counted(health.papers, "paper"), _counted(health.chunks, "chunk")
        )
    findings = Markup().join(Markup("<li>{}</li>").format(each) for each in health.findings)
    return Markup(
        '<div role="alert"><strong>The library needs a repair:</strong><ul>{}</ul></div>'
    ).format(findings)


def _report(report: IngestReport) -> Markup:
    facts = (
        f"{report.updated:,} updated",
        f"{report.unchanged:,} unchanged",
        f"{_counted(report.merged, 'record')} merged as copies",
        duration(report.seconds),
    )
    head = Markup('<p role="status"><strong>{} added</strong>, {}.</p>').format(
        _counted(report.added, "paper"), ", ".join(facts)
    )
    notes = Markup().join(
        Markup("<p>{}, line {}: {}.</p>").format(each.source, each.line, each.reason)
        for each in report.notes[:_MOST_SKIPPED]
    )
    return head + notes + _skipped(report.skipped)


def _skipped(skipped: Sequence[Skipped]) -> Markup:
    if not skipped:
        return Markup()
    rows = Markup().join(
        Markup('<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>').format(
            each.source, each.line or "–", each.reason
        )
        for each in skipped[:_MOST_SKIPPED]
    )
    more = len(skipped) - _MOST_SKIPPED
    left = Markup("<p>and {:,} more</p>").format(more) if more > 0 else ""
    return Markup(
        '<details class="lib-skipped"{}><summary>{} skipped</summary><table><thead><tr>'
        '<th scope="col">File</th><th scope="col">Line</th><th scope="col">Why</th></tr></thead>'
        "<tbody>{}</tbody></table>{}</details>"
    ).format(
        Markup(" open") if len(skipped) <= _UNFOLDED else "",
        _counted(len(skipped), "place"),
        rows,
        left,
    )


def _written(job: JobState) -> Markup:
    if not job.added:
        return Markup("<p>No paper was added.</p>")
    return Markup("<p>{} had been added.</p>").format(_counted(job.added, "paper"))


def _running(job: JobState, doing: str) -> Markup:
    stages = Markup().join(map(_stage, job.stages))
    return Markup('<p role="status"><strong>{}</strong></p><ul class="lib-stages">{}</ul>').format(
        doing, stages
    )


def _stage(stage: Stage) -> Markup:
    done, total, unit = _amounts(stage)
    if not total:
        return Markup('<li>{}<progress aria-label="{}"></progress></li>').format(
            stage.name, stage.name
        )
    left = f", about {duration(stage.seconds_left)} left" if stage.seconds_left is not None else ""
    return Markup(
        '<li><span>{}</span><progress max="{}" value="{}" aria-label="{}"></progress>'
        "<span>{:,} of {:,} {}{}</span></li>"
    ).format(stage.name, total, done, stage.name, done, total, unit, left)


def _amounts(stage: Stage) -> tuple[int, int, str]:
    """What is done, the total and their unit, bytes as megabytes."""
    if stage.unit == "B":
        return stage.done // _MEGABYTE, stage.total // _MEGABYTE, "MB"
    return stage.done, stage.total, stage.unit


def _table(
    title: str,
    column: str,
    counts: Counts,
    papers: int,
    last: Callable[[str], Markup] | None = None,
) -> Markup:
    """A table of counts with bars; rows after the first few are folded."""
    most = max(count for _, count in counts)
    rows = [_row(value, count, most, papers, last) for value, count in counts[:_MOST_ROWS]]
    heads = Markup('<th scope="col">{}</th><th scope="col">Papers</th>').format(column)
    heads += Markup('<th scope="col">Share</th><td></td>') + (Markup("<td></td>") if last else "")
    shown = Markup("<table><caption>{}</caption><thead><tr>{}</tr></thead>{}</table>").format(
        title, heads, _body(rows[:_SHOWN])
    )
    folded = len(counts) - _SHOWN
    kind = "lib-files" if last else "lib-values"
    if folded <= 0:
        return Markup('<div class="{}">{}</div>').format(kind, shown)
    unseen = len(counts) - _MOST_ROWS
    rest = Markup(
        '<details><summary>and {:,} more</summary><table aria-label="More of {}">{}</table>{}'
        "</details>"
    ).format(
        folded,
        title,
        _body(rows[_SHOWN:]),
        Markup("<p>{:,} of them are not shown.</p>").format(unseen) if unseen > 0 else "",
    )
    return Markup('<div class="{}">{}{}</div>').format(kind, shown, rest)


def _body(rows: Sequence[Markup]) -> Markup:
    return Markup("<tbody>{}</tbody>").format(Markup().join(rows))


def _row(
    value: str, count: int, most: int, papers: int, last: Callable[[str], Markup] | None
) -> Markup:
    # The width is an attribute of the drawing: styles in elements may be forbidden.
    bar = Markup(
        '<td class="lib-bar" aria-hidden="true"><svg><rect width="{:.1f}%" height="100%"/></svg>'
        "</td>"
    ).format(100 * count / most)
    end = Markup("<td>{}</td>").format(last(value)) if last else ""
    return Markup('<tr><th scope="row" title="{}">{}</th><td>{:,}</td><td>{}</td>{}{}</tr>').format(
        value, value or "unknown", count, _share(count / papers), bar, end
    )


def _share(share: float) -> str:
    percent = round(100 * share)
    return f"{percent} %" if percent else "< 1 %"


def _removal_button(file: str) -> Markup:
    return Markup(
        '<button type="button" data-event="select" data-file="{}" aria-label="Remove {}">Remove'
        "</button>"
    ).format(file, file)


def _counted(count: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _block(html: Markup) -> str:
    return str(Markup('<div class="assistant-block">{}</div>').format(html))
