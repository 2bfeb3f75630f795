"""What no client should send: each has its status and one clear sentence, and the app goes on."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from app_process import Served

CHAT = "/v1/chat/completions"
JSON = {"Content-Type": "application/json"}
DEEP = b"[" * 100_000
ASKED = b'{"query": "pruning", "rerank": false}'


def body(**fields: object) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("request_", "content", "status", "said"),
    [
        (("POST", CHAT, JSON), b"", 400, "body is missing"),
        (("POST", CHAT, JSON), b"{", 400, "no valid JSON"),
        (("POST", CHAT, JSON), b"null", 400, "JSON object"),
        (("POST", CHAT, JSON), DEEP, 400, "cannot be read"),
        (("POST", CHAT, JSON), b'{"messages": "\xff\xfe"}', 400, "cannot be read"),
        (("POST", CHAT, JSON), body(messages="hello"), 400, "messages: Input should be"),
        (("POST", CHAT, JSON), body(messages=[]), 400, "messages: Input should have at least 1."),
        (("POST", CHAT, JSON), body(messages=[1]), 400, "messages.0"),
        (("POST", CHAT, JSON), body(messages=[{"role": "user", "content": 5}]), 400, "content"),
        (("POST", CHAT, {"Content-Type": "text/plain"}), body(), 415, "application/json"),
        (("POST", CHAT, {}), body(), 415, "application/json"),
        (("GET", CHAT, {}), b"", 405, "use POST"),
        (("POST", "/v1/search", JSON), body(query=""), 400, "query"),
        (("POST", "/v1/search", JSON), body(query=" \t"), 400, "query: Input should not be blank."),
        (("POST", "/v1/search", JSON), body(query="\u200b"), 400, "empty"),
        (("POST", "/v1/search", JSON), b'{"query": "a\\ud800"}', 400, "query"),
        (("POST", "/v1/search", JSON), body(query="a" * 2001), 400, "2000 characters"),
        (("POST", "/v1/search", JSON), body(query="a", k=0), 400, "k: "),
        (("POST", "/v1/search", JSON), body(query="a", k="3"), 400, "k: "),
        (("POST", "/v1/search", JSON), body(query="a", k=True), 400, "k: "),
        (("POST", "/v1/search", JSON), body(query="a", k=10**30), 400, "k: "),
        (("POST", "/v1/search", JSON), b'{"query":"a","k":%s}' % (b"9" * 5000), 400, "read"),
        (("POST", "/v1/search", JSON), b'{"query":"a","k":NaN}', 400, "k: "),
        (("POST", "/v1/search", JSON), b'"%s"' % (b"a" * 1_048_577), 413, "1 MB"),
        (("GET", "/v1/lookup", {}), b"", 400, "Nothing to look up"),
        (("GET", "/v1/lookup?q=a&k=many", {}), b"", 400, "k: "),
        (("GET", f"/v1/lookup?year={'9' * 5000}", {}), b"", 400, "year: "),
        (("GET", "/v1/lookup?year=-1", {}), b"", 400, "year: "),
        (("GET", f"/v1/lookup?q={'a' * 2001}", {}), b"", 400, "q: "),
        (("GET", "/v1/lookup?" + "author=a&" * 50, {}), b"", 400, "author: "),
        (("DELETE", "/v1/papers/x", {}), b"", 405, "use GET"),
        (("GET", "/v1", {}), b"", 404, "nothing at /v1"),
        (("GET", "/v1/", {}), b"", 404, "nothing at /v1/"),
        (("GET", "/v1/models/", {}), b"", 404, "nothing at"),
        (("GET", "/v1/%F0%28%8C%28", {}), b"", 404, "nothing at"),
        (("POST", "/v1/completions", JSON), b"{}", 404, "nothing at"),
        (("PATCH", CHAT, JSON), b"{}", 405, "use POST"),
        (("POST", "/healthz", JSON), b"{}", 405, "use GET"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(
    client: httpx.Client,
    request_: tuple[str, str, dict[str, str]],
    content: bytes,
    status: int,
    said: str,
) -> None:
    method, path, headers = request_
    response = client.request(method, path, headers=headers, content=content)
    error = response.json()["error"]
    assert response.status_code == status
    assert said in error["message"]
    assert error["message"].endswith(".")
    assert len(error["message"]) < 300
    assert error["type"] == "invalid_request_error"
    assert set(error) == {"message", "type", "code", "param"}


def test_what_an_answer_repeats_of_a_question_is_text(client: httpx.Client) -> None:
    asked = {"query": "a\x00b \u202e <script> 🜚", "rerank": False, "k": 1}
    answer = client.post("/v1/search", json=asked).raise_for_status().json()
    assert answer["query"] == asked["query"]


def test_a_body_that_does_not_say_how_large_it_is_is_dropped(
    client: httpx.Client, app: Served
) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"query": "'
        yield from [b"a" * 65_536] * 1600

    before = memory(app)
    assert client.post("/v1/search", content=pieces(), headers=JSON).status_code == 413
    assert memory(app) - before < 50_000_000


def memory(app: Served) -> int:
    """Bytes that the app holds."""
    return int(psutil.Process(app.process.pid).memory_info().rss)


def raw(app: Served, sent: bytes) -> socket.socket:
    """A connection on which this was sent, to the app by its name."""
    connection = app.connected()
    connection.sendall(sent.replace(b"Host: x", f"Host: {app.host}".encode()))
    return connection


HEAD = b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: -1\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", b"4"),
        (HEAD + b"Content-Length: 2000000\r\n\r\n{", b"413"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
    ],
)
def test_what_is_no_request_is_refused(app: Served, sent: bytes, status: bytes) -> None:
    with raw(app, sent) as connection:
        line = connection.recv(1000).split(b"\r\n")[0]
    assert line.startswith(b"HTTP/1.1 " + status)


def test_requests_sent_by_half_hold_nobody_up(app: Served, client: httpx.Client) -> None:
    halves = [
        HEAD,
        HEAD + b"Content-Length: 1000\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"GET /healthz",
    ]
    connections = [raw(app, half) for half in halves * 30]
    assert client.post("/v1/search", content=ASKED, headers=JSON).status_code == 200
    for connection in connections:
        connection.close()
    assert client.get("/healthz").status_code == 200


def test_a_thousand_quick_requests_leave_no_trace(app: Served, client: httpx.Client) -> None:
    def request(at: int) -> int:
        match at % 4:
            case 0:
                return client.get("/v1/models").status_code
            case 1:
                return client.post(CHAT, content=b"{", headers=JSON).status_code
            case 2:
                return client.get(f"/v1/papers/none-{at}").status_code
            case _:
                return client.get(f"/v1/{at}").status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(request, range(200)))
        before, held = memory(app), psutil.Process(app.process.pid).num_threads()
        statuses += threads.map(request, range(1000))
    assert set(statuses) == {200, 400, 404}
    assert memory(app) - before < 30_000_000
    assert psutil.Process(app.process.pid).num_threads() <= held + 8
    assert client.post("/v1/search", content=ASKED, headers=JSON).status_code == 200
