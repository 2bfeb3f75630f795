"""What was rated down in the browser becomes questions of an evaluation, by one command."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.evaluation.questions.lines import read_questions
from assistant.evaluation.questions.question_set import read_question_set
from assistant.evaluation.types import Expected, Question, SampleType
from assistant.server.history import Conversations, Rating, Reason
from assistant.storage.database import Database
from assistant.types import Answer, Citation, Outcome, Timings, Tokens
from retrieval.types import Paper, Source

PAPER = Paper("p1", "On Turnips", (), "", None, "", "Turnips grow.", (Source("a.txt", 3),))
ANSWER = Answer(
    question="",
    standalone_question="",
    outcome=Outcome.ANSWERED,
    text="Turnips grow. [1] [2]",
    sentences=(),
    citations=(Citation(1, PAPER, "Turnips grow."), Citation(2, PAPER, "Turnips grow.")),
    passages=(),
    model="a model",
    timings=Timings(0.1, 0.0, 0.2, 0.3),
    tokens=Tokens(12, 3),
)
UNKNOWN = Expected(None)
ANSWERED = Expected(None, Outcome.ANSWERED)


@pytest.fixture
def kept(database: Database) -> Conversations:
    return Conversations(database)


Mine = Callable[[], Path]


@pytest.fixture
def mine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Mine:
    """Writes what the command prints to a file, as a shell does."""

    def written() -> Path:
        file = tmp_path / "mine.jsonl"
        file.write_text(printed(tmp_path, capsys)[0], "utf-8")
        return file

    return written


def rated(
    kept: Conversations,
    reason: Reason,
    *questions: str,
    outcome: Outcome = Outcome.ANSWERED,
    comment: str = "",
) -> str:
    """A conversation whose last answer is rated; returns the case's id."""
    id_ = kept.begin("ann", questions[0])
    for question in questions:
        exchange = kept.ask("ann", id_, question)
        kept.keep(replace(exchange, answer=replace(ANSWER, outcome=outcome)))
    kept.rate("ann", id_, exchange.id, Rating(reason, comment))
    return exchange.id


def printed(home: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    assert main(["cases", "--questions", "--home", str(home)]) == 0
    streams = capsys.readouterr()
    return streams.out, streams.err


@pytest.mark.parametrize(
    ("reason", "given", "expected"),
    [
        (Reason.WRONG_CITATION, Outcome.ANSWERED, ANSWERED),
        (Reason.WRONG_STATEMENT, Outcome.ANSWERED, ANSWERED),
        (Reason.BESIDE_THE_QUESTION, Outcome.ANSWERED, ANSWERED),
        (Reason.INCOMPLETE, Outcome.ANSWERED, ANSWERED),
        (Reason.WRONGLY_REFUSED, Outcome.NOT_IN_LIBRARY, ANSWERED),
        (Reason.WRONGLY_REFUSED, Outcome.ABSTRACT_SILENT, ANSWERED),
        (Reason.BESIDE_THE_QUESTION, Outcome.NOT_IN_LIBRARY, UNKNOWN),
        (Reason.OTHER, Outcome.ANSWERED, UNKNOWN),
        (Reason.OTHER, Outcome.ABSTRACT_SILENT, UNKNOWN),
        (Reason.SHOULD_HAVE_REFUSED, Outcome.ANSWERED, Expected({})),
    ],
)
def test_what_a_rating_says_of_a_right_answer(
    kept: Conversations, mine: Mine, reason: Reason, given: Outcome, expected: Expected
) -> None:
    single = rated(kept, reason, "Do they grow?", outcome=given)
    chat = rated(kept, reason, "Do they grow?", "Why?", outcome=given)
    first, second = read_question_set(mine(), [PAPER]).samples
    assert (first.id, second.id) == (single, chat)
    assert first.questions == (Question("Do they grow?", expected),)
    refused = expected.papers is not None
    assert first.type is (SampleType.UNANSWERABLE if refused else SampleType.SINGLE)
    assert second.type is SampleType.CHAT
    assert second.questions == (Question("Do they grow?", UNKNOWN), Question("Why?", expected))


def test_what_was_said_and_answered_goes_along(
    kept: Conversations, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated(kept, Reason.INCOMPLETE, "Do they\u2028grow “fast”?", comment="only half\nof it")
    out, err = printed(tmp_path, capsys)
    line: dict[str, Any] = json.loads(out)
    assert (line["reason"], line["comment"]) == ("incomplete", "only half\nof it")
    assert line["given"] == {
        "outcome": "answered",
        "answer": ANSWER.text,
        "cited": [{"id": "p1", "title": "On Turnips"}],
    }
    assert (line["facts"], line["evidence"], line["answer"]) == ([], [], "")
    assert err.startswith("note: 1 of 1 questions have “papers”: null and no facts; until you fill")


def test_a_case_with_papers_and_facts_filled_in(kept: Conversations, mine: Mine) -> None:
    rated(kept, Reason.WRONG_CITATION, "Do they grow?")
    file = mine()
    line = json.loads(file.read_text("utf-8"))
    cited = [each["id"] for each in line["given"]["cited"]]
    file.write_text(json.dumps(line | {"papers": cited, "facts": [["grow"]]}), "utf-8")
    (sample,) = read_question_set(file, [PAPER]).samples
    assert sample.questions[0].expected == Expected({"p1": 1.0}, Outcome.ANSWERED, (("grow",),))


def test_good_answers_are_left_out_and_the_file_can_be_asked_again(
    kept: Conversations, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated(kept, Reason.GOOD, "Are they good?")
    assert printed(tmp_path, capsys) == (
        "",
        "No answer was rated down yet; the thumbs below an answer do it.\n",
    )
    rated(kept, Reason.SHOULD_HAVE_REFUSED, "Do they grow?", "What do they cost?")
    out, err = printed(tmp_path, capsys)
    assert err == ""
    file = tmp_path / "mine.jsonl"
    file.write_text(out, "utf-8")
    assert [each.questions for each in read_questions(file)] == [
        ("Do they grow?", "What do they cost?")
    ]


def test_a_library_without_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(tmp_path, capsys)
    assert out == ""
    assert err.startswith("No answer was rated down yet")
    assert list(tmp_path.iterdir()) == []
