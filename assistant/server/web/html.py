"""HTML that several tabs share, and the events of its elements.

An element with `data-event="NAME"` triggers the event of that name of its `gr.HTML`: a form when it
is submitted, any other element when it is clicked. The event carries the element's other `data-`
attributes and the fields of the form:

    <button data-event="select" data-paper="p1">   component.select(opened), event.paper == "p1"
"""

import json
from typing import Any

import gradio as gr
from markupsafe import Markup

from retrieval.formats.writers import authors_line, where
from retrieval.types import Paper

ON_LOAD = """
element.addEventListener('click', (event) => {
  const chosen = event.target.closest('[data-event]');
  if (chosen && chosen.tagName !== 'FORM') trigger(chosen.dataset.event, {...chosen.dataset});
});
element.addEventListener('submit', (event) => {
  const form = event.target.closest('form[data-event]');
  if (!form) return;
  event.preventDefault();
  trigger(form.dataset.event, {...form.dataset, ...Object.fromEntries(new FormData(form))});
});
"""
"""The `js_on_load` of a `gr.HTML` whose elements have events."""
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""Options of an event that shows no progress and that only the page can trigger."""


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


def error_html(sentence: str) -> Markup:
    """An error that the person can fix."""
    return Markup('<p class="error" role="alert">{}</p>').format(sentence)


def panel_error(sentence: str) -> Markup:
    """An error inside a panel of the library or models tab."""
    return Markup('<p class="lib-error" role="alert">{}</p>').format(sentence)


def panel(html: Markup) -> str:
    """A panel of the library or models tab."""
    return str(Markup('<div class="lib">{}</div>').format(html))


def paper_facts(paper: Paper) -> str:
    """First authors, venue, year and decision on one line."""
    return " · ".join(filter(None, (authors_line(paper.authors, 2), where(paper))))
