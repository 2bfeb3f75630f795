"""The real default models, fetched on the first run and kept in the user's cache."""

from pathlib import Path

import pytest

from assistant.models import resolve_chat_model, resolve_embedder
from assistant.settings import Settings


@pytest.fixture(scope="session")
def cache() -> Path:
    """The folder of the models."""
    return Settings().cache


@pytest.fixture(scope="session")
def chat_model_path(cache: Path) -> Path:
    """The default chat model."""
    return resolve_chat_model("default", cache, Settings().threads)


@pytest.fixture(scope="session")
def embedder_path(cache: Path) -> Path:
    """The default embedder."""
    return resolve_embedder("default", cache)
