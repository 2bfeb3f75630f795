"""The dialog of one paper: record, abstract with its quotes marked, similar papers, actions."""

from typing import Any

import gradio as gr

from assistant.server.service import Service
from assistant.server.web.exports import STYLE_NAMES
from assistant.server.web.html import QUIET, STATIC, event_field, event_list, templates
from retrieval.formats.writers import doi_address, web_address
from retrieval.search.search import similar
from retrieval.types import UserError

_NEAR = 6
"""Similar papers that are listed."""
_GONE = "This paper is no longer in the library; it was removed or is being replaced."
_FOCUS = "() => document.querySelector('#question textarea')?.focus()"

paper_html = templates(
    "paper", doi_address=doi_address, styles=STYLE_NAMES, web_address=web_address
)


class PaperDialog:
    """The dialog; it is closed until a paper is opened."""

    def __init__(self, service: Service) -> None:
        """Build the dialog in the open Gradio context."""
        self._service = service
        self._opened = 0
        script = (STATIC / "paper.js").read_text("utf-8")
        self.html = gr.HTML("", elem_id="paper", html_template="", js_on_load=script)
        self.opens_from(self.html)

    def opens_from(self, component: gr.HTML) -> None:
        """Open the papers that are selected in `component`."""
        component.select(self._open, outputs=self.html, queue=False, **QUIET)

    def asks_in(self, tabs: gr.Tabs, chat: str, question: gr.Textbox) -> None:
        """Let "Ask about this paper" open the tab `chat` of `tabs` and type a question there."""

        def ask(event: gr.EventData) -> dict[Any, Any]:
            opened = {tabs: gr.Tabs(selected=chat)}
            paper = self._service.paper(event_field(event, "paper"))
            typed = {question: f"What does “{paper.shown_title}” propose?"} if paper else {}
            return opened | typed

        asked = self.html.input(ask, outputs=[tabs, question], queue=False, **QUIET)
        asked.then(None, js=_FOCUS, api_visibility="private")

    def _open(self, event: gr.EventData) -> dict[Any, Any]:
        try:
            html = self._content(event_field(event, "paper"), event_list(event, "quotes"))
        except UserError as error:
            html = paper_html("message", "Not shown", str(error), "alert")
        self._opened += 1
        # A new value even for the same paper, or the page would not open it again.
        return {self.html: f"{html}<!-- {self._opened} -->"}

    def _content(self, id_: str, quotes: list[str]) -> str:
        paper = self._service.paper(id_)
        if paper is None:
            return paper_html("message", "Not in the library", _GONE)
        near = similar(self._service.assistant.library, id_, _NEAR)
        return paper_html("paper", paper, quotes, near)
