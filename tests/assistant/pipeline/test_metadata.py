"""Which questions records answer, and which go the way of all others."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import (
    LICHEN,
    PAPERS,
    TIDAL,
    ZEBRA,
    Asking,
    FakeReader,
    answered,
    message_read,
    paper,
)
from promises import check_promises

from assistant.generation.answer_builder import MetadataAnswer
from assistant.pipeline.follow_up import StandaloneQuestion, condense
from assistant.pipeline.metadata import (
    LIKELY_KIND,
    MOST_LISTED,
    answer_from_metadata,
    passages_of,
)
from assistant.types import Outcome, Turn
from retrieval.index.lexical import LexicalIndex
from retrieval.library.library import Library
from retrieval.query.lookup import Lookup
from retrieval.types import Paper

ZEBRA_ENTRY = "“Zebra Pruning for Vision Models” by Ada Miro and Ben Okafor (ICML 2021, oral)."
LICHEN_ENTRY = "“A Dataset of Lichen Photographs” by Ada Miro and Ben Okafor."
TIDAL_ENTRY = "“Tidal Forecasting with Graph Networks” by Cai Dru (ICML 2021, oral)."
ZEBRA_RECORD = (
    "“Zebra Pruning for Vision Models” is by Ada Miro and Ben Okafor; "
    "it appeared at ICML 2021 as an oral."
)
LICHEN_RECORD = "“A Dataset of Lichen Photographs” is by Ada Miro and Ben Okafor."
ON_ZEBRA = [Turn("How slow?", answered(PAPERS[0], "It does not need retraining."))]


@pytest.mark.parametrize(
    ("kind", "question", "sentences"),
    [
        ("list", "papers by Ada Miro", [ZEBRA_ENTRY, LICHEN_ENTRY]),
        ("list", "papers that Miro and Okafor wrote about pruning", [ZEBRA_ENTRY]),
        ("list", "ICML 2021 orals about pruning", [ZEBRA_ENTRY]),
        ("list", "oral papers by Ben Okafor at ICML 2021", [ZEBRA_ENTRY]),
        ("list", "papers by Cai Dru", [TIDAL_ENTRY]),
        ("record", "Who wrote Zebra Pruning for Vision Models?", [ZEBRA_RECORD]),
        ("record", "ZebraPrune paper, who wrote it?", [ZEBRA_RECORD]),
        ("record", "Where was ZebraPrune published?", [ZEBRA_RECORD]),
        ("record", "Who released LichenSet?", [LICHEN_RECORD]),
    ],
)
def test_the_records_answer_without_the_model(
    asking: Asking, kind: str, question: str, sentences: list[str]
) -> None:
    assistant, model = asking(reader=FakeReader(kind=kind))
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert answer.outcome is Outcome.ANSWERED
    assert sorted(sentence.text for sentence in answer.sentences) == sorted(sentences)
    assert {citation.paper.id for citation in answer.citations} == {
        passage.paper.id for passage in answer.passages
    }
    assert (answer.tokens.prompt, answer.tokens.completion) == (0, 0)
    assert answer.confidence is None


@pytest.mark.parametrize(
    ("kind", "question", "text"),
    [
        ("list", "papers by Ada Lovelace", "No paper by Ada Lovelace in this library."),
        ("list", "ICML 2019 papers", "No paper at ICML 2019 in this library."),
        ("list", "NeurIPS 2021 orals", "No paper at NeurIPS 2021 in this library."),
        ("content", "How do ICML 2019 papers prune?", "No paper at ICML 2019 in this library."),
        (
            "content",
            "Which papers by Ada Lovelace use pruning?",
            "No paper by Ada Lovelace in this library.",
        ),
        (
            "content",
            "How much do papers by Ada Mira prune?",
            "No paper by Ada Mira in this library. Did you mean Ada Miro?",
        ),
        (
            "list",
            "papers by Ada Miro about cooking",
            "None of the 2 papers by Ada Miro is about “cooking”.",
        ),
    ],
)
def test_what_no_record_has_is_said(asking: Asking, kind: str, question: str, text: str) -> None:
    assistant, model = asking(reader=FakeReader(kind=kind))
    answer = assistant.answer(question)
    check_promises(answer)
    assert model.history == []
    assert (answer.outcome, answer.text) == (Outcome.NOT_IN_LIBRARY, text)
    assert answer.passages == ()


@pytest.mark.parametrize("question", ["papers by Ada Lovelace", "How do ICML 2019 papers prune?"])
def test_as_the_real_reader_sees_it(asking: Asking, question: str) -> None:
    """Of whatever kind it takes them for: the index proves that nothing fits."""
    assistant, model = asking()
    answer = assistant.answer(question)
    assert model.history == []
    assert answer.text.startswith("No paper ")


def test_what_no_record_says(asking: Asking) -> None:
    """A paper without title, authors and venue."""
    assistant, _ = asking(reader=FakeReader(kind="record", focus="last"))
    history = [Turn("Why?", answered(PAPERS[3], "Speech recognisers fail on whispered speech."))]
    answer = assistant.answer("Who wrote it?", history)
    check_promises(answer)
    assert answer.outcome is Outcome.ABSTRACT_SILENT
    assert answer.text.startswith("The record of “Speech recognisers fail")
    assert answer.text.endswith("does not say who wrote it or where it appeared.")
    assert [passage.paper.id for passage in answer.passages] == ["whisper"]


@pytest.mark.parametrize(
    "question",
    [
        "How many of its weights does ZebraPrune remove from a vision model?",
        "What does Ada Miro's paper on pruning say about phones?",
        "What do the authors of ZebraPrune report on ImageNet?",
        "Does ZebraPrune, the paper by Ada Lovelace, need retraining?",
    ],
)
def test_questions_about_content_go_to_the_model(asking: Asking, question: str) -> None:
    assistant, model = asking("", reader=FakeReader({"zebra": "ZebraPrune"}))
    check_promises(assistant.answer(question))
    assert len(model.history) == 1


def test_a_question_about_content_is_searched_among_the_papers_it_names(asking: Asking) -> None:
    assistant, _ = asking("", reader=FakeReader({"tidal": "network"}))
    answer = assistant.answer("What does Cai Dru's paper say about vision models and currents?")
    assert {passage.paper.id for passage in answer.passages} == {"tidal"}


@pytest.mark.parametrize(
    ("kind", "focus", "question", "papers"),
    [
        ("by_authors", "last", "other papers by the same authors?", ["lichen"]),
        ("by_authors", "last", "What else did they write?", ["lichen"]),
        ("list", "alone", "papers by Cai Dru", ["tidal"]),
        ("record", "alone", "Who wrote Tidal Forecasting with Graph Networks?", ["tidal"]),
        ("record", "last", "Who wrote it?", ["zebra"]),
        ("record", "last", "authors and venue of ZebraPrune", ["zebra"]),
    ],
)
def test_in_a_conversation(
    asking: Asking, kind: str, focus: str, question: str, papers: list[str]
) -> None:
    assistant, model = asking(reader=FakeReader(kind=kind, focus=focus))
    answer = assistant.answer(question, ON_ZEBRA)
    check_promises(answer)
    assert model.history == []
    assert [citation.paper.id for citation in answer.citations] == papers


def test_nobody_else_wrote_more(asking: Asking) -> None:
    assistant, _ = asking(reader=FakeReader(kind="by_authors", focus="last"))
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


def from_metadata(
    lookup: Lookup,
    question: str,
    kind: str,
    history: Sequence[Turn] = (),
    *,
    sure: float = 0.9,
) -> MetadataAnswer | None:
    read = message_read(kind, "last", sure)
    named = lookup.named(question)
    standalone = condense(question, history, read, lambda _query, also: [])  # noqa: ARG005
    parsed = lookup.parse(question, lookup=kind == "list")
    return answer_from_metadata(lookup, standalone, read, parsed, named=named, history=history)


@pytest.mark.parametrize("kind", ["content", "several", "greeting"])
def test_other_kinds_are_not_answered_from_records(tmp_path: Path, kind: str) -> None:
    assert from_metadata(lookup_in(PAPERS, tmp_path), "papers by Ada Miro", kind) is None


@pytest.mark.parametrize(("sure", "known"), [(LIKELY_KIND - 0.01, False), (LIKELY_KIND, True)])
def test_in_doubt_a_question_goes_the_way_of_all_others(
    tmp_path: Path, sure: float, known: bool
) -> None:
    lookup = lookup_in(PAPERS, tmp_path)
    for question, kind in (("papers by Ada Miro", "list"), ("Who wrote ZebraPrune?", "record")):
        assert bool(from_metadata(lookup, question, kind, sure=sure)) is known


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote the paper on speech?", "record"),
        ("papers about pruning", "list"),
        ("What else did they write?", "by_authors"),
    ],
)
def test_what_names_nothing_known_is_not_answered(tmp_path: Path, question: str, kind: str) -> None:
    assert from_metadata(lookup_in(PAPERS, tmp_path), question, kind) is None


def test_more_by_the_author_asked_for(tmp_path: Path) -> None:
    lookup = lookup_in([PAPERS[0], paper("by one of them", authors=("Ada Miro",))], tmp_path)
    history = [Turn("papers by Ben Okafor", answered(PAPERS[0], "It does not need retraining."))]
    found = from_metadata(lookup, "What else did he write?", "by_authors", history)
    assert found is not None
    assert found.note == "No other paper by Ben Okafor in this library."


def test_a_list_says_whether_it_is_complete_and_by_which_rule(tmp_path: Path) -> None:
    few = lookup_in(PAPERS, tmp_path / "few")
    many = lookup_in([paper(f"p{n}") for n in range(MOST_LISTED + 3)], tmp_path / "many")
    whole = "Complete by the records: no other one here fits"
    for lookup, question, said in (
        (
            few,
            "papers by Ada Miro",
            f"{whole} “by Ada Miro”.",
        ),
        (
            few,
            "papers by Ada Miro about pruning",
            f"{whole} “by Ada Miro” and the words “pruning”.",
        ),
        (
            many,
            "papers by Ada Miro",
            "Not complete: 10 of the 13 records here that fit “by Ada Miro” are shown.",
        ),
        (few, "papers by Ada Lovelace", ""),
    ):
        found = from_metadata(lookup, question, "list")
        assert found is not None
        assert found.coverage == said


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
    found = from_metadata(
        lookup_in(many, tmp_path), "What else did they write?", "by_authors", history
    )
    assert found is not None
    assert len(found.sentences) == MOST_LISTED == len(found.papers)
    assert found.sentences[-1][0].endswith(rest)


def test_a_paper_on_a_method_is_not_the_methods_own(tmp_path: Path) -> None:
    probing = paper("probing", "Can BERT Refrain from Forgetting? A Study", "We study BERT models.")
    assert from_metadata(lookup_in([probing], tmp_path), "Who wrote BERT?", "record") is None


def test_nothing_passes_only_where_the_index_proves_it(tmp_path: Path) -> None:
    lookup = lookup_in(PAPERS, tmp_path)
    for question, note in {
        "How do ICML 2019 papers prune?": "No paper at ICML 2019 in this library.",
        "How do ICML 2021 papers prune?": "",
        "How are models pruned?": "",
    }.items():
        found = from_metadata(lookup, question, "content")
        assert (found.note if found else "") == note


def test_papers_to_which_another_is_sought_are_not_listed_from_records(tmp_path: Path) -> None:
    lookup = lookup_in(PAPERS, tmp_path)
    question = "other papers by Ada Miro"
    standalone = StandaloneQuestion(question, question, excluded=(PAPERS[0],))
    parsed = lookup.parse(question, lookup=True)
    assert answer_from_metadata(lookup, standalone, message_read("list"), parsed) is None


def test_a_passage_is_the_first_chunk(library: Library) -> None:
    zebra, lichen = PAPERS[0], PAPERS[2]
    passages = passages_of(library, [lichen, zebra, paper("unknown")])
    assert [passage.paper.id for passage in passages] == ["lichen", "zebra"]
    assert passages[0].chunk.text in LICHEN
    assert passages[1].chunk.start == 0
    assert passages[1].chunk.text in ZEBRA
    assert MOST_LISTED == 10
