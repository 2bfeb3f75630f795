"""An auth file with one user, and clients of a small app with it and without."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from protected_app import PASSWORD, Known, client_of

from assistant.server.auth.accounts import add_user, make_key


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Ann and her key, hashed once."""
    file = tmp_path_factory.mktemp("users") / "auth.json"
    add_user(file, "ann", PASSWORD)
    return Known(file, make_key(file, "ann"))


@pytest.fixture
def known(made: Known, tmp_path: Path) -> Known:
    """A copy that a test may change."""
    file = tmp_path / "auth.json"
    file.write_bytes(made.file.read_bytes())
    return Known(file, made.key)


@pytest.fixture
def open_client() -> TestClient:
    """No auth file: whoever sits at this machine."""
    return client_of()


@pytest.fixture
def client(known: Known) -> TestClient:
    """Only Ann may come in."""
    return client_of(auth_file=known.file)
