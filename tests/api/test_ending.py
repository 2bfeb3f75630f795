"""Ctrl-C and SIGTERM while programs and pages are connected."""

import contextlib
import json
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from app_process import Served, served

ASKED = {"messages": [{"role": "user", "content": "Which papers recognise human actions?"}]}
PEOPLE = 11
"""Beside the one who is answered; their answers would take longer than the ending may."""
PATH = "/papers"


def client_of(app: Served) -> httpx.Client:
    return httpx.Client(base_url=f"{app.address}{PATH}", timeout=120, trust_env=False)


def ask(app: Served, number: int) -> httpx.Response:
    """What became of a question; every other one is streamed."""
    with client_of(app) as client:
        return client.post("/v1/chat/completions", json={**ASKED, "stream": number % 2 == 0})


def wait_for_queue(client: httpx.Client, people: list[Future[httpx.Response]]) -> None:
    """Until all of them have a place."""
    while f"assistant_queue_length {PEOPLE + 1}.0" not in client.get("/metrics").text:
        assert not any(person.done() for person in people), "one did not wait"


@pytest.mark.parametrize(
    ("how", "statuses"),
    [
        (signal.SIGTERM, {0}),
        (signal.SIGINT, {0, 130}),
    ],
    ids=str,
)
def test_an_ending_app_says_so_to_all_who_wait_and_in_its_open_streams(
    library_home: Path, how: signal.Signals, statuses: set[int]
) -> None:
    with (
        served(library_home, "--root-path", PATH) as app,
        client_of(app) as client,
        ThreadPoolExecutor(PEOPLE) as pool,
        contextlib.ExitStack() as streams,
    ):
        app.wait_until_ready()
        page = streams.enter_context(client.stream("GET", "/gradio_api/heartbeat/page"))
        assert "ALIVE" in next(page.iter_text())
        asked = client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True})
        answer = streams.enter_context(asked).iter_lines()
        assert next(answer).startswith("data: ")
        people = [pool.submit(ask, app, number) for number in range(PEOPLE)]
        wait_for_queue(client, people)
        assert app.end(how) in statuses
        rest = [line for line in answer if line.startswith("data: ")]
        answers = [person.result(120) for person in people]
        assert app.process.stderr is not None
        said = app.process.stderr.read()
    assert json.loads(rest[-1].removeprefix("data: "))["error"]["code"] == "ending"
    assert not any("[DONE]" in line or '"stop"' in line for line in rest)
    assert {answer.status_code for answer in answers[1::2]} == {503}
    assert all('"code":"ending"' in answer.text for answer in answers)
    assert not any("[DONE]" in answer.text for answer in answers)
    assert "Traceback" not in said
    assert "ERROR" not in said
