"""The models: which answer, how fast they are here, how to change them."""

import gradio as gr

from assistant.service import Service


def models_tab(service: Service) -> None:
    """The tab's components and what they do."""
    gr.HTML("", js_on_load=None)
