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
PEOPLE = 12
"""Their answers would take longer than the ending may, see `Served.end`."""


@pytest.mark.parametrize(
    ("how", "statuses"), [(signal.SIGINT, {0, 130}), (signal.SIGTERM, {0})], ids=str
)
def test_an_ending_app_says_so_in_its_open_streams(
    library_home: Path, how: signal.Signals, statuses: set[int]
) -> None:
    with (
        served(library_home, "--root-path", "/papers") as app,
        httpx.Client(base_url=f"{app.address}/papers", timeout=60, trust_env=False) as client,
        contextlib.ExitStack() as streams,
    ):
        app.wait_until_ready()
        page = streams.enter_context(client.stream("GET", "/gradio_api/heartbeat/page"))
        beats = page.iter_text()
        assert "ALIVE" in next(beats)
        asked = client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True})
        answer = streams.enter_context(asked).iter_lines()
        assert next(answer).startswith("data: ")
        assert app.end(how) in statuses
        rest = [line for line in answer if line.startswith("data: ")]
        assert json.loads(rest[-1].removeprefix("data: "))["error"]["code"] == "ending"
        assert not any("[DONE]" in line or '"stop"' in line for line in rest)
        assert app.process.stderr is not None
        said = app.process.stderr.read()
        assert "Traceback" not in said
        assert "ERROR" not in said


def ask(app: Served, number: int) -> httpx.Response:
    """What became of a question; every other one is streamed."""
    with httpx.Client(base_url=app.address, trust_env=False, timeout=120) as client:
        return client.post("/v1/chat/completions", json={**ASKED, "stream": number % 2 == 0})


def wait_for_queue(app: Served, people: list[Future[httpx.Response]]) -> None:
    """Until all of them have a place."""
    with httpx.Client(trust_env=False, timeout=120) as client:
        while f"assistant_queue_length {PEOPLE}.0" not in client.get(f"{app.address}/metrics").text:
            assert not any(person.done() for person in people), "one did not wait"


def test_all_who_wait_learn_that_the_app_ends(library_home: Path) -> None:
    with served(library_home) as app, ThreadPoolExecutor(PEOPLE) as pool:
        app.wait_until_ready()
        people = [pool.submit(ask, app, number) for number in range(PEOPLE)]
        wait_for_queue(app, people)
        assert app.end(signal.SIGTERM) == 0
        answers = [person.result(120) for person in people]
    assert {answer.status_code for answer in answers[1::2]} == {503}
    assert all('"code": "ending"' in answer.text.replace('":"', '": "') for answer in answers)
    assert not any("[DONE]" in answer.text for answer in answers)
