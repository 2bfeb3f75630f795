"""The OpenAPI document against the app, tried by schemathesis."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from app_process import Served

CONFIG = Path(__file__).with_name("schemathesis.toml")


def test_the_app_does_what_its_document_says(small_app: Served, tmp_path: Path) -> None:
    """Over a few papers, since most of the time is that of reading what is found."""
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG)]
    done = subprocess.run(
        [*command, "run", f"{small_app.address}/openapi.json"],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        cwd=tmp_path,  # it keeps what it found
        check=False,
    )
    assert "Tested: 18" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    """The OpenAPI document."""
    return client.get("/openapi.json").json()  # type: ignore[no-any-return]


def test_every_operation_has_its_words_and_its_errors(
    document: dict[str, dict[str, dict[str, dict[str, object]]]],
) -> None:
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert operation["description"], path
            responses = operation["responses"]
            assert isinstance(responses, dict)
            assert path == "/metrics" or "503" in responses
            assert "422" not in responses
