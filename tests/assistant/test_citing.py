import itertools
import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assistant.citing import Draft, drafts

CASES: tuple[tuple[str, list[tuple[str, tuple[int, ...]]]], ...] = (
    ("", []),
    ("   \n \n", []),
    ("A cat sat. [1]", [("A cat sat.", (1,))]),
    ("A cat sat [1].", [("A cat sat.", (1,))]),
    ("A cat sat [1]. A dog ran [2].", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("A cat sat. [1] A dog ran. [2]", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("A cat sat [1][3].", [("A cat sat.", (1, 3))]),
    ("A cat sat [1, 3].", [("A cat sat.", (1, 3))]),
    ("A cat sat [3] [1] [3].", [("A cat sat.", (3, 1))]),
    ("A cat sat [4].", [("A cat sat.", ())]),
    ("A cat sat [0] [1].", [("A cat sat.", (1,))]),
    ("A cat sat [2, 99].", [("A cat sat.", (2,))]),
    ("[1] A cat sat.\n[2] A dog ran.", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("It gained 3.5 points [1], e.g. on A.", [("It gained 3.5 points, e.g. on A.", (1,))]),
    ("A cat sat", [("A cat sat", ())]),
    ("[1]", []),
    ("A cat [sat].", [("A cat [sat].", ())]),
    ("- A cat sat [1]\n- A dog ran [2]", [("A cat sat", (1,)), ("A dog ran", (2,))]),
    ("A cat sat. [1][2]. A dog ran.", [("A cat sat.", (1, 2)), ("A dog ran.", ())]),
    ("A cat sat?[1].A dog ran", [("A cat sat?", (1,)), ("A dog ran", ())]),
    ("A cat - not a dog - sat [1].", [("A cat - not a dog - sat.", (1,))]),
    ("-5 degrees [1].", [("-5 degrees.", (1,))]),
    ("[1]. [2]", []),
)

WRITTEN = st.lists(
    st.sampled_from(
        [
            "A cat sat", " A dog ran", "It gained 3.5 points", "e.g.", " vs. ", "et al.", ".", "?",
            "!", " ", "\n", "\r\n", "[1]", " [2]", "[3]", "[1, 2]", "[ 2 ]", " [9]", "[0]", "[12",
            "]", "[", "1", "“", "”", "(a)", "$x. y$", "ö", "🙂", "Dr. ", "...", "- ", "1. ",
        ]
    ),
    max_size=14,
).map("".join)  # fmt: skip
CUTS = st.lists(st.integers(min_value=0, max_value=120), max_size=20)


def pieces(text: str, cuts: list[int]) -> list[str]:
    """`text` cut at some places."""
    at = sorted({cut for cut in cuts if cut < len(text)} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(at)]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences_with_the_notes_they_cite(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert list(drafts([text], 3)) == [Draft(*each) for each in expected]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_character_at_a_time_gives_the_same(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert list(drafts(list(text), 3)) == [Draft(*each) for each in expected]


@settings(deadline=None)
@given(text=WRITTEN, cuts=CUTS)
@example(text="A cat sat. [1] A dog ran.", cuts=[12])
@example(text="A cat sat.[1] A dog ran.", cuts=[10, 11])
def test_any_cutting_of_a_text_gives_the_same_sentences(text: str, cuts: list[int]) -> None:
    assert list(drafts(pieces(text, cuts), 3)) == list(drafts([text], 3))


@settings(deadline=None)
@given(text=WRITTEN, cuts=CUTS, note_count=st.integers(min_value=0, max_value=4))
def test_numbers_that_resolve_to_nothing_are_removed(
    text: str, cuts: list[int], note_count: int
) -> None:
    for draft in drafts(pieces(text, cuts), note_count):
        assert all(1 <= number <= note_count for number in draft.notes)
        assert len(set(draft.notes)) == len(draft.notes)
        assert any(letter.isalnum() for letter in draft.text)
        assert not re.search(r"\[\s*\d+(\s*,\s*\d+)*\s*\]", draft.text)


def test_a_sentence_comes_as_soon_as_the_next_has_begun() -> None:
    read: list[str] = []

    def told() -> Iterator[str]:
        for piece in ["A cat", " sat [1].", " A dog", " ran.", " The", " end."]:
            read.append(piece)
            yield piece

    first = next(drafts(told(), 3))
    assert first == Draft("A cat sat.", (1,))
    assert read == ["A cat", " sat [1].", " A dog"]
