"""What a follow-up means: which papers it is about, besides which it seeks others, as it is."""

from dataclasses import replace

import pytest
from fakes import PAPERS, ZEBRA, answered, paper, passage

from assistant.conversation import Resolved, cited_papers, resolve
from assistant.types import Answer, Citation, Outcome, Turn
from retrieval.types import Paper

ASKED = "What does ZebraPrune remove?"
QUOTE = "ZebraPrune loses 0.3 points of accuracy on ImageNet."
HISTORY = [Turn(ASKED, answered(PAPERS[0], QUOTE, ASKED))]
ZEBRA_TITLE, TIDAL_TITLE, LICHEN_TITLE = (f"“{each.title}”" for each in PAPERS[:3])
ABOUT = f"About {ZEBRA_TITLE}: "


def citing(*papers: Paper, asked: str = "What is known?", standalone: str = "") -> Turn:
    """A turn whose answer cites the papers in this order."""
    citations = tuple(Citation(at, each, each.abstract[:9]) for at, each in enumerate(papers, 1))
    answer = replace(
        answered(PAPERS[0], QUOTE, asked),
        citations=citations,
        passages=tuple(map(passage, papers)),
        standalone_question=standalone or asked,
    )
    return Turn(asked, answer)


def abstaining(asked: str, outcome: Outcome, *offered: Paper, standalone: str = "") -> Turn:
    """A turn whose answer cites nothing but offers papers."""
    answer: Answer = replace(
        answered(PAPERS[0], QUOTE, asked),
        citations=(),
        sentences=(),
        outcome=outcome,
        passages=tuple(map(passage, offered)),
        standalone_question=standalone or asked,
    )
    return Turn(asked, answer)


def ids(papers: tuple[Paper, ...]) -> list[str]:
    return [each.id for each in papers]


@pytest.mark.parametrize(
    "question",
    [
        "Does it need retraining?",
        "Who are the authors?",
        "On which datasets was their method tried?",
        "And on phones?",
        "Why?",
        "What about CIFAR?",
        "What about speed on mobile devices?",
        "does this work on CIFAR-10",
        "What accuracy did they lose?",
        "Was the vision model retrained?",
        "On how many phones was that shown?",
        "Is the code public?",
        "What does an A100 cost for running it?",
        "How many GPUs did they use?",
        "How does this work?",
        "What did that paper find?",
        "tell me more",
        "Does accuracy suffer?",
        "what is the main idea?",
        "What are the limitations?",
        "what is the contribution?",
        "summarise it",
        "Give me a short summary",
        "which datasets?",
        "what are the results?",
        "Is it better than the previous work?",
        "What is ZebraPrune and does it need retraining?",
        "How many weights are removed and does it slow the model?",
        "Is it true that it needs no retraining?",
        "Is it hard to train?",
        "Do both need retraining?",
        "Does it reach the same accuracy?",
        "When weights are removed, does it lose accuracy?",
        "What does the paper say about phones?",
        "On which networks do they show that?",
    ],
)
def test_a_follow_up_names_the_paper_it_is_about(question: str) -> None:
    resolved = resolve(question, HISTORY)
    assert resolved.standalone == f"{ABOUT}{question}"
    assert resolved.question == question
    assert ids(resolved.about) == ["zebra"]
    assert ids(resolved.mentioned) == ["zebra"]


@pytest.mark.parametrize(
    "question",
    [
        "How can large networks be pruned for phones without losing accuracy that they had?",
        "Why do tidal currents near harbours resist forecasting by harmonic analysis?",
        "What does MTARD distil?",
        "what is mixup",
        "MTARD paper, who wrote it?",
        "What is MTARD and how does it work?",
        "Do you have papers that Cai Dru and Ada Miro wrote together?",
        "Which papers study grokking?",
        "Who are the authors of MTARD and what is its main idea?",
        "How are proteins designed?",
        "How does LichenSet label its photographs of lichens?",
        "List all papers by Cai Dru",
        "What is neural collapse and when does it appear?",
        "How does knowledge distillation work and what are its limits?",
        "Explain grokking; does it need weight decay?",
        "chain of thought: what is it?",
        "waht is nerual colapse and wen does it apear",
        "Which papers propose coresets and what are they good for?",
        "How do neurons specialise in their tasks?",
        "Which methods handle both molecules and proteins?",
        "Is it possible to train graph networks without labels?",
        "Is curriculum learning worth it?",
        "Is there a paper about neural collapse?",
        "Who wrote the paper on tidal currents?",
        "Who wrote the paper “Tides”?",
        "What are the limitations of contrastive learning?",
        "Which robots have sensors that can hear?",
        "什么是神经坍缩？",
        "нейронный коллапс",
        "它？",
    ],
)
def test_a_question_that_names_what_it_means_stands_by_itself(question: str) -> None:
    resolved = resolve(question, HISTORY)
    assert (resolved.standalone, resolved.about, resolved.besides) == (question, (), ())
    assert ids(resolved.mentioned) == ["zebra"]


