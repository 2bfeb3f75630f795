import re
from pathlib import Path

import pytest

from assistant.evaluation.questions.lines import (
    Conversation,
    LabelledQuestion,
    read_judged,
    read_questions,
)
from retrieval.types import InputError

GOOD = '{"id": "a", "question": "What?"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, [Conversation("a", ("What?",))]),
        (f"\ufeff{GOOD}\r\n\r\n", [Conversation("a", ("What?",))]),
        ('{"id": 7, "query": " lichens "}', [Conversation("7", ("lichens",))]),
        ('{"id": "a", "question": "Q", "more": [1]}', [Conversation("a", ("Q",))]),
        (
            '{"id": "c", "turns": [{"question": "A?"}, {"question": "B?"}]}',
            [Conversation("c", ("A?", "B?"))],
        ),
        (
            '\n{"id": "b", "question": "1"}\n\n{"id": "a", "question": "2"}',
            [Conversation("b", ("1",)), Conversation("a", ("2",))],
        ),
        ('{"id": "a", "turns": [], "question": "Q"}', [Conversation("a", ("Q",))]),
        ('{"id": "a", "question": "one\\u2028line"}', [Conversation("a", ("one\u2028line",))]),
    ],
)
def test_what_a_line_may_be(file: Path, text: str, expected: list[Conversation]) -> None:
    file.write_text(text, "utf-8")
    assert read_questions(file) == expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken", "is not valid JSON"),
        ('{"id": "a", "question": "x"} trailing', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"id": ' + "9" * 5000 + ', "question": "x"}', "is not valid JSON"),
        ('"text"', "has no id"),
        ("[]", "has no id"),
        ("null", "has no id"),
        ('{"question": "x"}', "has no id"),
        ('{"id": null, "question": "x"}', "has no id"),
        ('{"id": ["a"], "question": "x"}', "has no id"),
        ('{"id": "a"}', "has no question"),
        ('{"id": "a", "question": 5}', "has no question"),
        ('{"id": "a", "question": null}', "has no question"),
        ('{"id": "a", "question": "  "}', ": The question is empty"),
        ('{"id": "a", "turns": ["x"]}', "has no question"),
        ('{"id": "a", "turns": [{"question": ""}]}', ": The question is empty"),
        ('{"id": "a", "turns": "x"}', "has no question"),
        ('{"id": "a", "question": "' + "x" * 2001 + '"}', ": The question has 2,001 characters"),
    ],
    ids=lambda text: text[:30],
)
def test_a_line_that_does_not_fit_is_named(file: Path, line: str, problem: str) -> None:
    file.write_text(f"{GOOD}\n\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        read_questions(file)
    assert str(caught.value).startswith(f"{file}, line 3")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n"])
def test_an_empty_file(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match="is empty; expected one JSON object a line"):
        read_questions(file)


def test_a_missing_file(file: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_questions(file)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_questions(tmp_path)


def test_a_file_that_is_not_utf8(file: Path) -> None:
    file.write_bytes(b"\x80\x81")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_questions(file)


def test_questions_with_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"id": "a", "question": "Why?", "papers": ["A Title"]}\n'
        '{"id": "b", "question": "What is sourdough?", "papers": []}\n'
        '{"id": "c", "turns": [{"question": "Who?", "papers": []}]}\n',
        "utf-8",
    )
    assert read_judged(path) == [
        LabelledQuestion("Why?", answerable=True),
        LabelledQuestion("What is sourdough?", answerable=False),
    ]


@pytest.mark.parametrize("papers", ["", ', "papers": "A Title"', ', "papers": null'])
def test_a_question_without_its_papers_is_named_by_its_line(tmp_path: Path, papers: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f'\n{{"id": "a", "question": "Why?"{papers}}}\n', "utf-8")
    with pytest.raises(InputError, match=r"questions\.jsonl, line 2 has no papers; expected"):
        read_judged(path)
