"""What is shown of an answer while it comes about."""

from fakes import LICHEN, evidence, paper

from assistant.generation.answer_builder import DraftAnswer
from assistant.types import SentenceKind

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
