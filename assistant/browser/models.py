"""The models: which answer, how fast they are here, how to change them."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
import psutil

from assistant.access import owner_of
from assistant.browser.models_html import Memory, Running, Use, models_html, speed_html
from assistant.models import describe_models
from assistant.service import Service
from assistant.settings import CONFIG_FILE
from retrieval.errors import UserError


def models_tab(service: Service, tab: gr.Tab) -> None:
    """The tab's components and what they do; it is filled whenever it is chosen."""
    speed = gr.HTML(elem_id="models-speed", js_on_load=None)
    button = gr.Button("Measure", elem_id="models-measure", size="sm")
    models = gr.HTML(elem_id="models", js_on_load=None)
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    def show() -> tuple[str, str]:
        return speed_html(service.speed, _use(service)), _models(service)

    def measured(request: gr.Request) -> Iterator[tuple[str, Any]]:
        waits = speed_html(None, _use(service), measuring=True)
        yield waits, gr.update(interactive=False)
        note = ""
        try:
            service.measure_speed(owner=owner_of(getattr(request, "request", request).scope))
        except UserError as error:
            note = str(error)
        yield speed_html(service.speed, _use(service), note), gr.update(interactive=True)

    tab.select(show, None, [speed, models], queue=False, **quiet)
    button.click(measured, None, [speed, button], concurrency_limit=None, **quiet)


def _models(service: Service) -> str:
    try:
        assistant = service.assistant
    except UserError:
        return ""
    running = Running(
        name=assistant.model.name,
        context=assistant.model.context,
        threads=service.settings.threads,
        mode=assistant.settings.writing.mode,
    )
    return models_html(running, describe_models(service.settings), _memory(), CONFIG_FILE)


def _memory() -> Memory:
    machine = psutil.virtual_memory()
    return Memory(psutil.Process().memory_info().rss, machine.available, machine.total)


def _use(service: Service) -> Use:
    answers, whole = service.metrics.mean_seconds("total")
    return Use(answers, service.metrics.mean_seconds("first_token")[1], whole)
