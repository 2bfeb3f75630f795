"""The library: what is in it, adding files, removing sources, its health."""

import gradio as gr

from assistant.service import Service


def library_tab(service: Service) -> None:
    """The tab's components and what they do."""
    gr.HTML("", js_on_load=None)
