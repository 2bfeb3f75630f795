"""Prompts for the chat model, from the templates in `prompts/`, and how much evidence fits one.

A template is checked when it is loaded.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import jinja2
import jinja2.meta

from assistant.models.chat import ChatModel
from assistant.settings import resource_folder
from assistant.types import Evidence
from retrieval.types import InputError

Message = Mapping[str, str]

SILENT_REPLY = "The notes do not say."
"""The reply asked of the model if the evidence does not answer."""

Prompt = Callable[[int], Sequence[Message]]
"""The prompt with the given number of sentences of evidence."""


def answer_messages(
    question: str, evidence: Sequence[Evidence], keys: Sequence[str]
) -> list[Message]:
    """The messages that ask the model for an answer from evidence marked by `keys`."""
    notes = [
        {"key": key, "text": _one_line(each.text)} for key, each in zip(keys, evidence, strict=True)
    ]
    return [
        _message("system", "answer.system", silent=SILENT_REPLY),
        _message("user", "answer.user", notes=notes, question=question),
    ]


def brief_messages(question: str, title: str, sentences: Sequence[str]) -> list[Message]:
    """The messages that ask the default model for one sentence from those of one paper."""
    notes = [_one_line(sentence) for sentence in sentences]
    return [
        _message("system", "brief.system", silent=SILENT_REPLY),
        _message("user", "brief.user", title=_one_line(title), notes=notes, question=question),
    ]


def question_messages(text: str) -> list[Message]:
    """The messages that ask the model for a question about `text`."""
    return [_message("user", "question.user", text=text)]


def standalone_messages(before: str, title: str, question: str) -> list[Message]:
    """The messages that ask the model for a follow-up as a standalone question.

    `before` is the standalone question before, `title` that of the paper that answered it.
    """
    return [_message("user", "standalone.user", before=before, title=title, question=question)]


def fitting(model: ChatModel, prompt: Prompt, sentences: int, answer: int) -> int:
    """How many of `sentences` fit beside instructions, question and `answer` tokens of reply.

    Raises:
        InputError: not even one sentence fits.
    """
    for count in range(sentences, 0, -1):
        if model.count(prompt(count)) + answer <= model.context:
            return count
    raise InputError(
        f"The question does not fit into the model's context of {model.context:,} tokens; "
        "ask a shorter one or raise --context."
    )


def _message(role: str, template: str, **variables: object) -> Message:
    return {"role": role, "content": _template(template, frozenset(variables)).render(variables)}


def _one_line(text: str) -> str:
    """Text that cannot pass off a line of its own as another piece of evidence."""
    return " ".join(text.split())


@cache
def _template(name: str, variables: frozenset[str]) -> jinja2.Template:
    """A template from its file.

    Raises:
        InputError: it is missing or broken, or does not use exactly `variables`.
    """
    path = resource_folder("prompts") / f"{name}.txt"
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701 - plain text for the model, not a page
    try:
        source = path.read_text("utf-8").strip()
        used = jinja2.meta.find_undeclared_variables(environment.parse(source))
        template = environment.from_string(source)
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"The prompt {path} cannot be used ({why}); mend the file.") from error
    if used != variables:
        raise InputError(
            f"The prompt {path} uses {sorted(used)}, expected {sorted(variables)}; mend the file."
        )
    return template
