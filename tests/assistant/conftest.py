"""Real models, loaded once, and a small library that is ingested once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import PAPERS, Asking, FakeChatModel, jsonl

from assistant.answer_settings import AnswerSettings
from assistant.chat_model import LlamaCppChatModel
from assistant.engine import Assistant
from retrieval.embedder import LlamaCppEmbedder
from retrieval.ingest import ingest
from retrieval.library import Library

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
def embedder(embedder_path: Path) -> LlamaCppEmbedder:
    return LlamaCppEmbedder(embedder_path, threads=THREADS)


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
def asking(library: Library) -> Asking:
    """An assistant over the small library whose model says what it is told."""

    def build(
        *replies: str, context: int = 4096, settings: AnswerSettings | None = None
    ) -> tuple[Assistant, FakeChatModel]:
        model = FakeChatModel(*replies, context=context)
        return Assistant(library, model, settings), model

    return build
