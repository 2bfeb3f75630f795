"""Folders in BEIR's layout (Thakur et al. 2021): judged queries, and the corpus as a library."""

import hashlib
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.evaluation.questions.lines import (
    QuestionLine,
    check_ids_differ,
    contents,
    lines_of,
    numbered_lines,
    shown,
)
from assistant.evaluation.records.provenance import sha256_of
from assistant.evaluation.types import Expected, Question, Sample, SampleType
from assistant.pipeline.assistant import checked_question
from assistant.pipeline.startup import open_library
from assistant.settings import Settings
from retrieval.formats.fields import checked
from retrieval.library.ingest import ingest
from retrieval.types import InputError, Progress, Skipped, Source

_CORPUS = "corpus.jsonl"
_NAME_LENGTH = 16
"""Digits of a corpus's hash that name its library."""
_COLUMNS = ("query-id", "corpus-id", "score")
_EXPECTED = "corpus.jsonl, queries.jsonl and qrels/test.tsv"
_ROWS = "a header with query-id, corpus-id and score, then a judgement a line, parted by tabs"


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """The queries of a folder that have a relevant paper."""

    samples: tuple[Sample, ...]
    """In the order of the queries."""
    sha256: str
    """Of the queries' bytes followed by the judgements', in hexadecimal."""
    notes: tuple[str, ...]
    """Remarks on what is odd but can be asked, a sentence each."""


@dataclass(frozen=True, slots=True)
class _Judgement:
    """A row of the judgements file."""

    query: str
    paper: str
    score: float
    where: str
    number: int
    """Line, from 1."""


def read_beir(folder: Path, library: Container[str] | None = None) -> JudgedQueries:
    """The queries of `folder` with the gains of their relevant papers, by id.

    The judgements are read from `qrels/test.tsv`, or from the only other file there. A score above
    0 is a gain. A relevant paper without an abstract cannot be in a library: it stays expected and
    is never found, so that figures compare with published ones.

    Args:
        folder: with `corpus.jsonl`, `queries.jsonl` and `qrels/`.
        library: the ids of its papers; None if the corpus is not ingested yet.

    Raises:
        InputError: a file cannot be read or does not fit; one sentence with file and line.
    """
    queries_file, judged_file = folder / "queries.jsonl", _judged_file(folder)
    queries, judged = contents(queries_file), contents(judged_file)
    lines = lines_of(queries, queries_file, "_id")
    check_ids_differ(lines)
    judgements = _judgements(judged, judged_file)
    _check_queries(judgements, {line.id.strip() for line in lines}, queries_file)
    relevant = [each for each in judgements if each.score > 0]
    if not relevant:
        raise InputError(f"{judged_file} judges no paper as relevant; expected {_ROWS}.")
    gains: dict[str, dict[str, float]] = {}
    for each in relevant:
        gains.setdefault(each.query, {})[each.paper] = each.score
    absent = [each for each in relevant if library is not None and each.paper not in library]
    return JudgedQueries(
        samples=tuple(
            _sample(line, gains[line.id.strip()]) for line in lines if line.id.strip() in gains
        ),
        sha256=hashlib.sha256(queries + judged).hexdigest(),
        notes=_missing(absent, folder),
    )


def home_of_corpus(folder: Path, settings: Settings) -> Path:
    """The folder of the library of a BEIR folder's corpus, in the cache; each corpus has its own.

    Raises:
        InputError: the folder has no corpus that can be read.
    """
    corpus = folder / _CORPUS
    try:
        name = sha256_of(corpus)[:_NAME_LENGTH]
    except OSError as error:
        raise InputError(
            f"{corpus} cannot be read ({error.strerror}); expected questions in a JSONL file, or a "
            "folder with corpus.jsonl, queries.jsonl and qrels/test.tsv."
        ) from error
    return settings.cache / "corpora" / name


def ingest_corpus(folder: Path, settings: Settings, progress: Progress) -> None:
    """Bring the library of `settings` up to date with the corpus of a BEIR folder.

    Raises:
        ModelError, LibraryError: as `ingest` does.
    """
    ingest(open_library(settings, progress), [folder / _CORPUS], progress=progress)


