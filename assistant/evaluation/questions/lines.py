"""The lines of question files: JSONL files with a question or a conversation a line."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.pipeline.assistant import checked_question, storable
from retrieval.text.markup import visible
from retrieval.types import InputError, first_words


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line of the file."""

    id: str
    questions: tuple[str, ...]
    """One, or the turns of a conversation in order."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, and whether the library answers it."""

    question: str
    answerable: bool


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A line of a JSONL file."""

    id: str
    """Without characters that cannot be stored."""
    fields: dict[str, Any]
    where: str
    """File and line, for errors."""
    number: int
    """From 1."""


def read_questions(path: Path) -> list[Conversation]:
    """The conversations of `path`, all checked before any is answered.

    A line is `{"id", "question"}`, `{"id", "query"}` or `{"id", "turns": [{"question"}, …]}`;
    other fields are ignored.

    Raises:
        InputError: the file cannot be read or a line does not fit; it names the line.
    """
    conversations = []
    for line in lines_of(contents(path), path):
        turns = line.fields.get("turns")
        asked = (isinstance(turns, list) and turns) or [line.fields]
        questions = tuple(_question(turn, line.where) for turn in asked)
        conversations.append(Conversation(str(line.fields["id"]), questions))
    return conversations


def read_judged(path: Path) -> list[LabelledQuestion]:
    """The single questions of `path`, each with whether the library answers it.

    A line is `{"id", "question", "papers": [title, …]}`; without papers the library does
    not answer the question. Conversations are skipped.

    Raises:
        InputError: the file cannot be read or a line does not fit; it names the line.
    """
    judged = []
    for line in lines_of(contents(path), path):
        if "turns" in line.fields:
            continue
        question, papers = _question(line.fields, line.where), line.fields.get("papers")
        if not isinstance(papers, list):
            raise InputError(
                f"{line.where} has no papers; expected “papers” with a list of titles."
            )
        judged.append(LabelledQuestion(question, answerable=bool(papers)))
    return judged


def lines_of(content: bytes, path: Path, id_field: str = "id") -> list[QuestionLine]:
    """The objects of a JSONL file, each with a text or a number as its id; no blank lines.

    Raises:
        InputError: it is not UTF-8, holds nothing, or a line is no object with an id.
    """
    expected = "one JSON object a line"
    lines = numbered_lines(content, path, expected)
    if not lines:
        raise InputError(f"{path} is empty; expected {expected}.")
    return [_line(raw, f"{path}, line {number}", number, id_field) for number, raw in lines]


def numbered_lines(content: bytes, path: Path, expected: str) -> list[tuple[int, str]]:
    """The lines that are not blank, by numbers from 1; raises InputError if they are not UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; expected {expected}.") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [(number, raw) for number, raw in enumerate(lines, start=1) if raw.strip()]


def contents(path: Path) -> bytes:
    """The bytes of a file; raises InputError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error


def check_ids_differ(lines: Iterable[QuestionLine]) -> None:
    """Raises InputError if two lines share an id; it names both."""
    first: dict[str, int] = {}
    for line in lines:
        if first.setdefault(line.id, line.number) != line.number:
            raise InputError(
                f"{line.where} has the id “{shown(line.id)}” of line {first[line.id]} again; "
                "give each line an id of its own."
            )


def shown(text: str) -> str:
    """The beginning of a text from the file, on one line, for errors."""
    return first_words(" ".join(visible(storable(text)).split()))


def question_of(text: str, where: str) -> str:
    """The question, checked; raises InputError, which names `where`, if it is empty or too long."""
    try:
        return checked_question(text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _line(raw: str, where: str, number: int, id_field: str) -> QuestionLine:
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits
        raise InputError(
            f"{where} is not valid JSON ({getattr(error, 'msg', error)}); "
            "mend the line and try again."
        ) from error
    if not isinstance(fields, dict) or not isinstance(fields.get(id_field), str | int):
        raise InputError(f"{where} has no id; expected an object with “{id_field}” and its text.")
    return QuestionLine(storable(str(fields[id_field])), fields, where, number)


def _question(fields: Any, where: str) -> str:
    question = fields.get("question", fields.get("query")) if isinstance(fields, dict) else None
    if not isinstance(question, str):
        raise InputError(f"{where} has no question; expected “question” (or “turns”) with text.")
    return question_of(question, where)
