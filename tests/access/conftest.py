"""An auth file with one user, and clients of a small app with it and without."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from protected_app import PASSWORD, Known, client_of

from assistant.server.auth import accounts
from assistant.server.auth.accounts import DUMMY_HASH, add_user, make_key

QUICK_DUMMY_HASH = DUMMY_HASH.replace("m=65536,t=3,p=4", "m=32,t=1,p=4")


@pytest.fixture(autouse=True, scope="session")
def _quick_hashes() -> Iterator[None]:
    """Hashes that take no tenth of a second; `test_auth_file.py` looks at the real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_HASHER", PasswordHasher(time_cost=1, memory_cost=32))
        patch.setattr(accounts, "DUMMY_HASH", QUICK_DUMMY_HASH)
        yield


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
