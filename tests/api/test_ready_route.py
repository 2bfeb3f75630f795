"""`/readyz`: whether library, store and models answer."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from assistant.server.api.routes import add_api
from assistant.server.service import Service
from assistant.settings import Settings
from retrieval.types import LibraryError, ModelServerError


class Part:
    """A part of an assistant, which answers unless it has an error."""

    name = "part"
    slots = 4

    def __init__(self) -> None:
        self.error: Exception | None = None

    def check(self) -> None:
        if self.error:
            raise self.error

    count = ready_to_search = check


class Parts:
    """An assistant with nothing but parts."""

    def __init__(self) -> None:
        self.model, self.library = Part(), Part()
        self.library.store, self.library.embedder = Part(), Part()  # type: ignore[attr-defined]


@pytest.fixture
def service(tmp_path) -> Service:
    return Service(Settings(home=tmp_path))


@pytest.fixture
def client(service: Service) -> TestClient:
    app = FastAPI()
    add_api(app, service)
    return TestClient(app)


def test_it_is_not_ready_during_the_setup(client: TestClient) -> None:
    got = client.get("/readyz")
    assert got.status_code == httpx.codes.SERVICE_UNAVAILABLE
    assert got.headers["retry-after"]
    assert "being set up" in got.json()["parts"]["setup"]


def test_it_names_the_part_that_does_not_answer(client: TestClient, service: Service) -> None:
    parts = Parts()
    service.setup._state.assistant = parts  # type: ignore[assignment]
    got = client.get("/readyz")
    assert (got.status_code, got.json()["ready"]) == (200, True)
    assert got.json()["parts"] == dict.fromkeys(("library", "store", "model", "embedder"), "")
    parts.model.error = ModelServerError("The model server is away.")
    parts.library.store.error = LibraryError("Torn.")  # type: ignore[attr-defined]
    got = client.get("/readyz")
    assert (got.status_code, got.json()["ready"]) == (503, False)
    assert got.json()["parts"]["model"] == "The model server is away."
    assert got.json()["parts"]["store"] == "Torn."
    assert client.get("/healthz").status_code == httpx.codes.OK
    assert service.queue.slots == 4
