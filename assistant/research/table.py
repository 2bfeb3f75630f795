"""Evidence tables: papers as rows, and in each cell what an abstract says on a column, quoted.

A cell is found as an answer is: the reader reads the column as a question with one abstract, the
writer cuts an excerpt out of the best sentence, and the verifier checks it. Which cells stay empty
is measured in tests/benchmarks/tables.md.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace

from assistant.generation.answer_builder import DraftAnswer
from assistant.generation.writer import Writer
from assistant.pipeline.assistant import Assistant, storable
from assistant.research.columns import THRESHOLD, candidates, questions_of
from assistant.types import Evidence, Json, SentenceKind
from retrieval.formats.citation_keys import citation_keys
from retrieval.text.markup import visible
from retrieval.types import Cancelled, InputError, Paper, never

ABSENT = "not found in the abstract"
DEFAULT_COLUMNS = ("data set", "metric", "gain", "limitation")
MOST_COLUMNS, LONGEST_COLUMN = 12, 80
"""Columns of a table, and characters of a column's name."""
DEFAULT_ROWS, MOST_ROWS = 10, 30

Turn = Callable[[], AbstractContextManager[object]]
"""Gives the model for one piece of work: finding the papers, or a cell."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What an abstract says on a column."""

    text: str = ""
    """A short statement; empty if the abstract says nothing."""
    quote: str = ""
    """The sentence that supports it, verbatim from the abstract."""

    @property
    def shown(self) -> str:
        """The statement, or that there is none."""
        return self.text or ABSENT


@dataclass(frozen=True, slots=True)
class Row:
    """A paper with its cells, as many as are filled."""

    paper: Paper
    key: str
    """The paper's citation key."""
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Papers as rows; the cells of a column stand in its place."""

    question: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def plus(self, at: int, cell: Cell) -> "EvidenceTable":
        """The table with one more cell in the row at this place."""
        row = replace(self.rows[at], cells=(*self.rows[at].cells, cell))
        return replace(self, rows=(*self.rows[:at], row, *self.rows[at + 1 :]))

    @property
    def filled(self) -> int:
        """Cells filled so far."""
        return sum(len(row.cells) for row in self.rows)

    @property
    def size(self) -> int:
        """Cells of the whole table."""
        return len(self.rows) * len(self.columns)


def checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns on one line each, without repeated and empty ones.

    Raises:
        InputError: there are none, too many, or one is too long.
    """
    lines = (" ".join(visible(storable(column)).split()) for column in columns)
    named = list({line.casefold(): line for line in lines if line}.values())
    if not named:
        raise InputError(
            "The table has no columns; name some, separated by commas, such as "
            f"“{', '.join(DEFAULT_COLUMNS)}”."
        )
    if len(named) > MOST_COLUMNS:
        raise InputError(
            f"{len(named)} columns are named, a table has at most {MOST_COLUMNS}; make several."
        )
    if longest := max((len(name) for name in named if len(name) > LONGEST_COLUMN), default=0):
        raise InputError(
            f"A column has {longest} characters, at most {LONGEST_COLUMN} are read; "
            "name it in a few words."
        )
    return tuple(named)


def fill(
    assistant: Assistant,
    question: str,
    columns: Sequence[str],
    most: int = DEFAULT_ROWS,
    stopped: Callable[[], bool] = never,
    *,
    first: Sequence[Paper] = (),
    turn: Turn = nullcontext,
) -> Iterator[EvidenceTable]:
    """The table as it grows: without cells, then after each cell, row by row.

    Args:
        assistant: finds the papers and reads them.
        question: what the papers answer.
        columns: names of columns, or questions to each paper.
        most: rows at most.
        stopped: checked while models work.
        first: papers that are rows in any case, such as those that an answer cites.
        turn: entered for each piece of work.

    Raises:
        InputError: the columns are unusable, or no abstract answers the question.
        LibraryError: the library has no papers or cannot be read.
        Cancelled: `stopped()` became true.
    """
    names = checked_columns(columns)
    with turn():
        found = assistant.papers_answering(question, most, stopped)
    papers = list({paper.id: paper for paper in (*first, *found)}.values())[:most]
    if not papers:
        raise InputError(
            "No abstract in this library answers that, so there is no table; ask more generally."
        )
    keys = citation_keys(papers, assistant.library.lexical.papers_with_key)
    table = EvidenceTable(question, names, tuple(Row(each, keys[each.id]) for each in papers))
    yield table
    for at, paper in enumerate(papers):
        for column in names:
            if stopped():
                raise Cancelled
            with turn():
                new = cell(assistant, paper, column, stopped)
            table = table.plus(at, new)
            yield table


def cell(
    assistant: Assistant, paper: Paper, column: str, stopped: Callable[[], bool] = never
) -> Cell:
    """What the abstract of `paper` says on a column; empty if it is not likely to say anything."""
    states = assistant.verifier.states
    found = candidates(assistant.reader, paper, column, stopped)
    best = next((each for each in found if states(each.sentence.text)), None)
    if best is None or best.logit < THRESHOLD:
        return Cell()
    sentence = best.sentence
    evidence = Evidence(paper, sentence.start, sentence.end, sentence.text, best.logit)
    writer = Writer(assistant.model, assistant.verifier, assistant.settings.writing)
    draft = DraftAnswer([evidence])
    for shown in writer.generate(draft, questions_of(column)[0], stopped):
        if shown.sentence.kind is SentenceKind.VERIFIED:
            return Cell(shown.sentence.text, sentence.text)
    return Cell() if writer.declined else Cell(sentence.text, sentence.text)


def table_json(table: EvidenceTable) -> Json:
    """The table as JSON; an empty cell has no quote."""
    return {
        "question": table.question,
        "columns": list(table.columns),
        "rows": [
            {
                "paper_id": row.paper.id,
                "key": row.key,
                "title": row.paper.title,
                "year": row.paper.year,
                "cells": [{**asdict(each), "text": each.shown} for each in row.cells],
            }
            for row in table.rows
        ],
    }
