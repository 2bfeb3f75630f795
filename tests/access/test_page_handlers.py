"""What a page's event handlers learn of who asks, with a real page and a real queue."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from protected_app import PASSWORD, Known

APP = Path(__file__).with_name("echo_app.py")


@pytest.fixture(scope="module")
def address(made: Known) -> Iterator[str]:
    """Where the page is served, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, APP, made.file, str(port)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    ) as process:
        assert process.stderr is not None
        assert any("Uvicorn running" in line for line in process.stderr)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


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
    ("name", "status"),
    [("a.bib", 200), ("../../a.bib", 415), ("/etc/a.bib", 415), ("a.exe", 415), ("a" * 300, 415)],
)
def test_what_is_uploaded_is_kept_under_its_hash(
    client: httpx.Client, made: Known, name: str, status: int
) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    got = client.post("/gradio_api/upload", files={"files": (name, b"@article{a}")})
    assert got.status_code == status
    if status == 200:
        [path] = map(Path, got.json())
        assert len(path.parent.name) == 64
        assert path.name == name


def test_a_file_named_by_an_address_is_not_fetched(client: httpx.Client, made: Known) -> None:
    client.headers["authorization"] = f"Bearer {made.key}"
    url = "https://192.0.2.1/x.bib"
    file = {"path": url, "url": url, "meta": {"_type": "gradio.FileData"}}
    got = client.post("/gradio_api/run/repeated", json={"data": [file]})
    assert got.status_code == 500
    assert "not fetched from addresses" in got.json()["error"]
    assert client.post("/gradio_api/run/repeated", json={"data": ["x"]}).json()["data"] == ["x"]
