"""Conversations are kept whole, for their owner alone, and ratings become cases."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.evaluation.questions.lines import read_questions
from assistant.server.history import Conversations, Rating, Reason
from assistant.storage.database import FILE, Database
from assistant.types import (
    Answer,
    AnswerSentence,
    Citation,
    Outcome,
    SentenceKind,
    Timings,
    Tokens,
)
from retrieval.types import Chunk, InputError, LibraryError, Paper, Passage, Source

PAPER = Paper(
    "p1",
    "On “Turnips” & $x_i$",
    ("Ann Ä. One", "李四"),
    "ICLR",
    2023,
    "oral",
    "Turnips grow. They are eaten in winter 🥕.",
    (Source("a.txt", 3),),
)
ANSWER = Answer(
    "Do they grow?",
    "Do turnips grow?",
    Outcome.ANSWERED,
    "Turnips grow. [1]",
    (AnswerSentence("Turnips grow.", SentenceKind.QUOTED, (1,)),),
    (Citation(1, PAPER, "Turnips grow."),),
    (Passage(PAPER, Chunk("p1#0", "p1", 0, 0, 13, "Turnips grow."), 1.0, 0.5),),
    "a model",
    Timings(0.1, 0.0, 0.2, 0.3),
    Tokens(12, 3),
    0.7,
)


@pytest.fixture
def kept(database: Database) -> Conversations:
    return Conversations(database)


def asked(kept: Conversations, id_: str, question: str, owner: str = "ann") -> str:
    exchange = kept.ask(owner, id_, question)
    kept.keep(replace(exchange, answer=ANSWER, notice=""))
    return exchange.id


def test_what_was_said_comes_back_as_it_was(kept: Conversations, database: Database) -> None:
    id_ = kept.begin("ann", "Do turnips\n grow?")
    asked(kept, id_, "Do turnips grow?")
    again = Conversations(database).read("ann", id_)
    assert again is not None
    assert again.name == "Do turnips grow?"
    assert [turn.answer for turn in again.turns] == [ANSWER]


def test_an_answer_that_never_ended_is_kept_as_a_question(kept: Conversations) -> None:
    id_ = kept.begin("ann", "Do turnips grow?")
    kept.ask("ann", id_, "Do turnips grow?")
    conversation = kept.read("ann", id_)
    assert conversation is not None
    assert conversation.turns == []
    assert conversation.exchanges[0].notice == "This answer was not finished."


def test_others_see_and_change_nothing(kept: Conversations) -> None:
    id_ = kept.begin("ann", "Do turnips grow?")
    exchange = asked(kept, id_, "Do turnips grow?")
    assert kept.listed("bob") == []
    assert kept.read("bob", id_) is None
    kept.delete("bob", id_)
    for change in (
        lambda: kept.ask("bob", id_, "And?"),
        lambda: kept.rename("bob", id_, "Mine"),
        lambda: kept.rate("bob", id_, exchange, Rating(Reason.GOOD)),
    ):
        with pytest.raises(InputError, match="was deleted"):
            change()
    conversation = kept.read("ann", id_)
    assert conversation is not None
    assert (conversation.name, len(conversation.exchanges)) == ("Do turnips grow?", 1)
    assert kept.cases() == []


def test_the_latest_conversation_is_listed_first(kept: Conversations) -> None:
    first = kept.begin("ann", "one")
    second = kept.begin("ann", "two")
    assert [each.id for each in kept.listed("ann")] == [second, first]
    kept.ask("ann", first, "more")
    assert [each.id for each in kept.listed("ann")] == [first, second]


def test_conversations_are_found_by_name_question_and_answer(kept: Conversations) -> None:
    roots = kept.begin("ann", "Which roots are sweet?")
    asked(kept, roots, "Does 100% of a_b\\c count?")
    other = kept.begin("ann", "Nothing of the kind")
    kept.ask("ann", other, "What is open?")
    asked(kept, kept.begin("bob", "Sweet roots"), "?", "bob")

    def found(words: str, limit: int = 9) -> list[str]:
        return [each.id for each in kept.listed("ann", words, limit)]

    assert found("SWEET roots") == found("turnips grow") == found("100% a_b\\c") == [roots]
    assert found("sweet kind") == found("10%0") == found("1_0") == found("abstract") == []
    assert found("") == [other, roots]
    assert found("", 1) == [other]


def test_asking_again_from_a_place_forgets_what_came_after(kept: Conversations) -> None:
    id_ = kept.begin("ann", "one")
    for question in ("one", "two", "three"):
        asked(kept, id_, question)
    kept.ask("ann", id_, "two, again", position=1)
    conversation = kept.read("ann", id_)
    assert conversation is not None
    assert [each.question for each in conversation.exchanges] == ["one", "two, again"]


def test_a_rating_is_a_case_with_the_questions_before_it(kept: Conversations) -> None:
    id_ = kept.begin("ann", "one")
    asked(kept, id_, "one")
    second = asked(kept, id_, "two")
    asked(kept, id_, "three")
    kept.rate("ann", id_, second, Rating(Reason.WRONG_CITATION, "it is another paper"))
    [case] = kept.cases()
    assert case.questions == ("one", "two")
    assert case.answer == ANSWER
    assert case.rating == Rating(Reason.WRONG_CITATION, "it is another paper")
    kept.rate("ann", id_, second, Rating(Reason.GOOD))
    assert [each.rating.reason for each in kept.cases()] == [Reason.GOOD]
    kept.delete("ann", id_)
    assert len(kept.cases()) == 1


def test_cases_are_printed_as_questions_to_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cases", "--home", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
    kept = Conversations(Database(f"sqlite:///{tmp_path / FILE}"))
    id_ = kept.begin("ann", "one")
    asked(kept, id_, "one")
    kept.rate("ann", id_, asked(kept, id_, "two"), Rating(Reason.INCOMPLETE, "more"))
    assert main(["cases", "--home", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    file = tmp_path / "cases.jsonl"
    file.write_text(printed, "utf-8")
    [read] = read_questions(file)
    assert read.questions == ("one", "two")
    case = json.loads(printed)
    assert (case["reason"], case["comment"]) == ("incomplete", "more")
    assert case["answer"]["answer"] == ANSWER.text


def test_a_rating_is_taken_back(kept: Conversations) -> None:
    id_ = kept.begin("ann", "one")
    exchange = asked(kept, id_, "one")
    kept.rate("ann", id_, exchange, Rating(Reason.GOOD))
    kept.rate("ann", id_, exchange, None)
    assert kept.cases() == []
    conversation = kept.read("ann", id_)
    assert conversation is not None
    assert conversation.exchanges[0].rating is None


def test_only_an_answer_is_rated_and_comments_have_a_bound(kept: Conversations) -> None:
    id_ = kept.begin("ann", "one")
    stopped = kept.ask("ann", id_, "one").id
    with pytest.raises(InputError, match="not there any more"):
        kept.rate("ann", id_, stopped, Rating(Reason.GOOD))
    with pytest.raises(InputError, match="at most 2,000 characters"):
        kept.rate("ann", id_, stopped, Rating(Reason.OTHER, "x" * 2001))


@pytest.mark.parametrize("name", ["", " \n ", "x" * 81])
def test_a_name_must_say_something(kept: Conversations, name: str) -> None:
    id_ = kept.begin("ann", "one")
    with pytest.raises(InputError, match="1 to 80 characters"):
        kept.rename("ann", id_, name)


def test_what_was_deleted_is_gone_and_an_answer_that_comes_later_is_dropped(
    kept: Conversations, tmp_path: Path
) -> None:
    id_ = kept.begin("ann", "one")
    exchange = kept.ask("ann", id_, "one")
    kept.delete("ann", id_)
    kept.keep(replace(exchange, answer=ANSWER))
    assert kept.read("ann", id_) is None
    with sqlite3.connect(tmp_path / "conversations.sqlite") as database:
        assert database.execute("SELECT count(*) FROM exchanges").fetchone() == (0,)
    database.close()


def test_a_record_of_another_version_keeps_its_question(
    kept: Conversations, tmp_path: Path
) -> None:
    id_ = kept.begin("ann", "one")
    asked(kept, id_, "one")
    with sqlite3.connect(tmp_path / "conversations.sqlite") as database:
        database.execute("UPDATE exchanges SET record = '{\"answer\": 3}'")
    database.close()
    conversation = kept.read("ann", id_)
    assert conversation is not None
    assert conversation.exchanges[0].question == "one"
    assert "another version" in conversation.exchanges[0].notice


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(LibraryError, match=r"conversations\.sqlite cannot be read"):
        Conversations(Database(f"sqlite:///{path}")).listed("ann")
    assert path.read_bytes() == b"not a database" * 100
