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


def test_a_note_that_is_copied_is_quoted_first() -> None:
    page = Page(list(NOTES))
    assert page.verified(NOTES[1].text, (1, 2)) is None
    assert (page.sentences, page.unquoted) == ([], [2, 1])
    shown = page.quote(page.unquoted[0])
    assert (shown.sentence.text, shown.sentence.kind) == (NOTES[1].text, Kind.QUOTED)
    assert [citation.quote for citation in shown.citations] == [NOTES[1].text]


def test_what_is_written_stands_before_what_is_copied() -> None:
    page = Page(list(NOTES))
    assert page.verified(NOTES[0].text, (1, 2)) is None
    assert page.verified("Two botanists label each photograph.", (1,))
    assert page.verified(f"{NOTES[0].text} ".strip(), (1, 2)) is None
    for note in page.unquoted:
        page.quote(note)
    assert [each.kind for each in page.sentences] == [Kind.VERIFIED, Kind.QUOTED, Kind.QUOTED]
    assert page.unquoted == []


def test_a_note_that_an_excerpt_has_whole_is_not_quoted_again() -> None:
    page = Page(list(NOTES))
    page.excerpt("Labelled by two botanists.", 1)
    assert page.unquoted == [1, 2]
    page.excerpt(NOTES[1].text, 2)
    assert page.unquoted == [1]
    page.quote(1)
    assert [(each.kind, each.citations) for each in page.sentences] == [
        (Kind.VERIFIED, (1,)),
        (Kind.VERIFIED, (2,)),
        (Kind.QUOTED, (1,)),
    ]
