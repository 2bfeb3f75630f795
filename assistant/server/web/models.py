"""The models tab: which models are in use, their speed and memory, and how to change them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import psutil
from markupsafe import Markup

from assistant.generation.probe import LEAST_PASSED, tasks
from assistant.models import ModelDescription, describe_models
from assistant.models.chat import Speed
from assistant.server.auth import owner_behind
from assistant.server.service import Service
from assistant.server.web.html import QUIET, panel, panel_error
from assistant.settings import CONFIG_FILE, WritingMode
from retrieval.types import UserError

_MEGABYTE = 1_000_000
_GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Running:
    """The chat model in use."""

    name: str
    """The file's name."""
    context: int
    """Tokens of a prompt and its answer together."""
    threads: int
    mode: WritingMode


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes."""

    process: int
    """Held by this process, models included."""
    free: int
    """Available on the machine."""
    machine: int
    """The machine's total."""


@dataclass(frozen=True, slots=True)
class Use:
    """Questions answered since the start, with their mean seconds."""

    answers: int
    first: float
    """Until the first sentence."""
    whole: float
    """Until the answer was complete."""


def models_tab(service: Service, tab: gr.Tab) -> None:
    """Build the tab and connect its components; they are filled whenever `tab` is opened."""
    speed = gr.HTML(elem_id="models-speed", js_on_load=None)
    button = gr.Button("Measure", elem_id="models-measure", size="sm")
    models = gr.HTML(elem_id="models", js_on_load=None)

    def show() -> tuple[str, str]:
        return speed_html(service.speed, _use(service)), _models(service)

    def measure(request: gr.Request) -> Iterator[tuple[str, Any]]:
        measuring = speed_html(None, _use(service), measuring=True)
        yield measuring, gr.update(interactive=False)
        note = ""
        try:
            service.measure_speed(owner=owner_behind(request))
        except UserError as error:
            note = str(error)
        yield speed_html(service.speed, _use(service), note), gr.update(interactive=True)

    tab.select(show, None, [speed, models], queue=False, **QUIET)
    button.click(measure, None, [speed, button], concurrency_limit=None, **QUIET)


def models_html(
    running: Running, models: Sequence[ModelDescription], memory: Memory, config: Path
) -> str:
    """The models, their memory and how to change them."""
    used = {model.role: model for model in models if model.in_use}
    roles = ("chat", "embedder")
    others = [m for m in models if not m.in_use and m.present and m.role in roles]
    parts = (
        _heading("The model that answers"),
        _facts(_answering(running, used["chat"])),
        Markup("<p>{}</p>").format(_writing(running.mode)),
        _heading("The model that finds passages"),
        _facts(_described(used["embedder"])),
        _heading("Memory"),
        _memory(memory, [model.size_bytes or 0 for model in used.values()]),
        _heading("Other models on this machine"),
        _others(others),
        _change(config),
    )
    return panel(Markup().join(parts))


def speed_html(speed: Speed | None, use: Use, note: str = "", *, measuring: bool = False) -> str:
    """The speed of the chat model as measured, and as questions had it; `note` is an error."""
    if measuring:
        line = Markup('<p role="status">Measuring, when its turn comes …</p>')
    elif note:
        line = panel_error(note)
    elif speed:
        line = Markup(
            '<p role="status"><strong>Reads {:,.0f} and writes {:,.0f} tokens a second</strong> '
            "(a token is about three quarters of a word).</p>"
        ).format(speed.reading, speed.writing)
    else:
        line = Markup("<p>Not measured yet; it takes a few seconds.</p>")
    return panel(_heading("Speed on this machine") + line + _in_use(use))


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
    machine = psutil.virtual_memory()
    held = psutil.Process().memory_info().rss
    memory = Memory(process=held, free=machine.available, machine=machine.total)
    return models_html(running, describe_models(service.settings), memory, CONFIG_FILE)


def _use(service: Service) -> Use:
    answers, whole = service.metrics.mean_seconds("total")
    return Use(answers, service.metrics.mean_seconds("first_token")[1], whole)


