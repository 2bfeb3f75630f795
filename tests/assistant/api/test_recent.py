"""The conversation behind messages that are only text."""

from fakes import ZEBRA, answered, paper

from assistant.pipeline.follow_up import cited_papers
from assistant.server.api.recent import MOST_TURNS, RecentAnswers
from assistant.server.api.schemas import Message
from assistant.storage.database import Database

QUOTE = ZEBRA.split(". ")[0] + "."
ANSWER = answered(paper(), QUOTE, "How are zebras pruned?")


def said(*texts: str, first: str = "user") -> list[Message]:
    """Messages of the two in turn."""
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return [
        Message(role=roles[at % 2], content=text)  # type: ignore[arg-type]
        for at, text in enumerate(texts)
    ]


def test_an_answer_given_here_is_known_by_what_was_said(database: Database) -> None:
    recent = RecentAnswers(database)
    recent.remember(said("How are zebras pruned?"), ANSWER)
    history = recent.history(said("How are zebras pruned?", f"\n{ANSWER.text} ", "By whom?"))
    assert history[0].answer == ANSWER
    assert [each.id for each in cited_papers(history)] == ["zebra"]


def test_the_same_answer_to_another_question_is_not_taken_for_it(database: Database) -> None:
    recent = RecentAnswers(database)
    recent.remember(said("How are zebras pruned?"), ANSWER)
    history = recent.history(said("Something else?", ANSWER.text, "By whom?"))
    assert history[0].question == "Something else?"
    assert cited_papers(history) == []


def test_what_the_system_says_changes_nothing(database: Database) -> None:
    recent = RecentAnswers(database)
    system = Message(role="system", content="Be brief.")
    recent.remember([system, *said("How are zebras pruned?")], ANSWER)
    asked = said("How are zebras pruned?", ANSWER.text, "By whom?")
    assert recent.history(asked)[0].answer == ANSWER


def test_questions_without_answers_and_answers_without_questions(database: Database) -> None:
    user = [Message(role="user", content=text) for text in ("One?", "Two?", " ", "Three?")]
    assert [turn.question for turn in RecentAnswers(database).history(user)] == ["One?", "Two?"]
    greeted = said("Hello.", "One?", first="assistant")
    assert RecentAnswers(database).history(greeted) == []


def test_a_forgotten_answer_keeps_its_words(database: Database) -> None:
    (turn,) = RecentAnswers(database).history(said("One?", "It is so.", "Two?"))
    assert turn.answer.text == "It is so."
    assert turn.answer.citations == ()


def test_only_the_last_are_kept(database: Database) -> None:
    recent = RecentAnswers(database, most=2)
    for question in ("One?", "Two?", "Three?"):
        recent.remember(said(question), ANSWER)
    known = [
        recent.history(said(question, ANSWER.text, "Why?"))[0].answer == ANSWER
        for question in ("One?", "Two?", "Three?")
    ]
    assert known == [False, True, True]


def test_a_conversation_of_any_length_is_looked_at_from_its_end(database: Database) -> None:
    texts = [f"Text {number}?" for number in range(2 * MOST_TURNS + 21)]
    history = RecentAnswers(database).history(said(*texts))
    assert len(history) == MOST_TURNS
    assert history[-1].question == texts[-3]
