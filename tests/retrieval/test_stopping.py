"""Evaluations of the real default model, ended before they are complete."""

import threading
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from retrieval.encoders import llamacpp
from retrieval.encoders.llamacpp import ending_early
from retrieval.types import Cancelled

TOKENS = list(range(1000, 1400))


@pytest.fixture(scope="module")
def model(chat_model_path: Path) -> Iterator[llama_cpp.Llama]:
    model = llamacpp.load(chat_model_path, context=512, threads=1)
    yield model
    model.close()


def logits(model: llama_cpp.Llama) -> bytes:
    """What the model makes of `TOKENS`, to the last bit."""
    model.reset()
    model.eval(TOKENS)
    row = model._ctx.get_logits_ith(-1)
    return np.ctypeslib.as_array(row, shape=(model.n_vocab(),)).tobytes()


def never() -> bool:
    return False


def test_an_evaluation_is_ended_while_it_runs(model: llama_cpp.Llama) -> None:
    whole = logits(model)
    model.reset()
    with pytest.raises(Cancelled), ending_early(model._ctx, lambda: True):
        model.eval(TOKENS)
    assert model.n_tokens == 0
    assert logits(model) == whole


def test_looking_does_not_change_what_is_computed(model: llama_cpp.Llama) -> None:
    whole = logits(model)
    with ending_early(model._ctx, never):
        assert logits(model) == whole


def test_a_stop_ends_nothing_behind_the_block(model: llama_cpp.Llama) -> None:
    looked = threading.Event()

    def stopped() -> bool:
        looked.set()
        return True

    with ending_early(model._ctx, stopped):
        assert looked.wait(timeout=60)
    assert logits(model)


def test_it_is_asked_from_another_thread_that_ends_with_the_block(model: llama_cpp.Llama) -> None:
    asked: list[threading.Thread] = []

    def stopped() -> bool:
        asked.append(threading.current_thread())
        return False

    with ending_early(model._ctx, stopped):
        logits(model)
    assert asked
    assert threading.current_thread() not in asked
    assert not any(thread.is_alive() for thread in asked)


def test_other_failures_stay_what_they_are(model: llama_cpp.Llama) -> None:
    with (
        pytest.raises(RuntimeError, match="llama_decode returned 1"),
        ending_early(model._ctx, never),
    ):
        raise RuntimeError("llama_decode returned 1")