def test_what_another_paper_is_nearer_to_stands_by_itself() -> None:
    question = "Who first released photographs of lichens from fourteen countries?"
    assert resolve(question, HISTORY, lambda *_: 0.4).standalone == question


def test_in_doubt_it_is_about_the_nearer_paper() -> None:
    question = "Was the annotation paid for?"
    assert resolve(question, HISTORY, lambda *_: 0.1).about
    assert resolve(question, HISTORY, lambda *_: 0.5) == Resolved(
        question, question, mentioned=(PAPERS[0],)
    )


def test_what_it_means_may_stand_before_it() -> None:
    question = "What is the lottery ticket and when does it appear?"
    assert resolve(question, HISTORY, lambda *_: 0.5).standalone == question
    assert ids(resolve(question, HISTORY, lambda *_: 0.1).about) == ["zebra"]
    quicker = "How much quicker is it than retraining?"
    assert ids(resolve(quicker, HISTORY, lambda *_: 0.5).about) == ["zebra"]


def test_all_papers_are_those_cited_unless_it_says_which() -> None:
    history = [citing(*PAPERS[:2])]
    assert ids(resolve("What do all papers have in common?", history).about) == ["zebra", "tidal"]
    assert not resolve("List all papers by Cai Dru", history).about


def test_without_a_doubt_nearness_is_not_asked() -> None:
    def never(_question: str, _paper: Paper) -> float:
        raise AssertionError

    assert resolve("Does it need retraining?", HISTORY, never).about
    assert not resolve("What does MTARD distil?", HISTORY, never).about


@pytest.mark.parametrize(
    ("question", "standalone"),
    [
        (
            "Are there other papers like it?",
            f"Besides {ZEBRA_TITLE}: Are there other papers like it?",
        ),
        ("Is there another one?", f"Besides {ZEBRA_TITLE}: Is there another one?"),
        ("one more like this please", f"Besides {ZEBRA_TITLE}: one more like this please"),
        ("What else is there on it?", f"Besides {ZEBRA_TITLE}: What else is there on it?"),
        ("anything similar?", f"Besides {ZEBRA_TITLE}: anything similar?"),
        (
            "and the first paper about diffusion?",
            f"Besides {ZEBRA_TITLE}: and the first paper about diffusion?",
        ),
        ("And one for speech?", f"Besides {ZEBRA_TITLE}: And one for speech?"),
        (
            "Do you have one that forecasts tidal currents near harbours?",
            "Do you have one that forecasts tidal currents near harbours?",
        ),
    ],
)
def test_another_paper_is_sought(question: str, standalone: str) -> None:
    resolved = resolve(question, HISTORY)
    assert resolved.standalone == standalone
    assert (resolved.about, ids(resolved.besides)) == ((), ["zebra"])


@pytest.mark.parametrize(
    "question",
    [
        "Does it beat other methods?",
        "does the method work with other vision models as well?",
        "Is there a limit to how much it removes?",
        "Which one of the weights does it keep?",
    ],
)
def test_other_things_of_the_same_paper(question: str) -> None:
    resolved = resolve(question, HISTORY)
    assert (ids(resolved.about), resolved.besides) == (["zebra"], ())


