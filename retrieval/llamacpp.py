"""llama.cpp: loading, reading and quantizing GGUF models; `decoding` writes with them.

Its errors stop here: what leaves is a `ModelError` with one sentence, or a plain value.
"""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import llama_cpp
import numpy as np
import psutil
from llama_cpp._internals import LlamaBatch, LlamaContext
from llama_cpp._utils import suppress_stdout_stderr
from numpy.typing import NDArray

from retrieval.chat_template import ChatTemplate, Messages
from retrieval.errors import ModelError, ModelFetchError
from retrieval.stopping import ending_early

GGUF_MAGIC = b"GGUF"

FILE_TYPES = {
    "Q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0,
    "BF16": llama_cpp.LLAMA_FTYPE_MOSTLY_BF16,
    "F16": llama_cpp.LLAMA_FTYPE_MOSTLY_F16,
}
"""The types that `quantize` can write, by the name that llama.cpp gives them."""

_MARK = re.compile(r"[<\[].+[>\]]", re.DOTALL)
"""What marks of templates look like."""
MEMORY_HEADROOM_BYTES = 256 * 2**20
_AS_THE_FILE_SAYS = llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED


def check_model_file(path: Path) -> None:
    """Refuse what cannot be a model before llama.cpp is asked to load it.

    Raises:
        ModelError: `path` is missing, no GGUF, or larger than the free memory.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelError(
            f"The model {path} cannot be read ({error.strerror}); "
            "give the path of a GGUF file that exists."
        ) from error
    if magic != GGUF_MAGIC:
        raise ModelError(
            f"{path} is not a GGUF model (it starts with {magic!r}, expected {GGUF_MAGIC!r}); "
            "give a file that llama.cpp can load."
        )
    needed = path.stat().st_size + MEMORY_HEADROOM_BYTES
    available = psutil.virtual_memory().available
    if needed > available:
        raise ModelError(
            f"The model {path.name} needs about {needed / 2**30:.1f} GiB of memory but "
            f"{available / 2**30:.1f} GiB are free; choose a smaller model or quantization, "
            "or close other programs."
        )


def load(
    path: Path, *, context: int, threads: int, embedding: bool = False, pooling: bool = True
) -> llama_cpp.Llama:
    """Load a GGUF model with flash attention.

    Args:
        path: the GGUF file.
        context: tokens of context; an embedding model takes one text of at most this length.
        threads: threads for prompts and for writing.
        embedding: load for vectors instead of text.
        pooling: whether an embedding model gives one vector a text, as its file says; else one a
            token, see `TokenVectors`.

    Raises:
        ModelError: the file is no usable model or memory is short.
    """
    check_model_file(path)
    silence()
    _avoid_amx()
    try:
        return llama_cpp.Llama(
            str(path),
            n_ctx=context,
            n_batch=512,
            n_ubatch=512,
            n_threads=threads,
            n_threads_batch=threads,
            flash_attn=True,
            embedding=embedding,
            pooling_type=_AS_THE_FILE_SAYS if pooling else llama_cpp.LLAMA_POOLING_TYPE_NONE,
            verbose=False,
        )
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        raise ModelError(
            f"llama.cpp cannot load {path} ({error}); the file may be damaged, of an unsupported "
            "architecture, or too large for this machine's memory: try another GGUF file."
        ) from error


def attach_adapter(model: llama_cpp.Llama, adapter: Path) -> None:
    """Have `model` write with an adapter (LoRA) of its own; its likelihoods stay as they are.

    Raises:
        ModelError: the file is missing, damaged, or made for another model or llama.cpp.
    """
    silence()
    loaded = llama_cpp.llama_adapter_lora_init(model._model.model, str(adapter).encode())
    if not loaded:  # llama.cpp frees it with the model
        raise ModelError(
            f"llama.cpp cannot load the adapter {adapter}; the file may be damaged, or made for "
            "another model or another version of llama.cpp."
        )
    adapters = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(loaded)
    scales = (ctypes.c_float * 1)(1.0)
    if llama_cpp.llama_set_adapters_lora(model._ctx.ctx, adapters, 1, scales):
        raise ModelError(f"llama.cpp cannot use the adapter {adapter} with this model.")


def metadata(model: llama_cpp.Llama) -> dict[str, str]:
    """The GGUF header's key-value pairs, all as text."""
    return dict(model.metadata)


def context_trained(model: llama_cpp.Llama) -> int:
    """Tokens of context that the model was trained for."""
    return int(model._model.n_ctx_train())


def sentence_vector(model: llama_cpp.Llama, text: str) -> NDArray[np.float32]:
    """The unit vector of `text`, shape (dimensions,); text beyond the context is not read."""
    return np.asarray(model.embed(text, normalize=True, truncate=True), dtype=np.float32)


def vocabulary(model: llama_cpp.Llama) -> list[str]:
    """The text of every token by its id, as the GGUF file spells it; control tokens are empty."""
    control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL
    vocab = model._model.vocab
    return [
        ""
        if llama_cpp.llama_vocab_get_attr(vocab, token) & control
        else llama_cpp.llama_vocab_get_text(vocab, token).decode("utf-8")
        for token in range(model.n_vocab())
    ]


