"""What a follow-up means: which papers it goes on about, to which it seeks others, as it is."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes import PAPERS, ZEBRA, answered, message_read, paper, passage

from assistant.generation.answer_builder import ABSTENTION
from assistant.pipeline.follow_up import (
    MOST_EARLIER,
    MOST_NAMED,
    Find,
    StandaloneQuestion,
    cited_papers,
    condense,
)
from assistant.types import Answer, Citation, Outcome, Turn
from retrieval.types import Paper, Passage

ASKED = "What does ZebraPrune remove?"
QUOTE = "ZebraPrune loses 0.3 points of accuracy on ImageNet."
HISTORY = [Turn(ASKED, answered(PAPERS[0], QUOTE, ASKED))]
ZEBRA_TITLE, TIDAL_TITLE, LICHEN_TITLE = (f"“{each.title}”" for each in PAPERS[:3])
ABOUT = f"About {ZEBRA_TITLE}: "
QUESTION = "Does it need retraining?"


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


def abstaining(
    asked: str, outcome: Outcome, *offered: Paper, standalone: str = "", text: str = ABSTENTION
) -> Turn:
    """A turn whose answer cites nothing but offers papers."""
    answer: Answer = replace(
        answered(PAPERS[0], QUOTE, asked),
        text=text,
        citations=(),
        sentences=(),
        outcome=outcome,
        passages=tuple(map(passage, offered)),
        standalone_question=standalone or asked,
    )
    return Turn(asked, answer)


def ids(papers: Sequence[Paper]) -> list[str]:
    return [each.id for each in papers]


def not_asked(_query: str, *, also: Sequence[str]) -> list[Passage]:
    raise AssertionError(f"no search is needed, {also}")


BY_ID = {each.id: each for each in PAPERS}


def finding(*best: Paper, rest: float = 0.0) -> Find:
    """Finds these papers to fit as well as any can, and all that compete as well as `rest`."""

    def find(_query: str, *, also: Sequence[str]) -> list[Passage]:
        others = [BY_ID.get(id_) or paper(id_) for id_ in also]
        return [
            *(passage(each, 1.0) for each in best),
            *(passage(each, rest) for each in others if each not in best),
        ]

    return find


finding_no_others = finding(rest=0.5)
"""Finds the papers of the conversation alone, each to fit as well as the others."""


class RememberingFind:
    """Finds the papers of the conversation alone and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        """Every text, with the ids of the papers that were to compete."""

    def __call__(self, query: str, *, also: Sequence[str]) -> Sequence[Passage]:
        self.asked.append((query, list(also)))
        return finding_no_others(query, also=also)


def condensed(
    question: str,
    history: Sequence[Turn],
    focus: str = "last",
    *,
    kind: str = "content",
    find: Find = finding_no_others,
    named: Sequence[Paper] = (),
    filtered: bool = False,
) -> StandaloneQuestion:
    read = message_read(kind, focus, 0.99)
    return condense(question, history, read, find, named, filtered=filtered)


@pytest.mark.parametrize("focus", ["alone", "last", "earlier", "both"])
@pytest.mark.parametrize("question", [QUESTION, "Who wrote the first paper?", "[1]?"])
def test_a_first_question_stands_as_it_is(question: str, focus: str) -> None:
    found = condensed(question, [], focus, find=not_asked)
    assert found == StandaloneQuestion(question, question)


def test_a_question_alone_stands_by_itself() -> None:
    question = "How are proteins folded?"
    find = finding(PAPERS[2])
    assert condensed(question, HISTORY, "alone", find=find) == StandaloneQuestion(
        question,
        question,
        history_papers=(PAPERS[0],),
        found=(passage(PAPERS[2], 1.0), passage(PAPERS[0], 0.0)),
    )


def test_a_follow_up_names_the_paper_it_goes_on_about() -> None:
    found = condensed(QUESTION, HISTORY)
    assert replace(found, found=()) == StandaloneQuestion(
        QUESTION, f"{ABOUT}{QUESTION}", (PAPERS[0],), (), (PAPERS[0],)
    )
    assert [each.paper for each in found.found] == [PAPERS[0]]


