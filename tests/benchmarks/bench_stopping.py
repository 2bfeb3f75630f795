"""What it costs that llama.cpp can be interrupted, and how soon it is.

    python tests/benchmarks/bench_stopping.py [--tokens 128] [--repeats 7]

Reads the same tokens with the chat model of the settings, never asked whether to end, asked by a
function in Python, and asked as `retrieval.encoders.llamacpp` does; with nothing else to do and
with another Python thread at work. Prints a table. Results are in serving.md.
"""

import argparse
import ctypes
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import llama_cpp

from assistant.models import resolve_chat_model
from assistant.settings import Settings
from retrieval.encoders import llamacpp
from retrieval.encoders.llamacpp import ending_early
from retrieval.types import Cancelled, silent

TEXT = "Seven grey herons stood in the reeds of a lake, and nobody counted them. " * 40


@contextmanager
def asking_python(model: llama_cpp.Llama) -> Iterator[None]:
    """What was not done: a callback in Python."""
    callback = llama_cpp.ggml_abort_callback(lambda _: False)
    llama_cpp.llama_set_abort_callback(model._ctx.ctx, callback, None)
    try:
        yield
    finally:
        nothing = ctypes.cast(0, llama_cpp.ggml_abort_callback)
        llama_cpp.llama_set_abort_callback(model._ctx.ctx, nothing, None)


def never() -> bool:
    """Nobody stops."""
    return False


def seconds(model: llama_cpp.Llama, tokens: list[int], way: Callable[[], Any]) -> float:
    """For reading `tokens`."""
    model.reset()
    started = time.perf_counter()
    with way():
        model.eval(tokens)
    return time.perf_counter() - started


@contextmanager
def another_thread_at_work() -> Iterator[None]:
    """It computes in Python until the block is left."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            sum(range(1000))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        done.set()
        worker.join()


def freed_after(model: llama_cpp.Llama, tokens: list[int], delay: float) -> float:
    """Seconds from a stop, `delay` after the beginning, to the end of the evaluation."""
    model.reset()
    started = time.perf_counter()
    with (
        suppress(Cancelled),
        ending_early(model._ctx, lambda: time.perf_counter() - started > delay),
    ):
        model.eval(tokens)
    return time.perf_counter() - started - delay


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    settings = Settings()
    path = resolve_chat_model(settings.model, settings.cache, settings.threads, silent)
    model = llamacpp.load(path, context=2048, threads=settings.threads)
    tokens = llamacpp.tokenize(model, TEXT)
    ways: dict[str, Callable[[], Any]] = {
        "never asked": nullcontext,
        "asked in Python": lambda: asking_python(model),
        "asked as it is": lambda: ending_early(model._ctx, never),
    }
    for company in (nullcontext, another_thread_at_work):
        for count in (given.tokens, 1):
            with company():
                rounds = [
                    {name: seconds(model, tokens[:count], way) for name, way in ways.items()}
                    for _ in range(given.repeats)
                ]
            for name in ways:
                middle = statistics.median(each[name] for each in rounds) * 1000
                print(f"{company.__name__:24} {count:4} tokens  {name:16} {middle:8.1f} ms")
    delays = [0.02 * number for number in range(1, 21)]
    freed = [freed_after(model, tokens[:256], delay) * 1000 for delay in delays]
    print(f"freed after a stop: median {statistics.median(freed):.1f} ms, max {max(freed):.1f} ms")


if __name__ == "__main__":
    main()
