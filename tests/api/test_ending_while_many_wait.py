"""Ctrl-C while people wait for their answers."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
from app_process import Served, served

QUESTION = "Which trick keeps value-learning methods stable on another policy's data"
PEOPLE = 12
"""Their answers would take longer than the ending may, see `Served.end`."""
TIMEOUT = 120.0


def ask(app: Served, number: int) -> str:
    """What became of a streamed question."""
    asked = {
        "model": "default",
        "messages": [{"role": "user", "content": f"{QUESTION}, {number} times out of ten?"}],
        "stream": True,
    }
    try:
        with httpx.Client(trust_env=False, timeout=TIMEOUT) as client:
            return client.post(f"{app.address}/v1/chat/completions", json=asked).text
    except httpx.HTTPError as error:
        return repr(error)


def wait_for_queue(app: Served, people: list[Future[str]]) -> None:
    """Until all of them have a place."""
    with httpx.Client(trust_env=False, timeout=TIMEOUT) as client:
        while f"assistant_queue_length {PEOPLE}.0" not in client.get(f"{app.address}/metrics").text:
            assert not any(person.done() for person in people), "one did not wait"


def test_ctrl_c_ends_the_app_while_many_wait(library_home: Path) -> None:
    with served(library_home) as app, ThreadPoolExecutor(PEOPLE) as pool:
        app.wait_until_ready()
        people = [pool.submit(ask, app, number) for number in range(PEOPLE)]
        wait_for_queue(app, people)
        assert app.end() in {0, 130}
        assert not [person for person in people if "[DONE]" in person.result(TIMEOUT)]
