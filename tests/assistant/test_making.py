"""What is shown of an answer while it comes about."""

from fakes import LICHEN, evidence, paper

from assistant.making import Page
from assistant.types import Kind

NOTES = tuple(
    evidence(text, paper("lichen", abstract=LICHEN))
    for text in (
        "Each photograph is labelled by two botanists.",
        "A linear classifier reaches 61.5% accuracy.",
    )
)


def test_a_note_that_is_copied_is_quoted() -> None:
    shown = Page(list(NOTES)).verified(NOTES[1].text, (1, 2))
    assert shown
    assert (shown.sentence.text, shown.sentence.kind) == (NOTES[1].text, Kind.QUOTED)
    assert [citation.quote for citation in shown.citations] == [NOTES[1].text]


def test_a_copied_note_that_is_cited_already_brings_no_other() -> None:
    page = Page(list(NOTES))
    assert page.verified("Two botanists label each photograph.", (1,))
    assert page.verified(NOTES[0].text, (1, 2)) is None
    assert len(page.citations) == len(page.sentences) == 1
