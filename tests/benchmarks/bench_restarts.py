"""Two app processes ended and killed in turn behind nginx, while people ask: how answers end.

    python tests/benchmarks/bench_restarts.py --home DIR [--people 8] [--ends 8]

The processes share the library in DIR and a PostgreSQL of their own. They are ended with SIGTERM
and SIGKILL in turn, started again, and the next one is ended once both can answer. Prints how the
answers ended, then one JSON line. Results are in serving.md.
"""

import argparse
import json
import signal
import sys
import tempfile
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS / "api")]

from app_process import served  # noqa: E402 - of the tests
from nginx import nginx_before  # noqa: E402
from postgres import postgres_server  # noqa: E402
from test_two_processes import asked, streamed  # noqa: E402

QUESTIONS = Path(__file__).with_name("http_questions.jsonl")


def main() -> None:
    """Ask, end, start again and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--ends", type=int, default=8)
    given = parser.parse_args()
    lines = QUESTIONS.read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    endings, going = Counter[str](), threading.Event()

    def ask(number: int, address: str) -> None:
        # A cookie of one's own, by which nginx chooses the process.
        with httpx.Client(trust_env=False, timeout=600) as client:
            while not going.is_set():
                number += given.people
                endings[streamed(client, address, asked(questions[number % len(questions)]))] += 1

    with ExitStack() as all_parts:
        url = all_parts.enter_context(postgres_server()) + "postgres"
        flags = ["--database", url, "--proxies", "127.0.0.1"]
        apps = [all_parts.enter_context(served(given.home, *flags)) for _ in range(2)]
        for app in apps:
            app.wait_until_ready()
        folder = Path(all_parts.enter_context(tempfile.TemporaryDirectory()))
        address = all_parts.enter_context(nginx_before(folder, *apps))
        people = [
            threading.Thread(target=ask, args=(number, address)) for number in range(given.people)
        ]
        for person in people:
            person.start()
        for number in range(given.ends):
            ended = apps[number % 2]
            ended.end(signal.SIGKILL if number // 2 % 2 else signal.SIGTERM)
            again = served(given.home, *flags, "--port", ended.address.rsplit(":", 1)[1])
            apps[number % 2] = all_parts.enter_context(again)
            apps[number % 2].address = ended.address
            apps[number % 2].wait_until_ready()
            print(number + 1, dict(endings), flush=True)
        going.set()
        for person in people:
            person.join()
    print(json.dumps(endings))


if __name__ == "__main__":
    main()