def test_what_is_found_for_a_follow_up_begins_with_its_paper() -> None:
    def find(query: str, *, also: Sequence[str]) -> list[Passage]:
        return [*finding_no_others(query, also=also), passage(PAPERS[2], 0.1)]

    found = condensed(QUESTION, [citing(PAPERS[1]), citing(PAPERS[0])], find=find)
    assert found.found[0].paper == found.focus_papers[0] == PAPERS[0]
    assert sorted(each.paper.id for each in found.found) == ["lichen", "tidal", "zebra"]


def test_a_message_is_searched_as_typed_and_behind_the_title_cited_last() -> None:
    find = RememberingFind()
    condensed(QUESTION, [citing(PAPERS[2]), citing(PAPERS[0], PAPERS[1])], find=find)
    papers = ["zebra", "tidal", "lichen"]
    assert find.asked == [(QUESTION, papers), (f"{ABOUT}{QUESTION}", papers)]


def test_a_library_where_nothing_is_found_leaves_a_message_as_it_is() -> None:
    found = condensed(QUESTION, HISTORY, find=lambda _query, also: [])  # noqa: ARG005
    assert found == StandaloneQuestion(QUESTION, QUESTION, history_papers=(PAPERS[0],))


def test_the_last_is_the_paper_cited_first_in_the_last_answer() -> None:
    history = [citing(PAPERS[1]), citing(PAPERS[2], PAPERS[0])]
    found = condensed(QUESTION, history)
    assert ids(found.focus_papers) == ["lichen"]
    assert ids(found.history_papers) == ["tidal", "lichen", "zebra"]


@pytest.mark.parametrize(
    ("history", "focus"),
    [
        ([citing(*PAPERS[:2])], ["zebra", "tidal"]),
        ([citing(*PAPERS)], ["zebra", "tidal", "lichen"]),
        ([citing(PAPERS[2]), citing(PAPERS[0]), citing(PAPERS[1])], ["zebra", "tidal"]),
        ([citing(PAPERS[2])], ["lichen"]),
    ],
)
def test_both_are_those_of_the_last_answer_or_the_last_two(
    history: list[Turn], focus: list[str]
) -> None:
    find = not_asked if len(focus) > 1 else finding_no_others
    found = condensed("Which of them is newer?", history, "both", kind="several", find=find)
    assert ids(found.focus_papers) == focus
    assert len(focus) <= MOST_NAMED
    assert found.excluded == ()
    titles = " and ".join(f"“{each.title}”" for each in found.focus_papers)
    assert found.text == f"About {titles}: Which of them is newer?"


def test_earlier_is_the_other_paper_where_there_is_one() -> None:
    history = [citing(PAPERS[0]), citing(PAPERS[1])]
    assert ids(condensed("And the pruning one?", history, "earlier").focus_papers) == ["zebra"]
    assert ids(condensed(QUESTION, HISTORY, "earlier").focus_papers) == ["zebra"]


@pytest.mark.parametrize("fitting", [PAPERS[0], PAPERS[1]])
def test_among_several_earlier_papers_the_one_that_fits_is_meant(fitting: Paper) -> None:
    history = [citing(PAPERS[0]), citing(PAPERS[1]), citing(PAPERS[2])]
    found = condensed("Back to that one", history, "earlier", find=finding(fitting))
    assert found.focus_papers == (fitting,)
    assert found.text == f"About “{fitting.title}”: Back to that one"


def test_only_the_latest_of_many_earlier_papers_compete() -> None:
    many = [paper(f"p{at}", f"Title {at}") for at in range(MOST_EARLIER + 3)]
    find = RememberingFind()
    condensed("Which?", [citing(each) for each in many], "earlier", find=find)
    latest = [f"p{at}" for at in reversed(range(2, MOST_EARLIER + 2))]
    assert [papers for _, papers in find.asked] == [[many[-1].id, *latest]] * 2


def test_a_paper_of_its_own_name_is_meant_whatever_the_reader_says() -> None:
    history = [citing(PAPERS[1]), citing(PAPERS[2])]
    for named, focus in (("ZebraPrune", []), (PAPERS[1].title, ["tidal"])):
        question = f"Who wrote {named}?"
        found = condensed(question, history, "last", kind="record", named=PAPERS[:2])
        assert (found.text, ids(found.focus_papers)) == (question, focus)