@pytest.mark.parametrize(
    ("question", "standalone", "about"),
    [
        ("What does the second one show?", f"What does {TIDAL_TITLE} show?", "tidal"),
        ("Who wrote the 1st paper?", f"Who wrote {ZEBRA_TITLE}?", "zebra"),
        ("what is the first one about", f"what is {ZEBRA_TITLE} about", "zebra"),
        ("and the third?", f"and {LICHEN_TITLE}?", "lichen"),
        ("the last one, who is it by", f"{LICHEN_TITLE}, who is it by", "lichen"),
        ("Is the latter better?", f"Is {LICHEN_TITLE} better?", "lichen"),
        ("How large is [2]?", f"How large is {TIDAL_TITLE}?", "tidal"),
        ("What does paper 3 say?", f"What does {LICHEN_TITLE} say?", "lichen"),
        ("summarise the second one", f"summarise {TIDAL_TITLE}", "tidal"),
        ("Explain the second paper in detail", f"Explain {TIDAL_TITLE} in detail", "tidal"),
        ("Who wrote the second paper in the list?", f"Who wrote {TIDAL_TITLE}?", "tidal"),
        ("the second of these, why?", "", ""),
        ("Is it the first work to prune phones?", "", "zebra"),
        ("Is it the second paper in this field?", "", "zebra"),
        ("Is it better than the previous work?", "", "zebra"),
        ("Who is its first author?", "", "zebra"),
        ("What does the fifth one show?", "", "zebra"),
    ],
)
def test_one_of_the_papers_of_the_last_answer(question: str, standalone: str, about: str) -> None:
    resolved = resolve(question, [citing(*PAPERS[:3])])
    if standalone:
        assert resolved.standalone == standalone
    if about:
        assert ids(resolved.about) == [about]


def test_a_place_is_left_out_of_what_is_asked() -> None:
    resolved = resolve("Who wrote the second paper?", [citing(*PAPERS[:3])])
    assert resolved.question == "Who wrote it?"


def test_places_of_the_whole_conversation() -> None:
    history = [citing(PAPERS[0]), citing(PAPERS[1]), citing(PAPERS[2])]
    cases = {
        "What does the first paper you mentioned remove?": "zebra",
        "Back to the first paper: does it need retraining?": "zebra",
        "And the second one, how many years?": "tidal",
        "How does the former work?": "tidal",
        "How does the latter work?": "lichen",
        "What did the previous paper find?": "tidal",
        "Is the last paper newer?": "lichen",
    }
    for question, about in cases.items():
        assert ids(resolve(question, history).about) == [about], question
    assert resolve("Going back to the first paper we discussed: why?", history).standalone == (
        f"{ZEBRA_TITLE}: why?"
    )


def test_the_other_of_two() -> None:
    history = [citing(PAPERS[0], PAPERS[1])]
    assert ids(resolve("And the other one?", history).about) == ["tidal"]


def test_several_papers_at_once() -> None:
    resolved = resolve("Do both use photographs?", [citing(*PAPERS[:2])])
    assert resolved.standalone == f"About {ZEBRA_TITLE} and {TIDAL_TITLE}: Do both use photographs?"
    assert ids(resolved.about) == ["zebra", "tidal"]


@pytest.mark.parametrize(
    "question",
    [
        "List all papers by Yoshua Bengio",
        "Show all papers from ICML 2021",
        "all of the papers about pruning",
        "Give me all the papers that use photographs",
        "Which networks learn both tides and currents?",
        "What is the difference between dropout and grokking and which of them is cheaper?",
    ],
)
def test_a_new_list_or_comparison_is_not_of_the_papers_cited(question: str) -> None:
    resolved = resolve(question, [citing(*PAPERS[:2])])
    assert (resolved.standalone, resolved.about) == (question, ())


@pytest.mark.parametrize(
    "question",
    [
        "Do all papers use photographs?",
        "Summarise all of them",
        "Who wrote all the papers?",
        "all papers?",
        "Which of them is newer?",
        "How large are both, and which of them is newer?",
        "all the papers in the list",
    ],
)
def test_all_papers_may_be_those_cited(question: str) -> None:
    assert ids(resolve(question, [citing(*PAPERS[:2])]).about) == ["zebra", "tidal"]


def test_what_names_itself_is_not_put_behind_the_question_before() -> None:
    history = [abstaining("What is the weather?", Outcome.NOT_IN_LIBRARY)]
    for question in ("What is grokking and does it last?", "What are tides and why are they high?"):
        assert resolve(question, history).standalone == question


