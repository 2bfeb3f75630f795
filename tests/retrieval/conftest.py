"""The seeds, small files of papers, and libraries with an embedder that can be computed by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import WordEmbedder
from small_index import indexed, lookup_in

from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.formats import files_of, read_file
from retrieval.formats.merge import fold, paper_of
from retrieval.index.lexical import LexicalIndex
from retrieval.library.library import Library
from retrieval.query.lookup import Lookup
from retrieval.text.splitting import ChunkSettings
from retrieval.types import Paper, Record


@pytest.fixture(scope="session")
def seeds() -> Path:
    return Path(__file__).parents[2] / "seeds"


@pytest.fixture(scope="session")
def seed_records(seeds: Path) -> list[Record]:
    """Every record of the seeds, before merging."""
    return [record for file in files_of([seeds]) for record in read_file(file).records]


@pytest.fixture(scope="session")
def embedder(embedder_path: Path) -> LlamaCppEmbedder:
    """The real default embedder."""
    return LlamaCppEmbedder(embedder_path, threads=2)


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Writes papers, one a line; a string is a line as it is."""

    def write(*lines: dict[str, Any] | str, name: str = "papers.jsonl") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        file.write_text("\n".join(texts), "utf-8")
        return file

    return write


@pytest.fixture
def open_library(tmp_path: Path) -> Callable[..., Library]:
    """Opens the library of this test with chunks of eight words."""

    def opened(
        embedder: WordEmbedder | None = None, tokens: int = 8, home: str = "home"
    ) -> Library:
        return Library(tmp_path / home, embedder or WordEmbedder(), ChunkSettings(tokens))

    return opened


@pytest.fixture(scope="session")
def seed_papers(seed_records: list[Record]) -> list[Paper]:
    """The papers of the seeds, merged."""
    return [paper_of(record) for record in fold(seed_records)]


@pytest.fixture(scope="session")
def seed_index(seed_papers: list[Paper], tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    """The lexical index of the seeds."""
    return indexed(seed_papers, tmp_path_factory.mktemp("seeds"))


@pytest.fixture(scope="session")
def seed_lookup(seed_papers: list[Paper], seed_index: LexicalIndex) -> Lookup:
    """Lookup in the seeds."""
    return lookup_in(seed_papers, seed_index)
