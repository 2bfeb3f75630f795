"""HTML from the templates, and the events of its elements.

An element with `data-event="NAME"` triggers the event of that name of its `gr.HTML`: a form when it
is submitted, any other element when it is clicked. The event carries the element's other `data-`
attributes and the fields of the form:

    <button data-event="select" data-paper="p1">   component.select(opened), event.paper == "p1"
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension

from assistant.server.web.formulas import marked, marked_spans, plain_formulas, with_formulas
from assistant.types import dumps
from retrieval.formats.writers import authors_line, where
from retrieval.types import Paper, counted

STATIC = Path(__file__).with_name("static")
ON_LOAD = (STATIC / "events.js").read_text("utf-8")
"""The `js_on_load` of a `gr.HTML` whose elements have events."""
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""Options of an event that shows no progress and that only the page can trigger."""
_MEGABYTE = 1_000_000
_GIGABYTE = 1_000_000_000


def templates(name: str, **names: Any) -> Callable[..., str]:
    """The macros of a file in templates/, as one function of a macro's name and arguments.

    Args:
        name: the file's name, without its ending.
        names: functions and constants that its macros use.
    """
    macros = _ENVIRONMENT.get_template(f"{name}.html", globals=names).module

    def html(macro: str, *arguments: Any, **named: Any) -> str:
        # Not as `Markup`, which would escape what is added to it.
        return str(getattr(macros, macro)(*arguments, **named))

    return html


def event_field(event: gr.EventData, name: str) -> str:
    """The value of the attribute or form field `name`; empty if the event has none."""
    return str(event._data.get(name) or "")


def event_list(event: gr.EventData, name: str) -> list[str]:
    """The strings of a field that holds a JSON list; empty if it does not."""
    try:
        values = json.loads(event_field(event, name) or "[]")
    except ValueError:
        return []
    return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []


def paper_facts(paper: Paper) -> str:
    """First authors, venue, year and decision on one line."""
    return " · ".join(filter(None, (authors_line(paper.authors, 2), where(paper))))


def size(count: int | None) -> str:
    """Bytes as megabytes or gigabytes; empty if they are unknown."""
    if not count:
        return ""
    return f"{count / _GIGABYTE:.1f} GB" if count >= _GIGABYTE else f"{count / _MEGABYTE:.0f} MB"


class _JoinedLines(Extension):
    """Drops line breaks beside tags and expressions, as JSX does; the others become a space."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The template on one line; called by Jinja."""
        del name, filename
        dropped = re.sub(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])", "", source.strip())
        return re.sub(r"\s*\n\s*", " ", dropped)


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    extensions=[_JoinedLines],
)
_ENVIRONMENT.filters |= {
    "counted": counted,
    "facts": paper_facts,
    "formulas": with_formulas,
    "highlighted": marked_spans,
    "json": dumps,
    "marked": marked,
    "number": "{:,}".format,
    "plain": plain_formulas,
    "size": size,
    "where": where,
}
