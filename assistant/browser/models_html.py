"""The models as HTML: what they are, how fast, what memory they take, how to change them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from assistant.answer_settings import WritingMode
from assistant.generation.probe import LEAST_PASSED, TASKS
from assistant.models import ModelDescription
from assistant.speed import Speed

_MEGABYTE = 1_000_000
_GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Running:
    """The model that answers, as it is in use."""

    name: str
    """Its file's name."""
    context: int
    """Tokens that a prompt and its answer have together."""
    threads: int
    mode: WritingMode
    """How it is asked."""


@dataclass(frozen=True, slots=True)
class Memory:
    """In bytes."""

    process: int
    """What this process holds, the models that it reads included."""
    free: int
    """What the machine can still give."""
    machine: int


@dataclass(frozen=True, slots=True)
class Use:
    """What questions took so far."""

    answers: int
    first: float
    """Seconds until the first sentence, on average."""
    whole: float
    """Seconds until the answer was whole, on average."""


def models_html(
    running: Running, models: Sequence[ModelDescription], memory: Memory, config: Path
) -> str:
    """Everything about the models but their speed."""
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
    return _part(Markup("").join(parts))


def speed_html(speed: Speed | None, use: Use, note: str = "", *, measuring: bool = False) -> str:
    """How fast the model is here, as measured and in use."""
    if measuring:
        told = Markup('<p role="status">Measuring, when its turn comes …</p>')
    elif note:
        told = Markup('<p class="lib-error" role="alert">{}</p>').format(note)
    elif speed:
        told = Markup(
            '<p role="status"><strong>Reads {:,.0f} and writes {:,.0f} tokens a second</strong> '
            "(a token is about three quarters of a word).</p>"
        ).format(speed.reading, speed.writing)
    else:
        told = Markup("<p>Not measured yet; it takes a few seconds.</p>")
    return _part(_heading("Speed on this machine") + told + _in_use(use))


def _in_use(use: Use) -> Markup:
    if not use.answers:
        return Markup("")
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
    probe = f"{LEAST_PASSED} of {len(TASKS)} short test questions"
    if mode is WritingMode.QUOTE:
        return (
            f"It did not answer {probe} rightly in its own words: answers are quoted from the "
            "abstracts word for word."
        )
    if mode is WritingMode.BRIEF:
        return (
            f"With its adapter it answered {probe} or more rightly: answers begin with what it "
            "cuts out of a sentence of an abstract, and that is checked before it is shown."
        )
    return (
        f"It answered {probe} or more rightly: it writes answers in its own words, and every "
        "sentence is checked against the abstracts before it is shown."
    )


def _memory(memory: Memory, weights: Sequence[int]) -> Markup:
    facts = [
        ("This process", f"{_size(memory.process)}, {_size(sum(weights))} of it model weights"),
        ("This machine", f"{_size(memory.free)} free of {_size(memory.machine)}"),
    ]
    return _facts(facts)


def _others(models: Sequence[ModelDescription]) -> Markup:
    if not models:
        return Markup("<p>None.</p>")
    return Markup("<ul>{}</ul>").format(Markup("").join(map(_other, models)))


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
    rows = Markup("").join(
        Markup("<p>{}</p>{}").format(said, _command(command)) for said, command in ways
    )
    after = Markup(
        "<p>The assistant has to be started again. With a larger model answers read better and "
        "take longer; one of 3 to 8 billion parameters needs 3 to 9 GB. Another embedder "
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
    return Markup('<dl class="models-facts">{}</dl>').format(Markup("").join(rows))


def _heading(text: str) -> Markup:
    return Markup("<h2>{}</h2>").format(text)


def _size(size: int) -> str:
    if size >= _GIGABYTE:
        return f"{size / _GIGABYTE:.1f} GB"
    return f"{size / _MEGABYTE:.0f} MB"


def _part(html: Markup) -> str:
    return str(Markup('<div class="lib">{}</div>').format(html))
