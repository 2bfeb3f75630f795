"""llama.cpp: loads GGUF models, tokenizes, computes vectors, and ends evaluations early.

llama.cpp's errors stop here and become a `ModelError` with one sentence.
"""

import ctypes
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import llama_cpp
import numpy as np
import psutil
from llama_cpp._internals import LlamaBatch, LlamaContext
from llama_cpp._utils import suppress_stdout_stderr
from numpy.typing import NDArray

from retrieval.types import Cancelled, ModelError

Stopped = Callable[[], bool]
"""Whether to stop; called often, also from other threads."""
GGUF_MAGIC = b"GGUF"
MEMORY_HEADROOM_BYTES = 256 * 2**20
"""Free memory needed besides the size of the file."""
LOOK_SECONDS = 0.02
"""Time between two checks whether to end an evaluation."""
_MARK = re.compile(r"[<\[].+[>\]]", re.DOTALL)
"""The form of the marks of chat templates."""
_default_parameters = llama_cpp.llama_model_default_params
_marks_of: WeakKeyDictionary[llama_cpp.Llama, re.Pattern[str]] = WeakKeyDictionary()

# Drops llama.cpp's log; its important messages are also errors. A Ctrl-C while a model is loaded
# would be raised inside a Python function here, and ctypes would drop it. The C library's `abs`,
# called with the level, does nothing.
_DROP_LOG = ctypes.cast(ctypes.CDLL(None).abs, llama_cpp.llama_log_callback)

# llama.cpp calls the abort callback after each of the hundreds of steps of an evaluation, with an
# address that it was given. A Python function would wait for the interpreter's lock each time: with
# another thread at work, reading took six times as long (tests/benchmarks/serving.md). The C
# library's `strlen` returns 0 while the first byte at the address is 0, and 1 once it is set.
_is_set = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)
_never = ctypes.cast(0, llama_cpp.ggml_abort_callback)


def check_model_file(path: Path) -> None:
    """Check a model's file before llama.cpp loads it.

    Raises `ModelError` if `path` is missing, is not GGUF, or is larger than the free memory.
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
    """Load a GGUF model with flash attention; `ModelError` if it is not usable.

    Args:
        path: the GGUF file.
        context: tokens of context; for an embedding model the most tokens of a text.
        threads: CPU threads.
        embedding: load for vectors instead of text.
        pooling: whether an embedding model gives one vector a text, as its file says, or one a
            token, see `token_vectors`.
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
            pooling_type=llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED  # as the file says
            if pooling
            else llama_cpp.LLAMA_POOLING_TYPE_NONE,
            verbose=False,
        )
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        raise ModelError(
            f"llama.cpp cannot load {path} ({error}); the file may be damaged, of an unsupported "
            "architecture, or too large for this machine's memory: try another GGUF file."
        ) from error


def metadata(model: llama_cpp.Llama) -> dict[str, str]:
    """The GGUF header's plain values by key, all as text."""
    return dict(model.metadata)


def read_metadata(path: Path) -> dict[str, str] | None:
    """The `metadata` of a file, without loading its weights; None if llama.cpp cannot read it."""
    silence()
    try:
        return metadata(llama_cpp.Llama(str(path), vocab_only=True, verbose=False))
    except (ValueError, RuntimeError, OSError):
        return None


def vocabulary(model: llama_cpp.Llama) -> list[str]:
    """The text of every token by its id, as spelled in the GGUF file; empty for control tokens."""
    control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL
    return ["" if kind & control else text for text, kind in _tokens_of(model)]


def tokenize(model: llama_cpp.Llama, text: str, *, special: bool = False) -> list[int]:
    """Token ids of `text`; with `special`, control tokens spelled out in the text become such."""
    cuts = [] if special else [mark.start() + 1 for mark in _user_marks(model).finditer(text)]
    tokens: list[int] = []
    for start, end in pairwise([0, *cuts, len(text)]):
        tokens += model.tokenize(text[start:end].encode(), add_bos=False, special=special)
    return tokens


def token_vectors(model: llama_cpp.Llama, tokens: Sequence[int]) -> NDArray[np.float32]:
    """The vectors of `tokens` (ids, at least one), read together; shape (tokens, dimensions).

    `model` must be loaded without pooling. Raises `ModelError` if the model cannot evaluate them.
    """
    model._ctx.kv_cache_clear()
    evaluate(model._ctx, tokens)
    vectors = llama_cpp.llama_get_embeddings(model._ctx.ctx)
    return np.ctypeslib.as_array(vectors, shape=(len(tokens), model.n_embd())).copy()