def _judged_file(folder: Path) -> Path:
    files = sorted((folder / "qrels").glob("[!.]*.tsv"))
    test = folder / "qrels" / "test.tsv"
    if test in files:
        return test
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise InputError(
            f"{folder / 'qrels'} has {names} and no test.tsv; name the one to use test.tsv."
        )
    if not files:
        raise InputError(f"{folder} has no judgements; expected a folder with {_EXPECTED}.")
    return files[0]


def _judgements(content: bytes, file: Path) -> list[_Judgement]:
    rows = [
        (f"{file}, line {number}", number, [cell.strip() for cell in raw.split("\t")])
        for number, raw in numbered_lines(content, file, _ROWS)
    ]
    if not rows:
        raise InputError(f"{file} is empty; expected {_ROWS}.")
    where, _, header = rows[0]
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise InputError(f"{where} has no column {missing[0]}; expected {_ROWS}.")
    columns = [header.index(name) for name in _COLUMNS]
    judgements = [_judgement(row, columns, where, number) for where, number, row in rows[1:]]
    _check_judged_once(judgements)
    return judgements


def _judgement(row: Sequence[str], columns: Sequence[int], where: str, number: int) -> _Judgement:
    cells = [row[at] if at < len(row) else "" for at in columns]
    if not all(cells):
        missing = _COLUMNS[cells.index("")]
        raise InputError(f"{where} has no {missing}; expected {_ROWS}.")
    query, paper, score = cells
    return _Judgement(query, paper, _number(score, where), where, number)


def _number(score: str, where: str) -> float:
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where} has the score “{shown(score)}”; expected a number such as 1.")
    return value


def _check_judged_once(judgements: Sequence[_Judgement]) -> None:
    first: dict[tuple[str, str], int] = {}
    for each in judgements:
        pair = each.query, each.paper
        if pair in first:
            raise InputError(
                f"{each.where} judges the paper “{shown(each.paper)}” for the query "
                f"“{shown(each.query)}” as line {first[pair]} did; keep one of the two."
            )
        first[pair] = each.number


def _check_queries(judgements: Sequence[_Judgement], known: Container[str], file: Path) -> None:
    for each in judgements:
        if each.query not in known:
            raise InputError(
                f"{each.where} judges the query “{shown(each.query)}”, which {file} does not have; "
                "see that both files are of the same collection."
            )


def _sample(line: QuestionLine, gains: Mapping[str, float]) -> Sample:
    text = line.fields.get("text")
    if not isinstance(text, str):
        raise InputError(f"{line.where} has no text; expected “text” with the query.")
    try:
        question = Question(checked_question(text), Expected(papers=gains))
    except InputError as error:
        raise InputError(f"{line.where}: {error}") from error
    return Sample(line.id.strip(), SampleType.RETRIEVAL, (question,))


def _missing(absent: Sequence[_Judgement], folder: Path) -> tuple[str, ...]:
    """A note on relevant papers that have no abstract; other absent papers are errors."""
    if not absent:
        return ()
    file = folder / _CORPUS
    corpus = {line.id.strip(): line for line in lines_of(contents(file), file, "_id")}
    for each in absent:
        if each.paper not in corpus:
            raise InputError(
                f"{each.where} judges the paper “{shown(each.paper)}”, which {file} does not have; "
                "see that both files are of the same collection."
            )
        if not _has_no_abstract(corpus[each.paper]):
            raise InputError(
                f"{each.where} judges the paper “{shown(each.paper)}”, which the library does not "
                f"have; add the corpus with `assistant ingest {folder}`."
            )
    count = len({each.paper for each in absent})
    return (
        f"{count} of the relevant papers in {file} "
        f"{'has no abstract and counts' if count == 1 else 'have no abstract and count'} "
        "as not found.",
    )


def _has_no_abstract(line: QuestionLine) -> bool:
    return isinstance(checked(line.fields, Source("", line.number)), Skipped)
