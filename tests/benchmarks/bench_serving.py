"""Many people at once: whole answers in order, what waiting costs, how soon a stop frees the model.

    python tests/benchmarks/bench_serving.py QUESTIONS.jsonl [--home DIR] [--clients 8] [--each 5]
        [--questions 10] [--stops 40]

Asks the service below page and API, in one process with the models of the settings, each client in
a thread of its own. The questions are taken from all over the file. Prints the tables, then one
JSON line. Results are in serving.md.
"""

import argparse
import itertools
import json
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from assistant.server.service import Service, Waiting
from assistant.settings import AnswerSettings, WritingMode, WritingSettings, load_settings
from assistant.types import Answer, Completed, answer_json, dumps
from retrieval.types import Cancelled

SURE_APART = 0.05
"""Seconds between two questions from which it is sure which came first."""
ASKED = "Asked"
LONGEST = {ASKED: 0.3, "Found": 3.0, "Chosen": 1.5}
"""After what a stop comes, and within how many seconds: while it searches, while abstracts are read
again, while the answer is written."""
_LOOK_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and when what happened to it, in seconds of one clock."""

    question: str
    came: float
    begun: float
    ended: float
    answer: str
    """All of it but what it took."""

    @property
    def waited(self) -> float:
        return self.begun - self.came

    @property
    def took(self) -> float:
        return self.ended - self.begun


def whole(answer: Answer) -> str:
    """Everything of an answer that does not depend on the clock."""
    fields = answer_json(answer, None, 0)
    del fields["timings"]
    return dumps(fields)


def ask(service: Service, question: str) -> Asked:
    """Read an answer to its end."""
    came = time.perf_counter()
    begun = 0.0
    for event in service.ask(question):
        if not begun and not isinstance(event, Waiting):
            begun = time.perf_counter()
        if isinstance(event, Completed):
            return Asked(question, came, begun, time.perf_counter(), whole(event.answer))
    raise AssertionError("no answer came")


def ask_at_once(service: Service, questions: Sequence[Sequence[str]]) -> list[Asked]:
    """Each client's questions one after the other, all clients at once."""
    start = threading.Barrier(len(questions))

    def converse(own: Sequence[str]) -> list[Asked]:
        start.wait()
        return [ask(service, question) for question in own]

    with ThreadPoolExecutor(len(questions)) as clients:
        return list(itertools.chain.from_iterable(clients.map(converse, questions)))


def overtaken(asked: Sequence[Asked]) -> int:
    """Pairs of which the one that surely came first was begun last."""
    return sum(
        first.came < second.came - SURE_APART and first.begun > second.begun
        for first, second in itertools.permutations(asked, 2)
    )


def stop_once(service: Service, question: str, after: str, delay: float) -> tuple[str, float]:
    """Stop an answer some seconds after something has happened.

    Returns:
        The last that had happened, and the seconds until its place was free; `Completed` if it was
        answered before.
    """
    stop, come = threading.Event(), threading.Event()
    last = [ASKED]

    def read() -> None:
        with suppress(Cancelled):
            for event in service.ask(question, stopped=stop.is_set):
                last[0] = type(event).__name__
                if last[0] == after:
                    come.set()
        come.set()

    reader = threading.Thread(target=read)
    reader.start()
    if after != ASKED:
        come.wait()
    stop.wait(delay)
    seen, stopped = last[0], time.perf_counter()
    stop.set()
    while len(service.queue):
        time.sleep(_LOOK_SECONDS)
    seconds = time.perf_counter() - stopped
    reader.join()
    return seen, seconds


def measure_stops(service: Service, questions: Sequence[str], count: int) -> dict[str, list[float]]:
    """Seconds from a stop to a free model, by what had happened last."""
    chance = random.Random(0)  # noqa: S311 - the same moments on every run
    found: dict[str, list[float]] = defaultdict(list)
    endless = itertools.cycle(questions)
    stages = itertools.cycle(LONGEST)
    while sum(map(len, found.values())) < count:
        after = next(stages)
        delay = chance.uniform(0, LONGEST[after])
        seen, seconds = stop_once(service, next(endless), after, delay)
        if seen != "Finished":
            found[seen].append(seconds)
    return found


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median, the 95th percentile and the largest."""
    shares = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    return {name: round(float(np.quantile(seconds, share)), 3) for name, share in shares.items()}


def memory_mb() -> float:
    """Of this process."""
    return round(psutil.Process().memory_info().rss / 1e6, 1)


def started(home: Path | None) -> Service:
    """The service, once it is ready."""
    service = Service(load_settings({"home": home} if home else {}))
    service.setup.start()
    while service.setup.state.assistant is None:
        if service.setup.state.error:
            raise SystemExit(service.setup.state.error)
        time.sleep(0.1)
    return service


def measure_load(
    service: Service, questions: Sequence[str], clients: int, each: int
) -> tuple[dict[str, Any], dict[str, Asked]]:
    """What many at once get, against what one alone gets."""
    alone = {question: ask(service, question) for question in questions}
    memory = memory_mb()
    endless = itertools.cycle(questions)
    asked = ask_at_once(service, [[next(endless) for _ in range(each)] for _ in range(clients)])
    wall = max(one.ended for one in asked) - min(one.came for one in asked)
    in_turn = sum(alone[one.question].ended - alone[one.question].came for one in asked)
    figures = {
        "asked": clients * each,
        "answered": len(asked),
        "not as alone": sum(one.answer != alone[one.question].answer for one in asked),
        "overtaken": overtaken(asked),
        "waiting s": percentiles([one.waited for one in asked]),
        "answer s": percentiles([one.took for one in asked]),
        "throughput against one after another": round(in_turn / wall, 3),
        "memory MB before, after": [memory, memory_mb()],
    }
    return figures, alone


def measure_stopping(service: Service, alone: dict[str, Asked], stops: int) -> dict[str, Any]:
    """Stops of the questions that take longest, the model asked to write, as better ones are."""
    longest = sorted(alone.values(), key=lambda one: one.came - one.ended)
    plain = service.assistant.settings
    service.assistant.settings = AnswerSettings(writing=WritingSettings(mode=WritingMode.FREE))
    by_event = measure_stops(service, [one.question for one in longest[:3]], stops)
    service.assistant.settings = plain
    again = {question: ask(service, question) for question in list(alone)[:3]}
    return {
        "stops": dict(Counter({seen: len(seconds) for seen, seconds in by_event.items()})),
        "stop to free s": percentiles(list(itertools.chain.from_iterable(by_event.values()))),
        "by last event": {seen: percentiles(seconds) for seen, seconds in by_event.items()},
        "not as before": sum(again[each].answer != alone[each].answer for each in again),
        "memory MB after": memory_mb(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions_file", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--stops", type=int, default=40)
    given = parser.parse_args()
    lines = given.questions_file.read_text("utf-8").splitlines()
    questions = [sample["question"] for sample in map(json.loads, lines) if "question" in sample]
    some = questions[:: max(1, len(questions) // given.questions)][: given.questions]
    service = started(given.home)
    figures, alone = measure_load(service, some, given.clients, given.each)
    print_table(figures)
    stopping = measure_stopping(service, alone, given.stops)
    print_table(stopping)
    print(dumps(figures | stopping))
    service.close()


def print_table(figures: dict[str, Any]) -> None:
    """A line for each figure."""
    for name, value in figures.items():
        print(f"{name:40}  {value}", flush=True)


if __name__ == "__main__":
    main()
