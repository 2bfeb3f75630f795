"""The embedder on llama.cpp's own server: the same vectors, and libraries of other ones refused."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from llama_server import LlamaServer, llama_server
from stand_in_server import says, stand_in

from assistant.pipeline.startup import open_library
from assistant.settings import Settings
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.encoders.model_server import ModelServer, Timeouts
from retrieval.encoders.server import ServerEmbedder
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.types import LibraryError, ModelServerError, silent

TEXTS = ("Federated unlearning of clusters.", "数学 and $\\alpha$.", "word " * 900)
FRUIT = {"id": "f", "title": "Fruit", "abstract": "Apples are red. Pears are green."}
EMBEDDINGS = "/v1/embeddings"


@pytest.fixture(scope="module")
def server(embedder_path: Path) -> Iterator[LlamaServer]:
    with llama_server(embedder_path, embedding=True, context=512) as served:
        yield served


@pytest.fixture(scope="module")
def served(server: LlamaServer) -> ServerEmbedder:
    return ServerEmbedder(ModelServer(server.url, setting="embedder"))


def replying(*vectors: object) -> Callable[[object], None]:
    """Embeddings in turn; the last one again and again."""
    left = list(vectors)

    def answer(handler: object) -> None:
        vector = left.pop(0) if len(left) > 1 else left[0]
        says({"data": [{"embedding": vector}]})(handler)  # type: ignore[arg-type]

    return answer


def test_its_vectors_and_counts_are_those_of_the_same_model_here(
    served: ServerEmbedder, embedder: LlamaCppEmbedder
) -> None:
    for text in TEXTS:
        assert served.count(text) == embedder.count(text)
        vector = served.embed(text)
        assert vector.dtype == np.float32
        # Of a text that is too long, the mark at the end is kept there, but not here.
        least = 0.999 if text != TEXTS[2] else 0.99
        assert float(vector @ embedder.embed(text)) > least
    assert served.name.startswith("all-MiniLM-L6-v2")


def test_a_library_made_here_is_read_with_the_server_and_one_made_there_is_too(
    server: LlamaServer, embedder: LlamaCppEmbedder, tmp_path: Path, jsonl: Callable[..., Path]
) -> None:
    ingest(Library(tmp_path / "here", embedder), [jsonl(FRUIT)])
    settings = Settings(home=tmp_path / "here", embedder_url=server.url)
    library = open_library(settings, silent)
    assert library.embedder.name == embedder.name
    there = Settings(home=tmp_path / "there", embedder_url=server.url)
    ingest(open_library(there, silent, make=True), [jsonl(FRUIT)])
    assert open_library(there, silent).store.count() == (1, 1)


@pytest.mark.parametrize(
    ("vector", "said"),
    [
        ([1.0, 2.0, 3.0], "gives vectors of 3 numbers, not of 384"),
        ([1.0] * 384, r"gives other vectors \(cosine -?0\.\d\d instead of 1\.00\)"),
    ],
)
def test_another_embedder_is_refused(
    embedder: LlamaCppEmbedder,
    tmp_path: Path,
    jsonl: Callable[..., Path],
    vector: list[float],
    said: str,
) -> None:
    ingest(Library(tmp_path, embedder), [jsonl(FRUIT)])
    with stand_in({EMBEDDINGS: replying(vector)}) as other:
        settings = Settings(home=tmp_path, embedder_url=other.url)
        with pytest.raises(LibraryError, match=rf"made with .*'all-MiniLM-L6-v2'; .*'m' .*{said}"):
            open_library(settings, silent)


def test_a_library_without_papers_cannot_be_compared(
    embedder: LlamaCppEmbedder, tmp_path: Path
) -> None:
    Library(tmp_path, embedder)
    with (
        stand_in({EMBEDDINGS: replying([1.0, 0.0])}) as other,
        pytest.raises(LibraryError, match="no papers yet"),
    ):
        open_library(Settings(home=tmp_path, embedder_url=other.url), silent)


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [None], "red", [[1.0], [2.0]], [1.0]])
def test_what_is_no_vector_is_told(vector: object) -> None:
    with stand_in({EMBEDDINGS: replying([0.6, 0.8], vector)}) as server:
        made = ServerEmbedder(ModelServer(server.url, setting="embedder"))
        with pytest.raises(ModelServerError, match=r"replied .*check --embedder-url"):
            made.embed("x")


def test_a_server_that_cannot_embed_is_told() -> None:
    with (
        stand_in({EMBEDDINGS: says({"error": {"message": "no pooling"}}, 501)}) as server,
        pytest.raises(ModelServerError, match=r"answered 501 \(no pooling\)"),
    ):
        ServerEmbedder(ModelServer(server.url, setting="embedder"))


def test_long_texts_are_cut_for_a_server_that_does_not_count() -> None:
    with stand_in({EMBEDDINGS: replying([0.6, 0.8])}) as server:
        embedder = ServerEmbedder(ModelServer(server.url, timeouts=Timeouts(again=0.1)))
        embedder.embed("ä" * 3000)
        assert len(server.asked[-1][1]["input"].encode()) <= 504 * 3
        assert embedder.count("abcd") == 2
