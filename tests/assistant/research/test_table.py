"""Evidence tables with the real models over a small library, and their files."""

import csv
import io

import pytest
from fakes import PAPERS, WHISPER, paper

from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.trained import READER, encoder_fingerprint, read_tensors
from assistant.pipeline.assistant import Assistant
from assistant.research.columns import HEADS, questions_of
from assistant.research.table import (
    LONGEST_COLUMN,
    MOST_COLUMNS,
    Cell,
    EvidenceTable,
    Row,
    cell,
    checked_columns,
    fill,
    table_json,
)
from assistant.research.table_files import export
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import Cancelled, InputError


@pytest.fixture
def assistant(
    library: Library, writing_model: LlamaCppChatModel, reader: Reader, verifier: Verifier
) -> Assistant:
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.BRIEF))
    return Assistant(library, writing_model, reader, verifier, settings)


def test_a_filled_cell_quotes_its_abstract_and_an_empty_one_says_so(assistant: Assistant) -> None:
    zebra, _, lichen, _ = PAPERS
    filled = cell(assistant, lichen, "accuracy")
    assert filled.quote == "A linear classifier reaches 61.5% accuracy."
    assert filled.text == filled.quote
    empty = cell(assistant, zebra, "code")
    assert (empty.text, empty.quote, empty.shown) == ("", "", "not found in the abstract")


def test_a_table_grows_cell_by_cell_and_can_be_stopped(assistant: Assistant) -> None:
    first = [PAPERS[3]]
    question = "How well is speech recognised?"
    grown = list(fill(assistant, question, ["gain", "code"], 1, first=first))
    assert [table.filled for table in grown] == [0, 1, 2]
    (row,) = table_json(grown[-1])["rows"]
    assert row["paper_id"] == "whisper"
    assert all(each["quote"] in WHISPER for each in row["cells"])
    filling = fill(assistant, question, ["gain"], stopped=lambda: True)
    with pytest.raises(Cancelled):
        list(filling)


def test_what_nothing_answers_has_no_table(assistant: Assistant) -> None:
    with pytest.raises(InputError, match="No abstract in this library answers that"):
        next(fill(assistant, "Who won the football match in Vienna yesterday?", ["gain"]))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([" ", ""], "no columns"),
        (
            [f"column {at}" for at in range(30)],
            f"30 columns are named, a table has at most {MOST_COLUMNS}",
        ),
        (["x" * 300], f"300 characters, at most {LONGEST_COLUMN}"),
    ],
)
def test_unusable_columns_are_refused_in_one_sentence(columns: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked_columns(columns)


def test_the_head_belongs_to_the_reader() -> None:
    assert read_tensors(HEADS)[1]["base"] == encoder_fingerprint(READER)


def test_columns_are_taken_once_and_may_be_questions() -> None:
    assert checked_columns([" data  set", "Data set", "Is it fast?"]) == ("Data set", "Is it fast?")
    assert questions_of("Is it fast?") == ["Is it fast?"]
    assert questions_of("Data sets") == questions_of("dataset") != questions_of("colour")


HOSTILE = EvidenceTable(
    "q",
    ("a & b",),
    (
        Row(
            paper(title=r"50% of \input{x} | $x^2$", abstract="=cmd"),
            "smith2023half",
            (Cell("=HYPERLINK(1) <b> | 3_4", "=HYPERLINK(1) <b> | 3_4"),),
        ),
    ),
)


def test_files_keep_text_as_text() -> None:
    header, row = csv.reader(io.StringIO(export(HOSTILE, "csv")))
    assert header == ["Paper", "Where", "Citation key", "a & b", "a & b: quote"]
    assert row[2:4] == ["smith2023half", "'=HYPERLINK(1) <b> | 3_4"]
    markdown = export(HOSTILE, "markdown").splitlines()
    assert len(markdown) == 3
    assert r"\<b\> \| 3\_4" in markdown[2]
    latex = export(HOSTILE, "latex")
    assert r"a \& b" in latex
    assert r"50\% of {\textbackslash}input" in latex
    assert "$x^2$" in latex
    assert latex.count("&") - latex.count(r"\&") == 2 * 2  # between three cells of two lines
