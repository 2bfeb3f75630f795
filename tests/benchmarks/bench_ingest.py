"""Whole ingest of the seeds against the raw time of embedding the same chunks.

    python tests/benchmarks/bench_ingest.py

Prints a table, then one JSON line. Results are in ingest.md.
"""

import json
import tempfile
import time
from pathlib import Path

from assistant.models import resolve_embedder
from assistant.settings import Settings, resource_folder
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.text.splitting import ChunkSettings, chunk_paper, embedded_text


def main() -> None:
    """Ingest twice into a new library, then embed its chunks alone."""
    settings = Settings()
    path = resolve_embedder("default", settings.cache)
    embedder = LlamaCppEmbedder(path, threads=settings.threads)
    with tempfile.TemporaryDirectory() as home:
        library = Library(Path(home), embedder)
        first = ingest(library, [resource_folder("seeds")])
        second = ingest(library, [resource_folder("seeds")])
        texts = [
            embedded_text(stored.paper, chunk)
            for stored in library.store.papers()
            for chunk in chunk_paper(stored.paper, embedder.count, ChunkSettings())
        ]
    started = time.perf_counter()
    for text in texts:
        embedder.embed(text)
    raw = time.perf_counter() - started
    result = {
        "chunks": first.chunks,
        "raw embedding s": round(raw, 1),
        "first ingest s": round(first.seconds, 1),
        "ratio": round(first.seconds / raw, 3),
        "second ingest s": round(second.seconds, 2),
    }
    for name, value in result.items():
        print(f"{name:18} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
