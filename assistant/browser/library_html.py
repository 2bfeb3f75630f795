"""The library as HTML: counts as tables with bars, work and its report. Every text is escaped."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from assistant.ingesting import Work
from assistant.stages import Stage
from retrieval.health import Health
from retrieval.overview import Counts, Overview
from retrieval.removing import Removal
from retrieval.types import IngestReport, Skipped

_SHOWN = 8
"""Rows of a table before the rest is folded."""
_MOST_ROWS = 200
"""Rows of a table, the folded ones included."""
_MOST_SKIPPED = 200
_UNFOLDED = 5
"""Skipped places up to which they are shown at once."""
_A_MINUTE = 90
"""Seconds from which a duration is told in minutes."""
_MEGABYTE = 1_000_000

UNKNOWN = "unknown"


def overview_html(overview: Overview) -> str:
    """What is in the library."""
    head = Markup("<h2>In the library</h2><p>{} in {}</p>").format(
        counted(overview.papers, "paper"), counted(overview.chunks, "chunk")
    )
    if not overview.papers:
        return _part(head + Markup("<p>It is empty: add files above.</p>"))
    tables = Markup("").join(
        (
            _table("Files", "File", overview.sources, overview.papers, _removal_button),
            _table("Venues", "Venue", overview.venues, overview.papers),
            _table("Years", "Year", overview.years, overview.papers),
            _table("Decisions", "Decision", overview.decisions, overview.papers),
        )
    )
    return _part(head + Markup('<div class="lib-tables">{}</div>').format(tables))


def removal_html(removal: Removal) -> str:
    """What is asked before a file's papers go."""
    stay = (
        Markup(" {} that other files give too {}; only this source is forgotten.").format(
            counted(removal.kept, "paper"), "stays" if removal.kept == 1 else "stay"
        )
        if removal.kept
        else ""
    )
    return _part(
        Markup(
            '<p role="alert"><strong>Remove “{}”?</strong> {} {} from the library.{} '
            "The file itself is not touched.</p>"
        ).format(
            removal.source,
            counted(removal.removed, "paper"),
            "goes" if removal.removed == 1 else "go",
            stay,
        )
    )


def note_html(sentence: str) -> str:
    """Something that the person can mend."""
    return _part(_alert(sentence))


def ingest_html(work: Work) -> str:
    """Files that are added, or what came of it."""
    if work.number == 0 or work.kind != "ingest":
        return ""
    if work.running:
        return _part(_running(work, "Stopping" if work.stopping else "Adding papers"))
    if work.error:
        return _part(_alert(work.error) + _written(work))
    if work.stopped:
        return _part(
            Markup(
                '<p role="status"><strong>Stopped.</strong> The library is whole. '
                "Add the files again to go on.</p>"
            )
            + _written(work)
        )
    return _part(_report(work.report) if work.report else Markup(""))


def removed_html(work: Work) -> str:
    """A file that is removed, or what came of it."""
    if work.kind != "remove":
        return ""
    if work.running:
        return _part(_running(work, "Removing papers"))
    if work.error or work.removal is None:
        return note_html(work.error)
    done = work.removal
    stayed = Markup(", {} stayed with other sources").format(done.kept) if done.kept else ""
    return _part(
        Markup('<p role="status"><strong>Removed “{}”:</strong> {} gone{}.</p>').format(
            done.source, counted(done.removed, "paper"), stayed
        )
    )


def health_html(work: Work) -> str:
    """A check or a repair, or what came of it."""
    if work.kind not in {"check", "repair"}:
        return _part(
            Markup(
                "<p>Whether every paper has its chunks, the index fits the papers, and the last "
                "write ended.</p>"
            )
        )
    if work.running:
        return _part(_running(work, "Checking" if work.kind == "check" else "Repairing"))
    if work.error or work.health is None:
        return note_html(work.error)
    return _part(_found(work.health, repaired=work.kind == "repair"))


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time that is left, as one would say it."""
    if seconds >= _A_MINUTE:
        return f"{round(seconds / 60)} min"
    return f"{max(1, round(seconds))} s"


def _found(health: Health, *, repaired: bool) -> Markup:
    if health.sound:
        done = "Repaired: the library is whole." if repaired else "The library is whole."
        return Markup('<p role="status"><strong>{}</strong> {} in {}, all indexed.</p>').format(
            done, counted(health.papers, "paper"), counted(health.chunks, "chunk")
        )
    findings = Markup("").join(Markup("<li>{}</li>").format(each) for each in health.findings)
    return Markup('<div role="alert"><strong>Something has to be repaired:</strong>') + Markup(
        "<ul>{}</ul></div>"
    ).format(findings)


def _report(report: IngestReport) -> Markup:
    facts = (
        f"{report.updated:,} updated",
        f"{report.unchanged:,} unchanged",
        f"{counted(report.merged, 'record')} merged as copies",
        f"{duration(report.seconds)}",
    )
    head = Markup('<p role="status"><strong>{} added</strong>, {}.</p>').format(
        counted(report.added, "paper"), ", ".join(facts)
    )
    return head + _skipped(report.skipped)


def _skipped(skipped: Sequence[Skipped]) -> Markup:
    if not skipped:
        return Markup("")
    rows = Markup("").join(
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
        counted(len(skipped), "place"),
        rows,
        left,
    )


def _written(work: Work) -> Markup:
    if not work.added:
        return Markup("<p>No paper was added.</p>")
    return Markup("<p>{} had been added.</p>").format(counted(work.added, "paper"))


def _running(work: Work, doing: str) -> Markup:
    stages = Markup("").join(map(_stage, work.stages))
    return Markup('<p role="status"><strong>{}</strong></p><ul class="lib-stages">{}</ul>').format(
        doing, stages
    )


def _stage(stage: Stage) -> Markup:
    done, total, unit = stage.done, stage.total, stage.unit
    if unit == "B":
        done, total, unit = done // _MEGABYTE, total // _MEGABYTE, "MB"
    if not total:
        return Markup('<li>{}<progress aria-label="{}"></progress></li>').format(
            stage.name, stage.name
        )
    left = f", about {duration(stage.left)} left" if stage.left is not None else ""
    return Markup(
        '<li><span>{}</span><progress max="{}" value="{}" aria-label="{}"></progress>'
        "<span>{:,} of {:,} {}{}</span></li>"
    ).format(stage.name, total, done, stage.name, done, total, unit, left)


def _table(
    title: str,
    column: str,
    counts: Counts,
    papers: int,
    last: Callable[[str], Markup] | None = None,
) -> Markup:
    """A table whose bars are as long as the counts; what is too much for a look is folded."""
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
    return Markup("<tbody>{}</tbody>").format(Markup("").join(rows))


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
        value, value or UNKNOWN, count, _share(count / papers), bar, end
    )


def _share(share: float) -> str:
    percent = round(100 * share)
    return f"{percent} %" if percent else "< 1 %"


def _removal_button(file: str) -> Markup:
    return Markup(
        '<button type="button" data-event="select" data-file="{}" aria-label="Remove {}">Remove'
        "</button>"
    ).format(file, file)


def _alert(sentence: str) -> Markup:
    return Markup('<p class="lib-error" role="alert">{}</p>').format(sentence)


def _part(html: Markup) -> str:
    return str(Markup('<div class="lib">{}</div>').format(html))
