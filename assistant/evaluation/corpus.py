"""The library that questions are asked of; the corpus of a BEIR folder has one of its own."""

from collections.abc import Iterator
from pathlib import Path

from assistant.evaluation.provenance import sha256_of
from assistant.settings import Settings
from assistant.startup import open_library
from retrieval.chroma import ChromaStore
from retrieval.errors import InputError, LibraryError
from retrieval.ingest import ingest
from retrieval.progress import Progress
from retrieval.types import Paper

_CORPUS = "corpus.jsonl"
_NAME_LENGTH = 16
"""Digits of a corpus's hash that name its library."""


def home_of_corpus(folder: Path, settings: Settings) -> Path:
    """Where the library of a BEIR folder's corpus is kept, beside the models; each has its own.

    Raises:
        InputError: the folder has no corpus that can be read.
    """
    corpus = folder / _CORPUS
    try:
        name = sha256_of(corpus)[:_NAME_LENGTH]
    except OSError as error:
        raise InputError(
            f"{corpus} cannot be read ({error.strerror}); expected questions in a JSONL file, or a "
            "folder with corpus.jsonl, queries.jsonl and qrels/test.tsv."
        ) from error
    return settings.cache / "corpora" / name


def ingest_corpus(folder: Path, settings: Settings, progress: Progress) -> None:
    """Have the corpus of a BEIR folder in the library of `settings`; what it has is not read again.

    Raises:
        ModelError, LibraryError: as `ingest` does.
    """
    ingest(open_library(settings, progress), [folder / _CORPUS], progress=progress)


def papers_of(home: Path) -> Iterator[Paper]:
    """The papers of a library, without any model.

    Raises:
        LibraryError: it has none, or cannot be read.
    """
    store = ChromaStore(home / "chroma") if (home / "chroma").is_dir() else None
    if store is None or not store.count()[0]:
        raise LibraryError(
            f"The library in {home} has no papers; fill it with `assistant ingest`, or name "
            "another one by --home."
        )
    return (stored.paper for stored in store.papers())
