import pytest
from fakes import PAPERS, ZEBRA, answered

from assistant.conversation import cited_papers, standalone_question
from assistant.types import Turn

ASKED = "What does ZebraPrune remove?"
QUOTE = "ZebraPrune loses 0.3 points of accuracy on ImageNet."
HISTORY = [Turn(ASKED, answered(PAPERS[0], QUOTE, ASKED))]
ABOUT = "About “Zebra Pruning for Vision Models”: "


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does it need retraining?", f"{ABOUT}Does it need retraining?"),
        ("Who are the authors?", f"{ABOUT}Who are the authors?"),
        ("On which datasets was their method tried?", None),
        ("And on phones?", f"{ABOUT}And on phones?"),
        ("Why?", f"{ABOUT}Why?"),
        ("What about speed on mobile devices?", f"{ABOUT}What about speed on mobile devices?"),
        ("Are there other papers like it?", f"{ASKED} Are there other papers like it?"),
        (
            "How do graph networks forecast tidal currents near harbours?",
            "How do graph networks forecast tidal currents near harbours?",
        ),
    ],
)
def test_a_follow_up_names_what_it_refers_to(question: str, expected: str | None) -> None:
    assert standalone_question(question, HISTORY) == (expected or f"{ABOUT}{question}")


@pytest.mark.parametrize(
    "question",
    [
        "How can large networks be pruned for phones without losing accuracy that they had?",
        "Why do tidal currents near harbours resist forecasting by harmonic analysis?",
        "Who first released photographs of lichens from fourteen countries?",
    ],
)
def test_a_question_that_names_what_it_means_stands_by_itself(question: str) -> None:
    assert standalone_question(question, HISTORY) == question


@pytest.mark.parametrize("question", ["Why?", "Does it work?", "Who wrote this paper?"])
def test_a_first_question_stands_as_it_is(question: str) -> None:
    assert standalone_question(question, []) == question


def test_the_last_turn_counts() -> None:
    earlier = Turn("Earlier?", answered(PAPERS[1], PAPERS[1].abstract[:50]))
    assert standalone_question("Why?", [earlier, *HISTORY]) == f"{ABOUT}Why?"


def test_after_an_answer_that_cites_nothing_the_last_question_is_repeated() -> None:
    empty = answered(PAPERS[0], ZEBRA, "What is the weather?")
    silent = type(empty)(
        **{
            **{name: getattr(empty, name) for name in empty.__slots__},
            "citations": (),
            "sentences": (),
        }
    )
    history = [Turn("What is the weather?", silent)]
    assert standalone_question("Why?", history) == "What is the weather? Why?"
    assert cited_papers(history) == []


def test_a_paper_without_title_is_named_by_its_beginning() -> None:
    history = [Turn("?", answered(PAPERS[3], PAPERS[3].abstract))]
    assert standalone_question("Why?", history).startswith("About “Speech recognisers fail on")


def test_cited_papers_in_the_order_of_the_answer() -> None:
    assert cited_papers([]) == []
    assert [paper.id for paper in cited_papers(HISTORY)] == ["zebra"]
