"""Many clients of the served app: whole answers, waiting, hanging up, memory round by round.

    python tests/benchmarks/bench_http.py --home DIR [--clients 8] [--each 5] [--rounds 3]
        [--stops 32] [--alone 8]

Starts `assistant serve` over the library in DIR and asks `POST /v1/chat/completions`, streaming,
the questions of http_questions.jsonl: every client is a thread with cookies of its own and
different questions. Prints the figures, then one JSON line. Results are in serving.md.
"""

import argparse
import itertools
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

QUESTIONS = Path(__file__).with_name("http_questions.jsonl")
WRITTEN = "data: "
LONGEST_STOP = 1.0
"""Seconds within which a client hangs up, once it has heard anything; most answers take three."""
_LOOK_SECONDS = 0.002
_QUEUE = re.compile(r"^assistant_queue_length (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer without times, and the seconds until its turn and its end."""

    question: str
    answer: str
    waited: float
    took: float


class App:
    """The served app."""

    def __init__(self, address: str, process: psutil.Process) -> None:
        self._address = address
        self._process = process
        self._watching = self.client()

    def client(self) -> httpx.Client:
        """Somebody new, without cookies."""
        return httpx.Client(base_url=self._address, timeout=3600, trust_env=False)

    def memory_mb(self) -> float:
        """Of its process."""
        return round(self._process.memory_info().rss / 1e6, 1)

    def queue(self) -> int:
        """Questions that wait or are answered."""
        found = _QUEUE.search(self._watching.get("/metrics").text)
        assert found
        return int(float(found[1]))

    def wait_until_free(self) -> None:
        """Until nobody waits."""
        while self.queue():
            time.sleep(_LOOK_SECONDS)


@contextmanager
def served(home: Path) -> Iterator[App]:
    """The app, once questions can be asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "assistant", "serve", "--home", str(home), "--port", str(port)]
    with subprocess.Popen(command) as process:
        try:
            app = App(f"http://127.0.0.1:{port}", psutil.Process(process.pid))
            with app.client() as client:
                while not _is_ready(client):
                    time.sleep(0.2)
            yield app
        finally:
            process.terminate()


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == httpx.codes.OK
    except httpx.ConnectError:
        return False


def body(question: str) -> dict[str, Any]:
    """A request for a streamed answer."""
    return {
        "model": "default",
        "stream": True,
        "messages": [{"role": "user", "content": question}],
    }


def ask(client: httpx.Client, question: str) -> Asked:
    """Read an answer to its end."""
    came, waited, fields = time.perf_counter(), 0.0, {}
    with client.stream("POST", "/v1/chat/completions", json=body(question)) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if line.startswith(":") and " ahead" in line:  # a comment while others come first
                waited = time.perf_counter() - came
            elif line.startswith(WRITTEN) and "{" in line:
                fields = json.loads(line.removeprefix(WRITTEN)).get("assistant") or fields
    answer = {name: fields[name] for name in ("outcome", "answer", "citations") if name in fields}
    return Asked(question, json.dumps(answer), waited, time.perf_counter() - came - waited)


def ask_at_once(app: App, questions: Sequence[Sequence[str]]) -> list[Asked]:
    """Each client's questions one after the other, all clients at once."""
    start = threading.Barrier(len(questions))

    def converse(own: Sequence[str]) -> list[Asked]:
        with app.client() as client:
            start.wait()
            return [ask(client, question) for question in own]

    with ThreadPoolExecutor(len(questions)) as clients:
        return [asked for each in clients.map(converse, questions) for asked in each]


def stop_once(app: App, question: str, after: float) -> float | None:
    """Seconds from hanging up, so long after the first event, to the end of the queue.

    Nothing where the answer had ended before.
    """
    with app.client() as client:
        request = client.build_request("POST", "/v1/chat/completions", json=body(question))
        response = client.send(request, stream=True)
        time.sleep(after)
        at_work = app.queue()
        response.close()
        hung_up = time.perf_counter()
        app.wait_until_free()
        return time.perf_counter() - hung_up if at_work else None


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median, the 95th percentile and the largest."""
    shares = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    return {name: round(float(np.quantile(seconds, share)), 3) for name, share in shares.items()}


def measure(app: App, given: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    lines = QUESTIONS.read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    own = [questions[at :: given.clients][: given.each] for at in range(given.clients)]
    memory = [app.memory_mb()]
    with app.client() as client:
        alone = {
            each: ask(client, each).answer
            for each in itertools.islice(itertools.chain(*own), given.alone)
        }
    memory.append(app.memory_mb())
    asked: list[Asked] = []
    for _ in range(given.rounds):
        asked += ask_at_once(app, own)
        memory.append(app.memory_mb())
        print(memory, flush=True)
    first = {one.question: one.answer for one in reversed(asked)} | alone
    chance = random.Random(0)  # noqa: S311 - the same moments on every run
    stops: list[float] = []
    while len(stops) < given.stops:
        after = chance.uniform(0, LONGEST_STOP)
        if (seconds := stop_once(app, chance.choice(questions), after)) is not None:
            stops.append(seconds)
    return {
        "asked": given.rounds * sum(map(len, own)),
        "answered": sum("outcome" in one.answer for one in asked),
        "asked alone first": len(alone),
        "not as alone, or as in the first round": sum(
            one.answer != first[one.question] for one in asked
        ),
        "waiting s": percentiles([one.waited for one in asked]),
        "answer s": percentiles([one.took for one in asked]),
        "stops": len(stops),
        "hanging up to free s": percentiles(stops),
        "memory MB: ready, after those alone, after each round": memory,
        "memory MB after the stops": app.memory_mb(),
        "load average": psutil.getloadavg(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stops", type=int, default=32)
    parser.add_argument("--alone", type=int, default=8)
    with served(parser.parse_args().home) as app:
        figures = measure(app, parser.parse_args())
    for name, value in figures.items():
        print(f"{name:55}  {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
