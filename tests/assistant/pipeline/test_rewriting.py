"""A model's wording of a follow-up is used only if it keeps what is asked."""

import pytest
from fakes import PAPERS, Asking, FakeChatModel, FakeReader, answered, message_read, passage
from promises import check_promises

from assistant.pipeline.follow_up import StandaloneQuestion, condense, keeps, reworded
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import Turn
from retrieval.types import never

TITLE = "Zebra Pruning for Vision Models"
BEFORE = "How many weights does ZebraPrune remove?"
QUESTION = "On which 2 phones was that shown?"
HISTORY = [Turn(BEFORE, answered(PAPERS[0], "It does not need retraining.", BEFORE))]
TITLED = f"About “{TITLE}”: {QUESTION}"
GOOD = "On which 2 phones was it shown that Zebra Pruning removes weights?"


def condensed(question: str = QUESTION, focus: str = "last") -> StandaloneQuestion:
    read = message_read(focus=focus)
    found = PAPERS[1] if focus == "alone" else PAPERS[0]
    return condense(question, HISTORY, read, lambda _query, also: [passage(found)])  # noqa: ARG005


def going_on(sure: float = 0.9) -> FakeReader:
    """Takes a message for one about the paper before, whose abstract answers."""
    return FakeReader({"zebra": "phones"}, focus="last", sure=sure)


@pytest.mark.parametrize(
    "rewrite", [GOOD, f"On which 2 phones was that shown of “{TITLE}”?", f"{GOOD} "]
)
def test_a_rewrite_that_keeps_the_words_is_used(rewrite: str) -> None:
    model = FakeChatModel(rewrite)
    standalone = reworded(model, condensed(), HISTORY, never)
    assert standalone.text == rewrite.strip()
    assert [paper.id for paper in standalone.focus_papers] == ["zebra"]
    prompt = model.history[0][0]["content"]
    for part in (BEFORE, TITLE, QUESTION):
        assert part in prompt


@pytest.mark.parametrize(
    "rewrite",
    [
        "",
        "On which 3 phones was Zebra Pruning shown?",
        "On which phones was Zebra Pruning shown?",
        "On which 2 tablets was Zebra Pruning shown?",
        "On which 2 phones was LionPrune's Zebra Pruning shown?",
        "On which 2 phones was that shown?",
        "It was shown on 2 phones, as Zebra Pruning says.",
        f"{GOOD} And why?",
        f"Sure! Here it is:\n{GOOD}",
        " ".join([GOOD[:-1]] * 4) + "?",
        "I cannot help with that.",
    ],
)
def test_a_rewrite_that_does_not_is_not(rewrite: str) -> None:
    standalone = reworded(FakeChatModel(rewrite), condensed(), HISTORY, never)
    assert standalone.text == TITLED


def test_what_a_pronoun_stands_for_may_take_its_place() -> None:
    rewrite = f"On which 2 phones was the pruning of “{TITLE}” shown?"
    assert reworded(FakeChatModel(rewrite), condensed(), HISTORY, never).text == rewrite


def test_a_question_that_stands_by_itself_is_not_asked_of_a_model() -> None:
    model = FakeChatModel()
    standalone = condensed("How do tidal currents near harbours change?", "alone")
    assert reworded(model, standalone, HISTORY, never) == standalone
    assert model.history == []


def test_a_prompt_that_does_not_fit_is_not_asked() -> None:
    model = FakeChatModel(context=120)
    assert reworded(model, condensed(), HISTORY, never).text == TITLED
    assert model.history == []


def test_thinking_and_what_cannot_be_seen_are_left_out() -> None:
    model = FakeChatModel(f"<think>They mean pruning?</think> {GOOD[:9]}\u202e{GOOD[9:]}")
    assert reworded(model, condensed(), HISTORY, never).text == GOOD


def test_the_answer_is_to_the_rewritten_question(asking: Asking) -> None:
    assistant, model = asking(GOOD, "", reader=going_on())
    answer = assistant.answer(QUESTION, HISTORY)
    check_promises(answer)
    assert (answer.question, answer.standalone_question) == (QUESTION, GOOD)
    assert {citation.paper.id for citation in answer.citations} <= {"zebra"}
    assert 1 <= len(model.history) <= 2


def test_a_model_that_is_not_asked_for_answers_is_not_asked_for_this(asking: Asking) -> None:
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.QUOTE))
    assistant, model = asking(settings=settings, reader=going_on())
    assert assistant.answer(QUESTION, HISTORY).standalone_question == TITLED
    assert model.history == []


@pytest.mark.parametrize(("sure", "standalone"), [(0.95, TITLED), (0.8, GOOD)])
def test_the_trained_writer_is_asked_only_in_doubt(
    asking: Asking, sure: float, standalone: str
) -> None:
    settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.BRIEF))
    assistant, model = asking(GOOD, "", settings=settings, reader=going_on(sure))
    assert assistant.answer(QUESTION, HISTORY).standalone_question == standalone
    prompts = [messages[-1]["content"] for messages in model.history]
    assert any("Follow-up question:" in each for each in prompts) == (standalone == GOOD)


def test_a_number_of_the_title_is_none_of_the_question() -> None:
    title = "Zebra 2: Pruning"
    assert keeps("Was retraining shown for Zebra 2: Pruning?", "Was retraining shown?", title, "")
    assert not keeps("Was retraining 7 shown for Zebra?", "Was retraining shown?", title, "7")
