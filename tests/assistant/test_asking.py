"""Samples asked as their type is asked, over a small library whose model the test words."""

from collections.abc import Sequence

import pytest
from fakes import PAPERS, Asking

from assistant.evaluation.asking import Runner
from assistant.evaluation.types import Expected, Question, Row, Sample, SampleType
from assistant.pipeline.assistant import Assistant
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import Answer, Outcome, Turn
from retrieval.types import Cancelled

QUOTING = AnswerSettings(least_confidence=-9.0, writing=WritingSettings(mode=WritingMode.QUOTE))


def sample(type_: SampleType, *questions: str, papers: Sequence[str] = ()) -> Sample:
    expected = Expected(dict.fromkeys(papers, 1.0))
    return Sample("S1", type_, tuple(Question(text, expected) for text in questions))


def asked(asking: Asking, of: Sample, repeats: int = 0) -> Row:
    assistant, _ = asking(settings=QUOTING)
    return Runner(assistant, repeats).row(of)


def test_a_question_is_answered_and_scored(asking: Asking) -> None:
    expected = Expected({"zebra": 1.0}, Outcome.ANSWERED, facts=(("40%", "40 percent"),))
    question = Question("How many weights does ZebraPrune remove?", expected)
    row = asked(asking, Sample("S1", SampleType.SINGLE, (question,)))
    (reply,) = row.replies
    assert reply.answer is not None
    assert (reply.answer["id"], reply.answer["turn"]) == ("S1", 0)
    assert reply.ranking[0] == "zebra"
    assert reply.scores["facts"].value == 1.0
    assert reply.scores["mrr@10"].value == 1.0
    assert reply.seconds == reply.answer["timings"]["total"]
    assert row.titles["zebra"] == "Zebra Pruning for Vision Models"


def test_a_conversation_is_held(asking: Asking) -> None:
    turns = ("What does ZebraPrune do?", "Does it need retraining?")
    row = asked(asking, sample(SampleType.CHAT, *turns, papers=["zebra"]))
    first, second = row.replies
    assert first.answer
    assert second.answer
    assert "Zebra Pruning" in second.answer["standalone_question"]
    assert second.scores["follow-up"].value == 1.0
    assert "follow-up" not in first.scores


def test_a_lookup_is_looked_up(asking: Asking) -> None:
    (reply,) = asked(asking, sample(SampleType.LOOKUP, "Cai Dru", papers=["tidal"])).replies
    assert reply.answer is None
    assert reply.ranking == ("tidal",)
    assert reply.scores["r-precision"].value == 1.0
    assert "facts" not in reply.scores


def test_a_query_is_searched_for(asking: Asking) -> None:
    of = sample(SampleType.RETRIEVAL, "lichen photographs", papers=["lichen"])
    (reply,) = asked(asking, of).replies
    assert reply.answer is None
    assert reply.ranking[0] == "lichen"
    assert set(reply.ranking) == {paper.id for paper in PAPERS}
    assert reply.scores["ndcg@10"].value == 1.0


def test_papers_that_are_expected_and_not_found_have_titles_too(asking: Asking) -> None:
    row = asked(asking, sample(SampleType.LOOKUP, "Cai Dru", papers=["zebra", "whisper"]))
    assert row.titles["zebra"] == "Zebra Pruning for Vision Models"
    assert row.titles["whisper"].startswith("Speech recognisers fail")


def test_asked_again_the_same_bytes(asking: Asking) -> None:
    of = sample(SampleType.CHAT, "What does ZebraPrune do?", "Is it slow?", papers=["zebra"])
    row = asked(asking, of, repeats=2)
    assert [reply.scores["same again"].value for reply in row.replies] == [1.0, 1.0]


class Wavering(Assistant):
    """Says something else every other time."""

    times = 0

    def answer(self, question: str, history: Sequence[Turn] = (), *_more: object) -> Answer:
        self.times += 1
        return super().answer(question if self.times % 2 else f"{question} 14 countries?", history)


def test_asked_again_something_else(asking: Asking) -> None:
    assistant, _ = asking(settings=QUOTING)
    wavering = Wavering(
        assistant.library, assistant.model, assistant.reader, assistant.verifier, QUOTING
    )
    of = sample(SampleType.SINGLE, "What is in LichenSet?", papers=["lichen"])
    (reply,) = Runner(wavering, repeats=1).row(of).replies
    assert reply.scores["same again"].value == 0.0


class Breaking(Assistant):
    """Fails at questions that say so."""

    def answer(self, question: str, history: Sequence[Turn] = (), *_more: object) -> Answer:
        if "stop" in question:
            raise Cancelled
        if "break" in question:
            raise ZeroDivisionError("no\nluck")
        return super().answer(question, history)


def test_a_sample_that_fails_is_kept_with_its_reason(asking: Asking) -> None:
    assistant, _ = asking(settings=QUOTING)
    breaks = Breaking(
        assistant.library, assistant.model, assistant.reader, assistant.verifier, QUOTING
    )
    breaking = Runner(breaks)
    of = sample(SampleType.CHAT, "What does ZebraPrune do?", "Does it break?", papers=["zebra"])
    row = breaking.row(of)
    assert row.failed == "ZeroDivisionError: no luck"
    assert [reply.question for reply in row.replies] == [each.text for each in of.questions]
    assert not any(reply.scores or reply.answer for reply in row.replies)
    with pytest.raises(Cancelled):
        breaking.row(sample(SampleType.SINGLE, "Does it stop?"))
