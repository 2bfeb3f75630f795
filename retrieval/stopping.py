"""Ends an evaluation of llama.cpp that nobody waits for any more."""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import llama_cpp
from llama_cpp._internals import LlamaContext

from retrieval.errors import Cancelled

LOOK_SECONDS = 0.02
"""Between two looks at whether an evaluation is to end."""

# llama.cpp asks "to be ended?" after each of the hundreds of steps of an evaluation, with the
# address that it was given. A function in Python would wait for the interpreter's lock each time:
# with another thread at work, reading took six times as long (tests/benchmarks/serving.md). The C
# library's `strlen` says 0 while the first byte at an address is 0, and 1 once one other is there.
_is_set = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)
_never = ctypes.cast(0, llama_cpp.ggml_abort_callback)


@contextmanager
def ending_early(context: LlamaContext, stopped: Callable[[], bool]) -> Iterator[None]:
    """Evaluations of `context` in this block end soon after `stopped()` became true.

    What the context has read is unknown then, and for its user to forget. Where a model runs on a
    processor that llama.cpp cannot interrupt (some graphics cards), the evaluation is completed.

    Args:
        context: what evaluates.
        stopped: asked from a thread of its own.

    Raises:
        Cancelled: an evaluation was ended.
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
