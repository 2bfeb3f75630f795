"""Papers of the conversation among what the search finds."""

import pytest
from fakes import PAPERS, Asking, FakeReader, answered, passage
from promises import check_promises

from assistant.pipeline.evidence import FOCUS_BONUS, candidates
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import Outcome, Turn
from retrieval.library.library import Library
from retrieval.types import Filters

ZEBRA, TIDAL, LICHEN, _ = PAPERS
ABOUT_TIDES = "How do graph networks forecast tidal currents?"
ONLY_TIDAL = Filters(authors=(("dru, cai",),))
FOUND = (passage(LICHEN, 0.7), passage(ZEBRA, 0.4), passage(TIDAL, 0.2))
"""As no search for tides would rank them."""
QUOTING = AnswerSettings(writing=WritingSettings(mode=WritingMode.QUOTE))
HISTORY = [Turn("What is pruned?", answered(ZEBRA, "It does not need retraining."))]


def asked(text: str = ABOUT_TIDES, **standalone) -> StandaloneQuestion:
    return StandaloneQuestion("?", text, **standalone)


def test_papers_cited_before_compete_whether_found_or_not(library: Library) -> None:
    alone = candidates(library, asked(), 1)
    assert [each.paper.id for each in alone] == ["tidal"]
    found = candidates(library, asked(history_papers=(ZEBRA, LICHEN)), 1)
    assert found[0] == alone[0]
    assert {each.paper.id for each in found[1:]} == {"zebra", "lichen"}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_papers_that_are_named_compete_too(library: Library) -> None:
    found = candidates(library, asked(), 1, also=["whisper"])
    assert [each.paper.id for each in found] == ["tidal", "whisper"]


def test_what_a_question_goes_on_about_scores_higher(library: Library) -> None:
    plain = {each.paper.id: each.score for each in candidates(library, asked(), 4)}
    found = candidates(library, asked(focus_papers=(ZEBRA,)), 4)
    scores = {each.paper.id: each.score for each in found}
    assert scores.pop("zebra") == pytest.approx(plain.pop("zebra") + FOCUS_BONUS)
    assert scores == plain
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_the_papers_to_which_another_is_sought_are_left_out(library: Library) -> None:
    found = candidates(library, asked(excluded=(TIDAL,), history_papers=(TIDAL, ZEBRA)), 4)
    assert {each.paper.id for each in found} == {"zebra", "lichen", "whisper"}


def test_filters_do_not_bind_what_the_question_goes_on_about(library: Library) -> None:
    standalone = asked(focus_papers=(ZEBRA,), history_papers=(ZEBRA,))
    found = candidates(library, standalone, 4, ONLY_TIDAL)
    assert "zebra" in {each.paper.id for each in found}
    bound = candidates(library, asked("?", history_papers=(ZEBRA,)), 4, ONLY_TIDAL)
    assert [each.paper.id for each in bound] == ["tidal"]


def test_what_was_found_before_is_not_sought_again(library: Library) -> None:
    standalone = asked(found=FOUND, history_papers=(ZEBRA,))
    assert candidates(library, standalone, 4, also=["whisper"]) == list(FOUND)
    assert candidates(library, standalone, 1) == [FOUND[0]]
    others = candidates(library, asked(found=FOUND, excluded=(LICHEN, TIDAL)), 4)
    assert others == [FOUND[1]]


def test_what_a_question_goes_on_about_has_its_score_where_it_was_found(library: Library) -> None:
    standalone = asked(found=FOUND, focus_papers=(LICHEN,))
    assert candidates(library, standalone, 4) == list(FOUND)
    assert candidates(library, standalone, 4, ONLY_TIDAL) == list(FOUND)


def test_filters_bind_what_was_found_before(library: Library) -> None:
    found = candidates(library, asked(found=FOUND, history_papers=(ZEBRA,)), 4, ONLY_TIDAL)
    assert [each.paper.id for each in found] == ["tidal"]
    none = candidates(library, asked(found=FOUND, excluded=(TIDAL,)), 4, ONLY_TIDAL)
    assert none == []


def test_a_conversation_goes_back_and_forth(asking: Asking) -> None:
    """The reader's part is played: what each message goes on about, and what answers it."""
    turns = [
        ("How many of its weights does ZebraPrune remove?", "alone", "zebra", "removes"),
        ("Does it need retraining?", "last", "zebra", "retraining"),
        (ABOUT_TIDES, "alone", "tidal", "network"),
        ("On how many years of measurements?", "last", "tidal", "12 years"),
        ("Does the pruning need retraining?", "earlier", "zebra", "retraining"),
        ("Which of both is newer?", "both", "tidal", "network"),
        ("What did the first paper measure?", "last", "tidal", "buoy"),
    ]
    history: list[Turn] = []
    for question, focus, expected, words in turns:
        reader = FakeReader({expected: words}, focus=focus)
        assistant, _ = asking(settings=QUOTING, reader=reader)
        answer = assistant.answer(question, history)
        check_promises(answer)
        assert expected in {each.paper.id for each in answer.citations}, question
        history.append(Turn(question, answer))


def test_another_paper_than_the_one_cited(asking: Asking) -> None:
    reader = FakeReader({"tidal": "network", "zebra": "removes"}, kind="several", focus="last")
    assistant, _ = asking(settings=QUOTING, reader=reader)
    answer = assistant.answer("Is there another one that trains a network?", HISTORY)
    check_promises(answer)
    assert "zebra" not in {each.paper.id for each in answer.passages}
    assert answer.citations[0].paper.id == "tidal"


def test_what_the_abstract_of_the_paper_does_not_say(asking: Asking) -> None:
    question = "How many GPUs did they use?"
    assistant, model = asking(reader=FakeReader(focus="last"), settings=QUOTING)
    answer = assistant.answer(question, HISTORY)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert answer.passages[0].paper.id == "zebra"
    assistant, _ = asking(reader=FakeReader(kind="record", focus="last"))
    followed = assistant.answer("Who wrote it?", [*HISTORY, Turn(question, answer)])
    assert [each.paper.id for each in followed.citations] == ["zebra"]
