import csv
import io
import re
from dataclasses import replace

import pytest
from fakes import PAPERS, answered
from markdown_table import cells

from assistant.server.web.exports import COLUMNS, table_csv, table_markdown, table_rows
from assistant.types import AnswerSentence, Citation, SentenceKind

ZEBRA, TIDAL = PAPERS[:2]
QUOTES = (
    "ZebraPrune loses 0.3 points of accuracy on ImageNet.",
    "It does not need retraining.",
    "The network halves the error of harmonic analysis within 6 hours.",
)
ANSWER = replace(
    answered(ZEBRA, QUOTES[0]),
    sentences=(
        AnswerSentence("It loses 0.3 points.", SentenceKind.VERIFIED, (1,)),
        AnswerSentence("It halves the error.", SentenceKind.VERIFIED, (3,)),
        AnswerSentence("Both report errors.", SentenceKind.VERIFIED, (1, 3)),
        *(AnswerSentence(quote, SentenceKind.QUOTED, (at,)) for at, quote in enumerate(QUOTES, 1)),
    ),
    citations=(
        Citation(1, ZEBRA, QUOTES[0]),
        Citation(2, ZEBRA, QUOTES[1]),
        Citation(3, TIDAL, QUOTES[2]),
    ),
    confidence=0.9,
)


def test_a_row_a_paper_with_what_was_written_and_its_evidence() -> None:
    assert table_rows(ANSWER) == [
        (ZEBRA.title, "2021", "It loses 0.3 points.", f"“{QUOTES[0]}” “{QUOTES[1]}”"),
        (TIDAL.title, str(TIDAL.year), "It halves the error.", f"“{QUOTES[2]}”"),
    ]


def test_there_is_none_where_less_than_two_papers_have_something_written_of_them() -> None:
    written, *others = ANSWER.sentences
    quoted = [each for each in others if each.kind is SentenceKind.QUOTED]
    assert table_rows(replace(ANSWER, sentences=(written, *quoted))) == []
    assert table_rows(replace(ANSWER, sentences=tuple(quoted))) == []
    assert table_rows(replace(ANSWER, sentences=(), citations=())) == []


def test_csv_is_read_back_as_it_was() -> None:
    rows = table_rows(ANSWER)
    head, *lines = csv.reader(io.StringIO(table_csv(rows)))
    assert tuple(head) == COLUMNS
    assert lines == [list(row) for row in rows]


HOSTILE = (
    '=HYPERLINK("x")|<b>\n`code`',
    "![logo](https://example.org/x.png)",
    "[here](javascript:alert(1))",
    "\t@SUM(1)",
    " -2+3",
    "＝1",
)


def test_a_formula_does_not_end_a_cell() -> None:
    row = ("Title", "2023", "It models $p(y|x)$.", "“$|x| < 1$ | always”")
    last = table_markdown([row]).splitlines()[-1]
    assert len(cells(last)) == len(COLUMNS)
    assert r"It models $p(y\vert x)$." in last
    assert r"$\vert x\vert \lt 1$ \| always" in " ".join(last.split())


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_papers_is_neither_markup_nor_formula(text: str) -> None:
    row = (text, "", f"+{text}", f"“{text}”")
    _, line = csv.reader(io.StringIO(table_csv([row])))
    for cell in (line[0], line[2]):
        assert cell.lstrip()[0] not in "=+-@＝" or cell.startswith("'")
    head, line, last = table_markdown([row]).splitlines()
    assert head == "| Paper | Year | What it says | Quote |"
    assert line == "| --- | --- | --- | --- |"
    assert [" ".join(cell.split()) for cell in cells(last)] == [
        " ".join(cell.split()) for cell in row
    ]
    assert not re.search(r"(?<!\\)[\[\]<`]", last)


@pytest.mark.parametrize(
    "begins", ["=", "+", "-", "@", "\t=", "\n+", " -", "\u00a0@", "＝", "＋", "－", "＠"]
)
def test_a_claim_is_no_formula_to_a_spreadsheet(begins: str) -> None:
    claim = f"{begins}2 points are lost."
    first, *others = ANSWER.sentences
    rows = table_rows(replace(ANSWER, sentences=(replace(first, text=claim), *others)))
    _, line, other = csv.reader(io.StringIO(table_csv(rows)))
    assert line[2] == f"'{' '.join(claim.split())}"
    assert other[2] == "It halves the error."
