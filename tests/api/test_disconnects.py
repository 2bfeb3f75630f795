"""Whoever goes away frees the model for the others."""

import json
import re
import socket
from collections.abc import Iterator

import httpx
import pytest
from app_process import Served

QUESTION = "Which papers recognise human actions from skeleton sequences?"


def waiting(client: httpx.Client) -> int:
    """Questions that the model has to do with."""
    found = re.search(r"^assistant_queue_length (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found
    return round(float(found[1]))


def ended(client: httpx.Client, outcome: str) -> int:
    """Questions that ended so."""
    pattern = rf'^assistant_questions_total{{outcome="{outcome}"}} (\S+)$'
    found = re.search(pattern, client.get("/metrics").text, re.MULTILINE)
    return round(float(found[1])) if found else 0


def asking(app: Served, *, stream: bool) -> socket.socket:
    """A connection on which a question was asked."""
    said = json.dumps({"stream": stream, "messages": [{"role": "user", "content": QUESTION}]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {app.host}\r\n"
    kind = f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
    connection = app.connected()
    connection.sendall(f"{head}{kind}{said}".encode())
    return connection


def until(truth: Iterator[bool]) -> None:
    """Look again and again; the test's own time limit is that of the requests."""
    assert any(each for each, _ in zip(truth, range(10_000), strict=False))


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_stops_the_model(
    app: Served, client: httpx.Client, *, stream: bool
) -> None:
    stopped = ended(client, "stopped")
    connections = [asking(app, stream=stream) for _ in range(5)]
    until(iter(lambda: waiting(client) >= 2, None))
    for connection in connections:
        connection.close()
    until(iter(lambda: waiting(client) == 0, None))
    assert ended(client, "stopped") >= stopped + 3


def test_those_who_wait_are_told_and_answered(app: Served, client: httpx.Client) -> None:
    before = asking(app, stream=True)
    until(iter(lambda: waiting(client) == 1, None))
    asked = {"stream": True, "messages": [{"role": "user", "content": "Who wrote Git Re-Basin?"}]}
    with client.stream("POST", "/v1/chat/completions", json=asked) as response:
        lines = response.iter_lines()
        told = next(line for line in lines if line.startswith(": "))
        before.close()
        rest = [line for line in lines if line]
    assert re.fullmatch(r": 1 ahead(, about \d+ s)?", told)
    assert rest[-1] == "data: [DONE]"


def test_too_many_are_sent_away_with_the_time_to_come_back(
    app: Served, client: httpx.Client
) -> None:
    refused = ended(client, "refused")
    connections = [asking(app, stream=True) for _ in range(40)]
    until(iter(lambda: ended(client, "refused") >= refused + 8, None))
    response = client.post(
        "/v1/chat/completions", json={"messages": [{"role": "user", "content": QUESTION}]}
    )
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "busy"
    assert int(response.headers["retry-after"]) > 0
    for connection in connections:
        connection.close()
    until(iter(lambda: waiting(client) == 0, None))
