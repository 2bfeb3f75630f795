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
from assistant.evaluation.scorers import is_cited
from assistant.evaluation.types import Expected, Question, QuestionSet, Sample, SampleType
from assistant.pipeline.assistant import storable
from assistant.pipeline.startup import place_of
from assistant.settings import Settings
from assistant.types import Outcome
from retrieval.formats.merge import letters
from retrieval.index.chroma import ChromaStore
from retrieval.text.markup import clean, visible
from retrieval.text.titles import TITLE_MATCH, likeness, plain_title
from retrieval.types import InputError, LibraryError, Paper, first_words

_BEGINNING = 80
"""Characters of an abstract that name a paper without a title."""
_LONGEST_TITLE = 300
"""Characters of a name that are compared with titles; longer names would take long."""
_NAMED = 2
"""Papers of the same name that an error names."""


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
        return read_beir(path, names.papers)
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


def papers_of(settings: Settings) -> Iterator[Paper]:
    """The papers of the library, without a model; raises LibraryError if it has none."""
    place = place_of(settings)
    store = ChromaStore(place.connection) if place.read() or place.has_papers() else None
    if store is None or not store.count()[0]:
        raise LibraryError(
            f"The library {place.where} has no papers; fill it with `assistant ingest`, or name "
            "another one by --home."
        )
    return (stored.paper for stored in store.papers())


class PaperNames:
    """The names of a library's papers.

    A paper is named by its id or its title, ignoring case and punctuation; one without a title by
    the first 80 characters of its abstract, or by its beginning as the app shows it.
    """

    def __init__(self, papers: Iterable[Paper]) -> None:
        self.papers = {paper.id: paper for paper in papers}
        self._ids: dict[str, dict[str, None]] = {}
        for paper in self.papers.values():
            beginnings = paper.abstract[:_BEGINNING], first_words(paper.abstract, _BEGINNING)
            for name in filter(None, map(letters, [paper.title] if paper.title else beginnings)):
                self._ids.setdefault(name, {})[paper.id] = None

    def id_of(self, name: str, where: str) -> str:
        """The id of the paper called `name`; raises InputError if not exactly one is."""
        if name.strip() in self.papers:
            return name.strip()
        found = self._ids.get(letters(name)) or self._ids.get(letters(clean(name))) or {}
        if not found:
            raise InputError(
                f"{where} names a paper that the library does not have, “{shown(name)}”; "
                f"{self._hint(name)}."
            )
        if len(found) > 1:
            more = ", …" if len(found) > _NAMED else ""
            raise InputError(
                f"{where} names “{shown(name)}”, and {len(found)} papers are called so; "
                f"name the one that is meant by its id ({' or '.join(list(found)[:_NAMED])}{more})."
            )
        return next(iter(found))

    def _hint(self, name: str) -> str:
        plain = plain_title(name[:_LONGEST_TITLE])
        titles = (paper.title for paper in self.papers.values())
        alike, title = max((likeness(plain, plain_title(each)), each) for each in ("", *titles))
        if alike >= TITLE_MATCH:
            return f"the closest title is “{shown(title)}”"
        return "write its title as the library has it, or its id, or add it with `assistant ingest`"


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
        abstracts = [names.papers[id_].abstract for id_ in question.expected.papers or ()]
        for sentence in question.expected.evidence if abstracts else ():
            if not is_cited(sentence, abstracts):
                yield (
                    f"{where}: the evidence “{shown(sentence)}” stands in the abstract of none of "
                    "its papers, so that no answer can have it."
                )