def tokenize(model: llama_cpp.Llama, text: str, *, add_bos: bool, special: bool) -> list[int]:
    """Token ids of `text`; `special` reads control tokens written out in the text as such."""
    cuts = [] if special else [mark.start() + 1 for mark in _user_marks(model).finditer(text)]
    tokens: list[int] = []
    for start, end in pairwise([0, *cuts, len(text)]):
        part = text[start:end].encode("utf-8")
        tokens += model.tokenize(part, add_bos=add_bos and start == 0, special=special)
    return tokens


_marks_of: WeakKeyDictionary[llama_cpp.Llama, re.Pattern[str]] = WeakKeyDictionary()


def _user_marks(model: llama_cpp.Llama) -> re.Pattern[str]:
    """Where a mark like `<|user|>` begins that the model's file calls user-defined.

    Some files have role marks of that kind; llama.cpp reads these in any text, however it is asked
    to. Text is therefore cut behind their first letter, and each part is tokenized by itself.
    """
    if model not in _marks_of:
        vocab = model._model.vocab
        texts = [
            llama_cpp.llama_vocab_get_text(vocab, token).decode("utf-8", "replace")
            for token in range(model.n_vocab())
            if llama_cpp.llama_vocab_get_attr(vocab, token)
            & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        ]
        marks = [re.escape(text) for text in texts if _MARK.fullmatch(text)]
        # Looked ahead for: one mark may begin inside another.
        _marks_of[model] = re.compile(f"(?={'|'.join(marks)})" if marks else r"(?!)")
    return _marks_of[model]


def chat_template(model: llama_cpp.Llama) -> ChatTemplate:
    """The model's own template.

    Raises:
        ModelError: it has none, or one that cannot be used.
    """
    header = metadata(model)
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
    """The token ids of a conversation, in parts that begin where a message but the first does.

    Only the template's own marks become control tokens: a message that spells one out, such as a
    role mark, is read as plain text.

    Raises:
        ModelError: the template cannot take these messages.
    """
    parts = template.parts(messages, think=think)
    prompt: list[list[int]] = [[]]
    if llama_cpp.llama_vocab_get_add_bos(model._model.vocab) and not template.begins_with_bos(
        parts
    ):
        prompt[0].append(model.token_bos())
    messages_read = 0
    for part in parts:
        messages_read += part.is_message
        if part.is_message and messages_read > 1:
            prompt.append([])
        prompt[-1] += tokenize(model, part.text, add_bos=False, special=not part.is_message)
    return prompt


class LikelihoodContext:
    """How likely texts are after others, under a loaded model.

    It has a context of its own on the same weights: what a conversation has read stays read. Not
    thread-safe.
    """

    def __init__(self, model: llama_cpp.Llama, *, tokens: int, threads: int) -> None:
        """Make room for `tokens`, which a prompt and its text share.

        Raises:
            ModelError: memory is short.
        """
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = tokens
        parameters.n_ubatch = 512
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        silence()
        try:
            self._context = LlamaContext(model=model._model, params=parameters, verbose=False)
        except ValueError as error:
            raise ModelError(
                f"There is not enough memory for a context of {tokens} tokens; "
                "close other programs or choose a smaller model."
            ) from error
        self._batch = LlamaBatch(n_tokens=tokens, embd=0, n_seq_max=1, verbose=False)
        self._vocabulary = model.n_vocab()
        self._kept: tuple[int, ...] = ()
        self.tokens = tokens

    def log_probabilities(
        self,
        frame: Sequence[int],
        prompt: Sequence[int],
        text: Sequence[int],
        stopped: Callable[[], bool],
    ) -> NDArray[np.float32]:
        """log P of each token of `text` after `frame`, `prompt` and the tokens before it (natural).

        Logits are computed for the text alone. What a token is computed in one batch with moves its
        numbers in their last digits, so the frame is always a batch of its own, which is kept for
        the next prompt, and all else is another: the same question gives the same bytes whatever
        was asked before.

        Args:
            frame: token ids with which many prompts begin; may be empty.
            prompt: token ids that follow it, at least one.
            text: token ids, at least one; with frame and prompt at most `tokens`.
            stopped: looked at while they are read.

        Returns:
            Shape (len(text),).

        Raises:
            Cancelled: `stopped()` became true.
            ModelError: the model cannot evaluate them.
        """
        self._keep(tuple(frame), stopped)
        self._evaluate([*prompt, *text[:-1]], stopped, at=len(frame), silent=len(prompt) - 1)
        rows: NDArray[np.float32] = np.ctypeslib.as_array(
            self._context.get_logits(), shape=(len(text), self._vocabulary)
        )
        highest = rows.max(axis=1)
        normalizers = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=1))
        chosen: NDArray[np.float32] = rows[np.arange(len(text)), list(text)] - normalizers
        return chosen

    def _keep(self, frame: tuple[int, ...], stopped: Callable[[], bool]) -> None:
        """Forget all that was read but for `frame`; read that if it was not."""
        if self._kept == frame != () and self._context.kv_cache_seq_rm(0, len(frame), -1):
            return
        self._context.kv_cache_clear()  # also where a recurrent model cannot forget a part
        self._kept = ()
        if frame:
            self._evaluate(frame, stopped, at=0, silent=len(frame) - 1)
            self._kept = frame

    def _evaluate(
        self, tokens: Sequence[int], stopped: Callable[[], bool], *, at: int, silent: int
    ) -> None:
        """Read `tokens` from position `at`; the first `silent` of them give no logits."""
        batch = self._batch.batch
        batch.n_tokens = len(tokens)
        for place, token in enumerate(tokens):
            batch.token[place] = token
            batch.pos[place] = at + place
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = place >= silent
        kept, self._kept = self._kept, ()  # a batch not read to its end spoils what was read
        try:
            with ending_early(self._context, stopped):
                self._context.decode(self._batch)
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp could not go on ({error}); close other programs if memory is short, "
                "then ask again."
            ) from error
        self._kept = kept


