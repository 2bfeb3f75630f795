"""Rows on disk: whole after any crash, refused where they are something else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.evaluation.records.record import appending, read_rows
from assistant.evaluation.types import Expected, Reply, Row, SampleType, Score
from assistant.types import Outcome
from retrieval.types import InputError

EXPECTED = Expected({"p": 1.0}, Outcome.ANSWERED, (("a", "b"), ("c",)), ("Evidence.",), "An a.")
REPLY = Reply(
    "What?",
    EXPECTED,
    ("p", "q"),
    {"answer": "A c.", "timings": {"total": 0.1}},
    {"facts": Score(1.0, "all"), "citation recall": Score(None, "nothing was answered")},
    0.1,
)


def row(id_: str, failed: str = "") -> Row:
    return Row(id_, SampleType.SINGLE, (REPLY,), {"p": "A “title”\n"}, failed)


def write(path: Path, *rows: Row) -> None:
    with appending(path) as append:
        for each in rows:
            append(each)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write(path, row("1"))
    write(path, row("2", "It broke."))
    assert read_rows(path) == [row("1"), row("2", "It broke.")]


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "none") == []


def test_a_row_torn_anywhere_is_not_read_and_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write(path, row("1"), row("2"))
    whole = path.read_bytes()
    first = len(whole) // 2
    for length in (first + 1, first + 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert read_rows(path) == [row("1")]
        write(path, row("3"))
        assert read_rows(path) == [row("1"), row("3")]


@settings(max_examples=25)  # each syncs the disk
@given(st.text(), st.text())
def test_any_text_is_one_line(tmp_path_factory: pytest.TempPathFactory, id_: str, why: str) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows"
    write(path, row(id_, why), row("next"))
    assert read_rows(path) == [row(id_, why), row("next")]


@pytest.mark.parametrize("line", ["{}", "7", "not JSON", '{"id": "1", "type": "poem"}'])
def test_what_is_no_row_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows"
    write(path, row("1"))
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(InputError, match="line 2 is no row of an evaluation run"):
        read_rows(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"), appending(tmp_path):
        pass
