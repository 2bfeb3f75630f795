"""Sentence boundaries, checked on what scholarly text is full of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One here. Two there.", ["One here.", "Two there."]),
        ("Smith et al. show it. It holds.", ["Smith et al. show it.", "It holds."]),
        ("We use e.g. BERT, i.e. a net. Good.", ["We use e.g. BERT, i.e. a net.", "Good."]),
        ("CNNs vs. RNNs are compared. Fine.", ["CNNs vs. RNNs are compared.", "Fine."]),
        ("It gets 67.12% with 3.5 bits. Done.", ["It gets 67.12% with 3.5 bits.", "Done."]),
        ("The bound $O(n. m)$ holds. Yes.", ["The bound $O(n. m)$ holds.", "Yes."]),
        ("Let $x = 1.$ Then we go.", ["Let $x = 1.$", "Then we go."]),
        ("By Eq. 4 it holds. Cf. Theorem 2.", ["By Eq. 4 it holds.", "Cf. Theorem 2."]),
        (
            "Two fixes: 1. consolidation and 2. consistency. We test both.",
            ["Two fixes: 1. consolidation and 2. consistency.", "We test both."],
        ),
        (
            "It has levels: (1) The first. (2) The second.",
            ["It has levels: (1) The first.", "(2) The second."],
        ),
        ("It runs w.r.t. the loss. OK.", ["It runs w.r.t. the loss.", "OK."]),
        ("We call it iVoro. iVoro is good.", ["We call it iVoro.", "iVoro is good."]),
        ("Does it work? It does!", ["Does it work?", "It does!"]),
        ("", []),
        ("   ", []),
    ],
)
def test_boundaries(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


@given(st.text(max_size=300))
def test_offsets_are_exact_and_nothing_but_space_is_lost(text: str) -> None:
    covered = ""
    end = 0
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip()
        assert not text[end : sentence.start].strip()
        covered += sentence.text
        end = sentence.end
    assert not text[end:].strip()


@given(st.text(alphabet="ab .$()12i[]\n", max_size=120))
def test_offsets_hold_among_formulas_and_enumerations(text: str) -> None:
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
