"""The models tab: which models are in use, their speed and memory, and how to change them."""

from collections.abc import Iterator
from typing import Any

import gradio as gr
import psutil

from assistant.generation.probe import LEAST_PASSED, tasks
from assistant.models import describe_models
from assistant.server.auth import owner_behind
from assistant.server.connections import EXPLAINED, OUTGOING
from assistant.server.service import Service
from assistant.server.web.html import QUIET, templates
from assistant.settings import CONFIG_FILE
from retrieval.types import UserError

models_html = templates(
    "models", explained=EXPLAINED, outgoing=OUTGOING, least_passed=LEAST_PASSED, tasks=tasks
)


def models_tab(service: Service, tab: gr.Tab) -> None:
    """Build the tab and connect its components; they are filled whenever `tab` is opened."""
    summary = gr.HTML(elem_id="models-summary", js_on_load=None)
    speed = gr.HTML(elem_id="models-speed", js_on_load=None)
    button = gr.Button("Measure", elem_id="models-measure", size="sm")
    models = gr.HTML(elem_id="models", js_on_load=None)

    def show() -> dict[Any, Any]:
        described, settings = _models(service)
        return {summary: described, speed: _speed(service), models: settings}

    def measure(request: gr.Request) -> Iterator[dict[Any, Any]]:
        measuring = _speed(service, measuring=True)
        yield {speed: measuring, button: gr.update(interactive=False)}
        error = ""
        try:
            service.measure_speed(owner=owner_behind(request))
        except UserError as refused:
            error = str(refused)
        yield {speed: _speed(service, error), button: gr.update(interactive=True)}

    tab.select(show, None, [summary, speed, models], queue=False, **QUIET)
    button.click(measure, None, [speed, button], concurrency_limit=None, **QUIET)


def _speed(service: Service, error: str = "", *, measuring: bool = False) -> str:
    answers, whole = service.metrics.mean_seconds("total")
    use = (answers, service.metrics.mean_seconds("first_token")[1], whole)
    return models_html("speed", service.speed, use, error, measuring)


def _models(service: Service) -> tuple[str, str]:
    """The summary of the model in use, and the settings; empty if there is none yet."""
    try:
        assistant = service.assistant
    except UserError:
        return "", ""
    known = describe_models(service.settings)
    used = {model.role: model for model in known if model.in_use}
    mode = assistant.settings.writing.mode
    settings = models_html(
        "models",
        chat=used["chat"],
        embedder=used["embedder"],
        others=[
            model
            for model in known
            if model.present and not model.in_use and model.role in ("chat", "embedder")
        ],
        file=assistant.model.name,
        context=assistant.model.context,
        threads=service.settings.threads,
        mode=mode,
        process=psutil.Process().memory_info().rss,
        machine=psutil.virtual_memory(),
        weights=sum(model.size_bytes or 0 for model in used.values()),
        config=CONFIG_FILE,
    )
    return models_html("summary", used["chat"], mode), settings
