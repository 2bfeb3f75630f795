"""The chat template of a GGUF model: the text around and between the messages.

The template is rendered with stand-ins for the messages, so that a role mark spelled out in a
message stays text; see `Part`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import jinja2
import jinja2.ext
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from retrieval.types import ModelError

Messages = Sequence[Mapping[str, str]]

_STAND_IN = re.compile("\ue000([0-9]+)\ue001")
_SOME_DAY = datetime(2025, 1, 1)  # noqa: DTZ001 - shown as a date only
"""The date for templates that state one; with today's, answers would change overnight."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a conversation as the model reads it."""

    text: str
    is_message: bool
    """Whether it is a message, so plain text; the template's own text may hold control marks."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a family of reasoning models marks its thinking."""

    opens: str
    closes: str
    then: str
    """Text between the closing mark and the answer."""
    skipped: str
    """Text in place of the thinking if there is none."""
    telling: tuple[str, ...]
    """Marks in the templates of these models, if only to cut off the thinking of earlier turns."""


THINKING = (
    Thinking("<think>", "</think>", "\n\n", "<think>\n\n</think>\n\n", ("<think>", "</think>")),
    Thinking("[THINK]", "[/THINK]", "", "[THINK][/THINK]", ("[THINK]", "[/THINK]")),
    Thinking(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|start|>assistant<|channel|>final<|message|>",
        "<|channel|>final<|message|>",
        ("<|channel|>analysis",),
    ),
)
"""Qwen3 and DeepSeek-R1; Magistral; gpt-oss."""


class _Generation(jinja2.ext.Extension):
    """The tag `{% generation %}`, which marks training text in templates; its body is kept."""

    tags = {"generation"}  # noqa: RUF012 - declared so by the base class

    def parse(self, parser: Parser) -> list[Node]:
        """Keep the body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    """A compiled chat template."""

    def __init__(self, source: str, *, bos: str, eos: str) -> None:
        """Compile the Jinja `source`; `ModelError` if it is not a valid template.

        `bos` and `eos` are the texts of the tokens that begin and end a text, or empty.
        """
        extensions = [jinja2.ext.loopcontrols, _Generation]
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=extensions
        )
        environment.globals |= {"bos_token": bos, "eos_token": eos}
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _SOME_DAY.strftime}
        self._bos = bos
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise _unusable(error) from error
        self.thinking = next(
            (each for each in THINKING if any(mark in source for mark in each.telling)), None
        )
        """How the model thinks; None if it is not a reasoning model."""

    def parts(self, messages: Messages, *, think: bool = False) -> list[Part]:
        """The conversation up to the beginning of the next message, or of its thinking.

        Each message has `role` and `content`; the first may be the system's. If a template has no
        system role, its text begins the first message. With `think` the thinking is left open;
        otherwise a reasoning model's thinking is closed. Raises `ModelError` if the template cannot
        take these messages, or does not show each once.
        """
        stand_ins = [
            {"role": message["role"], "content": f"\ue000{position}\ue001"}
            for position, message in enumerate(messages)
        ]
        try:
            rendered = self._rendered(stand_ins, think=think)
        except (ValueError, TypeError, jinja2.TemplateError) as error:
            raise _unusable(error) from error
        shown = sorted(int(position) for position in _STAND_IN.findall(rendered))
        if shown != list(range(len(messages))):  # in any order: a system's may come with the last
            raise ModelError(
                "The chat template of the model loses or repeats messages; choose another model."
            )
        rendered += self._around_thinking(rendered, think=think)
        pieces = _STAND_IN.split(rendered)
        return [
            Part(messages[int(piece)]["content"], is_message=True)
            if position % 2
            else Part(piece, is_message=False)
            for position, piece in enumerate(pieces)
            if piece
        ]

    def begins_with_bos(self, parts: Sequence[Part]) -> bool:
        """Whether the template itself writes the token that begins a text."""
        return bool(self._bos) and parts[0].text.startswith(self._bos)

    def _rendered(self, messages: list[dict[str, str]], *, think: bool) -> str:
        has_system = len(messages) > 1 and messages[0]["role"] == "system"
        options = {"add_generation_prompt": True, "enable_thinking": think, "thinking": think}
        try:
            rendered = self._template.render(messages=messages, tools=None, **options)
        except (ValueError, jinja2.TemplateError):
            if not has_system:
                raise
        else:
            if not has_system or messages[0]["content"] in rendered:
                return rendered
        system, first, *others = messages
        folded = {**first, "content": f"{system['content']}\n\n{first['content']}"}
        return self._rendered([folded, *others], think=think)

    def _around_thinking(self, rendered: str, *, think: bool) -> str:
        """Text to append so that the thinking is open, or closed."""
        marks = self.thinking
        if marks is None:
            return ""
        reply = _STAND_IN.split(rendered)[-1]
        is_open = reply.rfind(marks.opens) > reply.rfind(marks.closes)
        is_closed = reply.rstrip().endswith(marks.closes)
        if think:
            return "" if is_open else marks.opens
        if is_open:
            return f"\n{marks.closes}{marks.then}"
        return "" if is_closed else marks.skipped


def _refuse(why: str) -> None:
    raise ValueError(why)


def _unusable(error: Exception) -> ModelError:
    return ModelError(
        f"The chat template of the model cannot be used ({error}); choose another model."
    )