def _in_use(use: Use) -> Markup:
    if not use.answers:
        return Markup()
    return Markup(
        "<p>{} since the start: first sentence after {:.1f} s, whole after {:.1f} s on average.</p>"
    ).format(
        "1 question answered" if use.answers == 1 else f"{use.answers:,} questions answered",
        use.first,
        use.whole,
    )


def _answering(running: Running, model: ModelDescription) -> list[tuple[str, str]]:
    trained = f", trained for {model.context_trained:,}" if model.context_trained else ""
    return [
        *_described(model),
        ("File", running.name),
        ("Context", f"{running.context:,} tokens in use{trained}"),
        ("Processor", f"{running.threads} thread{'' if running.threads == 1 else 's'}"),
    ]


def _described(model: ModelDescription) -> list[tuple[str, str]]:
    return [
        ("Name", model.name),
        ("Quantization", model.quantization or ""),
        ("Size", _size(model.size_bytes) if model.size_bytes else ""),
        ("Licence", model.licence or "not said in its file"),
        ("From", model.source),
    ]


def _writing(mode: WritingMode) -> str:
    probe = f"{LEAST_PASSED} of {len(tasks())} short test questions"
    if mode is WritingMode.QUOTE:
        return (
            f"It did not answer {probe} correctly in its own words: answers are quoted from the "
            "abstracts word for word."
        )
    if mode is WritingMode.BRIEF:
        return (
            f"With its adapter it answered {probe} or more correctly: answers begin with what it "
            "cuts out of a sentence of an abstract, and that is checked before it is shown."
        )
    return (
        f"It answered {probe} or more correctly: it writes answers in its own words, and every "
        "sentence is checked against the abstracts before it is shown."
    )


def _memory(memory: Memory, weights: Sequence[int]) -> Markup:
    facts = (
        ("This process", f"{_size(memory.process)}, {_size(sum(weights))} of it model weights"),
        ("This machine", f"{_size(memory.free)} free of {_size(memory.machine)}"),
    )
    return _facts(facts)


def _others(models: Sequence[ModelDescription]) -> Markup:
    if not models:
        return Markup("<p>None.</p>")
    return Markup("<ul>{}</ul>").format(Markup().join(map(_other, models)))


def _other(model: ModelDescription) -> Markup:
    size = _size(model.size_bytes) if model.size_bytes else ""
    facts = ", ".join(filter(None, (model.quantization, size, model.licence)))
    flag = "--model" if model.role == "chat" else "--embedder"
    use = _command(f"assistant serve {flag} {model.spec}")
    return Markup("<li><strong>{}</strong> ({}): {}{}</li>").format(
        model.name, model.role, facts, use
    )


def _change(config: Path) -> Markup:
    ways = (
        ("A GGUF file of yours:", "assistant serve --model /path/to/model.gguf"),
        (
            "A file of the Hugging Face hub, fetched once:",
            "assistant serve --model hf:owner/repo:file.gguf",
        ),
        ("By an environment variable:", "ASSISTANT_MODEL=hf:owner/repo:file.gguf assistant serve"),
        (f"For good, in {config}:", 'model = "hf:owner/repo:file.gguf"'),
    )
    rows = Markup().join(
        Markup("<p>{}</p>{}").format(said, _command(command)) for said, command in ways
    )
    after = Markup(
        "<p>Start the assistant again to use it. A larger model writes better answers but takes "
        "longer; one of 3 to 8 billion parameters needs 3 to 9 GB. Another embedder "
        "(<code>--embedder</code>) needs a library of its own (<code>--home</code>).</p>"
    )
    return _heading("Use another model") + rows + after


def _command(command: str) -> Markup:
    return Markup(
        '<div class="models-command"><code>{}</code>'
        '<button type="button" data-copy="{}" aria-label="Copy {}">Copy</button></div>'
    ).format(command, command, command)


def _facts(facts: Iterable[tuple[str, str]]) -> Markup:
    rows = (Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts if fact[1])
    return Markup('<dl class="models-facts">{}</dl>').format(Markup().join(rows))


def _heading(text: str) -> Markup:
    return Markup("<h2>{}</h2>").format(text)


def _size(size: int) -> str:
    if size >= _GIGABYTE:
        return f"{size / _GIGABYTE:.1f} GB"
    return f"{size / _MEGABYTE:.0f} MB"
