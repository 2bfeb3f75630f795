"""Which questions records answer, and which go the way of all others."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import LICHEN, PAPERS, TIDAL, ZEBRA, Asking, answered, paper
from test_engine import check_promises

from assistant.conversation import resolve
from assistant.routing import MOST_LISTED, Routed, parse_question, passages_of, route
from assistant.types import Outcome, Turn
from retrieval.lexical import LexicalIndex
from retrieval.library import Library
from retrieval.query.lookup import Lookup
from retrieval.types import Paper

ZEBRA_ENTRY = "“Zebra Pruning for Vision Models” by Ada Miro and Ben Okafor (ICML 2021, oral)."
ZEBRA_BY = "“Zebra Pruning for Vision Models” is by Ada Miro and Ben Okafor."
ZEBRA_AT = "“Zebra Pruning for Vision Models” appeared at ICML 2021 as an oral."
ZEBRA_BOTH = f"{ZEBRA_BY[:-1]}; it appeared at ICML 2021 as an oral."


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        ("papers by Ada Miro", [ZEBRA_ENTRY, "“A Dataset of Lichen Photographs” by Ada Miro"]),
        ("What have Miro and Okafor written together about pruning?", [ZEBRA_ENTRY]),
        ("ICML 2021 orals about pruning", [ZEBRA_ENTRY]),
        ("oral papers by Ben Okafor at ICML 2021", [ZEBRA_ENTRY]),
        ("Who wrote Zebra Pruning for Vision Models?", [ZEBRA_BY]),
        ("ZebraPrune paper, who wrote it?", [ZEBRA_BY]),
        ("authors of ZebraPrune, the pruning paper", [ZEBRA_BY]),
        ("Is Zebra Pruning for Vision Models an oral, a spotlight or a poster?", [ZEBRA_AT]),
        ("Where was ZebraPrune published?", [ZEBRA_AT]),
        ("Who wrote ZebraPrune and was it an oral?", [ZEBRA_BOTH]),
        ("ZebraPrune, which paper and venue?", [ZEBRA_ENTRY]),
    ],
)
def test_the_records_answer_without_the_model(
    asking: Asking, question: str, sentences: list[str]
) -> None:
    assistant, model = asking()
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.ANSWERED
    shown = [sentence.text for sentence in answer.sentences]
    for text, start in zip(shown, sentences, strict=False):
        assert text.startswith(start)
    assert len(shown) == len(sentences)
    assert {citation.paper.id for citation in answer.citations} == {
        passage.paper.id for passage in answer.passages
    }
    assert (answer.tokens.prompt, answer.tokens.completion) == (0, 0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("papers by Ada Lovelace", "No paper by Ada Lovelace in this library."),
        ("ICML 2019 papers", "No paper at ICML 2019 in this library."),
        ("NeurIPS 2021 orals", "No paper at NeurIPS 2021 in this library."),
        ("NeurIPS 2021 papers about lichen", "No paper at NeurIPS 2021 in this library."),
        ("How do ICML 2019 papers prune?", "No paper at ICML 2019 in this library."),
        ("Which papers by Ada Lovelace use pruning?", "No paper by Ada Lovelace in this library."),
        (
            "How much do papers by Ada Mira prune?",
            "No paper by Ada Mira in this library. Did you mean Ada Miro?",
        ),
        ("How many papers do you have in total?", "This library has 4 papers."),
        (
            "papers by Ada Miro about cooking",
            "None of the 2 papers by Ada Miro is about “cooking”.",
        ),
    ],
)
def test_what_no_record_has_is_said(asking: Asking, question: str, text: str) -> None:
    assistant, model = asking()
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert (answer.outcome, answer.text) == (Outcome.NOT_IN_LIBRARY, text)
    assert answer.passages == ()


def test_what_a_record_does_not_say(asking: Asking) -> None:
    assistant, _ = asking()
    answer = assistant.answer("Where was A Dataset of Lichen Photographs published?")
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert answer.text.endswith("does not say where it appeared.")
    assert [passage.paper.id for passage in answer.passages] == ["lichen"]


@pytest.mark.parametrize(
    "question",
    [
        "How many of its weights does ZebraPrune remove from a vision model?",
        "What does Ada Miro's paper on pruning say about phones?",
        "Which ICML 2021 orals on pruning use retraining and how accurate are they?",
        "How do the authors of ZebraPrune remove the weights of a vision model?",
        "What do the authors of ZebraPrune report on ImageNet?",
        "Does ZebraPrune need retraining?",
        "Who labelled the photographs of lichens?",
        "Does ZebraPrune, the paper by Ada Lovelace, need retraining?",
        "How does the winner of the ICML 2021 challenge prune vision models?",
    ],
)
def test_questions_about_content_go_to_the_model(asking: Asking, question: str) -> None:
    assistant, model = asking("")
    answer = assistant.answer(question)
    check_promises(answer)
    assert len(model.history) == 1


def test_a_question_about_content_is_searched_among_the_papers_it_names(asking: Asking) -> None:
    assistant, _ = asking("")
    answer = assistant.answer("What does Cai Dru's paper say about vision models and currents?")
    assert {passage.paper.id for passage in answer.passages} == {"tidal"}


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("other papers by the same authors?", ["lichen"]),
        ("What else did they write?", ["lichen"]),
        ("papers by Cai Dru", ["tidal"]),
        ("Who wrote Tidal Forecasting with Graph Networks?", ["tidal"]),
    ],
)
def test_in_a_conversation(asking: Asking, question: str, papers: list[str]) -> None:
    assistant, model = asking()
    history = [Turn("How slow?", answered(PAPERS[0], "It does not need retraining."))]
    answer = assistant.answer(question, history)
    check_promises(answer)
    assert model.history == []
    assert [citation.paper.id for citation in answer.citations] == papers


def test_the_paper_at_hand_by_its_name(asking: Asking) -> None:
    assistant, model = asking()
    history = [Turn("How slow?", answered(PAPERS[0], "It does not need retraining."))]
    answer = assistant.answer("authors and venue of ZebraPrune", history)
    assert model.history == []
    assert answer.sentences[0].text == ZEBRA_BOTH


def test_nobody_else_wrote_more(asking: Asking) -> None:
    assistant, _ = asking()
    history = [Turn("How far?", answered(PAPERS[1], TIDAL.split(". ")[0] + "."))]
    answer = assistant.answer("What else did they write?", history)
    assert answer.outcome is Outcome.NOT_IN_LIBRARY
    assert answer.text == (
        "No other paper by the authors of “Tidal Forecasting with Graph Networks” in this library."
    )


def lookup_in(papers: Sequence[Paper], folder: Path) -> Lookup:
    index = LexicalIndex(folder)
    index.rebuild(papers, "1")
    by_id = {paper.id: paper for paper in papers}
    return Lookup(index, lambda ids: {id_: by_id[id_] for id_ in ids})


def routed(lookup: Lookup, question: str, history: Sequence[Turn] = ()) -> Routed | None:
    parsed, lists = parse_question(lookup, question)
    return route(lookup, resolve(question, history), parsed, history, lists=lists)


def test_more_by_the_author_asked_for(tmp_path: Path) -> None:
    lookup = lookup_in([PAPERS[0], paper("by one of them", authors=("Ada Miro",))], tmp_path)
    history = [Turn("papers by Ben Okafor", answered(PAPERS[0], "It does not need retraining."))]
    found = routed(lookup, "What else did he write?", history)
    assert found is not None
    assert found.note == "No other paper by Ben Okafor in this library."


@pytest.mark.parametrize(
    ("before", "rest"),
    [
        (
            "papers by Ada Miro",
            'and 2 more that `assistant lookup "papers by Ada Miro" -k 13` lists.',
        ),
        ("How slow?", "and 2 more."),
    ],
)
def test_a_command_is_named_only_if_it_lists_the_rest(
    tmp_path: Path, before: str, rest: str
) -> None:
    many = [paper(f"p{number}") for number in range(MOST_LISTED + 3)]
    history = [Turn(before, answered(many[0], "It does not need retraining."))]
    found = routed(lookup_in(many, tmp_path), "What else did they write?", history)
    assert found is not None
    assert len(found.entries) == MOST_LISTED
    assert found.entries[-1].text.endswith(rest)


def test_a_paper_on_a_method_is_not_the_methods_own(tmp_path: Path) -> None:
    probing = paper("probing", "Can BERT Refrain from Forgetting? A Study", "We study BERT models.")
    assert routed(lookup_in([probing], tmp_path), "Who wrote BERT?") is None


def test_a_passage_is_the_first_chunk(library: Library) -> None:
    zebra, lichen = PAPERS[0], PAPERS[2]
    passages = passages_of(library, [lichen, zebra, paper("unknown")])
    assert [passage.paper.id for passage in passages] == ["lichen", "zebra"]
    assert passages[0].chunk.text in LICHEN
    assert passages[1].chunk.start == 0
    assert passages[1].chunk.text in ZEBRA
    assert MOST_LISTED == 10
