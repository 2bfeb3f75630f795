"""The dialog of one paper: record, abstract with its quotes marked, similar papers, actions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from assistant.server.service import Service
from assistant.server.web.exports import export_papers
from assistant.server.web.formulas import marked, with_formulas
from assistant.server.web.html import QUIET, event_field, event_list, paper_facts
from retrieval.formats.writers import doi_address, web_address, where
from retrieval.search.similar import Similar, similar
from retrieval.types import Paper, UserError

_SHOWN_AUTHORS = 8
"""Authors before the rest is folded."""
_LINK = Markup('<a href="{}" target="_blank" rel="noreferrer noopener">{}</a>')
_SCRIPT = Path(__file__).with_name("static") / "paper.js"
_NEAR = 6
"""Similar papers that are listed."""
_COPIES = {
    "Copy BibTeX": "bibtex",
    "Copy RIS": "ris",
    "Copy reference": "apa",
    "Copy IEEE": "ieee",
    "Copy Vancouver": "vancouver",
    "Copy Chicago": "chicago",
}
"""Buttons and the formats that they copy."""
_FOCUS = "() => document.querySelector('#question textarea')?.focus()"


class PaperDialog:
    """The dialog; it is closed until a paper is opened."""

    def __init__(self, service: Service) -> None:
        """Build the dialog in the open Gradio context."""
        self._service = service
        self._opened = 0
        self.html = gr.HTML(
            "", elem_id="paper", html_template="", js_on_load=_SCRIPT.read_text("utf-8")
        )
        self.opens_from(self.html)

    def opens_from(self, component: gr.HTML) -> None:
        """Open the papers that are selected in `component`."""
        component.select(self._content, outputs=self.html, queue=False, **QUIET)

    def asks_in(self, tabs: gr.Tabs, chat: str, question: gr.Textbox) -> None:
        """Let "Ask about this paper" open the tab `chat` of `tabs` and type a question there."""

        def ask(event: gr.EventData) -> tuple[Any, Any]:
            paper = self._service.paper(event_field(event, "paper"))
            typed = f"What does “{paper.shown_title}” propose?" if paper else gr.skip()
            return gr.Tabs(selected=chat), typed

        asked = self.html.input(ask, outputs=[tabs, question], queue=False, **QUIET)
        asked.then(None, js=_FOCUS, api_visibility="private")

    def _content(self, event: gr.EventData) -> str:
        try:
            paper = self._service.paper(event_field(event, "paper"))
            html = self._shown(paper, event_list(event, "quotes")) if paper else gone_html()
        except UserError as error:
            html = _framed(Markup("Not shown"), Markup('<p role="alert">{}</p>').format(error))
        self._opened += 1
        # A new value even for the same paper, or the page would not open it again.
        return f"{html}<!-- {self._opened} -->"

    def _shown(self, paper: Paper, quotes: Sequence[str]) -> Markup:
        near = similar(self._service.assistant.library.store, paper.id, _NEAR)
        copies = {
            label: export_papers(self._service, [paper], format_).rstrip("\n")
            for label, format_ in _COPIES.items()
        }
        return paper_html(paper, quotes, near, copies)


def paper_html(
    paper: Paper,
    quotes: Sequence[str],
    near: Sequence[Similar],
    copies: Mapping[str, str],
) -> Markup:
    """The dialog's content.

    Args:
        paper: the paper.
        quotes: exact substrings of its abstract, which are highlighted.
        near: similar papers, nearest first.
        copies: texts to copy, by the labels of their buttons.
    """
    parts = (
        _authors(paper.authors),
        Markup('<p class="paper-where">{}</p>').format(where(paper)) if where(paper) else "",
        _links(paper),
        Markup("<h3>Abstract</h3>"),
        Markup('<p class="paper-abstract">{}</p>').format(marked(paper.abstract, quotes)),
        _similar(near),
    )
    title = with_formulas(paper.shown_title)
    return _framed(title, Markup().join(parts), _actions(paper, copies))


def gone_html() -> Markup:
    """The dialog's content for a paper that has been removed."""
    return _framed(
        Markup("Not in the library"),
        Markup(
            "<p>This paper is no longer in the library; it was removed or is being replaced.</p>"
        ),
    )


def _framed(title: Markup, body: Markup, footer: str = "") -> Markup:
    return Markup(
        '<article class="paper"><header>'
        '<button type="button" class="paper-icon" data-back aria-label="Back" hidden>←</button>'
        '<h2 id="paper-title" tabindex="-1">{}</h2>'
        '<button type="button" class="paper-icon" data-close aria-label="Close">✕</button>'
        '</header><div class="paper-body" tabindex="0" role="region" aria-label="Paper">{}</div>'
        "{}</article>"
    ).format(title, body, footer)


def _authors(authors: Sequence[str]) -> Markup:
    """The authors; those after the first few are folded."""
    if not authors:
        return Markup()
    first = ", ".join(authors[:_SHOWN_AUTHORS])
    rest = authors[_SHOWN_AUTHORS:]
    if not rest:
        return Markup('<p class="paper-authors">{}</p>').format(first)
    return Markup(
        '<details class="paper-authors"><summary>{} <span>and {} more</span></summary>{}</details>'
    ).format(first, len(rest), ", ".join(rest))


def _links(paper: Paper) -> Markup:
    doi, address = doi_address(paper.doi), web_address(paper.url)
    links = [_LINK.format(doi, doi.removeprefix("https://"))] if doi else []
    if address and address != doi:
        links.append(_LINK.format(address, address.split("://", 1)[1]))
    return (
        Markup('<p class="paper-links">{}</p>').format(Markup().join(links)) if links else Markup()
    )


def _actions(paper: Paper, copies: Mapping[str, str]) -> Markup:
    buttons = Markup().join(
        Markup('<button type="button" data-copy="{}">{}</button>').format(text, name)
        for name, text in copies.items()
    )
    return Markup(
        '<footer class="paper-actions"><button type="button" class="paper-ask" data-event="input" '
        'data-paper="{}">Ask about this paper</button>{}</footer>'
    ).format(paper.id, buttons)


def _similar(near: Sequence[Similar]) -> Markup:
    if not near:
        return Markup()
    entries = Markup().join(_near(each.paper) for each in near)
    return Markup('<h3>Similar papers</h3><ul class="paper-similar">{}</ul>').format(entries)


def _near(paper: Paper) -> Markup:
    return Markup(
        '<li><button type="button" class="paper-link" data-event="select" data-paper="{}">{}'
        "</button> <span>{}</span></li>"
    ).format(paper.id, with_formulas(paper.shown_title), paper_facts(paper))
