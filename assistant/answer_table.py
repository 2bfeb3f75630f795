"""An answer about several papers as a table: a paper a row, what it says, the evidence."""

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from assistant.markdown import markdown_text
from assistant.types import Answer, Kind, by_paper

COLUMNS = ("Paper", "Claim", "Evidence")
_FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""A spreadsheet takes a cell that begins so for a formula."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one paper says."""

    paper: str
    """Its title."""
    claim: str
    """What was written of it; empty where only its evidence is shown."""
    evidence: str
    """The sentences quoted."""


def rows_of(answer: Answer) -> list[Row]:
    """A row for each paper that the answer cites, in their order.

    What is written of several papers together is in no row. No rows where fewer than two papers
    have something written of them: that is no table.
    """
    rows = []
    for group in by_paper(answer.citations):
        numbers = {citation.number for citation in group}
        said = (
            each.text
            for each in answer.sentences
            if each.kind is Kind.VERIFIED and numbers.issuperset(each.citations)
        )
        quotes = " ".join(f"“{citation.quote}”" for citation in group)
        rows.append(Row(group[0].paper.shown_title, " ".join(said), quotes))
    return rows if sum(bool(row.claim) for row in rows) > 1 else []


def as_markdown(rows: Sequence[Row]) -> str:
    """The table in Markdown; text of papers stays text."""
    lines = [[markdown_text(cell) for cell in line] for line in (COLUMNS, *map(astuple, rows))]
    lines.insert(1, ["---"] * len(COLUMNS))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """The table as CSV; no cell is a formula to a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_csv_cell(cell) for cell in astuple(row)] for row in rows)
    return file.getvalue()


def _csv_cell(cell: str) -> str:
    text = " ".join(cell.split())
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text
