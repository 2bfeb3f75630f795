"""Evidence tables and pinned questions in the page: a dialog for both, and the list of pins."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import gradio as gr

from assistant.models.llama.reading_ahead import read_ahead
from assistant.research.pinned import pin_question, unread
from assistant.research.table import DEFAULT_COLUMNS, DEFAULT_ROWS, EvidenceTable
from assistant.research.table_files import export
from assistant.server.auth import owner_behind
from assistant.server.service import Service
from assistant.server.web.answering import Stops
from assistant.server.web.html import QUIET, STATIC, event_field, event_list, templates
from retrieval.types import Cancelled, Paper, UserError

_TICK_SECONDS = 5
"""Time between two looks at the pinned questions."""
_FORMATS = {"markdown": ("Markdown", "md"), "csv": ("CSV", "csv"), "latex": ("LaTeX", "tex")}
"""Formats of a table with their names and file endings."""


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")  # noqa: DTZ006 - this machine's


research_html = templates("research", date=_date, unread=unread)

Updates = dict[Any, Any]


class Research:
    """The dialog and the list, and what happens when they are used."""

    def __init__(self, service: Service, pins: gr.HTML, conversation: gr.HTML) -> None:
        """Build the dialog in the open Gradio context.

        Args:
            service: fills tables and keeps pins.
            pins: shows the pinned questions.
            conversation: has the buttons "Evidence table" and "Pin".
        """
        self._service = service
        self._stops = Stops()
        self._runs = 0
        self.pins = pins
        script = (STATIC / "research.js").read_text("utf-8")
        self.dialog = gr.HTML("", elem_id="research", html_template="", js_on_load=script)
        filling: dict[str, Any] = {"outputs": self.dialog, "concurrency_limit": None, **QUIET}
        conversation.expand(self._fill, **filling)
        self.dialog.submit(self._fill, **filling)
        self.dialog.delete(self._stop, queue=False, **QUIET)
        pinning: dict[str, Any] = {"outputs": [pins, self.dialog], "queue": False, **QUIET}
        conversation.apply(self._pin, **pinning)
        pins.select(self._open, **pinning)
        self.dialog.apply(self._unpin, **pinning)
        timer = gr.Timer(_TICK_SECONDS)
        timer.tick(self.listed, inputs=pins, outputs=pins, queue=False, **QUIET)

    def _fill(self, event: gr.EventData, request: gr.Request) -> Iterator[Updates]:
        """The table as it is filled, or why it cannot be."""
        flag = self._stops.begin(request.session_hash or "")
        self._runs += 1
        run, question = self._runs, event_field(event, "question")
        typed = event_field(event, "columns")
        columns = typed.split(",") if "columns" in event._data else DEFAULT_COLUMNS
        ids = event_list(event, "papers")
        table: EvidenceTable | None = None

        def shown(note: str = "", *, done: bool = False) -> Updates:
            files = _files(table) if done and table else []
            html = research_html("table", run, question, columns, ids, table, files, note, done)
            return {self.dialog: html}

        yield shown()
        try:
            begin = self._service.table(
                question,
                columns,
                max(DEFAULT_ROWS, len(ids)),
                first=self._papers(ids),
                owner=owner_behind(request),
            )
            for filled in read_ahead(begin, flag.is_set):
                table = filled
                yield shown()
            yield shown(done=True)
        except Cancelled:
            yield shown("Stopped; the cells below are what was filled.", done=True)
        except UserError as error:
            yield shown(str(error), done=True)

    def _papers(self, ids: Sequence[str]) -> list[Paper]:
        return [paper for paper in map(self._service.paper, ids[:DEFAULT_ROWS]) if paper]

    def _stop(self, request: gr.Request) -> None:
        self._stops.stop(request.session_hash or "")

    def listed(self, before: str, request: gr.Request) -> Any:
        """The list, if it differs from what is shown."""
        try:
            html = research_html("pins", self._service.pins.listed(owner_behind(request)))
        except UserError:  # pinning says it
            return gr.skip()
        return html if html != before else gr.skip()

    def _pin(self, event: gr.EventData, request: gr.Request) -> Updates:
        try:
            pin_question(self._service.pins, owner_behind(request), event_field(event, "question"))
        except UserError as error:
            return self._message("Not pinned", str(error))
        self._service.pinned.wake()
        self._runs += 1
        said = research_html("said", self._runs, "Pinned; it is asked again when papers change")
        return {self.pins: self.listed("", request), self.dialog: said}

    def _open(self, event: gr.EventData, request: gr.Request) -> Updates:
        """Show a pin with what changed, which then is seen."""
        owner, id_ = owner_behind(request), event_field(event, "pin")
        self._runs += 1
        try:
            pin = next(each for each in self._service.pins.listed(owner) if each.id == id_)
            html = research_html("pin", self._runs, pin, unread(pin))
            self._service.pins.mark_seen(owner, id_)
        except (UserError, StopIteration):
            return self._message("Not pinned", "This question is not pinned any more.")
        return {self.dialog: html, self.pins: self.listed("", request)}

    def _unpin(self, event: gr.EventData, request: gr.Request) -> Updates:
        with suppress(UserError):  # another page has removed it
            self._service.pins.remove(owner_behind(request), event_field(event, "pin"))
        return {self.pins: self.listed("", request)}

    def _message(self, title: str, sentence: str) -> Updates:
        self._runs += 1
        return {self.dialog: research_html("message", self._runs, title, sentence)}


def _files(table: EvidenceTable) -> list[tuple[str, str, str]]:
    """The table in each format: its name, the file's name, the text."""
    return [
        (name, f"table.{ending}", export(table, format_))
        for format_, (name, ending) in _FORMATS.items()
    ]
