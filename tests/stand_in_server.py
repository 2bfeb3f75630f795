"""A stand-in for a model server that misbehaves, where a real one cannot be made to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each path as the test says; others are not found."""

    protocol_version = "HTTP/1.1"
    answers: dict[str, Answer]
    ended: threading.Event
    asked: list[tuple[str, dict[str, Any], str]]

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self._answer(json.loads(self.rfile.read(length)))

    def _answer(self, body: dict[str, Any]) -> None:
        self.body = body
        self.asked.append((self.path, body, self.headers.get("authorization", "")))
        with suppress(ConnectionError):
            self.answers.get(self.path, says({"error": {"message": "not found"}}, 404))(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def start(self, status: int, kind: str, length: int | None = None) -> None:
        """Send the head; without a length the body comes in chunks."""
        self.send_response(status)
        self.send_header("content-type", kind)
        if length is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(length))
        self.end_headers()

    def chunk(self, text: str) -> None:
        content = text.encode()
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()


def says(value: object, status: int = 200, kind: str = "application/json") -> Answer:
    """Replies with JSON, or with a text as it is."""
    content = (value if isinstance(value, str) else json.dumps(value)).encode()

    def answer(handler: Handler) -> None:
        handler.start(status, kind, len(content))
        handler.wfile.write(content)

    return answer


def streams(*events: object, then: str = "end") -> Answer:
    """Streams events; `then` it ends, breaks off, or says nothing until the test is over."""

    def answer(handler: Handler) -> None:
        handler.start(200, "text/event-stream")
        for event in events:
            text = event if isinstance(event, str) else json.dumps(event)
            handler.chunk(f"data: {text}\n\n")
        if then == "end":
            handler.chunk("")
            return
        if then == "stall":
            handler.ended.wait(30)
        handler.close_connection = True

    return answer


def delta(text: str, finish: str | None = None) -> dict[str, Any]:
    """An event of a chat completion."""
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


class StandIn:
    """A running stand-in."""

    def __init__(self, url: str, handler: type[Handler]) -> None:
        self.url = url
        self.answers = handler.answers
        self.asked = handler.asked
        """Path, body and authorization of every request."""


@contextmanager
def stand_in(answers: dict[str, Answer]) -> Iterator[StandIn]:
    """Serve `answers` by path; it lists one model, `m`, unless the test says otherwise."""
    known = {"/v1/models": says({"data": [{"id": "m"}]})} | answers
    ended = threading.Event()
    handler = type("Own", (Handler,), {"answers": known, "ended": ended, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield StandIn(f"http://127.0.0.1:{server.server_port}", handler)
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
