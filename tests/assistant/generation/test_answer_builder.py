"""What is shown of an answer while it comes about, and how records are worded."""

from dataclasses import replace

import pytest
from fakes import LICHEN, PAPERS, evidence, paper

from assistant.generation.answer_builder import DraftAnswer, entry, opening, record_sentence
from assistant.generation.rendering import parts_of_sentences
from assistant.types import SentenceKind
from retrieval.types import Paper

NOTES = tuple(
    evidence(text, paper("lichen", abstract=LICHEN))
    for text in (
        "Each photograph is labelled by two botanists.",
        "A linear classifier reaches 61.5% accuracy.",
    )
)


def test_a_note_that_is_copied_is_quoted_first() -> None:
    draft = DraftAnswer(list(NOTES))
    assert draft.add_written(NOTES[1].text, (1, 2)) is None
    assert (draft.sentences, draft.unquoted) == ([], [2, 1])
    shown = draft.add_quote(draft.unquoted[0])
    assert (shown.sentence.text, shown.sentence.kind) == (NOTES[1].text, SentenceKind.QUOTED)
    assert [citation.quote for citation in shown.citations] == [NOTES[1].text]


def test_a_heading_stands_once_above_the_quotes_that_it_holds_for() -> None:
    under = ("One", "One", "Two")
    others = [paper(id_, title=f"Paper {id_}", abstract=LICHEN) for id_ in "abc"]
    draft = DraftAnswer(
        [
            replace(evidence(NOTES[0].text, each), heading=heading)
            for each, heading in zip(others, under, strict=True)
        ]
    )
    for number in draft.unquoted:
        draft.add_quote(number)
    parts = list(parts_of_sentences(draft.sentences, draft.citations))
    kinds = ["heading", "lead", "quoted", "lead", "quoted", "heading", "lead", "quoted"]
    assert [part.kind for part in parts] == kinds
    assert [part.text for part in parts if part.kind == "heading"] == ["One", "Two"]


def test_of_each_paper_what_is_cited_is_quoted_first() -> None:
    others = [evidence(each.text, paper("other", abstract=LICHEN)) for each in NOTES]
    draft = DraftAnswer([*NOTES, *others])
    draft.add_excerpt("An excerpt of the first.", 2)
    assert draft.unquoted == [2, 1, 3, 4]
    draft.add_excerpt("An excerpt of the other.", 4)
    assert draft.unquoted == [2, 1, 4, 3]


def test_what_is_written_stands_before_what_is_copied() -> None:
    draft = DraftAnswer(list(NOTES))
    assert draft.add_written(NOTES[0].text, (1, 2)) is None
    assert draft.add_written("Two botanists label each photograph.", (1,))
    assert draft.add_written(f"{NOTES[0].text} ".strip(), (1, 2)) is None
    for note in draft.unquoted:
        draft.add_quote(note)
    assert [each.kind for each in draft.sentences] == [
        SentenceKind.VERIFIED,
        SentenceKind.QUOTED,
        SentenceKind.QUOTED,
    ]
    assert draft.unquoted == []


def test_a_note_that_an_excerpt_has_whole_is_not_quoted_again() -> None:
    draft = DraftAnswer(list(NOTES))
    draft.add_excerpt("Labelled by two botanists.", 1)
    assert draft.unquoted == [1, 2]
    draft.add_excerpt(NOTES[1].text, 2)
    assert draft.unquoted == [1]
    draft.add_quote(1)
    assert [(each.kind, each.citations) for each in draft.sentences] == [
        (SentenceKind.VERIFIED, (1,)),
        (SentenceKind.VERIFIED, (2,)),
        (SentenceKind.QUOTED, (1,)),
    ]


TITLE = "“Zebra Pruning for Vision Models”"


def test_who_wrote_it_and_where_it_appeared() -> None:
    assert record_sentence(paper()) == (
        f"{TITLE} is by Ada Miro and Ben Okafor; it appeared at ICML 2021 as an oral."
    )


@pytest.mark.parametrize(
    ("venue", "year", "decision", "expected"),
    [
        ("ICLR", 2022, "", "appeared at ICLR 2022."),
        ("ICLR", None, "poster", "appeared at ICLR as a poster."),
        ("", None, "spotlight", "appeared as a spotlight."),
        ("ICLR", 2022, "outstanding paper", "appeared at ICLR 2022 as an outstanding paper."),
        ("ICLR", 2022, "honorable mention", "appeared at ICLR 2022 as an honorable mention."),
    ],
)
def test_where_a_paper_appeared(venue: str, year: int | None, decision: str, expected: str) -> None:
    alone = paper(authors=(), venue=venue, year=year, decision=decision)
    assert record_sentence(alone) == f"{TITLE} {expected}"
    by = paper(authors=("A B",), venue=venue, year=year, decision=decision)
    assert record_sentence(by) == f"{TITLE} is by A B; it {expected}"


def test_a_year_alone() -> None:
    of = paper(authors=(), venue="", year=2022, decision="")
    assert record_sentence(of) == f"{TITLE} appeared in 2022."


def test_what_the_record_lacks_is_not_said() -> None:
    assert record_sentence(PAPERS[3]) == ""
    assert record_sentence(PAPERS[2]) == (
        "“A Dataset of Lichen Photographs” is by Ada Miro and Ben Okafor."
    )


@pytest.mark.parametrize(
    ("authors", "expected"),
    [(("A B",), "A B"), (("A B", "C D"), "A B and C D"), (("A", "B", "C"), "A, B and C")],
)
def test_all_authors_are_listed(authors: tuple[str, ...], expected: str) -> None:
    of = paper(authors=authors, venue="", year=None, decision="")
    assert record_sentence(of) == f"{TITLE} is by {expected}."


def test_the_opening_is_the_first_sentence_that_states_something() -> None:
    first = "Large vision models are slow on phones."
    assert opening(paper(), lambda _text: True) == first
    assert opening(paper(), lambda text: text != first).startswith("We present ZebraPrune")
    assert opening(paper(abstract="no full stop"), lambda _text: False) == "no full stop"


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (
            paper(),
            "“Zebra Pruning for Vision Models” by Ada Miro and Ben Okafor (ICML 2021, oral)",
        ),
        (paper(authors=(), decision=""), "“Zebra Pruning for Vision Models” (ICML 2021)"),
        (
            paper(title="", abstract="We show it.", authors=(), venue="", year=None),
            "“We show it.” (oral)",
        ),
    ],
)
def test_the_entry_of_a_list(of: Paper, expected: str) -> None:
    assert entry(of) == expected