def test_a_message_with_filters_is_not_about_the_paper_at_hand() -> None:
    question = "What do papers from 2019 say about pruning?"
    found = condensed(question, HISTORY, "alone", filtered=True)
    assert found == StandaloneQuestion(question, question, history_papers=(PAPERS[0],))
    record = condensed("Was it an oral?", HISTORY, "last", kind="record", filtered=True)
    assert ids(record.focus_papers) == ["zebra"]
    besides = condensed(question, HISTORY, "last", kind="list", filtered=True)
    assert besides.excluded == (PAPERS[0],)


@pytest.mark.parametrize("kind", ["list", "several"])
def test_other_papers_are_sought_beside_those_cited(kind: str) -> None:
    question = "Are there other papers like it?"
    found = condensed(question, [citing(*PAPERS[:2])], kind=kind, find=finding(PAPERS[2]))
    assert replace(found, found=()) == StandaloneQuestion(
        question, f"Besides {ZEBRA_TITLE}: {question}", (), PAPERS[:2], PAPERS[:2]
    )
    assert found.found[0].paper == PAPERS[2]


def test_a_list_alone_excludes_nothing() -> None:
    question = "papers by Cai Dru"
    found = condensed(question, HISTORY, "alone", kind="list", find=finding(PAPERS[1]))
    assert (found.text, found.excluded, found.focus_papers) == (question, (), ())


def test_a_paper_of_the_conversation_that_fits_far_better_is_gone_on_about() -> None:
    question = "Does ZebraPrune need retraining?"

    def find(query: str, *, also: Sequence[str]) -> list[Passage]:
        return [*finding(rest=1.0)(query, also=also), passage(PAPERS[2], 0.0)]

    for focus in ("alone", "last"):
        found = condensed(question, HISTORY, focus, find=find)
        assert (found.text, found.focus_papers) == (f"{ABOUT}{question}", (PAPERS[0],))


def test_another_paper_that_fits_far_better_is_none_of_the_conversation() -> None:
    question = "What is in LichenSet?"
    for focus in ("alone", "last", "earlier"):
        found = condensed(question, HISTORY, focus, find=finding(PAPERS[2]))
        assert (found.text, found.focus_papers, found.excluded) == (question, (), ())
        assert ids(found.history_papers) == ["zebra"]


@pytest.mark.parametrize(
    ("question", "standalone", "focus"),
    [
        ("What does the second one show?", f"What does {TIDAL_TITLE} show?", "tidal"),
        ("Who wrote the 1st paper?", f"Who wrote {ZEBRA_TITLE}?", "zebra"),
        ("what does the first one use", f"what does {ZEBRA_TITLE} use", "zebra"),
        ("and the third?", f"and {LICHEN_TITLE}?", "lichen"),
        ("the last one, who is it by", f"{LICHEN_TITLE}, who is it by", "lichen"),
        ("Is the latter better?", f"Is {LICHEN_TITLE} better?", "lichen"),
        ("Is the former better?", f"Is {TIDAL_TITLE} better?", "tidal"),
        ("How large is [2]?", f"How large is {TIDAL_TITLE}?", "tidal"),
        ("What does paper 3 say?", f"What does {LICHEN_TITLE} say?", "lichen"),
    ],
)
def test_one_of_the_papers_of_the_last_answer(question: str, standalone: str, focus: str) -> None:
    for kind, read in (("content", "alone"), ("list", "last")):
        found = condensed(question, [citing(*PAPERS[:3])], read, kind=kind, find=not_asked)
        assert (found.text, ids(found.focus_papers)) == (standalone, [focus])


def test_a_place_is_left_out_of_what_is_asked() -> None:
    found = condensed("Who wrote the second paper?", [citing(*PAPERS[:3])], "alone")
    assert found.question == "Who wrote it?"


@pytest.mark.parametrize("question", ["What does the fifth one show?", "[9]?", "[0]?", "paper 0?"])
def test_a_place_that_no_paper_has_is_no_place(question: str) -> None:
    found = condensed(question, [citing(*PAPERS[:3])])
    assert (found.question, ids(found.focus_papers)) == (question, ["zebra"])


