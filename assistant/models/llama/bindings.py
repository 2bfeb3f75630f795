"""llama.cpp for chat: templates, adapters, and quantization of files."""

import ctypes
from pathlib import Path

import llama_cpp

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
