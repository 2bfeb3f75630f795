"""The library: what is in it, adding files, removing sources, its health.

What goes on is the process's, not the page's: every page that shows the tab looks at it in short
steps, and is sent what has changed since it looked last.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gradio as gr

from assistant.access.uploads import KINDS
from assistant.browser.actions import ON_LOAD, told
from assistant.browser.library_html import (
    health_html,
    ingest_html,
    note_html,
    overview_html,
    removal_html,
    removed_html,
)
from assistant.browser.setup_html import library_html
from assistant.ingesting import Ingesting, Work
from assistant.service import Service
from retrieval.errors import InputError, UserError
from retrieval.removing import Removal, removal_of

_BUSY_SECONDS = 0.5
_IDLE_SECONDS = 3.0
_FOCUS_KEEP = "() => document.querySelector('#lib-keep')?.focus()"
_EARLIEST, _LATEST = 1000, 3000


class _Parts:
    """The components of the tab that change by themselves."""

    def __init__(self) -> None:
        """Put them into the page that is being built, in their order."""
        gr.HTML('<h2 class="lib-head">Add papers</h2>', js_on_load=None)
        self.uploads = gr.File(
            label="Text, JSONL, BibTeX, RIS or CSV",
            file_count="multiple",
            file_types=sorted(KINDS),
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
        self.health = gr.HTML(health_html(Work()), elem_id="lib-health", js_on_load=None)
        with gr.Row():
            self.check = gr.Button("Check", elem_id="lib-check", size="sm")
            self.repair = gr.Button("Repair", visible=False, elem_id="lib-repair", size="sm")
        self.timer = gr.Timer(_IDLE_SECONDS, active=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one page shows, and what its person has begun."""

    values: dict[str, Any] = field(default_factory=dict)
    """A value for every part that changes."""
    asked: Removal | None = None
    """The removal that waits for a yes."""
    note: tuple[str, str] = ("", "")
    """The part that shows a sentence for this person alone, and the sentence."""
    note_on: tuple[int, bool] = (0, False)
    """The work that went on then; once it is another, the note goes."""
    uploads: int = 0
    """How often files came from here."""


def library_tab(service: Service, tab: gr.Tab, heading: gr.HTML) -> None:
    """The tab's components and what they do.

    Args:
        service: whose library it is.
        tab: the tab, which is looked at anew whenever it is chosen.
        heading: the page's line on the library, which counts papers too.
    """
    parts = _Parts()
    seen = gr.State(_Seen())
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
    tells: dict[str, Any] = {
        "outputs": [*shown.values(), seen],
        "show_progress": "hidden",
        "api_visibility": "private",
        "queue": False,
    }
    work = service.ingesting

    def look(page: _Seen, *, anew: bool = False) -> list[Any]:
        values = _values(service, page, anew=anew)
        changed = [_update(name, values[name], page.values) for name in shown]
        return [*changed, replace(page, values=values)]

    def tried(page: _Seen, part: str, act: Callable[[], object]) -> list[Any]:
        """Look after `act`; what the person can mend is told in `part`."""
        page = replace(page, note=("", ""), asked=None)
        try:
            act()
        except UserError as error:
            state = work.state
            page = replace(page, note=(part, str(error)), note_on=(state.number, state.running))
        return look(page)

    def add(files: Any, venue: Any, year: Any, page: _Seen) -> list[Any]:
        page = replace(page, uploads=page.uploads + 1)
        return tried(page, "ingest", lambda: _add(work, files, venue, year))

    def ask(page: _Seen, event: gr.EventData) -> list[Any]:
        try:
            removal = removal_of(service.assistant.library, told(event, "file"))
        except UserError:  # another page was quicker
            return look(page, anew=True)
        return look(replace(page, asked=removal, note=("", "")))

    def remove(page: _Seen) -> list[Any]:
        source = page.asked.source if page.asked else ""
        return tried(page, "removal", lambda: work.remove(source))

    tab.select(lambda page: look(page, anew=True), [seen], **tells)
    parts.timer.tick(look, [seen], **tells)
    given = [parts.uploads, parts.venue, parts.year, seen]
    # Not preprocessed, the files come with the names that they had.
    parts.uploads.upload(add, given, preprocess=False, **tells)
    parts.cancel.click(lambda page: tried(page, "ingest", work.cancel), [seen], **tells)
    asked = parts.overview.select(ask, [seen], **tells)
    asked.then(None, js=_FOCUS_KEEP, api_visibility="private")
    parts.remove.click(remove, [seen], **tells)
    parts.keep.click(lambda page: tried(page, "removal", lambda: None), [seen], **tells)
    parts.check.click(lambda page: tried(page, "health", work.check), [seen], **tells)
    parts.repair.click(lambda page: tried(page, "health", work.repair), [seen], **tells)


def _values(service: Service, page: _Seen, *, anew: bool) -> dict[str, Any]:
    """What the page is to show; the papers are counted only if they may have changed."""
    work = service.ingesting.state
    state = service.setup.state
    ended = not work.running and page.values.get("number") != work.number
    counts = anew or ended or "overview" not in page.values
    values: dict[str, Any] = {
        "number": page.values.get("number") if work.running else work.number,
        "ingest": ingest_html(work),
        "removal": removal_html(page.asked) if page.asked else removed_html(work),
        "overview": _overview(service) if counts else page.values["overview"],
        "health": health_html(work),
        "heading": library_html(
            state.papers, state.assistant.model.name if state.assistant else ""
        ),
        "uploads": (not work.running, page.uploads),
        "cancel": (work.running and work.kind == "ingest", not work.stopping),
        "asked": page.asked is not None,
        "check": not work.running,
        "repair": work.health is not None and not work.health.sound,
        "timer": _BUSY_SECONDS if work.running else _IDLE_SECONDS,
    }
    part, sentence = page.note
    if part and page.note_on == (work.number, work.running):
        values[part] += note_html(sentence)
    return values


def _overview(service: Service) -> str:
    try:
        return overview_html(service.overview())
    except UserError as error:
        return note_html(str(error))


_UPDATES: dict[str, Callable[[Any], Any]] = {
    "uploads": lambda value: gr.update(visible=value[0], value=None),
    "cancel": lambda value: gr.update(visible=value[0], interactive=value[1]),
    "asked": lambda value: gr.update(visible=value),
    "repair": lambda value: gr.update(visible=value),
    "check": lambda value: gr.update(interactive=value),
    "timer": lambda value: gr.Timer(value, active=True),
}


def _update(name: str, value: Any, before: dict[str, Any]) -> Any:
    """What brings a component of the page to `value`."""
    if before.get(name) == value:
        return gr.skip()
    return _UPDATES[name](value) if name in _UPDATES else value


def _add(work: Ingesting, files: Any, venue: Any, year: Any) -> None:
    """Begin to add what was uploaded; it is deleted in any case.

    Raises:
        BusyError: other work goes on.
        InputError: the year is none.
    """
    names = {Path(file["path"]): str(file.get("orig_name") or "") for file in files or ()}

    def delete() -> None:
        for path in names:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # another upload of the same bytes is there
                path.parent.rmdir()

    try:
        work.start(
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
