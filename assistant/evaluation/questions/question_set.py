"""Reads and checks a question set: a JSONL file with expected answers, or a BEIR folder."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from assistant.evaluation.questions.beir import read_beir
from assistant.evaluation.questions.lines import (
    QuestionLine,
    check_ids_differ,
    contents,
    lines_of,
    question_of,
    shown,
)
from assistant.evaluation.questions.papers import PaperNames
from assistant.evaluation.types import Expected, Question, QuestionSet, Sample, SampleType
from assistant.pipeline.assistant import storable
from assistant.types import Outcome
from retrieval.text.markup import visible
from retrieval.types import InputError, Paper


def read_question_set(path: Path, papers: Iterable[Paper]) -> QuestionSet:
    """The questions of a JSONL file, or the judged queries of a BEIR folder.

    A line is `{"id", "type", "question", "papers"}`, of a conversation `{"id", "type": "chat",
    "turns": [{"question", "papers"}, …]}`; `facts`, `evidence`, `answer` and `outcome` may be added
    beside `papers`, and other fields are ignored. The meaning of `papers`:

    - names, or names with gains: these papers answer, and the right outcome is `answered`.
    - `[]`: no abstract answers. Either refusal is right, or the one that `outcome` names. All
      questions of the type unanswerable are read so; single, multi and retrieval cannot have it.
    - `null`: the papers that answer are not known, and nothing is scored by papers. The right
      outcome is the one named; without one it is `answered` if facts or evidence are given, and
      not known otherwise. If a refusal is named, no abstract answers.

    Args:
        path: a JSONL file or a folder.
        papers: all papers of the library.

    Raises:
        InputError: a file cannot be read or a line does not fit; one sentence with file and line.
    """
    names = PaperNames(papers)
    if path.is_dir():
        return read_beir(path, names.ids)
    content = contents(path)
    lines = lines_of(content, path)
    check_ids_differ(lines)
    samples = tuple(_sample(line, names) for line in lines)
    notes = tuple(
        note
        for line, sample in zip(lines, samples, strict=True)
        for note in _unquotable(sample, names, line.where)
    )
    return QuestionSet(samples, hashlib.sha256(content).hexdigest(), notes)


def _gain_pairs(papers: Any) -> Any:
    """Pairs of name and gain from a list of names or an object of gains by name."""
    if isinstance(papers, list):
        return [(name, 1.0) for name in papers]
    return list(papers.items()) if isinstance(papers, dict) else papers


def _name(value: Any) -> Any:
    """A name as text; ids may be numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _visible(text: str) -> str:
    if not visible(text).strip():
        raise ValueError("nothing can be seen of it")
    return text


_Text = Annotated[str, AfterValidator(storable)]
_VisibleText = Annotated[_Text, AfterValidator(_visible)]
_Name = Annotated[_VisibleText, BeforeValidator(_name)]
_Gain = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
_Alternatives = Annotated[tuple[_VisibleText, ...], Field(min_length=1)]


class _Turn(BaseModel):
    """A question of the file with its expectations."""

    question: str
    papers: Annotated[list[tuple[_Name, _Gain]] | None, BeforeValidator(_gain_pairs)]
    facts: tuple[_Alternatives, ...] = ()
    evidence: tuple[_VisibleText, ...] = ()
    answer: _Text = ""
    outcome: Outcome | None = None


class _Typed(BaseModel):
    """The type of a line, which decides how the rest is read."""

    type: SampleType


class _Chat(BaseModel):
    """A conversation; its turns are validated one by one."""

    turns: Annotated[list[Any], Field(min_length=1)]


_Shape = TypeVar("_Shape", bound=BaseModel)

_EXPECTED = {
    "type": f"one of {', '.join(SampleType)}",
    "question": "a text",
    "papers": "a list of titles or ids, empty where nothing answers, null where it is not known",
    "facts": "a list with a list of alternative spellings for each fact",
    "evidence": "a list of sentences",
    "answer": "a text",
    "outcome": f"one of {', '.join(Outcome)}",
    "turns": "a list of at least one turn, each with “question” and “papers”",
    "": "an object with “question” and “papers”",
}
"""The expected content of every field, for errors."""


