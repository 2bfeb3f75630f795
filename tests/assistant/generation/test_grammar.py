"""What the grammar lets a model write, as llama.cpp reads it."""

import pytest

from assistant.generation.citations import LONGEST_SENTENCE, answer_grammar
from assistant.generation.prompts import SILENT_REPLY
from assistant.models.chat import LlamaCppChatModel
from assistant.models.llama.decoding import _Grammar
from retrieval.encoders import llamacpp

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
    tokens = llamacpp.tokenize(inner, text)
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
