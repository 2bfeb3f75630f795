"""What the grammar lets a model write, as llama.cpp reads it."""

import pytest

from assistant.answer_grammar import (
    LONGEST_SENTENCE,
    Cuts,
    answer_grammar,
    excerpt_grammar,
)
from assistant.chat_model import LlamaCppChatModel
from assistant.prompting import SILENT_REPLY
from retrieval import llamacpp
from retrieval.decoding import _Grammar

KEYS = ["k3x", "b7q"]
GRAMMAR = answer_grammar(KEYS, 3)
GOOD = (
    SILENT_REPLY,
    "A cat sat down. [k3x]",
    "A cat sat down [k3x].",
    "A cat sat down. [k3x] [b7q]",
    "A cat sat down. [k3x][b7q]",
    "A cat sat down? [k3x] A dog ran away. [b7q] It rained hard [k3x].",
    "It gains 3.5% (e.g. on A, i.e. twice) vs. the best of Smith et al. in 2023. [k3x]",
    "It needs $\\mathcal{O}(n^{1.5} \\log n)$ steps, p < 0.05. [k3x]",
    "“Quoted” text, naïve: 数学 and v2.0.1-beta. [b7q]",
    "$\\epsilon$-greedy wins. [k3x]",
    "A" * (LONGEST_SENTENCE + 1) + ". [k3x]",
)
BAD = (
    "",
    "A cat sat down.",
    "A cat sat down. [z9z]",
    "A cat sat down. [1]",
    "A cat sat down. A dog ran away. [k3x]",
    "A cat sat down. [k3x] A dog ran away. [b7q] It rained hard. [k3x] It was very wet. [b7q]",
    "A cat\nsat down. [k3x]",
    "[k3x] A cat sat down. [k3x]",
    "A cat [k3x] sat down. [k3x]",
    "<think>A cat sat down. [k3x]",
    "Cat. [k3x]",
    "A" * (LONGEST_SENTENCE + 2) + ". [k3x]",
    "A cat sat down. [k3x] [b7q] [k3x]",
)


def follows(model: LlamaCppChatModel, text: str, rules: str = GRAMMAR) -> bool:
    """Whether the grammar takes every token of `text`, and its end behind it."""
    inner = model._model
    grammar = _Grammar(inner._model.vocab, rules)
    tokens = llamacpp.tokenize(inner, text, add_bos=False, special=False)
    try:
        for token in [*tokens, inner.token_eos()]:
            if grammar.first_allowed([token]) is None:
                return False
            if token != inner.token_eos():
                grammar.accept(token)
    finally:
        grammar.close()
    return True


@pytest.mark.parametrize("text", GOOD, ids=lambda text: text[:40])
def test_what_may_be_written(chat_model: LlamaCppChatModel, text: str) -> None:
    assert follows(chat_model, text)


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:40])
def test_what_may_not(chat_model: LlamaCppChatModel, text: str) -> None:
    assert not follows(chat_model, text)


def cuts(text: str, starts: tuple[int, ...] = (), ends: tuple[int, ...] = ()) -> Cuts:
    return Cuts(tuple(text.split()), frozenset(starts), frozenset(ends))


NOTE = cuts(
    r'It "halves" the error of networks, on $25.26\%$ of phones.', starts=(2, 6), ends=(2, 5)
)
GRAMMAR_OF_NOTE = excerpt_grammar(NOTE, may_be_silent=True)
EXCERPTS = (
    SILENT_REPLY,
    r'It "halves" the error of networks, on $25.26\%$ of phones.',
    'It "halves" the error of networks.',
    "The error of networks.",
    r"On $25.26\%$ of phones.",
)
NO_EXCERPTS = (
    "",
    'It "halves" the.',
    "The error of.",
    r"Error of networks, on $25.26\%$ of phones.",
    "the error of networks.",
    "The error of networks",
    "The networks of error.",
    "It halves the error of networks.",
    "THE error of networks.",
    r"On $25\%$ of phones.",
    "The error of networks. The error of networks.",
    "The error of networks. [1]",
    "Yes, the error of networks.",
)


@pytest.mark.parametrize("text", EXCERPTS)
def test_an_excerpt_is_words_between_two_cuts(chat_model: LlamaCppChatModel, text: str) -> None:
    assert follows(chat_model, text, GRAMMAR_OF_NOTE)


@pytest.mark.parametrize("text", NO_EXCERPTS)
def test_nothing_else_is_one(chat_model: LlamaCppChatModel, text: str) -> None:
    assert not follows(chat_model, text, GRAMMAR_OF_NOTE)


def test_the_grammar_allows_what_is_listed_and_no_more(chat_model: LlamaCppChatModel) -> None:
    listed, words = set(NOTE.excerpts()), NOTE.words
    for first in range(len(words)):
        for last in range(first, len(words)):
            text = f"{' '.join(words[first : last + 1]).rstrip('.,')}."
            text = f"{text[0].upper()}{text[1:]}"
            assert follows(chat_model, text, GRAMMAR_OF_NOTE) == (text in listed)


def test_silence_is_allowed_only_where_it_is_asked_for(chat_model: LlamaCppChatModel) -> None:
    grammar = excerpt_grammar(NOTE, may_be_silent=False)
    assert not follows(chat_model, SILENT_REPLY, grammar)
    assert follows(chat_model, "The error of networks.", grammar)


@pytest.mark.parametrize("note", ["Fast.", "", "a b c d", '\\ " é 中文 word end'])
def test_any_sentence_makes_a_grammar(chat_model: LlamaCppChatModel, note: str) -> None:
    assert follows(chat_model, SILENT_REPLY, excerpt_grammar(cuts(note), may_be_silent=True))


def test_what_may_be_cut_out_is_listed() -> None:
    assert list(NOTE.excerpts()) == [
        'It "halves" the error of networks.',
        r'It "halves" the error of networks, on $25.26\%$ of phones.',
        "The error of networks.",
        r"The error of networks, on $25.26\%$ of phones.",
        r"On $25.26\%$ of phones.",
    ]
    assert list(cuts("Too few words.").excerpts()) == []


@pytest.mark.parametrize(
    ("sentence", "excerpt"),
    [
        ("the method is fast:", "The method is fast."),
        ("(It works well here.)", "(It works well here.)"),
        ('They say "it works well."', 'They say "it works well."'),
        ("k-means and iVoro are fast", "k-means and iVoro are fast."),
        ("iVoro is faster than this", "iVoro is faster than this."),
        ("p53 is a tumour suppressor!", "p53 is a tumour suppressor!"),
        ("a method is proposed here.", "A method is proposed here."),
    ],
)
def test_a_whole_sentence_begins_and_ends_as_one(sentence: str, excerpt: str) -> None:
    assert list(cuts(sentence).excerpts()) == [excerpt]


def test_a_question_says_nothing() -> None:
    assert list(cuts("We ask: does depth help (in practice?)", starts=(2,)).excerpts()) == []
