"""Sentence boundaries, checked on what scholarly text is full of."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.splitting import split_sentences
from retrieval.types import Record


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        # abbreviations
        "Our method (e.g. SGD) works, i.e. it converges.",
        "As Smith et al. show, it holds.",
        "We compare Adam vs. SGD on images.",
        "See Fig. 3 and Eq. 4 for the bound.",
        "It holds by Thm. 2 of Sec. 5 there.",
        "It is smooth w.r.t. the weights of the model.",
        "Samples are i.i.d. and bounded (resp. finite).",
        "It takes approx. ten steps.",
        "Models a.k.a. networks learn.",
        # numbers
        "Accuracy rises from 0.721 to 0.821 on CIFAR10.",
        "It is 1.5x faster, v2.0 even 3.2x.",
        "Errors fall by 3.5%.",
        # enumerations
        "We ask: (1) does it learn, (2) does it last, and (3) why?",
        "We show that 1) it learns, 2) it lasts.",
        "We show (i) that it learns and (ii) that it lasts.",
        "It has three parts: a) the encoder, b) the decoder.",
        "Contributions: 1. we learn, 2. we last.",
        # formulas and links
        "The rate is $O(1/\\sqrt{n}. T)$ in all cases.",
        "With $f(x) = 1. Then$ inside, it is one sentence.",
        "Code is at https://a.org/b.html?x=1.5 and there.",
        "Two fixes: 1. consolidation and 2. consistency.",
        "Code: https://github.com/a/b.c is public.",
    ],
)
def test_a_full_stop_inside_does_not_end_a_sentence(text: str) -> None:
    assert texts(text) == [text]


@pytest.mark.parametrize(
    "sentences",
    [
        ["We learn.", "It lasts."],
        ["Does it learn?", "It does!", "We show why."],
        ["Code is at https://a.org/b.", "Data too."],
        ["This was shown by Smith et al.", "We extend it."],
        ["The rate is $O(n)$.", "It is tight."],
        ["We have $x = 1.$", "Then it follows."],
        ["Results are in Fig. 3.", "They hold."],
        ["It beats GPT-3.5.", "By far."],
        ["We cover images, text, etc.", "Our code is public."],
        ["It is 90% right.", "5 of 6 agree."],
        ["By Eq. 4 it holds.", "Cf. Theorem 2."],
        ["It has levels: (1) The first.", "(2) The second."],
        ["We call it iVoro.", "iVoro is good."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    assert texts(" ".join(sentences)) == sentences


def test_offsets_count_characters_not_bytes() -> None:
    text = "  Ünïcödé 🙂 first.  日本 second. "
    assert [(s.start, s.end, text[s.start : s.end]) for s in split_sentences(text)] == [
        (2, 18, "Ünïcödé 🙂 first."),
        (20, 30, "日本 second."),
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_nothing_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


PIECES = (
    *("We learn", "e.g.", "et al.", ".", "!", "?", " ", "\n", "\r\n", "$x. y$", "$", "(1)", "2)"),
    *(
        "0.5",
        "https://a.org.",
        "…",
        "“Quote.”",
        "日本。",
        "\u2028",
        "\x85",
        "\x00",
        "🙂",
        "e\u0301",
    ),
)
PROSE = st.lists(st.sampled_from(PIECES)).map("".join)


@given(st.one_of(st.text(), PROSE))
def test_offsets_are_exact_and_only_space_is_lost(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert not text[at : sentence.start].strip()
        at = sentence.end
    assert not text[at:].strip()


def test_no_sentence_of_the_seeds_is_split_inside_a_formula(seed_records: list[Record]) -> None:
    for record in seed_records:
        if record.abstract.count("$") % 2 == 0:
            for sentence in split_sentences(record.abstract):
                assert sentence.text.count("$") % 2 == 0, sentence.text


@pytest.mark.parametrize("mark", ["`", "“", "?`", "«a"])
def test_many_quotation_marks_take_no_longer_than_their_number(mark: str) -> None:
    text = f"One. {mark * 100_000} Two."
    started = time.process_time()
    sentences = split_sentences(text)
    assert time.process_time() - started < 10
    assert all(text[each.start : each.end] == each.text for each in sentences)


def test_a_hyphenated_name_in_brackets_does_not_hide_the_next_sentences() -> None:
    text = "We train a large model (ViT-e) on images. It covers 100 languages. It is simple."
    assert [each.text for each in split_sentences(text)] == text.replace(". ", ".|").split("|")