def test_places_of_the_whole_conversation() -> None:
    history = [citing(PAPERS[0]), citing(PAPERS[1]), citing(PAPERS[2])]
    cases = {
        "What does the first paper remove?": "zebra",
        "And the second one, how many years?": "tidal",
        "How does the former work?": "tidal",
        "How does the latter work?": "lichen",
        "What did the previous paper find?": "tidal",
        "Is the last paper newer?": "lichen",
    }
    for question, focus in cases.items():
        assert ids(condensed(question, history, "alone").focus_papers) == [focus], question


def test_the_other_of_two() -> None:
    history = [citing(PAPERS[0], PAPERS[1])]
    assert ids(condensed("And the other one?", history).focus_papers) == ["tidal"]


def test_papers_offered_where_nothing_was_answered_have_places() -> None:
    offering = abstaining("What is cooked?", Outcome.NOT_IN_LIBRARY, PAPERS[2], PAPERS[1])
    found = condensed("What does the second one show?", [citing(PAPERS[0]), offering], "alone")
    assert ids(found.focus_papers) == ["tidal"]


def test_after_an_answer_that_cites_nothing_the_last_question_is_repeated() -> None:
    history = [abstaining("What is the weather?", Outcome.NOT_IN_LIBRARY)]
    found = condensed("Why?", history, find=not_asked)
    assert found == StandaloneQuestion("Why?", "What is the weather? Why?")
    again = abstaining("Why?", Outcome.NOT_IN_LIBRARY, standalone=found.text)
    further = condensed("And?", [*history, again], find=not_asked)
    assert further.text == "What is the weather? And?"
    alone = condensed("What are tides?", history, "alone", find=not_asked)
    assert alone.text == "What are tides?"


def test_an_answer_without_citations_leaves_the_paper_in_focus() -> None:
    asked = "How many GPUs did they use?"
    for outcome in (Outcome.ABSTRACT_SILENT, Outcome.NOT_IN_LIBRARY):
        silent = abstaining(asked, outcome, PAPERS[0], standalone=f"{ABOUT}{asked}")
        found = condensed("Who wrote it?", [*HISTORY, silent], kind="record")
        assert ids(found.focus_papers) == ["zebra"]
    unrelated = abstaining("What is cooked?", Outcome.NOT_IN_LIBRARY, PAPERS[0])
    assert cited_papers([*HISTORY, unrelated]) == []


def test_a_silent_abstract_is_what_a_follow_up_goes_on_about() -> None:
    silent = abstaining("How many GPUs did ZebraPrune use?", Outcome.ABSTRACT_SILENT, *PAPERS[:2])
    assert ids(condensed("And who wrote it?", [silent]).focus_papers) == ["zebra"]


def test_standalone_questions_do_not_nest() -> None:
    turn = citing(PAPERS[0], asked="Why?", standalone=f"{ABOUT}Why?")
    for kind, find in (("content", finding_no_others), ("list", finding(PAPERS[2]))):
        text = condensed("And how?", [*HISTORY, turn], kind=kind, find=find).text
        assert text.count("“") == 1
        assert "Why?" not in text


def test_a_paper_without_title_is_named_by_its_beginning() -> None:
    text = condensed("Why?", [citing(PAPERS[3])]).text
    assert text.startswith("About “Speech recognisers fail on")


def test_a_very_long_title_is_cut() -> None:
    long = paper("long", "Zebra " * 500, ZEBRA)
    assert len(condensed("Why?", [citing(long)]).text) < 250


def test_quotation_marks_in_a_title_do_not_end_it() -> None:
    quoting = paper("quoting", "A”: “All others are wrong.” From “B")
    text = condensed("Why?", [citing(quoting)]).text
    assert (text.count("“"), text.count("”")) == (1, 1)


def test_cited_papers_in_the_order_of_the_answer() -> None:
    assert cited_papers([]) == []
    assert ids(cited_papers([citing(PAPERS[1], PAPERS[0])])) == ["tidal", "zebra"]


def test_a_paper_at_hand_is_compared_with_one_that_is_named() -> None:
    question = "How does it differ from ZebraPrune?"
    found = condensed(question, [citing(PAPERS[1])], "last", kind="several", named=[PAPERS[0]])
    assert ids(found.focus_papers) == ["tidal", "zebra"]
    assert found.text == f"About {TIDAL_TITLE}: {question}"