def _sample(line: QuestionLine, names: PaperNames) -> Sample:
    if not line.id.strip():
        raise InputError(f"{line.where} has an empty id; give each line an id of its own.")
    type_ = _validated(_Typed, line.fields, line.where).type
    if type_ is SampleType.CHAT:
        turns = _validated(_Chat, line.fields, line.where).turns
        asked = [(turn, f"{line.where}, turn {at}") for at, turn in enumerate(turns, start=1)]
    else:
        asked = [(line.fields, line.where)]
    return Sample(
        line.id, type_, tuple(_question(turn, type_, names, where) for turn, where in asked)
    )


def _validated(shape: type[_Shape], fields: object, where: str) -> _Shape:
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{where} {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    """The first error of a line: the field, its value, and the expected content."""
    first = error.errors()[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    if not field:
        return f"is no object; expected {_EXPECTED[field]}."
    if first["type"] == "missing":
        return f"has no “{field}”; expected {_EXPECTED[field]}."
    entry = "".join(f"[{at}]" for at in first["loc"][1:] if isinstance(at, int))
    given = _describe(first["input"])
    return f"has {given} as “{field}{entry}”; expected “{field}” with {_EXPECTED[field]}."


def _describe(given: object) -> str:
    if isinstance(given, str):
        return f"“{shown(given)}”"
    if isinstance(given, list | tuple | dict):
        return "an object" if isinstance(given, dict) else "a list"
    return shown(json.dumps(given))


def _question(fields: object, type_: SampleType, names: PaperNames, where: str) -> Question:
    turn = _validated(_Turn, fields, where)
    text = question_of(turn.question, where)
    is_named = turn.outcome not in (None, Outcome.ANSWERED)
    is_refused = type_ is SampleType.UNANSWERABLE or turn.papers == [] or is_named
    if is_refused:
        _check_nothing_answers(turn, type_, where)
    answers = turn.papers or turn.facts or turn.evidence
    outcome = turn.outcome or (Outcome.ANSWERED if answers else None)
    expected = Expected(
        papers={} if is_refused else _gains(turn, names, where),
        outcome=None if type_ is SampleType.RETRIEVAL else outcome,
        facts=turn.facts,
        evidence=turn.evidence,
        answer=turn.answer,
    )
    return Question(text, expected)


def _check_nothing_answers(turn: _Turn, type_: SampleType, where: str) -> None:
    """Check that a question without an answer has no papers, facts or evidence."""
    if type_ in (SampleType.SINGLE, SampleType.MULTI, SampleType.RETRIEVAL):
        raise InputError(
            f"{where} is of the type {type_}, but nothing answers it; name its papers, write null "
            "where they are not known, or choose the type unanswerable."
        )
    if turn.outcome is Outcome.ANSWERED or turn.papers or turn.facts or turn.evidence:
        raise InputError(
            f"{where} is to be refused and to be answered; leave papers, facts and evidence empty, "
            "or choose another type or outcome."
        )


def _gains(turn: _Turn, names: PaperNames, where: str) -> dict[str, float] | None:
    if turn.papers is None:
        return None
    gains: dict[str, float] = {}
    for name, gain in turn.papers:
        id_ = names.id_of(name, where)
        if id_ in gains:
            raise InputError(
                f"{where} names the paper “{shown(name)}” twice; each counts once, so remove one."
            )
        gains[id_] = gain
    return gains


def _unquotable(sample: Sample, names: PaperNames, where: str) -> Iterator[str]:
    """A note for each piece of evidence that is in no right paper: no answer can quote it."""
    for question in sample.questions:
        papers = question.expected.papers or {}
        for sentence in question.expected.evidence if papers else ():
            if not names.quotable(sentence, papers):
                yield (
                    f"{where}: the evidence “{shown(sentence)}” stands in the abstract of none of "
                    "its papers, so that no answer can have it."
                )
