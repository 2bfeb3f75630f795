"""Questions from a JSONL file: one a line, or a conversation of several turns."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.engine import checked_question
from retrieval.errors import InputError


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line of the file."""

    id: str
    questions: tuple[str, ...]
    """One, or the turns of a conversation in order."""


def read_questions(path: Path) -> list[Conversation]:
    """The conversations of `path`, all checked before any is answered.

    A line is `{"id", "question"}`, `{"id", "query"}` or `{"id", "turns": [{"question"}, …]}`;
    other fields are ignored.

    Raises:
        InputError: the file cannot be read or a line does not fit; it names the line.
    """
    return [_conversation(fields, where) for where, fields in _objects(path)]


@dataclass(frozen=True, slots=True)
class Expected:
    """A question, and whether the library has an answer to it."""

    question: str
    answerable: bool


def read_judged(path: Path) -> list[Expected]:
    """The single questions of `path` with whether they can be answered.

    A line is `{"id", "question", "papers": [title, …]}`; without papers the question is one that
    the library has no answer to. Conversations are left out.

    Raises:
        InputError: the file cannot be read or a line does not fit; it names the line.
    """
    return [
        Expected(_question(fields, where), answerable=_has_papers(fields, where))
        for where, fields in _objects(path)
        if "turns" not in fields
    ]


def _has_papers(fields: dict[str, Any], where: str) -> bool:
    papers = fields.get("papers")
    if not isinstance(papers, list):
        raise InputError(f"{where} has no papers; expected “papers” with a list of titles.")
    return bool(papers)


def _objects(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a JSONL file, each with where it stands."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; expected one JSON object a line.") from error
    numbered = ((f"{path}, line {number}", raw) for number, raw in enumerate(lines, start=1))
    objects = [(where, _object(raw, where)) for where, raw in numbered if raw.strip()]
    if not objects:
        raise InputError(f"{path} is empty; expected one JSON object a line.")
    return objects


def _object(raw: str, where: str) -> dict[str, Any]:
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits
        raise InputError(
            f"{where} is not valid JSON ({getattr(error, 'msg', error)}); "
            "mend the line and try again."
        ) from error
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str | int):
        raise InputError(f"{where} has no id; expected an object with “id” and “question”.")
    return fields


def _conversation(fields: dict[str, Any], where: str) -> Conversation:
    turns = fields.get("turns")
    asked = [_question(turn, where) for turn in turns] if isinstance(turns, list) else []
    questions = tuple(asked) or (_question(fields, where),)
    return Conversation(str(fields["id"]), questions)


def _question(fields: Any, where: str) -> str:
    question = fields.get("question", fields.get("query")) if isinstance(fields, dict) else None
    if not isinstance(question, str):
        raise InputError(f"{where} has no question; expected “question” (or “turns”) with text.")
    try:
        return checked_question(question)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