def evaluate(
    context: LlamaContext,
    tokens: Sequence[int],
    *,
    at: int = 0,
    silent: int = 0,
    stopped: Stopped | None = None,
) -> None:
    """Read `tokens` from position `at`, as one batch; the first `silent` of them give no logits.

    Raises `Cancelled` if `stopped()` became true, see `ending_early`, and `ModelError` if the model
    cannot evaluate them.
    """
    batch = LlamaBatch(n_tokens=len(tokens), embd=0, n_seq_max=1, verbose=False)
    batch.set_batch(tokens, n_past=at, logits_all=True)
    for place in range(silent):
        batch.batch.logits[place] = False
    try:
        with ending_early(context, stopped) if stopped else nullcontext():
            context.decode(batch)
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp could not read {len(tokens)} tokens ({error}); close other programs if "
            "memory is short, then ask again."
        ) from error


@contextmanager
def ending_early(context: LlamaContext, stopped: Stopped) -> Iterator[None]:
    """End evaluations of `context` in this block soon after `stopped()` became true.

    `stopped` is called from a thread of its own. What the context has read is unknown after a stop,
    so the caller must clear it. On a processor that llama.cpp cannot interrupt (some graphics
    cards), the evaluation is completed. Raises `Cancelled` if an evaluation was ended.
    """
    flag = ctypes.create_string_buffer(2)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_SECONDS):
            if stopped():
                flag[0] = b"\1"
                return

    watcher = threading.Thread(target=watch, name="stopping")
    watcher.start()
    llama_cpp.llama_set_abort_callback(context.ctx, _is_set, ctypes.addressof(flag))
    try:
        yield
    except RuntimeError as error:
        if flag.value:
            raise Cancelled from error
        raise
    finally:
        done.set()
        watcher.join()
        llama_cpp.llama_set_abort_callback(context.ctx, _never, None)


def fastest_type(*, otherwise: str) -> str:
    """BF16 if this processor multiplies it by instructions of its own, else `otherwise`.

    With them (AVX-512) an encoder takes 0.72 of the time that it takes with F16, and a typical
    cited answer of the default chat model 0.79 of its time with Q8_0; without them BF16 is slowest.
    """
    return "BF16" if b"AVX512_BF16 = 1" in llama_cpp.llama_print_system_info() else otherwise


def silence() -> None:
    """Drop llama.cpp's log, and keep its wrapper from redirecting the standard streams.

    While it loads a model, the wrapper redirects the whole process's standard streams and so
    swallows the output of other threads. With the log dropped there is nothing to hide.
    """
    llama_cpp.llama_log_set(_DROP_LOG, ctypes.c_void_p(0))
    hook: Any = suppress_stdout_stderr
    hook.__enter__ = lambda self: self
    hook.__exit__ = lambda _self, *_error: None


def _user_marks(model: llama_cpp.Llama) -> re.Pattern[str]:
    """A pattern for the beginnings of marks like `<|user|>` that the file calls user-defined.

    llama.cpp always reads such marks as tokens, in any text. So text is cut after their first
    letter, and each part is tokenized by itself.
    """
    if model not in _marks_of:
        defined = llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        texts = [text for text, kind in _tokens_of(model) if kind & defined]
        marks = [re.escape(text) for text in texts if _MARK.fullmatch(text)]
        # A lookahead, since one mark may begin inside another.
        _marks_of[model] = re.compile(f"(?={'|'.join(marks)})" if marks else r"(?!)")
    return _marks_of[model]


def _tokens_of(model: llama_cpp.Llama) -> Iterator[tuple[str, int]]:
    """Text and attributes of every token, by its id."""
    vocab = model._model.vocab
    for token in range(model.n_vocab()):
        text = llama_cpp.llama_vocab_get_text(vocab, token).decode("utf-8", "replace")
        yield text, llama_cpp.llama_vocab_get_attr(vocab, token)


def _avoid_amx() -> None:
    """Keep llama.cpp from using its kernels for Intel's AMX.

    Some virtual machines announce AMX but end the process with an illegal instruction when it is
    used; without it, F16 and BF16 were measured to be as fast. llama.cpp uses the kernels if
    "extra" weight layouts are allowed, which its wrapper has no argument to refuse.
    """
    if b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info():
        bindings: Any = llama_cpp.llama_cpp
        bindings.llama_model_default_params = _parameters_without_extra_layouts


def _parameters_without_extra_layouts() -> llama_cpp.llama_model_params:
    parameters: llama_cpp.llama_model_params = _default_parameters()
    parameters.use_extra_bufts = False
    return parameters
