"""Prompts from the templates in `prompts/`, checked when they are loaded."""

from collections.abc import Mapping, Sequence
from functools import cache

import jinja2
import jinja2.meta

from assistant.resources import resource_folder
from assistant.types import Evidence
from retrieval.errors import InputError

Message = Mapping[str, str]

SILENT_REPLY = "The notes do not say."
"""What the model is to reply where the evidence does not answer."""

_VARIABLES = {
    "answer.system": frozenset({"silent"}),
    "answer.user": frozenset({"notes", "question"}),
    "brief.system": frozenset({"silent"}),
    "brief.user": frozenset({"title", "notes", "question"}),
    "question.user": frozenset({"text"}),
    "standalone.user": frozenset({"before", "title", "question"}),
}
"""The templates, and what each must be given."""


def answer_messages(
    question: str, evidence: Sequence[Evidence], keys: Sequence[str]
) -> list[Message]:
    """The conversation that asks the model for an answer from evidence marked by `keys`."""
    notes = [
        # On one line each: a text with lines of its own could pass one off as a note.
        {"key": key, "text": " ".join(sentence.text.split())}
        for key, sentence in zip(keys, evidence, strict=True)
    ]
    return [
        {"role": "system", "content": _template("answer.system").render(silent=SILENT_REPLY)},
        {
            "role": "user",
            "content": _template("answer.user").render(notes=notes, question=question),
        },
    ]


def brief_messages(question: str, title: str, sentences: Sequence[str]) -> list[Message]:
    """The conversation that asks a trained writer for one sentence from those of one paper.

    Args:
        question: as it can be understood alone.
        title: of the paper, empty if it has none.
        sentences: of its abstract.
    """
    # On one line each: a text with lines of its own could pass one off as a note.
    notes = [" ".join(sentence.split()) for sentence in sentences]
    return [
        {"role": "system", "content": _template("brief.system").render(silent=SILENT_REPLY)},
        {
            "role": "user",
            "content": _template("brief.user").render(
                title=" ".join(title.split()), notes=notes, question=question
            ),
        },
    ]


def question_messages(text: str) -> list[Message]:
    """The conversation that asks the model for a question about `text`."""
    return [{"role": "user", "content": _template("question.user").render(text=text)}]


def standalone_messages(before: str, title: str, question: str) -> list[Message]:
    """The conversation that asks the model for a follow-up as a question that stands alone.

    Args:
        before: the question before, as it can be understood alone.
        title: of the paper that answered it.
        question: the follow-up.
    """
    text = _template("standalone.user").render(before=before, title=title, question=question)
    return [{"role": "user", "content": text}]


@cache
def _template(name: str) -> jinja2.Template:
    """A template whose variables are just those it is given.

    Raises:
        InputError: it is missing, broken, or uses other variables.
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
    if used != _VARIABLES[name]:
        raise InputError(
            f"The prompt {path} uses {sorted(used)}, expected {sorted(_VARIABLES[name])}; "
            "mend the file."
        )
    return template
