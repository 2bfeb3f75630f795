"""llama.cpp for chat: templates, adapters, likelihoods, and quantization of files."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

import llama_cpp
import numpy as np
from llama_cpp._internals import LlamaContext
from numpy.typing import NDArray

from assistant.models.llama.chat_template import ChatTemplate, Messages
from retrieval.encoders import llamacpp
from retrieval.types import ModelError, ModelFetchError

FILE_TYPES = ("Q8_0", "BF16", "F16")
"""The types that `quantize` can write, by llama.cpp's name."""


def attach_adapter(model: llama_cpp.Llama, adapter: Path) -> None:
    """Have `model` write with an adapter (LoRA); its likelihoods do not change.

    Raises `ModelError` if the file is missing, damaged, or made for another model or llama.cpp.
    """
    llamacpp.silence()
    loaded = llama_cpp.llama_adapter_lora_init(model._model.model, str(adapter).encode())
    if not loaded:  # if it is, llama.cpp frees it with the model
        raise ModelError(
            f"llama.cpp cannot load the adapter {adapter}; the file may be damaged, or made for "
            "another model or another version of llama.cpp."
        )
    adapters = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(loaded)
    scales = (ctypes.c_float * 1)(1.0)
    if llama_cpp.llama_set_adapters_lora(model._ctx.ctx, adapters, 1, scales):
        raise ModelError(f"llama.cpp cannot use the adapter {adapter} with this model.")


def chat_template(model: llama_cpp.Llama) -> ChatTemplate:
    """The model's own chat template; `ModelError` if it has none, or an unusable one."""
    header = llamacpp.metadata(model)
    source = header.get("tokenizer.chat_template")
    if source is None:
        raise ModelError(
            f"The model {header.get('general.name', '')!r} has no chat template; "
            "choose a model made for chat (an “instruct” model)."
        )
    bos, eos = (
        model._model.token_get_text(token) if token >= 0 else ""
        for token in (model.token_bos(), model.token_eos())
    )
    return ChatTemplate(source, bos=bos, eos=eos)


def chat_prompt(
    model: llama_cpp.Llama, template: ChatTemplate, messages: Messages, *, think: bool = False
) -> list[list[int]]:
    """The token ids of a conversation, in parts: one a message, from the second on.

    Only the template's own marks become control tokens; a role mark spelled out in a message is
    read as plain text. Raises `ModelError` if the template cannot take these messages.
    """
    parts = template.parts(messages, think=think)
    adds_bos = llama_cpp.llama_vocab_get_add_bos(model._model.vocab)
    prompt = [[model.token_bos()] if adds_bos and not template.begins_with_bos(parts) else []]
    messages_read = 0
    for part in parts:
        messages_read += part.is_message
        if part.is_message and messages_read > 1:
            prompt.append([])
        prompt[-1] += llamacpp.tokenize(model, part.text, special=not part.is_message)
    return prompt


class LikelihoodContext:
    """A context of its own on a loaded model's weights, for the likelihood of texts after others.

    Conversations in the model's own context keep what they have read. Not thread-safe.
    """

    def __init__(self, model: llama_cpp.Llama, *, tokens: int) -> None:
        """Make room for `tokens`, shared by a prompt and its text.

        Raises `ModelError` if memory is short.
        """
        parameters = llama_cpp.llama_context_params.from_buffer_copy(model.context_params)
        parameters.n_ctx = parameters.n_batch = tokens
        llamacpp.silence()
        try:
            self._context = LlamaContext(model=model._model, params=parameters, verbose=False)
        except ValueError as error:
            raise ModelError(
                f"There is not enough memory for a context of {tokens} tokens; "
                "close other programs or choose a smaller model."
            ) from error
        self._vocabulary = model.n_vocab()
        self._kept: tuple[int, ...] = ()

    def log_probabilities(
        self,
        frame: Sequence[int],
        prompt: Sequence[int],
        text: Sequence[int],
        stopped: llamacpp.Stopped,
    ) -> NDArray[np.float32]:
        """log P of each token of `text` after `frame`, `prompt` and the tokens before it (natural).

        Logits are computed for the text alone. The last digits of a token's numbers depend on the
        other tokens of its batch. So the frame is always one batch, kept for the next prompt, and
        the rest is another: the same question gives the same bytes whatever was asked before.

        Args:
            frame: token ids that many prompts begin with; may be empty.
            prompt: token ids that follow it, at least one.
            text: token ids, at least one; with frame and prompt at most `tokens`.
            stopped: checked while they are read, see `llamacpp.evaluate` for the errors.

        Returns:
            Shape (len(text),).
        """
        self._keep(tuple(frame), stopped)
        self._kept = ()  # an incomplete batch spoils the context
        tokens = [*prompt, *text[:-1]]
        llamacpp.evaluate(
            self._context, tokens, at=len(frame), silent=len(prompt) - 1, stopped=stopped
        )
        self._kept = tuple(frame)
        rows: NDArray[np.float32] = np.ctypeslib.as_array(
            self._context.get_logits(), shape=(len(text), self._vocabulary)
        )
        highest = rows.max(axis=1)
        normalizers = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=1))
        chosen: NDArray[np.float32] = rows[np.arange(len(text)), list(text)] - normalizers
        return chosen

    def _keep(self, frame: tuple[int, ...], stopped: llamacpp.Stopped) -> None:
        """Forget everything after `frame`; read `frame` if it was not read."""
        if self._kept == frame != () and self._context.kv_cache_seq_rm(0, len(frame), -1):
            return
        self._context.kv_cache_clear()  # also where a recurrent model cannot forget a part
        self._kept = ()
        if frame:
            llamacpp.evaluate(self._context, frame, silent=len(frame) - 1, stopped=stopped)
            self._kept = frame


def quantize(source: Path, target: Path, file_type: str, *, threads: int) -> None:
    """Write `source` as `target` in another type of `FILE_TYPES`.

    Raises `ModelFetchError` if llama.cpp could not read or write; it does not say why.
    """
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{file_type}")
    parameters.allow_requantize = True
    parameters.nthread = threads
    llamacpp.silence()
    code = llama_cpp.llama_model_quantize(
        str(source).encode(), str(target).encode(), ctypes.byref(parameters)
    )
    if code != 0:
        raise ModelFetchError(
            f"llama.cpp could not convert {source.name} to {file_type}, most likely because the "
            f"disk of {target.parent} or the memory is full; free some of it and try again."
        )
