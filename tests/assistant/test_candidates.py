"""Papers of the conversation among what the search finds."""

import pytest
from fakes import PAPERS, Asking, answered, passage
from test_engine import check_promises

from assistant.candidates import STAYING, candidates, favoured, lead_of_others
from assistant.conversation import Resolved, resolve
from assistant.types import Outcome, Turn
from retrieval.filters import Filters
from retrieval.library import Library

ZEBRA_PAPER, TIDAL_PAPER, LICHEN_PAPER, _ = PAPERS
ABOUT_TIDES = "How do graph networks forecast tidal currents?"


def test_papers_cited_before_are_ranked_whether_found_or_not(library: Library) -> None:
    alone = candidates(library, Resolved("?", ABOUT_TIDES), 1)
    assert [each.paper.id for each in alone] == ["tidal"]
    resolved = Resolved("?", ABOUT_TIDES, mentioned=(ZEBRA_PAPER, LICHEN_PAPER))
    found = candidates(library, resolved, 1)
    assert found[0].paper.id == "tidal"
    assert {each.paper.id for each in found[1:]} == {"zebra", "lichen"}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_what_a_question_is_about_scores_higher_and_what_it_is_besides_last() -> None:
    passages = [passage(ZEBRA_PAPER, 0.9), passage(TIDAL_PAPER, 0.8), passage(LICHEN_PAPER, 0.7)]
    about = favoured(passages, Resolved("?", "?", about=(TIDAL_PAPER,)))
    assert [each.paper.id for each in about] == ["tidal", "zebra", "lichen"]
    assert about[0].score == pytest.approx(0.8 + STAYING)
    besides = favoured(passages, Resolved("?", "?", besides=(ZEBRA_PAPER,)))
    assert [each.paper.id for each in besides] == ["tidal", "lichen", "zebra"]
    assert favoured(passages, Resolved("?", "?", mentioned=(LICHEN_PAPER,))) == passages


def test_filters_do_not_bind_what_the_question_goes_on_about(library: Library) -> None:
    only_tidal = Filters(authors=(("dru, cai",),))
    resolved = Resolved("?", ABOUT_TIDES, about=(ZEBRA_PAPER,), mentioned=(ZEBRA_PAPER,))
    found = candidates(library, resolved, 4, only_tidal)
    assert "zebra" in {each.paper.id for each in found}
    bound = candidates(library, Resolved("?", "?", mentioned=(ZEBRA_PAPER,)), 4, only_tidal)
    assert "zebra" not in {each.paper.id for each in bound}


def test_the_lead_of_the_nearest_other_paper(library: Library) -> None:
    assert lead_of_others(library, ABOUT_TIDES, ZEBRA_PAPER) > 0.4
    assert lead_of_others(library, ABOUT_TIDES, TIDAL_PAPER) < -0.4


def test_a_paper_whose_method_is_named_leads(library: Library) -> None:
    assert lead_of_others(library, "And LichenSet?", ZEBRA_PAPER) == 1.0
    assert lead_of_others(library, "And ZebraPrune?", ZEBRA_PAPER) < 0.0
    assert lead_of_others(library, "And lichenset?", ZEBRA_PAPER) < 1.0


def test_a_conversation_goes_back_and_forth(asking: Asking) -> None:
    questions = {
        "How many of its weights does ZebraPrune remove from a vision model?": "zebra",
        "Does it need retraining?": "zebra",
        "How do graph networks forecast tidal currents near harbours?": "tidal",
        "On how many years of measurements?": "tidal",
        "Is there one about photographs of lichens?": "lichen",
        "How accurate is a classifier there?": "lichen",
        "Back to the first paper: does it lose accuracy?": "zebra",
    }
    assistant, _ = asking(*[""] * len(questions))
    history: list[Turn] = []
    for question, expected in questions.items():
        answer = assistant.answer(question, history)
        check_promises(answer)
        assert answer.citations[0].paper.id == expected, question
        history.append(Turn(question, answer))


def test_another_paper_than_the_one_cited(asking: Asking) -> None:
    assistant, _ = asking("")
    history = [Turn("What is pruned?", answered(ZEBRA_PAPER, "It does not need retraining."))]
    answer = assistant.answer("Is there another one that trains a network?", history)
    assert answer.passages[0].paper.id != "zebra"
    resolved = resolve("Is there another one that trains a network?", history)
    assert resolved.besides == (ZEBRA_PAPER,)


@pytest.mark.parametrize("question", ["How many GPUs did they use?", "What is its licence fee?"])
def test_what_the_abstract_of_the_paper_does_not_say(asking: Asking, question: str) -> None:
    assistant, model = asking()
    history = [Turn("What is pruned?", answered(ZEBRA_PAPER, "It does not need retraining."))]
    answer = assistant.answer(question, history)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert answer.passages[0].paper.id == "zebra"
    followed = assistant.answer("Who wrote it?", [*history, Turn(question, answer)])
    assert followed.sentences[0].text.endswith("is by Ada Miro and Ben Okafor.")
