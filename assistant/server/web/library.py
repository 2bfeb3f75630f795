"""The library tab: its contents, adding files, removing sources, checking and repairing.

Jobs belong to the process, not to a page: every page that shows the tab polls their state, and
receives what has changed since its last poll.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

import gradio as gr

from assistant.server.auth.request_body import SUFFIXES
from assistant.server.jobs.board import JobState, Stage
from assistant.server.jobs.library import LibraryJobs
from assistant.server.jobs.setup import SetupState
from assistant.server.service import Service
from assistant.server.web.html import ON_LOAD, QUIET, event_field, templates
from assistant.server.web.topic_map import tiles
from retrieval.library.ingest import Removal, removal_of
from retrieval.library.ingest_log import IngestLog, read_log
from retrieval.library.overview import Copies
from retrieval.types import InputError, UserError

_BUSY_SECONDS = 0.5
_IDLE_SECONDS = 3.0
_FOCUS_KEEP = "() => document.querySelector('#lib-keep')?.focus()"
_EARLIEST, _LATEST = 1000, 3000
"""Years that can be given for papers that name none."""
_LONGEST_IN_SECONDS = 90
"""Seconds from which a duration is given in minutes."""
_MEGABYTE = 1_000_000


def duration(seconds: float) -> str:
    """A duration, rounded to minutes or seconds."""
    if seconds >= _LONGEST_IN_SECONDS:
        return f"{round(seconds / 60)} min"
    return f"{max(1, round(seconds))} s"


def _amounts(stage: Stage) -> tuple[int, int, str]:
    """What is done, the total and their unit, bytes as megabytes."""
    if stage.unit == "B":
        return stage.done // _MEGABYTE, stage.total // _MEGABYTE, "MB"
    return stage.done, stage.total, stage.unit


def _heat(count: int, most: int) -> int:
    """How dark a cell is, from 1 to 4; each step has four times as many papers."""
    return max(1, 4 - int(math.log(most / count, 4)))


def _merge_reasons(copies: Copies, log: IngestLog) -> list[str]:
    """Why the records of a paper were merged, as far as that is known."""
    return list(dict.fromkeys(filter(None, map(log.why_merged, copies.sources))))


library_html = templates(
    "library", amounts=_amounts, duration=duration, heat=_heat, merge_reasons=_merge_reasons
)


def heading_html(state: SetupState) -> str:
    """The line that names the library's size and the model."""
    model = state.assistant.model.name if state.assistant else ""
    reading = state.stages[-1] if state.is_reading and state.stages else None
    return library_html("heading", state.papers, model, reading, state.error)


class _Parts:
    """The components that change."""

    def __init__(self, heading: gr.HTML) -> None:
        """Build the tab in the open Gradio context; `heading` stands above the tabs."""
        self.heading = heading
        gr.HTML(library_html("upload"), js_on_load=None)
        self.uploads = gr.File(
            label="Files of papers",
            show_label=False,
            file_count="multiple",
            file_types=sorted(SUFFIXES),
            elem_id="lib-uploads",
            height=110,
        )
        where = "Venue and year, for files that name none"
        with gr.Accordion(where, open=False, elem_id="lib-add-more"), gr.Row():
            self.venue = gr.Textbox(label="Venue", max_length=200, elem_id="lib-venue")
            self.year = gr.Number(label="Year", precision=0, value=None, elem_id="lib-year")
        self.ingest = gr.HTML(elem_id="lib-ingest", js_on_load=None)
        self.cancel = gr.Button("Cancel", visible=False, elem_id="lib-cancel", size="sm")
        self.removal = gr.HTML(elem_id="lib-removal", js_on_load=None)
        with gr.Row(visible=False, elem_id="lib-asked") as self.confirmation:
            self.remove = gr.Button("Remove", variant="stop", elem_id="lib-remove", size="sm")
            self.keep = gr.Button("Keep", elem_id="lib-keep", size="sm")
        self.topics = gr.HTML(elem_id="lib-topics", js_on_load=None)
        self.overview = gr.HTML(
            library_html("counting"), elem_id="lib-overview", js_on_load=ON_LOAD
        )
        gr.HTML('<h2 class="lib-head">Health of the library</h2>', js_on_load=None)
        self.health = gr.HTML(
            library_html("health", JobState()), elem_id="lib-health", js_on_load=None
        )
        with gr.Row():
            self.check = gr.Button("Check", elem_id="lib-check", size="sm")
            self.repair = gr.Button("Repair", visible=False, elem_id="lib-repair", size="sm")
        self.timer = gr.Timer(_IDLE_SECONDS, active=False)


@dataclass(slots=True)
class _PageState:
    """The state of one page. Its requests overlap, so they change it in place and under a lock."""

    values: dict[str, Any] = field(default_factory=dict)
    """What each part shows, by its name."""
    counted: int = -1
    """The number of the last job after which papers were counted."""
    has_topics: bool = False
    """Whether it shows the topics of the library as counted."""
    asked: Removal | None = None
    """The removal that waits for confirmation."""
    note: tuple[str, str] = ("", "")
    """A part, and an error that it shows on this page alone."""
    note_on: tuple[int, bool] = (0, False)
    """Number and running state of the job at the error; the note disappears when they change."""


