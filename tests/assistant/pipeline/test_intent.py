"""Fixed replies to messages that ask nothing of the papers, and places that messages name."""

from dataclasses import replace

import pytest
from fakes import PAPERS, Asking, FakeReader, answered, message_read, paper, passage
from hypothesis import given
from hypothesis import strategies as st
from promises import check_promises

from assistant.pipeline.intent import (
    ABILITY,
    GREETING,
    SURE_KIND,
    THANKS,
    about_papers,
    fixed_reply,
    is_fixed,
    papers_named_in,
    place_in,
)
from assistant.types import Answer, Outcome, Turn
from retrieval.search.reader import KINDS

REPLIES = {
    "greeting": GREETING,
    "thanks": THANKS,
    "ability": ABILITY,
    "count": "This library has 1,643 papers.",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_reply_to_a_message_of_which_the_reader_is_sure(kind: str) -> None:
    for sure in (SURE_KIND, 0.99):
        assert fixed_reply(message_read(kind, sure=sure), 1643) == REPLIES.get(kind, "")


@pytest.mark.parametrize("kind", KINDS)
def test_in_doubt_a_message_asks_something(kind: str) -> None:
    assert fixed_reply(message_read(kind, sure=SURE_KIND - 0.01), 1643) == ""


@pytest.mark.parametrize(
    ("papers", "reply"),
    [(0, "This library has 0 papers."), (1, "This library has 1 paper."), (2, "… 2 papers.")],
)
def test_how_many_papers_there_are(papers: int, reply: str) -> None:
    reply = reply.replace("…", "This library has")
    assert fixed_reply(message_read("count"), papers) == reply


def replied(text: str) -> Answer:
    return replace(
        answered(PAPERS[0], "It does not need retraining."),
        text=text,
        sentences=(),
        citations=(),
        passages=(),
    )


@pytest.mark.parametrize("text", REPLIES.values())
def test_a_fixed_reply_is_known_again(text: str) -> None:
    assert is_fixed(replied(text))
    assert not is_fixed(replace(replied(text), passages=(passage(PAPERS[0]),)))


def test_other_answers_are_about_papers() -> None:
    answer = answered(PAPERS[0], "It does not need retraining.")
    assert not is_fixed(answer)
    assert not is_fixed(replace(answer, text=THANKS))
    assert not is_fixed(replied("No abstract in this library answers that."))
    turns = [Turn("What?", answer), Turn("thanks", replied(THANKS))]
    assert about_papers(turns) == turns[:1]


def test_a_fixed_reply_keeps_the_conversation_on_its_paper(asking: Asking) -> None:
    history = [Turn("What?", answered(PAPERS[0], "It does not need retraining."))]
    assistant, model = asking(reader=FakeReader(kind="thanks", focus="last"))
    thanks = assistant.answer("thanks!", history)
    check_promises(thanks)
    assert (thanks.text, thanks.outcome) == (THANKS, Outcome.NOT_IN_LIBRARY)
    assert (thanks.citations, thanks.passages) == ((), ())
    assert thanks.confidence is None
    assistant, _ = asking(reader=FakeReader(kind="record", focus="last"))
    where = assistant.answer("Where was it published?", [*history, Turn("thanks!", thanks)])
    assert [citation.paper.id for citation in where.citations] == ["zebra"]
    assert model.history == []


def test_the_size_of_the_library_is_counted(asking: Asking) -> None:
    assistant, _ = asking(reader=FakeReader(kind="count"))
    answer = assistant.answer("How many papers do you have?")
    check_promises(answer)
    assert answer.text == "This library has 4 papers."


@pytest.mark.parametrize(
    ("message", "reply"),
    [("thanks!", THANKS), ("Hello!", GREETING), ("What can you do?", ABILITY)],
)
def test_as_the_real_reader_sees_it(asking: Asking, message: str, reply: str) -> None:
    assistant, _ = asking()
    assert assistant.answer(message).text == reply


@pytest.mark.parametrize(
    "message", ["How many weights does ZebraPrune remove?", "Does ZebraPrune need retraining?"]
)
def test_a_question_gets_no_courtesy(asking: Asking, message: str) -> None:
    assistant, _ = asking("")
    assert not is_fixed(assistant.answer(message))


@pytest.mark.parametrize(
    ("message", "words", "rank", "by_mark"),
    [
        ("What does the second one show?", "the second one", "1", False),
        ("Who wrote the 1st paper?", "the 1st paper", "0", False),
        ("and the third?", "the third", "2", False),
        ("The tenth study, why?", "The tenth study", "9", False),
        ("Is the latter better?", "the latter", "latter", False),
        ("How does that former paper work?", "that former paper", "former", False),
        ("the last one, who is it by", "the last one", "last", False),
        ("What did your previous paper find?", "your previous paper", "previous", False),
        ("And the other one?", "the other one", "other", False),
        ("what is the first one about?", "the first one", "0", False),
        ("Explain the first paper in detail", "the first paper", "0", False),
        ("Who wrote the first paper in the list?", "the first paper", "0", False),
        ("How large is [2]?", "[2]", "2", True),
        ("What does paper 3 say?", "paper 3", "3", True),
        ("see reference #12, why?", "reference #12", "12", True),
        ("the first one, or [3]?", "[3]", "3", True),
    ],
)
def test_a_place_by_words_or_by_the_number_of_a_citation(
    message: str, words: str, rank: str, by_mark: bool
) -> None:
    place = place_in(message)
    assert place is not None
    assert message[place.start : place.end] == words
    assert (place.rank, place.by_mark) == (rank, by_mark)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Does it need retraining?",
        "Who is its first author?",
        "Is it the first work to prune phones?",
        "Is it the second paper in this field?",
        "Is it better than the previous work?",
        "the second of these, why?",
        "a first paper",
        "In which year, 2021?",
        "[x] and [123]",
    ],
)
def test_no_place(message: str) -> None:
    assert place_in(message) is None


@given(st.text(alphabet="the first paper [1]second one latter#", max_size=60))
def test_a_place_is_part_of_the_message(message: str) -> None:
    place = place_in(message)
    assert place is None or 0 <= place.start < place.end <= len(message)


def test_common_words_do_not_make_a_name_nor_does_part_of_a_title() -> None:
    merging = paper("m", title="Merging", abstract="We introduce Token Merging (ToMe), a method.")
    basin = paper("b", title="Git Re-Basin: Merging Models", abstract="We merge.")
    mean = paper(
        "a", title="Means of Gradients", abstract="We use a moving average (MovingAverage)."
    )
    mega = paper("g", title="Mega: Moving Average and Attention", abstract="Mega attends.")
    papers = [merging, basin, mean, mega]
    assert papers_named_in("Explain merging models to me.", papers[1:2]) == []
    assert papers_named_in("explain it to me", [merging]) == []
    assert papers_named_in("What is ToMe?", papers) == [merging]
    assert papers_named_in("papers like git re-basin", papers) == [basin]
    assert papers_named_in("tl;dr of Mega: Moving Average and Attention", papers) == [mega]
