"""One paper in a dialog over the page: record, abstract with quotes marked, what to do with it."""

import gradio as gr

from assistant.browser.actions import ON_LOAD
from assistant.service import Service


def paper_dialog(service: Service) -> gr.HTML:
    """The dialog, empty until a paper is opened."""
    return gr.HTML("", elem_id="paper", js_on_load=ON_LOAD)