class _Actions:
    """What a page's requests do: they update its state, and return the components that change."""

    def __init__(self, service: Service, parts: _Parts) -> None:
        self._service = service
        self._parts = parts
        self._jobs = service.jobs
        self._lock = RLock()

    def refresh(self, page: _PageState, *, recount: bool = False) -> dict[Any, Any]:
        with self._lock:
            job = self._jobs.state
            values = _values(self._service, job, page)
            if recount or (not job.running and page.counted != job.number):
                values["overview"] = _overview(self._service)
                page.has_topics = False
            is_read = not job.running and not self._service.setup.state.is_reading
            if is_read and not page.has_topics:
                values["topics"], page.has_topics = _topics(self._service)
            if not job.running:
                page.counted = job.number
            changed = {
                getattr(self._parts, name): value
                for name, value in values.items()
                if page.values.get(name) != value
            }
            page.values |= values
            return changed

    def recount(self, page: _PageState) -> dict[Any, Any]:
        return self.refresh(page, recount=True)

    def add(self, files: Any, venue: Any, year: Any, page: _PageState) -> dict[Any, Any]:
        if not files:
            return self.refresh(page)
        with self._lock:
            changed = self._attempt(page, "ingest", lambda: _add(self._jobs, files, venue, year))
        # Emptied here alone: any other update might take the next upload away.
        shown = gr.update(visible=not self._jobs.state.running, value=None)
        return changed | {self._parts.uploads: shown}

    def cancel(self, page: _PageState) -> dict[Any, Any]:
        return self._attempt(page, "ingest", self._jobs.cancel_anywhere)

    def ask(self, page: _PageState, event: gr.EventData) -> dict[Any, Any]:
        try:
            removal = removal_of(self._service.assistant.library, event_field(event, "file"))
        except UserError:  # another page has removed it
            return self.recount(page)
        with self._lock:
            page.asked, page.note = removal, ("", "")
            return self.refresh(page)

    def remove(self, page: _PageState) -> dict[Any, Any]:
        with self._lock:
            if page.asked is None:  # confirmed twice
                return self.refresh(page)
            source = page.asked.source
            return self._attempt(page, "removal", lambda: self._jobs.remove(source))

    def keep(self, page: _PageState) -> dict[Any, Any]:
        return self._attempt(page, "removal", lambda: None)

    def check(self, page: _PageState) -> dict[Any, Any]:
        return self._attempt(page, "health", self._jobs.check)

    def repair(self, page: _PageState) -> dict[Any, Any]:
        return self._attempt(page, "health", self._jobs.repair)

    def _attempt(self, page: _PageState, part: str, act: Callable[[], object]) -> dict[Any, Any]:
        """Update the page after `act`; its error is shown in `part`."""
        with self._lock:
            page.note, page.asked = ("", ""), None
            try:
                act()
            except UserError as error:
                job = self._jobs.state
                page.note, page.note_on = (part, str(error)), (job.number, job.running)
            return self.refresh(page)


def library_tab(service: Service, tab: gr.Tab, heading: gr.HTML) -> None:
    """Fill `tab` and connect its components.

    Args:
        service: gives the library and its jobs.
        tab: is updated whenever it is opened.
        heading: the page's line above the tabs, which counts papers too.
    """
    parts = _Parts(heading)
    actions = _Actions(service, parts)
    page_state = gr.State(_PageState())
    options: dict[str, Any] = QUIET | {"outputs": [*vars(parts).values()], "queue": False}
    typed = [parts.uploads, parts.venue, parts.year, page_state]
    tab.select(actions.recount, [page_state], **options)
    parts.timer.tick(actions.refresh, [page_state], **options)
    # Without preprocessing the files keep their names.
    parts.uploads.upload(actions.add, typed, preprocess=False, **options)
    parts.cancel.click(actions.cancel, [page_state], **options)
    asked = parts.overview.select(actions.ask, [page_state], **options)
    asked.then(None, js=_FOCUS_KEEP, api_visibility="private")
    parts.remove.click(actions.remove, [page_state], **options)
    parts.keep.click(actions.keep, [page_state], **options)
    parts.check.click(actions.check, [page_state], **options)
    parts.repair.click(actions.repair, [page_state], **options)


def _values(service: Service, job: JobState, page: _PageState) -> dict[str, Any]:
    """What each part shows, but for the overview."""
    asked = page.asked
    is_idle = page.has_topics and not job.running
    values: dict[str, Any] = {
        "ingest": library_html("ingest", job),
        "removal": library_html("asked", asked) if asked else library_html("removed", job),
        "health": library_html("health", job),
        "heading": heading_html(service.setup.state),
        "uploads": gr.update(visible=not job.running),
        "cancel": gr.update(
            visible=job.running and job.kind == "ingest", interactive=not job.stopping
        ),
        "confirmation": gr.update(visible=asked is not None),
        "check": gr.update(interactive=not job.running),
        "repair": gr.update(visible=job.health is not None and not job.health.sound),
        "timer": gr.update(value=_IDLE_SECONDS if is_idle else _BUSY_SECONDS, active=True),
    }
    part, sentence = page.note
    if part and page.note_on == (job.number, job.running):
        values[part] += library_html("error", sentence)
    return values


def _overview(service: Service) -> str:
    try:
        log = read_log(service.assistant.library.home)
        return library_html("overview", service.overview(), log)
    except UserError as error:
        return library_html("error", str(error))


def _topics(service: Service) -> tuple[str, bool]:
    """The map, and whether it is complete."""
    try:
        topics = service.topics()
        papers = service.overview().papers
    except UserError:  # the overview shows it
        return "", True
    drawn = tiles(topics.topics) if topics else []
    return library_html("topics", topics, drawn, papers), topics is not None


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
