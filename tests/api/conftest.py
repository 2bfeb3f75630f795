"""The real app over the seeds, and one over a few papers of our own, for programs that ask it."""

import json
from collections.abc import Iterator

import httpx
import pytest
from app_process import Served, served
from odd_ids import ODD_IDS
from openai import OpenAI

from assistant.cli.main import main

TIMEOUT = 120.0
"""Seconds for an answer, on a busy machine."""


@pytest.fixture(scope="session")
def client(app: Served) -> Iterator[httpx.Client]:
    """A client of the app over the seeds."""
    with httpx.Client(base_url=app.address, timeout=TIMEOUT, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def openai(app: Served) -> Iterator[OpenAI]:
    """OpenAI's own client, pointed at the app over the seeds."""
    http = httpx.Client(trust_env=False, timeout=TIMEOUT)
    with OpenAI(
        base_url=f"{app.address}/v1", api_key="none", max_retries=0, http_client=http
    ) as client:
        yield client


@pytest.fixture(scope="session")
def small_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app over a few papers with odd ids, which takes more."""
    folder = tmp_path_factory.mktemp("small-app")
    file = folder / "papers.jsonl"
    papers = [
        {"id": id_, "title": f"Turnips {at}", "abstract": f"Turnip {at} grows in sand."}
        for at, id_ in enumerate(ODD_IDS)
    ]
    file.write_text("".join(json.dumps(paper) + "\n" for paper in papers), "utf-8")
    assert main(["ingest", "--home", str(folder / "home"), str(file)]) == 0
    with served(folder / "home", "--allow-ingest") as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(scope="session")
def small_client(small_app: Served) -> Iterator[httpx.Client]:
    """A client of the app over a few papers."""
    with httpx.Client(base_url=small_app.address, timeout=TIMEOUT, trust_env=False) as client:
        yield client
