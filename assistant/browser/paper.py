"""One paper in a dialog over the page, opened from any tab.

    dialog.opens_from(component)

makes every element of the `gr.HTML` that says `data-event="select" data-paper="ID"` open the
paper, with the quotes of `data-quotes` (a JSON list of exact substrings of its abstract) marked.
"""

import json
from pathlib import Path
from typing import Any

import gradio as gr

from assistant.browser.actions import told
from assistant.browser.export import exported
from assistant.browser.paper_html import gone_html, paper_html, refused_html
from assistant.reference_list import apa
from assistant.service import Service
from retrieval.errors import UserError
from retrieval.search.similar import similar
from retrieval.types import Paper

_SCRIPT = Path(__file__).with_name("static") / "paper.js"
_NEAR = 6
"""Similar papers shown."""
_FOCUS = "() => document.querySelector('#question textarea')?.focus()"


class PaperDialog:
    """The dialog, closed until a paper is opened."""

    def __init__(self, service: Service) -> None:
        """Put the dialog into the page that is being built."""
        self._service = service
        self._opened = 0
        self.html = gr.HTML(
            "", elem_id="paper", html_template="", js_on_load=_SCRIPT.read_text("utf-8")
        )
        self.opens_from(self.html)

    def opens_from(self, component: gr.HTML) -> None:
        """Open the paper of whatever is selected in `component`."""
        component.select(
            self._content,
            outputs=self.html,
            show_progress="hidden",
            api_visibility="private",
            queue=False,
        )

    def asks_in(self, tabs: gr.Tabs, chat: str, question: gr.Textbox) -> None:
        """Let "Ask about this paper" show the tab `chat` of `tabs`, a question in its box."""

        def asked(event: gr.EventData) -> tuple[Any, Any]:
            paper = self._service.paper(told(event, "paper"))
            return gr.Tabs(selected=chat), question_about(paper) if paper else gr.skip()

        self.html.input(
            asked,
            outputs=[tabs, question],
            show_progress="hidden",
            api_visibility="private",
            queue=False,
        ).then(None, js=_FOCUS, api_visibility="private")

    def _content(self, event: gr.EventData) -> str:
        try:
            paper = self._service.paper(told(event, "paper"))
            html = self._of(paper, _quotes(told(event, "quotes"))) if paper else gone_html()
        except UserError as error:
            html = refused_html(str(error))
        self._opened += 1
        # The same paper opened again must be a new value, or the page would not see it.
        return f"{html}<!-- {self._opened} -->"

    def _of(self, paper: Paper, quotes: tuple[str, ...]) -> str:
        near = similar(self._service.assistant.library.store, paper.id, _NEAR)
        copies = {
            "Copy BibTeX": exported(self._service, [paper], "bibtex"),
            "Copy RIS": exported(self._service, [paper], "ris"),
            "Copy reference": apa(paper),
        }
        return str(paper_html(paper, quotes, near, copies))


def paper_dialog(service: Service) -> PaperDialog:
    """The dialog, empty until a paper is opened."""
    return PaperDialog(service)


def question_about(paper: Paper) -> str:
    """A first question about a paper, in words that name it for sure."""
    return f"What does “{paper.shown_title}” propose?"


def _quotes(said: str) -> tuple[str, ...]:
    """The quotes of an element; none where what it says is no list of texts."""
    try:
        quotes = json.loads(said or "[]")
    except ValueError:
        return ()
    if not isinstance(quotes, list):
        return ()
    return tuple(each for each in quotes if isinstance(each, str))