class TokenVectors:
    """The vector of every token of a text, under an encoder loaded without pooling.

    Not thread-safe.
    """

    def __init__(self, model: llama_cpp.Llama) -> None:
        """Read with `model`, at most as many tokens at once as its context has."""
        self._context = model._ctx
        self._size = model.n_embd()
        self._batch = LlamaBatch(n_tokens=model.n_ctx(), embd=0, n_seq_max=1, verbose=False)

    def of(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of `tokens` (ids, at least one), read together; shape (tokens, dimensions).

        Raises:
            ModelError: the model cannot evaluate them.
        """
        batch = self._batch.batch
        batch.n_tokens = len(tokens)
        for place, token in enumerate(tokens):
            batch.token[place] = token
            batch.pos[place] = place
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = True
        try:
            self._context.kv_cache_clear()
            self._context.decode(self._batch)
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp could not read {len(tokens)} tokens ({error}); close other programs "
                "if memory is short, then ask again."
            ) from error
        vectors = llama_cpp.llama_get_embeddings(self._context.ctx)
        return np.ctypeslib.as_array(vectors, shape=(len(tokens), self._size)).copy()


def step_seconds(model: llama_cpp.Llama, steps: Sequence[Sequence[int]]) -> Iterator[float]:
    """Evaluate each of `steps` (token ids) after the one before, yielding the seconds it took.

    The model first forgets what it has read. A step of many tokens is reading, of one is writing.
    """
    model.reset()
    for step in steps:
        started = perf_counter()
        model.eval(step)
        yield perf_counter() - started


def quantize(source: Path, target: Path, file_type: str, *, threads: int) -> None:
    """Write `source` again as `target` in another type of `FILE_TYPES`.

    Raises:
        ModelFetchError: llama.cpp could not read or write (a full disk, say).
    """
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = FILE_TYPES[file_type]
    parameters.allow_requantize = True
    parameters.nthread = threads
    silence()
    code = llama_cpp.llama_model_quantize(
        str(source).encode(), str(target).encode(), ctypes.byref(parameters)
    )
    if code != 0:
        target.unlink(missing_ok=True)
        raise ModelFetchError(
            f"llama.cpp could not write {target.name} as {file_type} (code {code}); "
            f"check that {target.parent} has room for it and try again."
        )


def fastest_half() -> str:
    """The type of sixteen bits, of `FILE_TYPES`, that this processor multiplies fastest.

    With AVX-512's instructions for BF16 an encoder reads with it in 0.72 of the time of F16.
    """
    return "BF16" if b"AVX512_BF16 = 1" in llama_cpp.llama_print_system_info() else "F16"


def _avoid_amx() -> None:
    """Keep llama.cpp's kernels for Intel's AMX out of use.

    Virtual machines announce AMX and then end the process with an illegal instruction when it is
    used; measured without it, F16 and BF16 are as fast. llama.cpp takes the kernels for whoever
    allows "extra" weight layouts, which its wrapper has no argument to refuse.
    """
    if b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info():
        bindings: Any = llama_cpp.llama_cpp
        bindings.llama_model_default_params = _parameters_without_extra_layouts


_default_parameters = llama_cpp.llama_model_default_params


def _parameters_without_extra_layouts() -> llama_cpp.llama_model_params:
    parameters: llama_cpp.llama_model_params = _default_parameters()
    parameters.use_extra_bufts = False
    return parameters


# What matters of llama.cpp's log reaches the person as an error. A function in Python would be
# where a Ctrl-C is noticed while a model is loaded, and ctypes drops what is raised there. The C
# library's `abs` of the level does nothing.
_DROP_LOG = ctypes.cast(ctypes.CDLL(None).abs, llama_cpp.llama_log_callback)


def silence() -> None:
    """Keep llama.cpp's log off standard error, and its wrapper's hands off the descriptors.

    While it loads a model, the wrapper points the whole process's standard streams at nothing,
    and so swallows what other threads print. With the log dropped there is nothing to hide.
    """
    llama_cpp.llama_log_set(_DROP_LOG, ctypes.c_void_p(0))
    hook: Any = suppress_stdout_stderr
    hook.__enter__ = lambda self: self
    hook.__exit__ = lambda _self, *_error: None