def test_a_paper_on_a_topic_is_sought_beside_another_only_if_said_so() -> None:
    alone = "Is there a paper on speech?"
    assert resolve(alone, HISTORY) == Resolved(alone, alone, mentioned=(PAPERS[0],))
    for question in ("And a paper on speech?", "Is there a paper on this?", "another paper on it?"):
        assert ids(resolve(question, HISTORY).besides) == ["zebra"], question


def test_papers_offered_where_nothing_was_answered_have_places() -> None:
    history = [
        citing(PAPERS[0]),
        abstaining("What is cooked?", Outcome.NOT_IN_LIBRARY, PAPERS[2], PAPERS[1]),
    ]
    assert ids(resolve("What is the second one about?", history).about) == ["tidal"]


def test_an_answer_without_citations_leaves_the_paper_in_focus() -> None:
    asked = "How many GPUs did they use?"
    for outcome in (Outcome.ABSTRACT_SILENT, Outcome.NOT_IN_LIBRARY):
        silent = abstaining(asked, outcome, PAPERS[0], standalone=f"{ABOUT}{asked}")
        assert ids(resolve("Who wrote it?", [*HISTORY, silent]).about) == ["zebra"]
    unrelated = abstaining("What is cooked?", Outcome.NOT_IN_LIBRARY, PAPERS[0])
    assert cited_papers([*HISTORY, unrelated]) == []


def test_small_talk_is_no_part_of_a_conversation() -> None:
    thanks = abstaining("thanks!", Outcome.NOT_IN_LIBRARY)
    assert ids(resolve("Does it work?", [*HISTORY, thanks]).about) == ["zebra"]
    assert resolve("thanks!", HISTORY) == Resolved("thanks!", "thanks!", mentioned=(PAPERS[0],))
    question = "What are its limitations?"
    assert resolve(question, [thanks]).standalone == question
    second = resolve("Who wrote the second one?", [citing(*PAPERS[:3]), thanks])
    assert ids(second.about) == ["tidal"]


def test_a_silent_abstract_is_what_a_follow_up_is_about() -> None:
    silent = abstaining("How many GPUs did ZebraPrune use?", Outcome.ABSTRACT_SILENT, *PAPERS[:2])
    assert ids(resolve("And who wrote it?", [silent]).about) == ["zebra"]


@pytest.mark.parametrize("question", ["Why?", "Does it work?", "Who wrote this paper?", "[1]?"])
def test_a_first_question_stands_as_it_is(question: str) -> None:
    assert resolve(question, []) == Resolved(question, question)


def test_the_last_turn_counts() -> None:
    assert resolve("Why?", [citing(PAPERS[1]), *HISTORY]).standalone == f"{ABOUT}Why?"


def test_after_an_answer_that_cites_nothing_the_last_question_is_repeated() -> None:
    history = [abstaining("What is the weather?", Outcome.NOT_IN_LIBRARY)]
    resolved = resolve("Why?", history)
    assert resolved.standalone == "What is the weather? Why?"
    again = abstaining("Why?", Outcome.NOT_IN_LIBRARY, standalone=resolved.standalone)
    assert resolve("What about it?", [*history, again]).standalone == (
        "What is the weather? What about it?"
    )
    new = "How do graph networks forecast tidal currents?"
    assert resolve(new, history).standalone == new


def test_standalone_questions_do_not_nest() -> None:
    turn = citing(PAPERS[0], asked="Why?", standalone=f"{ABOUT}Why?")
    for question in ("And how?", "Is there another one?", "Who wrote the first paper?"):
        standalone = resolve(question, [*HISTORY, turn]).standalone
        assert standalone.count("“") == 1
        assert "Why?" not in standalone


def test_a_paper_without_title_is_named_by_its_beginning() -> None:
    standalone = resolve("Why?", [citing(PAPERS[3])]).standalone
    assert standalone.startswith("About “Speech recognisers fail on")


def test_a_very_long_title_is_cut() -> None:
    long = paper("long", "Zebra " * 500, ZEBRA)
    assert len(resolve("Why?", [citing(long)]).standalone) < 250


def test_cited_papers_in_the_order_of_the_answer() -> None:
    assert cited_papers([]) == []
    assert [each.id for each in cited_papers([citing(PAPERS[1], PAPERS[0])])] == ["tidal", "zebra"]
