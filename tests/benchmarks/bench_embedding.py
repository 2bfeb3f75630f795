"""Batch shapes of the embedder: texts a batch, and one context against one a thread.

    python tests/benchmarks/bench_embedding.py

Prints a table, then one JSON line. Results are in embedding.md.
"""

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.models import resolve_embedder
from assistant.settings import Settings, resource_folder
from retrieval.encoders import llamacpp
from retrieval.formats import files_of, read_file

TEXTS = 120
CONTEXT = 512


def batched(path: Path, texts: Sequence[str], size: int, threads: int) -> float:
    """Texts a second with `size` texts in each batch."""
    model = llamacpp.load(path, context=CONTEXT * size, threads=threads, embedding=True)
    model.embed("warm up")
    started = time.perf_counter()
    for at in range(0, len(texts), size):
        model.embed(list(texts[at : at + size]), normalize=True)
    return len(texts) / (time.perf_counter() - started)


def one_context_a_thread(path: Path, texts: Sequence[str], threads: int) -> float:
    """Texts a second with `threads` contexts of one thread each."""
    models = [
        llamacpp.load(path, context=CONTEXT, threads=1, embedding=True) for _ in range(threads)
    ]

    def work(position: int) -> None:
        for text in texts[position::threads]:
            models[position].embed(text, normalize=True)

    workers = [threading.Thread(target=work, args=(position,)) for position in range(threads)]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(texts) / (time.perf_counter() - started)


def main() -> None:
    """Measure each shape twice, in turn, and keep the better."""
    settings = Settings()
    path = resolve_embedder("default", settings.cache)
    pages = [read_file(file) for file in files_of([resource_folder("seeds")])]
    texts = [record.abstract for page in pages for record in page.records][:TEXTS]
    rates: dict[str, float] = {}
    for _ in range(2):
        for size in (1, 2, 4):
            name = f"{size} a batch"
            rate = batched(path, texts, size, settings.threads)
            rates[name] = max(rate, rates.get(name, 0.0))
        name = f"{settings.threads} contexts"
        rate = one_context_a_thread(path, texts, settings.threads)
        rates[name] = max(rate, rates.get(name, 0.0))
    for name, rate in rates.items():
        print(f"{name:12} {rate:5.1f} abstracts/s  {rate / rates['1 a batch']:.2f} of 1 a batch")
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
