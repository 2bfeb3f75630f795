"""Heads of requests that are never finished, over real connections."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from assistant.server.app import HeaderTimeoutProtocol

HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: "
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Impatient(HeaderTimeoutProtocol):
    head_timeout = 1.0


class Slow:
    """Answers once it is told to."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        if Request(scope).url.path == "/slow":
            await self.may_answer.wait()
        await PlainTextResponse("Here.")(scope, receive, send)


class Running:
    """A server in a thread."""

    def __init__(self, app: Slow) -> None:
        self.app = app
        config = uvicorn.Config(app, http=Impatient, port=0, log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._socket = config.bind_socket()
        self._socket.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self._server.serve([self._socket]))
        self.loop.close()

    def connected(self) -> socket.socket:
        return socket.create_connection(self._socket.getsockname(), timeout=30)

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@pytest.fixture
def server() -> Iterator[Running]:
    running = Running(Slow())
    yield running
    running.end()


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("sent", [b"", b"GET", HALF], ids=["nothing", "a word", "half a head"])
def test_a_head_that_is_not_finished_ends_the_connection(server: Running, sent: bytes) -> None:
    with server.connected() as connection:
        connection.sendall(sent)
        assert rest(connection) == b""


def test_so_does_one_after_an_answer(server: Running) -> None:
    with server.connected() as connection:
        connection.sendall(WHOLE + HALF)
        assert rest(connection).endswith(b"Here.")


def test_an_answer_may_take_longer(server: Running) -> None:
    with server.connected() as connection, server.connected() as other:
        connection.sendall(WHOLE.replace(b"GET /", b"GET /slow"))
        assert server.app.asked.wait(30)
        other.sendall(HALF)
        assert rest(other) == b""  # the time for a head has passed meanwhile
        server.loop.call_soon_threadsafe(server.app.may_answer.set)
        assert rest(connection).endswith(b"Here.")


def test_a_head_without_end_is_refused(server: Running) -> None:
    with server.connected() as connection:
        connection.sendall(HALF + b"x" * 70_000)
        assert rest(connection).startswith(b"HTTP/1.1 400")
