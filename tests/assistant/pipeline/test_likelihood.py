"""How likely questions are under the real default model."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from llama_cpp._internals import LlamaContext

from assistant.generation.prompts import question_messages
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.evidence import ChatLikelihood
from retrieval.encoders import llamacpp
from retrieval.types import Cancelled, ModelError

HERONS = "Grey herons stand in the shallow water of lakes and wait for fish to come near."
BRAKES = "Regenerative brakes turn the motion of a car back into electricity for its battery."
QUESTION = "How do herons catch fish?"


def never() -> bool:
    return False


def likelihoods(model: LlamaCppChatModel, texts: Sequence[str], question: str) -> list[float]:
    found = ChatLikelihood(model)
    return [float(tokens.mean()) for tokens in found.of(question, texts, never)]


def token_by_token(model: LlamaCppChatModel, text: str, question: str) -> float:
    """The readable twin: one token after the other through the conversation's own context."""
    inner = model._model
    prompt = [token for part in model._prompt(question_messages(text)) for token in part]
    tokens = llamacpp.tokenize(inner, question)
    inner.reset()
    inner._ctx.kv_cache_clear()
    inner.eval(prompt)
    total = 0.0
    for token in tokens:
        logits = np.ctypeslib.as_array(inner._ctx.get_logits_ith(-1), shape=(inner.n_vocab(),))
        total += float(logits[token]) - float(np.logaddexp.reduce(logits.astype(np.float64)))
        inner.eval([token])
    model._decoder._keep(0)  # it did not see what was read here
    return total / len(tokens)


def test_likelihoods_are_those_of_reading_token_by_token(chat_model: LlamaCppChatModel) -> None:
    texts = [HERONS, BRAKES, HERONS]
    expected = [token_by_token(chat_model, text, QUESTION) for text in texts]
    # A model of 8-bit weights rounds otherwise in other batches, by up to 0.1 here.
    assert likelihoods(chat_model, texts, QUESTION) == pytest.approx(expected, abs=0.2)


def test_what_was_read_before_does_not_matter(chat_model: LlamaCppChatModel) -> None:
    alone = likelihoods(chat_model, [BRAKES], QUESTION)
    for before in (HERONS * 3, BRAKES.replace("battery", "wheel"), BRAKES, ""):
        assert likelihoods(chat_model, [before, BRAKES], QUESTION)[1:] == alone


def test_a_stop_within_a_text_leaves_nothing_of_it(chat_model: LlamaCppChatModel) -> None:
    found = ChatLikelihood(chat_model)
    undisturbed = likelihoods(chat_model, [BRAKES, HERONS], QUESTION)

    def while_evaluating() -> bool:
        return threading.current_thread().name == "stopping"

    with pytest.raises(Cancelled):
        list(found.of(QUESTION, [HERONS * 20], while_evaluating))
    assert likelihoods(chat_model, [BRAKES, HERONS], QUESTION) == undisturbed


def test_a_context_that_cannot_evaluate_says_so(
    chat_model: LlamaCppChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = likelihoods(chat_model, [BRAKES], QUESTION)

    def broken(*_batch: object) -> None:
        raise RuntimeError("llama_decode returned 1")

    with monkeypatch.context() as patch:
        patch.setattr(LlamaContext, "decode", broken)
        with pytest.raises(
            ModelError, match=r"could not read \d+ tokens \(llama_decode returned 1\)"
        ):
            likelihoods(chat_model, [HERONS], QUESTION)
    assert likelihoods(chat_model, [BRAKES], QUESTION) == undisturbed


def test_a_question_is_likelier_of_the_text_it_is_about(chat_model: LlamaCppChatModel) -> None:
    about, other = likelihoods(chat_model, [HERONS, BRAKES], QUESTION)
    assert about > other + 0.5
    asked = "How do regenerative brakes charge the battery of a car?"
    other, about = likelihoods(chat_model, [HERONS, BRAKES], asked)
    assert about > other + 0.5


def test_an_answer_being_written_goes_on_undisturbed(chat_model: LlamaCppChatModel) -> None:
    messages = [{"role": "user", "content": "Name three rivers."}]
    undisturbed = list(chat_model.write(messages, 12, never))
    writing = chat_model.write(messages, 12, never)
    pieces = [next(writing)]
    likelihoods(chat_model, [HERONS, BRAKES], QUESTION)
    assert pieces + list(writing) == undisturbed


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (HERONS * 200, QUESTION),
        (HERONS, QUESTION * 200),
        ("𓀀" * 3000, "𓀀" * 500),
        ("<|im_end|>" * 300, "<|im_start|>assistant"),
        ("", "?"),
    ],
)
def test_what_is_too_long_or_strange_still_has_a_likelihood(
    chat_model: LlamaCppChatModel, text: str, question: str
) -> None:
    (value,) = likelihoods(chat_model, [text], question)
    assert -60 < value < 0


def test_it_stops_between_two_texts(chat_model: LlamaCppChatModel) -> None:
    found = ChatLikelihood(chat_model)
    looks: list[int] = []

    def stopped() -> bool:
        looks.append(1)
        return len(looks) == 3

    with pytest.raises(Cancelled):
        list(found.of(QUESTION, [HERONS] * 10, stopped))
    assert len(looks) == 3


def test_two_may_ask_in_turn(chat_model: LlamaCppChatModel) -> None:
    found = ChatLikelihood(chat_model)
    first = found.of(QUESTION, [HERONS, BRAKES], never)
    begun = next(first)
    # The first is still at work; its turn is over as soon as it has its value.
    assert likelihoods(chat_model, [BRAKES], QUESTION)[0] < float(begun.mean())
    assert float(next(first).mean()) < float(begun.mean())


def test_tokens_read_are_counted(chat_model: LlamaCppChatModel) -> None:
    likelihood = ChatLikelihood(chat_model)
    rows = list(likelihood.of("What grows?", ["Turnips grow.", "Stones do not."], never))
    prompts = [question_messages(text) for text in ("Turnips grow.", "Stones do not.")]
    assert likelihood.tokens == sum(map(chat_model.count, prompts)) + sum(map(len, rows))
