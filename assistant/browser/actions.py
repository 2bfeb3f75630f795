"""How what is clicked in a page's own HTML reaches Python.

An element with `data-event="NAME"` triggers the event of that name of the `gr.HTML` that it stands
in, a form when it is submitted, anything else when it is clicked. What its other `data-`
attributes say, and a form's fields, come with it:

    <button data-event="select" data-paper="p1">   component.select(opened), event.paper == "p1"
"""

import gradio as gr

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


def told(event: gr.EventData, name: str) -> str:
    """What the attribute or field `name` said; empty where there is none."""
    return str(event._data.get(name) or "")
