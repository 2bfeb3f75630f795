"""What a page's event handlers learn of who asks, with a real page and a real queue."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from protected_app import PASSWORD, Known

from assistant.server.auth.accounts import add_user, make_key

APP = Path(__file__).with_name("echo_app.py")


@pytest.fixture(scope="module")
def log() -> list[str]:
    """What the process of the page says."""
    return []


@pytest.fixture(scope="module")
def users(made: Known, tmp_path_factory: pytest.TempPathFactory) -> Known:
    """A copy of the auth file for the page's process, which a test may change."""
    file = tmp_path_factory.mktemp("page") / "auth.json"
    file.write_bytes(made.file.read_bytes())
    return Known(file, made.key)


@pytest.fixture(scope="module")
def address(users: Known, log: list[str]) -> Iterator[str]:
    """Where the page is served, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, APP, users.file, str(port)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    ) as process:
        assert process.stderr is not None
        assert any("Uvicorn running" in line for line in process.stderr)
        reader = threading.Thread(target=log.extend, args=(process.stderr,))
        reader.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            reader.join()


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        yield client


def said(client: httpx.Client, name: str) -> str:
    """What the handler gave last."""
    if name == "at_once":
        return str(client.post(f"/gradio_api/run/{name}", json={"data": []}).json()["data"][0])
    called = client.post(f"/gradio_api/call/{name}", json={"data": []}).json()
    told = client.get(f"/gradio_api/call/{name}/{called['event_id']}").text
    lines = [line for line in told.splitlines() if line.startswith("data: [")]
    return str(json.loads(lines[-1].removeprefix("data: "))[0])


@pytest.mark.parametrize("name", ["at_once", "queued", "streamed"])
def test_handlers_know_who_asks(client: httpx.Client, made: Known, name: str) -> None:
    assert client.post("/gradio_api/run/at_once", json={"data": []}).status_code == 401
    client.headers["authorization"] = f"Bearer {made.key}"
    assert said(client, name) == "user:ann"
    del client.headers["authorization"]
    client.post("/login", data={"name": "ann", "password": PASSWORD})
    assert said(client, name) == "user:ann"


def test_the_page_names_no_other_site_and_its_scripts_may_run(client: httpx.Client) -> None:
    client.post("/login", data={"name": "ann", "password": PASSWORD})
    page = client.get("/", headers={"accept-encoding": "br, gzip"})
    assert "content-encoding" not in page.headers
    assert int(page.headers["content-length"]) == len(page.content)
    inline = page.text.count("<script") - page.text.count('<script type="module"')
    assert page.headers["content-security-policy"].count("'sha256-") == inline > 0
    assert "window.hit" in page.text, "what a component shows is in the page"
    assert "<script>window.hit" not in page.text, "but cannot become a script of its own"
    head = page.text.split("window.gradio_config")[0] + page.text.split("</gradio-app>")[1]
    assert "http" not in head.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.bib", "a.bib"),
        ("../../a.bib", "a.bib"),
        ("/etc/a.bib", "a.bib"),
        ("a" * 300 + ".bib", "a" * 196 + ".bib"),
        ("a\tb<c>.bib", "a%09bc.bib"),
    ],
)
def test_what_is_uploaded_is_kept_under_its_hash(
    client: httpx.Client, made: Known, name: str, kept: str
) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    got = client.post("/gradio_api/upload", files={"files": (name, b"@article{a}")})
    [path] = map(Path, got.raise_for_status().json())
    assert len(path.parent.name) == 64
    assert path.name == kept


def test_a_file_of_another_kind_is_not_taken_up(client: httpx.Client, made: Known) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    got = client.post("/gradio_api/upload", files={"files": ("a.exe", b"MZ")})
    [path] = got.raise_for_status().json()
    file = {"path": path, "orig_name": "a.exe", "meta": {"_type": "gradio.FileData"}}
    refused = client.post("/gradio_api/run/filed", json={"data": [file]})
    assert refused.status_code == 500
    assert "Invalid file type" in refused.json()["error"]


def test_a_file_named_by_an_address_is_not_fetched(client: httpx.Client, made: Known) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    url = "https://192.0.2.1/x.bib"
    file = {"path": url, "url": url, "meta": {"_type": "gradio.FileData"}}
    got = client.post("/gradio_api/run/repeated", json={"data": [file]})
    assert got.status_code == 500
    assert "not fetched from addresses" in got.json()["error"]
    assert client.post("/gradio_api/run/repeated", json={"data": ["x"]}).json()["data"] == ["x"]


def page_session(client: httpx.Client, hash_: str) -> httpx.Response:
    """A call from the queue in the session with this hash."""
    info = client.get("/config").json()
    [streamed] = [each["id"] for each in info["dependencies"] if each["api_name"] == "streamed"]
    call = {"data": [], "fn_index": streamed, "session_hash": hash_}
    return client.post("/gradio_api/queue/join", json=call)


def test_a_session_is_read_and_used_by_its_owner_alone(
    client: httpx.Client, address: str, users: Known
) -> None:
    client.headers["authorization"] = f"Bearer {users.key}"
    add_user(users.file, "bob", "another horse")
    bob = httpx.Client(base_url=address, trust_env=False, timeout=60)
    bob.headers["authorization"] = f"Bearer {make_key(users.file, 'bob')}"
    event = page_session(client, "annas").raise_for_status().json()["event_id"]
    for refused in (
        bob.get("/gradio_api/queue/data", params={"session_hash": "annas"}),
        page_session(bob, "annas"),
        bob.get("/gradio_api/heartbeat/annas"),
        bob.get(f"/gradio_api/call/streamed/{event}"),
        bob.post("/gradio_api/run/repeated", json={"data": ["x"], "session_hash": "annas"}),
        bob.post(
            "/gradio_api/cancel", json={"event_id": event, "session_hash": "b", "fn_index": 0}
        ),
    ):
        assert refused.status_code == 403
    page_session(bob, "repeated").raise_for_status()
    page_session(bob, "join").raise_for_status()
    called = {"json": {"data": ["x"]}}
    assert client.post("/gradio_api/run/repeated", **called).status_code == 200, "no name is taken"
    stream = client.get("/gradio_api/queue/data", params={"session_hash": "annas"}).text
    assert "user:ann" in stream
    bob.close()


def test_an_unknown_session_leaves_no_traceback(
    client: httpx.Client, made: Known, log: list[str]
) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    del log[:]
    unknown = client.get("/gradio_api/queue/data", params={"session_hash": "unknown"})
    assert "session_not_found" in unknown.text
    file = {"path": "https://192.0.2.1/x", "meta": {"_type": "gradio.FileData"}}
    client.post("/gradio_api/run/repeated", json={"data": [file]})
    while not any("not fetched" in line for line in log):  # its own traceback comes last
        time.sleep(0.01)
    assert len([line for line in log if "Traceback" in line]) == 1
    assert not [line for line in log if "ASGI" in line]
