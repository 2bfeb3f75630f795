"""Two app processes over one library and one PostgreSQL, behind nginx as README there says."""

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from app_process import Served, served
from nginx import NGINX, nginx_before

from assistant.server.auth.accounts import add_user

PASSWORD = "a correct horse"  # noqa: S105 - of nobody
QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
FOLLOW_UP = "Who wrote it?"


@pytest.fixture(scope="module")
def flags(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Flags of both processes."""
    users = tmp_path_factory.mktemp("users") / "users.json"
    add_user(users, "ann", PASSWORD)
    return ["--database", postgres_url, "--auth-file", str(users), "--proxies", "127.0.0.1"]


@pytest.fixture(scope="module")
def apps(library_home: Path, flags: list[str]) -> Iterator[tuple[Served, Served]]:
    with served(library_home, *flags) as one, served(library_home, *flags) as two:
        one.wait_until_ready()
        two.wait_until_ready()
        yield one, two


@pytest.fixture(scope="module")
def client(
    apps: tuple[Served, Served], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Somebody at nginx, signed in."""
    if NGINX is None:
        pytest.skip("no nginx is installed: what the server's README says of it is not tested")
    with (
        nginx_before(tmp_path_factory.mktemp("nginx"), *apps) as address,
        httpx.Client(base_url=address, trust_env=False, timeout=120) as client,
    ):
        signed_in = client.post("/login", data={"name": "ann", "password": PASSWORD})
        assert signed_in.status_code == 303
        yield client


def asked(*said: str) -> dict[str, object]:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    return {"messages": messages, "stream": True}


def streamed(client: httpx.Client, address: str, body: dict[str, object]) -> str:
    """The ending of an answer: done, error, refused, cut (which a client notices) or silent."""
    try:
        with client.stream("POST", f"{address}/v1/chat/completions", json=body) as answer:
            lines = [line for line in answer.iter_lines() if line.startswith("data:")]
            status = answer.status_code
    except httpx.TransportError:
        return "cut"
    if status != httpx.codes.OK:
        return "refused"
    return "done" if lines[-1] == "data: [DONE]" else "error" if "error" in lines[-1] else "silent"


def test_a_session_and_an_answer_of_one_are_known_to_the_other(
    apps: tuple[Served, Served], client: httpx.Client
) -> None:
    one, two = (app.address for app in apps)
    body = {**asked(QUESTION), "stream": False}
    first = client.post(f"{one}/v1/chat/completions", json=body).json()
    text = first["choices"][0]["message"]["content"]
    body = {**asked(QUESTION, text, FOLLOW_UP), "stream": False}
    second = client.post(f"{two}/v1/chat/completions", json=body).json()
    assert "Chao Pan" in second["choices"][0]["message"]["content"]


def test_wrong_passwords_are_counted_together(apps: tuple[Served, Served]) -> None:
    with httpx.Client(trust_env=False, timeout=60) as stranger:
        statuses = [
            stranger.post(
                f"{apps[attempt % 2].address}/login",
                data={"name": "bob", "password": "wrong"},
                headers={"x-forwarded-for": "192.0.2.7"},
            ).status_code
            for attempt in range(11)
        ]
    assert statuses == [401] * 10 + [429]


def test_each_is_restarted_while_people_ask(
    apps: tuple[Served, Served], client: httpx.Client, library_home: Path, flags: list[str]
) -> None:
    """Each answer is whole, or says that it is not; none is lost once one process is there.

    The first process is ended with SIGTERM and started again, the second one killed.
    """
    endings: list[str] = []
    going = threading.Event()

    def ask() -> None:
        while not going.is_set():
            endings.append(streamed(client, "", asked(QUESTION)))

    people = [threading.Thread(target=ask) for _ in range(4)]
    for person in people:
        person.start()
    try:
        port = apps[0].address.rsplit(":", 1)[1]
        assert apps[0].end(signal.SIGTERM) == 0
        with served(library_home, *flags, "--port", port) as again:
            again.address = apps[0].address
            again.wait_until_ready()
            before = len(endings)
            assert set(endings) <= {"done", "error", "refused"}, json.dumps(endings)
            apps[1].end(signal.SIGKILL)
            while endings[before:].count("done") < 2:
                assert not going.wait(0.1)
                assert again.process.poll() is None
            going.set()
            for person in people:
                person.join()
    finally:
        going.set()
    assert set(endings) <= {"done", "error", "refused", "cut"}, json.dumps(endings)
