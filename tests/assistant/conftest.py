"""Real models, loaded once, and a small library that is ingested once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import PAPERS, Asking, FakeChatModel, FakeReader, jsonl

from assistant.generation.verification.cutter import Cutter
from assistant.generation.verification.support import SupportModel, Verifier
from assistant.models import resolve_encoder
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.trained import (
    ADAPTER,
    CUTTER,
    READER,
    SENTENCE_READER,
    SUPPORT,
    read_heads,
)
from assistant.pipeline.assistant import Assistant
from assistant.settings import AnswerSettings
from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.search.sentence_reader import SentenceReader

CONTEXT = 2048
THREADS = 1
"""Two that wait for each other are slower than one wherever the machine has other work."""


@pytest.fixture(scope="session")
def load_chat_model(chat_model_path: Path) -> Callable[[], LlamaCppChatModel]:
    """Loads the default chat model anew."""

    def load() -> LlamaCppChatModel:
        return LlamaCppChatModel(chat_model_path, context=CONTEXT, threads=THREADS)

    return load


@pytest.fixture(scope="session")
def chat_model(load_chat_model: Callable[[], LlamaCppChatModel]) -> LlamaCppChatModel:
    return load_chat_model()


@pytest.fixture(scope="session")
def writing_model(load_chat_model: Callable[[], LlamaCppChatModel]) -> LlamaCppChatModel:
    """The default chat model with its adapter."""
    model = load_chat_model()
    model.attach(ADAPTER)
    return model


@pytest.fixture(scope="session")
def embedder(embedder_path: Path) -> LlamaCppEmbedder:
    return LlamaCppEmbedder(embedder_path, threads=THREADS)


@pytest.fixture(scope="session")
def reader_path(cache: Path) -> Path:
    """The reader's encoder, made once."""
    return resolve_encoder(READER, cache)


@pytest.fixture(scope="session")
def sentence_reader(cache: Path) -> SentenceReader:
    path = resolve_encoder(SENTENCE_READER, cache)
    return SentenceReader(path, read_heads(SENTENCE_READER), threads=THREADS)


@pytest.fixture(scope="session")
def reader(reader_path: Path, sentence_reader: SentenceReader) -> Reader:
    return Reader(reader_path, read_heads(READER), sentence_reader, threads=THREADS)


@pytest.fixture(scope="session")
def support_model(cache: Path) -> SupportModel:
    path = resolve_encoder(SUPPORT, cache)
    return SupportModel(path, read_heads(SUPPORT), threads=THREADS)


@pytest.fixture(scope="session")
def cutter(cache: Path) -> Cutter:
    return Cutter(resolve_encoder(CUTTER, cache), read_heads(CUTTER), threads=THREADS)


@pytest.fixture(scope="session")
def verifier(support_model: SupportModel, cutter: Cutter) -> Verifier:
    return Verifier(support_model, cutter)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: LlamaCppEmbedder) -> Library:
    """A library of `PAPERS`."""
    folder = tmp_path_factory.mktemp("small")
    file = folder / "papers.jsonl"
    file.write_text(jsonl(PAPERS), "utf-8")
    library = Library(folder / "home", embedder)
    ingest(library, [file])
    return library


@pytest.fixture
def asking(library: Library, request: pytest.FixtureRequest) -> Asking:
    """An assistant over the small library whose model says what it is told.

    It has the real reader, loaded on first use, unless another is given.
    """

    def build(
        *replies: str,
        context: int = 4096,
        settings: AnswerSettings | None = None,
        reader: FakeReader | None = None,
    ) -> tuple[Assistant, FakeChatModel]:
        model = FakeChatModel(*replies, context=context)
        reads = reader or request.getfixturevalue("reader")
        verifier = request.getfixturevalue("verifier")
        return Assistant(library, model, reads, verifier, settings), model

    return build
