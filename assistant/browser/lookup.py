"""Citation lookup: search by title, author, venue, year and decision."""

import gradio as gr

from assistant.browser.paper import PaperDialog
from assistant.service import Service


def lookup_tab(service: Service, paper: PaperDialog) -> None:
    """The tab's components and what they do."""
    gr.HTML("", js_on_load=None)
