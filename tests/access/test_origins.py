"""From where requests may come."""

import pytest
from fastapi.testclient import TestClient
from protected_app import client_of

from assistant.server.auth.guard import warn_if_open
from assistant.settings import Settings


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:7860", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:7860", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.nip.io:7860", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
def test_other_names_of_this_machine_are_refused(
    open_client: TestClient, host: str, status: int
) -> None:
    got = open_client.get("/healthz", headers={"host": host})
    assert got.status_code == status
    if status == 421:
        assert "not served under this name" in got.json()["error"]["message"]


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://127.0.0.1:7860", 200),
        ("http://127.0.0.1:9999", 403),
        ("http://127.0.0.1", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("http://[", 403),
        ("file://", 403),
    ],
)
def test_pages_of_others_cannot_ask_for_changes(
    open_client: TestClient, origin: str | None, status: int
) -> None:
    headers = {"origin": origin} if origin else {}
    assert open_client.post("/owner", headers=headers).status_code == status
    assert open_client.get("/owner", headers=headers).status_code == 200


def test_a_proxy_makes_it_known_under_another_name() -> None:
    client = client_of(server_name="papers.example")
    for host, origin in (
        ("papers.example", "https://papers.example"),
        ("papers.example:443", "https://papers.example"),
        ("127.0.0.1:7860", "https://papers.example"),
    ):
        headers = {"host": host, "origin": origin}
        assert client.post("/owner", headers=headers).status_code == 200
    assert client.get("/healthz", headers={"host": "other.example"}).status_code == 421


def test_what_listens_to_the_network_goes_by_any_name() -> None:
    client = client_of(host="0.0.0.0")  # noqa: S104
    assert client.get("/healthz", headers={"host": "box.lan:7860"}).status_code == 200
    foreign = {"host": "box.lan:7860", "origin": "http://evil.example"}
    assert client.post("/owner", headers=foreign).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/proxy=https://evil.example/x",
        "/gradio_api/file=https://evil.example/x",
        "/gradio_api/file=HTTP://evil.example/x",
        "/gradio_api/file=%68ttps://evil.example/x",
        "/monitoring",
        "/login/",
        "/gradio_api/run-history/connect",
    ],
)
def test_what_reaches_other_machines_is_shut(open_client: TestClient, path: str) -> None:
    assert open_client.get(path).status_code == 404
    assert open_client.get("/gradio_api/file=/tmp/x").status_code == 200


@pytest.mark.parametrize(
    ("host", "auth_file", "warned"),
    [
        ("127.0.0.1", None, False),
        ("::1", None, False),
        ("localhost", None, False),
        ("0.0.0.0", None, True),  # noqa: S104
        ("192.0.2.7", None, True),
        ("0.0.0.0", "auth.json", False),  # noqa: S104
    ],
)
def test_an_open_door_to_the_network_is_told(
    host: str, auth_file: str | None, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_if_open(Settings.model_validate({"host": host, "auth_file": auth_file}))
    assert ("Warning: everybody who can reach" in capsys.readouterr().err) == warned
