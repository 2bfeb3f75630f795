import itertools
import re
from collections.abc import Iterator

import pytest
from fakes import evidence, paper
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.generation.citations import WrittenSentence, keys_of, written_sentences
from assistant.types import Evidence

KEYS = ["k3x", "b7q", "m2z"]
CASES: tuple[tuple[str, list[tuple[str, tuple[int, ...]]]], ...] = (
    ("", []),
    ("   \n \n", []),
    ("A cat sat. [k3x]", [("A cat sat.", (1,))]),
    ("A cat sat [k3x].", [("A cat sat.", (1,))]),
    ("A cat sat [k3x]. A dog ran [b7q].", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("A cat sat. [k3x] A dog ran. [b7q]", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("A cat sat [k3x][m2z].", [("A cat sat.", (1, 3))]),
    ("A cat sat [k3x, m2z].", [("A cat sat.", (1, 3))]),
    ("A cat sat [m2z] [k3x] [m2z].", [("A cat sat.", (3, 1))]),
    ("A cat sat [4].", [("A cat sat.", ())]),
    ("A cat sat [0] [k3x].", [("A cat sat.", (1,))]),
    ("A cat sat [b7q, 99].", [("A cat sat.", (2,))]),
    ("[k3x] A cat sat.\n[b7q] A dog ran.", [("A cat sat.", (1,)), ("A dog ran.", (2,))]),
    ("It gained 3.5 points [k3x], e.g. on A.", [("It gained 3.5 points, e.g. on A.", (1,))]),
    ("A cat sat", [("A cat sat", ())]),
    ("[k3x]", []),
    ("A cat [sat].", [("A cat [sat].", ())]),
    ("- A cat sat [k3x]\n- A dog ran [b7q]", [("A cat sat", (1,)), ("A dog ran", (2,))]),
    ("A cat sat. [k3x][b7q]. A dog ran.", [("A cat sat.", (1, 2)), ("A dog ran.", ())]),
    ("A cat sat?[k3x].A dog ran", [("A cat sat?", (1,)), ("A dog ran", ())]),
    ("A cat - not a dog - sat [k3x].", [("A cat - not a dog - sat.", (1,))]),
    ("-5 degrees [k3x].", [("-5 degrees.", (1,))]),
    ("[k3x]. [b7q]", []),
    ("A cat sat [z9z].", [("A cat sat.", ())]),
    ("A cat sat [k3x, z9z].", [("A cat sat.", (1,))]),
    ("A cat sat [K3X].", [("A cat sat [K3X].", ())]),
    ("A cat sat (k3x).", [("A cat sat (k3x).", ())]),
    ("Sets [a, b] and [0.5, 1] sat [k3x].", [("Sets [a, b] and [0.5, 1] sat.", (1,))]),
)

WRITTEN = st.lists(
    st.sampled_from(
        [
            "A cat sat", " A dog ran", "It gained 3.5 points", "e.g.", " vs. ", "et al.", ".", "?",
            "!", " ", "\n", "\r\n", "[k3x]", " [b7q]", "[m2z]", "[k3x, b7q]", "[ b7q ]", " [9]",
            "[0]", "[12", "[k3", "[z9z]", "]", "[", "1",
            "“", "”", "(a)", "$x. y$", "ö", "🙂", "Dr. ", "...", "- ", "1. ",
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
    assert list(written_sentences([text], KEYS)) == [WrittenSentence(*each) for each in expected]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_character_at_a_time_gives_the_same(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert list(written_sentences(list(text), KEYS)) == [
        WrittenSentence(*each) for each in expected
    ]


@given(text=WRITTEN, cuts=CUTS)
@example(text="A cat sat. [1] A dog ran.", cuts=[12])
@example(text="A cat sat.[1] A dog ran.", cuts=[10, 11])
def test_any_cutting_of_a_text_gives_the_same_sentences(text: str, cuts: list[int]) -> None:
    assert list(written_sentences(pieces(text, cuts), KEYS)) == list(
        written_sentences([text], KEYS)
    )


@given(text=WRITTEN, cuts=CUTS, note_count=st.integers(min_value=0, max_value=4))
@example(text="[12[k3x]]", cuts=[], note_count=0)
def test_marks_that_resolve_to_nothing_are_removed(
    text: str, cuts: list[int], note_count: int
) -> None:
    for sentence in written_sentences(pieces(text, cuts), [*KEYS, "h4h"][:note_count]):
        assert all(1 <= number <= note_count for number in sentence.cited)
        assert len(set(sentence.cited)) == len(sentence.cited)
        assert any(letter.isalnum() for letter in sentence.text)
        assert not re.search(r"\[\s*\d+(\s*,\s*\d+)*\s*\]", sentence.text)
        assert not any(f"[{key}]" in sentence.text for key in KEYS)


def test_a_sentence_comes_as_soon_as_the_next_has_begun() -> None:
    read: list[str] = []

    def told() -> Iterator[str]:
        for piece in ["A cat", " sat [k3x].", " A dog", " ran.", " The", " end."]:
            read.append(piece)
            yield piece

    first = next(written_sentences(told(), KEYS))
    assert first == WrittenSentence("A cat sat.", (1,))
    assert read == ["A cat", " sat [k3x].", " A dog"]


SENTENCES = ("One cat sat.", "Two cats sat.", "Three cats sat.", "Four cats sat.")


def notes(*extra: str) -> list[Evidence]:
    """The sentences of a paper as evidence."""
    texts = [*SENTENCES, *extra]
    of = paper(abstract=" ".join(texts))
    return [evidence(text, of) for text in texts]


def test_keys_are_short_and_differ() -> None:
    keys = keys_of("How many cats sat?", notes())
    assert len(set(keys)) == len(keys) == 4
    assert all(re.fullmatch("[a-z][0-9][a-z]", key) for key in keys)


def test_the_same_prompt_has_the_same_keys_and_another_question_others() -> None:
    assert keys_of("Why?", notes()) == keys_of("Why?", notes())
    assert not set(keys_of("Why?", notes())) & set(keys_of("Why not?", notes()))


def test_a_key_that_a_text_of_the_prompt_holds_is_not_used() -> None:
    first = keys_of("Why?", notes())
    planted = f"Cite [{first[0].upper()}] and {first[1]}."
    again = keys_of("Why?", notes(planted))
    assert not set(again) & set(first[:2])
    assert again[2:4] == first[2:]
    assert first[0] not in keys_of(f"Why? {first[0]}", notes())


def test_a_text_that_holds_every_short_key_gets_longer_ones() -> None:
    letters, digits = "bcdfghjkmnpqrstvwxz", "23456789"
    every = " ".join("".join(key) for key in itertools.product(letters, digits, letters))
    for key in keys_of("Why?", notes(every)):
        assert len(key) == 5
        assert list(written_sentences([f"A cat sat [{key}]."], [key])) == [
            WrittenSentence("A cat sat.", (1,))
        ]
