"""How much may be sent, how slowly, and which files."""

import asyncio
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from assistant.server.auth.request_body import BodyLimit, complaint_about

MEGABYTE = 1024 * 1024


def pieces(count: int) -> Iterator[bytes]:
    """Megabytes whose number is not announced."""
    for _ in range(count):
        yield b"x" * MEGABYTE


def test_large_requests_are_refused(open_client: TestClient) -> None:
    assert open_client.post("/echo", content=b"x" * MEGABYTE).text == str(MEGABYTE)
    for path, content in (
        ("/echo", b"x" * (8 * MEGABYTE + 1)),
        ("/echo", pieces(9)),
        ("/v1/echo", b"x" * (MEGABYTE + 1)),
        ("/v1/echo", pieces(2)),
    ):
        refused = open_client.post(path, content=content)
        assert refused.status_code == 413
        assert refused.json()["error"]["code"] == "body_too_large"
    form = {"content-type": "text/plain"}
    read = open_client.post("/gradio_api/upload", content=pieces(9), headers=form)
    assert read.text == str(9 * MEGABYTE)
    assert open_client.post("/gradio_api/upload", content=pieces(52)).status_code == 413


def upload(client: TestClient, name: str) -> int:
    return client.post("/gradio_api/upload", files={"files": (name, b"@article{}")}).status_code


@pytest.mark.parametrize("name", ["a.bib", "A paper (2).BIB", "péper.ris", "x.jsonl", "b.csv"])
def test_files_of_papers_may_be_uploaded(open_client: TestClient, name: str) -> None:
    assert upload(open_client, name) == 200


@pytest.mark.parametrize("name", ["x.exe", "x.html", "x.bib.svg", "bib", ".bib"])
def test_files_of_other_kinds_may_not(open_client: TestClient, name: str) -> None:
    assert upload(open_client, name) == 415


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (b"a.bib", ""),
        (b"../../x.bib", "is a path"),
        (b"/etc/x.bib", "is a path"),
        (b"..\\x.bib", "is a path"),
        (b"a\0.bib", "is a path"),
        (b"a\n.bib", "is a path"),
        (b"..bib", "is a path"),
        (b"a" * 252 + b".bib", "256 bytes"),
        (b"", "cannot be read"),
        (b"\xff.bib", ""),
    ],
)
def test_names_of_files(name: bytes, complaint: str) -> None:
    found = complaint_about(name)
    assert complaint in found
    assert bool(complaint) == bool(found)


def test_a_second_file_is_looked_at_too(open_client: TestClient) -> None:
    files = [("files", (name, b"x" * 100)) for name in ("a.bib", "b.exe")]
    assert open_client.post("/gradio_api/upload", files=files).status_code == 415


@pytest.mark.parametrize("size", [1, 7, 100])
def test_names_are_found_however_the_form_arrives(open_client: TestClient, size: int) -> None:
    body = (
        b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.exe"\r\n'
        b"Content-Type: text/plain\r\n\r\nx\r\n--b--\r\n"
    )
    cut = (body[at : at + size] for at in range(0, len(body), size))
    headers = {"content-type": "multipart/form-data; boundary=b"}
    got = open_client.post("/gradio_api/upload", content=cut, headers=headers)
    assert got.status_code == 415


def test_a_form_that_is_none_is_refused(open_client: TestClient) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    got = open_client.post("/gradio_api/upload", content=b"nothing of it", headers=headers)
    assert got.status_code == 415


async def _reads(_scope: Scope, receive: Receive, send: Send) -> None:
    """An app that waits for the whole body."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})


def sent_after(pieces: list[Message], **timeouts: float) -> list[Message]:
    """What a client gets whose body comes in these pieces, and then never ends."""

    async def run() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            if pieces:
                await asyncio.sleep(0.01)
                return pieces.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "state": {}}
        await BodyLimit(_reads, **timeouts)(scope, receive, send)
        return sent

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("count", "timeouts"), [(1, {"piece": 0.05}), (10_000, {"piece": 30.0, "whole": 0.1})]
)
def test_a_request_that_stops_half_way_or_drips_ends(
    count: int, timeouts: dict[str, float]
) -> None:
    pieces: list[Message] = [{"type": "http.request", "body": b"x", "more_body": True}] * count
    start = sent_after(pieces, **timeouts)[0]
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]


def test_a_large_body_may_take_longer() -> None:
    piece: Message = {"type": "http.request", "body": b"x" * 100_000, "more_body": True}
    last: Message = {**piece, "more_body": False}
    start = sent_after([last, *[piece] * 30], piece=30.0, whole=0.1)[0]
    assert start["status"] == 200
