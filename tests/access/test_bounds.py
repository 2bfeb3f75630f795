"""How much may be sent, and how slowly."""

import asyncio
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from assistant.server.auth.request_body import BodyLimit

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
