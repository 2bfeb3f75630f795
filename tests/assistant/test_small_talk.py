"""What is small talk, and what only begins like it."""

import pytest
from fakes import Asking
from test_engine import check_promises

from assistant.small_talk import ABILITY, GREETING, THANKS, reply_to
from assistant.types import Outcome, Turn


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("hi", GREETING),
        ("Hello there!", GREETING),
        ("hello, how are you?", GREETING),
        ("thanks!", THANKS),
        ("Great, thank you.", THANKS),
        ("ok", THANKS),
        ("ok thanks", THANKS),
        ("Thank you very much for your help", THANKS),
        ("That's very helpful!", THANKS),
        ("what can you do?", ABILITY),
        ("Hi, what can you do for me?", ABILITY),
        ("help", ABILITY),
        ("Who are you?", ABILITY),
    ],
)
def test_small_talk_has_a_reply(question: str, reply: str) -> None:
    assert reply_to(question) == reply


@pytest.mark.parametrize(
    "question",
    [
        "thanks, and who wrote it?",
        "ok, why?",
        "how does this work?",
        "what do you know about pruning?",
        "Who are the authors?",
        "good papers on pruning",
        "help me find papers on pruning",
        "What is HELLO?",
        "greatest common divisors",
        "hi" * 500,
        "?",
    ],
)
def test_what_asks_for_something_else_is_none(question: str) -> None:
    assert reply_to(question) == ""


def test_small_talk_keeps_the_conversation_on_its_paper(asking: Asking) -> None:
    assistant, model = asking()
    asked = "Who wrote ZebraPrune?"
    history = [Turn(asked, assistant.answer(asked))]
    thanks = assistant.answer("thanks!", history)
    check_promises(thanks)
    assert (thanks.text, thanks.outcome) == (THANKS, Outcome.NOT_IN_LIBRARY)
    assert thanks.standalone_question == "thanks!"
    assert (thanks.citations, thanks.passages) == ((), ())
    where = assistant.answer("Where was it published?", [*history, Turn("thanks!", thanks)])
    assert [citation.paper.id for citation in where.citations] == ["zebra"]
    assert model.history == []
