"""Folders in BEIR's layout (Thakur et al. 2021): judged queries, and the corpus as a library."""

import hashlib
import math
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assistant.evaluation.questions.lines import (
    QuestionLine,
    check_ids_differ,
    contents,
    lines_of,
    numbered_lines,
    question_of,
    shown,
)
from assistant.evaluation.records.provenance import sha256_of
from assistant.evaluation.types import Expected, Question, QuestionSet, Sample, SampleType
from assistant.pipeline.assistant import LONGEST_QUESTION, storable
from assistant.pipeline.startup import open_library
from assistant.settings import Settings
from retrieval.formats.fields import checked
from retrieval.library.ingest import ingest
from retrieval.text.markup import visible
from retrieval.types import InputError, Progress, Skipped, Source

_CORPUS = "corpus.jsonl"
_NAME_LENGTH = 16
"""Digits of a corpus's hash that name its library."""
_COLUMNS = ("query-id", "corpus-id", "score")
_EXPECTED = "corpus.jsonl, queries.jsonl and qrels/test.tsv"
_ROWS = "a header with query-id, corpus-id and score, then a judgement a line, parted by tabs"


class _Judgement(NamedTuple):
    """A row of the judgements file."""

    query: str
    paper: str
    score: float
    where: str


def read_beir(folder: Path, library: Container[str] | None = None) -> QuestionSet:
    """The queries of `folder` that have a relevant paper, with the gains by the papers' ids.

    The judgements are read from `qrels/test.tsv`, or from the only other file there. A score above
    0 is a gain. A relevant paper without an abstract cannot be in a library: it stays expected and
    is never found, so that figures compare with published ones. A query that is too long to be
    asked is cut; a note says so.

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
    gains: dict[str, dict[str, float]] = {line.id.strip(): {} for line in lines}
    relevant = []
    for each in _judgements(judged, judged_file):
        if each.query not in gains:
            raise _not_there(each, "query", each.query, queries_file)
        if each.score > 0:
            gains[each.query][each.paper] = each.score
            relevant.append(each)
    if not relevant:
        raise InputError(f"{judged_file} judges no paper as relevant; expected {_ROWS}.")
    samples, cut = [], 0
    for line in lines:
        if right := gains[line.id.strip()]:
            text = _text(line)
            cut += len(text) > LONGEST_QUESTION
            question = Question(question_of(text[:LONGEST_QUESTION], line.where), Expected(right))
            samples.append(Sample(line.id.strip(), SampleType.RETRIEVAL, (question,)))
    absent = [each for each in relevant if library is not None and each.paper not in library]
    notes = (*_note_on_cut(cut, queries_file), *_note_on_missing(absent, folder))
    return QuestionSet(tuple(samples), hashlib.sha256(queries + judged).hexdigest(), notes)


def home_of_corpus(folder: Path, settings: Settings) -> Path:
    """The library of a folder's corpus, in the cache; raises InputError if there is no corpus."""
    corpus = folder / _CORPUS
    try:
        name = sha256_of(corpus)[:_NAME_LENGTH]
    except OSError as error:
        raise InputError(
            f"{corpus} cannot be read ({error.strerror}); expected questions in a JSONL file, or a "
            f"folder with {_EXPECTED}."
        ) from error
    return settings.cache / "corpora" / name


def ingest_corpus(folder: Path, settings: Settings, progress: Progress) -> None:
    """Bring the library of `settings` up to date with the corpus of a BEIR folder."""
    ingest(open_library(settings, progress, make=True), [folder / _CORPUS], progress=progress)


def _judged_file(folder: Path) -> Path:
    files = {file.name: file for file in sorted((folder / "qrels").glob("[!.]*.tsv"))}
    if not files:
        raise InputError(f"{folder} has no judgements; expected a folder with {_EXPECTED}.")
    if len(files) > 1 and "test.tsv" not in files:
        raise InputError(
            f"{folder / 'qrels'} has {', '.join(files)} and no test.tsv; name the one to use "
            "test.tsv."
        )
    return files.get("test.tsv") or next(iter(files.values()))


def _judgements(content: bytes, file: Path) -> Iterator[_Judgement]:
    lines = numbered_lines(content, file, _ROWS)
    if not lines:
        raise InputError(f"{file} is empty; expected {_ROWS}.")
    (first, header), *rows = (
        (number, [cell.strip() for cell in raw.split("\t")]) for number, raw in lines
    )
    for name in _COLUMNS:
        if name not in header:
            raise InputError(f"{file}, line {first} has no column {name}; expected {_ROWS}.")
    judged: dict[tuple[str, str], int] = {}
    for number, row in rows:
        each = _judgement(dict(zip(header, row, strict=False)), f"{file}, line {number}")
        before = judged.setdefault((each.query, each.paper), number)
        if before != number:
            raise InputError(
                f"{each.where} judges the paper “{shown(each.paper)}” for the query "
                f"“{shown(each.query)}” as line {before} did; keep one of the two."
            )
        yield each


def _judgement(row: dict[str, str], where: str) -> _Judgement:
    for name in _COLUMNS:
        if not row.get(name):
            raise InputError(f"{where} has no {name}; expected {_ROWS}.")
    query, paper, score = (row[name] for name in _COLUMNS)
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where} has the score “{shown(score)}”; expected a number such as 1.")
    return _Judgement(query, paper, value, where)


def _text(line: QuestionLine) -> str:
    """The whole query of a line, as its length is counted."""
    text = line.fields.get("text")
    if not isinstance(text, str):
        raise InputError(f"{line.where} has no text; expected “text” with the query.")
    return visible(storable(text)).strip()


def _note_on_cut(count: int, file: Path) -> Iterator[str]:
    if count:
        verb, limit = "has" if count == 1 else "have", f"{LONGEST_QUESTION:,}"
        yield (
            f"{count} of the judged queries in {file} {verb} more than {limit} characters; only "
            f"the first {limit} are searched for."
        )


def _note_on_missing(absent: Sequence[_Judgement], folder: Path) -> Iterator[str]:
    """A note on relevant papers that have no abstract; other absent papers are errors."""
    if not absent:
        return
    file = folder / _CORPUS
    corpus = {line.id.strip(): line for line in lines_of(contents(file), file, "_id")}
    for each in absent:
        line = corpus.get(each.paper)
        if line is None:
            raise _not_there(each, "paper", each.paper, file)
        if not isinstance(checked(line.fields, Source("", line.number)), Skipped):
            raise InputError(
                f"{each.where} judges the paper “{shown(each.paper)}”, which the library does not "
                f"have; add the corpus with `assistant ingest {folder}`."
            )
    count = len({each.paper for each in absent})
    verbs = "has no abstract and counts" if count == 1 else "have no abstract and count"
    yield f"{count} of the relevant papers in {file} {verbs} as not found."


def _not_there(judged: _Judgement, noun: str, id_: str, file: Path) -> InputError:
    return InputError(
        f"{judged.where} judges the {noun} “{shown(id_)}”, which {file} does not have; "
        "see that both files are of the same collection."
    )
