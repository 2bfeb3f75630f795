"""A program that ingests one file and tells each step on a line of stdout, for tests to stop it.

Usage: ingest_telling.py HOME FILE
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_embedder import WordEmbedder

from retrieval.index.chroma import ChromaStore
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.text.splitting import ChunkSettings

CHUNKS = ChunkSettings(tokens=24)
"""Small, so that a hundred papers make Chroma write out its vectors."""


def tell(*words: object) -> None:
    print(*words, flush=True)


def telling(name: str, write: Callable[..., Any]) -> Callable[..., Any]:
    """`write`, announced before and after."""

    def announced(*args: Any, **fields: Any) -> None:
        tell("before", name)
        write(*args, **fields)
        tell("after", name)

    return announced


def tell_writes(store: ChromaStore) -> None:
    """Announce each call that changes one of Chroma's collections."""
    for name, collection in (("chunks", store._chunks), ("papers", store._papers)):
        for method in ("upsert", "update", "delete"):
            call = getattr(collection, method)
            setattr(collection, method, telling(f"{method} {name}", call))


def main() -> None:
    home, file = map(Path, sys.argv[1:])
    library = Library(home, WordEmbedder(), CHUNKS)
    tell_writes(library.store)
    tell("open")
    ingest(library, [file], progress=lambda _stage, done, *_: tell("embedded", done))
    tell("done")


if __name__ == "__main__":
    main()
