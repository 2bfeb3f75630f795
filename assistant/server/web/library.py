"""The library tab: its contents, adding files, removing sources, checking and repairing.

Jobs belong to the process, not to a page: every page that shows the tab polls their state, and
receives what has changed since its last poll.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gradio as gr

from assistant.server.auth.request_body import SUFFIXES
from assistant.server.jobs.library import JobState, LibraryJobs
from assistant.server.service import Service
from assistant.server.web.html import ON_LOAD, QUIET, event_field, panel, panel_error
from assistant.server.web.library_html import (
    health_html,
    ingest_html,
    library_html,
    overview_html,
    removal_html,
    removed_html,
)
from retrieval.library.ingest import Removal, removal_of
from retrieval.types import InputError, UserError

_BUSY_SECONDS = 0.5
_IDLE_SECONDS = 3.0
_FOCUS_KEEP = "() => document.querySelector('#lib-keep')?.focus()"
_EARLIEST, _LATEST = 1000, 3000
"""Years that can be given for papers that name none."""


class _Parts:
    """The components of the tab."""

    def __init__(self) -> None:
        """Build them in the open Gradio context."""
        gr.HTML('<h2 class="lib-head">Add papers</h2>', js_on_load=None)
        self.uploads = gr.File(
            label="Text, JSONL, BibTeX, RIS or CSV",
            file_count="multiple",
            file_types=sorted(SUFFIXES),
            elem_id="lib-uploads",
            height=190,
        )
        where = "Venue and year, for files that name none"
        with gr.Accordion(where, open=False), gr.Row():
            self.venue = gr.Textbox(label="Venue", max_length=200, elem_id="lib-venue")
            self.year = gr.Number(label="Year", precision=0, value=None, elem_id="lib-year")
        self.ingest = gr.HTML(elem_id="lib-ingest", js_on_load=None)
        self.cancel = gr.Button("Cancel", visible=False, elem_id="lib-cancel", size="sm")
        self.removal = gr.HTML(elem_id="lib-removal", js_on_load=None)
        with gr.Row(visible=False, elem_id="lib-asked") as self.asked:
            self.remove = gr.Button("Remove", variant="stop", elem_id="lib-remove", size="sm")
            self.keep = gr.Button("Keep", elem_id="lib-keep", size="sm")
        self.overview = gr.HTML(elem_id="lib-overview", js_on_load=ON_LOAD)
        gr.HTML('<h2 class="lib-head">Health of the library</h2>', js_on_load=None)
        self.health = gr.HTML(health_html(JobState()), elem_id="lib-health", js_on_load=None)
        with gr.Row():
            self.check = gr.Button("Check", elem_id="lib-check", size="sm")
            self.repair = gr.Button("Repair", visible=False, elem_id="lib-repair", size="sm")
        self.timer = gr.Timer(_IDLE_SECONDS, active=False)


@dataclass(frozen=True, slots=True)
class _PageState:
    """The state of one page."""

    values: dict[str, Any] = field(default_factory=dict)
    """The value that each part shows."""
    asked: Removal | None = None
    """The removal that waits for confirmation."""
    note: tuple[str, str] = ("", "")
    """A part, and an error that it shows on this page alone."""
    note_on: tuple[int, bool] = (0, False)
    """Number and running state of the job at the error; the note disappears when they change."""
    uploads: int = 0
    """How often files were uploaded from this page."""


def library_tab(service: Service, tab: gr.Tab, heading: gr.HTML) -> None:
    """Fill `tab` and connect its components.

    Args:
        service: gives the library and its jobs.
        tab: is updated whenever it is opened.
        heading: the page's line above the tabs, which counts papers too.
    """
    parts = _Parts()
    page_state = gr.State(_PageState())
    shown = {
        "ingest": parts.ingest,
        "removal": parts.removal,
        "overview": parts.overview,
        "health": parts.health,
        "heading": heading,
        "uploads": parts.uploads,
        "cancel": parts.cancel,
        "asked": parts.asked,
        "check": parts.check,
        "repair": parts.repair,
        "timer": parts.timer,
    }
    options: dict[str, Any] = QUIET | {
        "outputs": [*shown.values(), page_state],
        "queue": False,
    }
    jobs = service.jobs

    def refresh(page: _PageState, *, recount: bool = False) -> dict[Any, Any]:
        values = _values(service, page, recount=recount)
        changed = {
            part: _UPDATES.get(name, str)(values[name])
            for name, part in shown.items()
            if page.values.get(name) != values[name]
        }
        return {**changed, page_state: replace(page, values=values)}

    def attempt(page: _PageState, part: str, act: Callable[[], object]) -> dict[Any, Any]:
        """Update the page after `act`; its error is shown in `part`."""
        page = replace(page, note=("", ""), asked=None)
        try:
            act()
        except UserError as error:
            job = jobs.state
            page = replace(page, note=(part, str(error)), note_on=(job.number, job.running))
        return refresh(page)

    def add(files: Any, venue: Any, year: Any, page: _PageState) -> dict[Any, Any]:
        page = replace(page, uploads=page.uploads + 1)
        return attempt(page, "ingest", lambda: _add(jobs, files, venue, year))

    def ask(page: _PageState, event: gr.EventData) -> dict[Any, Any]:
        try:
            removal = removal_of(service.assistant.library, event_field(event, "file"))
        except UserError:  # another page has removed it
            return refresh(page, recount=True)
        return refresh(replace(page, asked=removal, note=("", "")))

    def remove(page: _PageState) -> dict[Any, Any]:
        source = page.asked.source if page.asked else ""
        return attempt(page, "removal", lambda: jobs.remove(source))

    tab.select(lambda page: refresh(page, recount=True), [page_state], **options)
    parts.timer.tick(refresh, [page_state], **options)
    typed = [parts.uploads, parts.venue, parts.year, page_state]
    # Without preprocessing the files keep their names.
    parts.uploads.upload(add, typed, preprocess=False, **options)
    parts.cancel.click(lambda page: attempt(page, "ingest", jobs.cancel), [page_state], **options)
    asked = parts.overview.select(ask, [page_state], **options)
    asked.then(None, js=_FOCUS_KEEP, api_visibility="private")
    parts.remove.click(remove, [page_state], **options)
    parts.keep.click(lambda page: attempt(page, "removal", lambda: None), [page_state], **options)
    parts.check.click(lambda page: attempt(page, "health", jobs.check), [page_state], **options)
    parts.repair.click(lambda page: attempt(page, "health", jobs.repair), [page_state], **options)


def _values(service: Service, page: _PageState, *, recount: bool) -> dict[str, Any]:
    """The value of each part; papers are counted only if they may have changed."""
    job = service.jobs.state
    state = service.setup.state
    ended = not job.running and page.values.get("number") != job.number
    counts = recount or ended or "overview" not in page.values
    values: dict[str, Any] = {
        "number": page.values.get("number") if job.running else job.number,
        "ingest": ingest_html(job),
        "removal": removal_html(page.asked) if page.asked else removed_html(job),
        "overview": _overview(service) if counts else page.values["overview"],
        "health": health_html(job),
        "heading": library_html(
            state.papers, state.assistant.model.name if state.assistant else ""
        ),
        "uploads": (not job.running, page.uploads),
        "cancel": (job.running and job.kind == "ingest", not job.stopping),
        "asked": page.asked is not None,
        "check": not job.running,
        "repair": job.health is not None and not job.health.sound,
        "timer": _BUSY_SECONDS if job.running else _IDLE_SECONDS,
    }
    part, sentence = page.note
    if part and page.note_on == (job.number, job.running):
        values[part] += panel(panel_error(sentence))
    return values


def _overview(service: Service) -> str:
    try:
        return overview_html(service.overview())
    except UserError as error:
        return panel(panel_error(str(error)))


_UPDATES: dict[str, Callable[[Any], Any]] = {
    "uploads": lambda value: gr.update(visible=value[0], value=None),
    "cancel": lambda value: gr.update(visible=value[0], interactive=value[1]),
    "asked": lambda value: gr.update(visible=value),
    "repair": lambda value: gr.update(visible=value),
    "check": lambda value: gr.update(interactive=value),
    "timer": lambda value: gr.Timer(value, active=True),
}
"""How a part shows its value; all others show it as text."""


def _add(jobs: LibraryJobs, files: Any, venue: Any, year: Any) -> None:
    """Start a job that adds the uploaded files; they are deleted in any case.

    Raises:
        BusyError: another job is running.
        InputError: the year is not valid.
    """
    names = {Path(file["path"]): str(file.get("orig_name") or "") for file in files or ()}

    def delete() -> None:
        for path in names:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # the folder holds another upload of the same bytes
                path.parent.rmdir()

    try:
        jobs.add(
            list(names),
            names={path: name or path.name for path, name in names.items()},
            venue=str(venue or "").strip(),
            year=_year(year),
            afterwards=delete,
        )
    except UserError:
        delete()
        raise


def _year(year: Any) -> int | None:
    if year in (None, ""):
        return None
    if not isinstance(year, int | float) or not _EARLIEST <= year <= _LATEST:
        raise InputError(f"The year cannot be {year}; give one such as 2023, or none.")
    return int(year)
