"""Kills a Chroma server at random moments of an ingest: nothing may be lost, doubled or different.

    python tests/benchmarks/bench_server_kills.py [--kills 30] [--seed 1]

Every time a new server and library; a process reads a file of 80 papers, the server is killed
(SIGKILL) after a random share of the time that the ingest takes, started again, and the same file
is read once more. All that can be seen is then compared with a library that was not disturbed.
The server saves vectors after every 50 in place of 5,000, so that more kills fall into it. Results
are in scale.md.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS / "retrieval")]

from chroma_server import ChromaServer  # noqa: E402 - of the tests
from test_server import contents, opened, rows, written  # noqa: E402

from retrieval.index import connection, lease, server  # noqa: E402
from retrieval.library import health  # noqa: E402
from retrieval.library.ingest import ingest  # noqa: E402
from retrieval.types import LibraryError  # noqa: E402

connection.SERVER_SYNC_THRESHOLD = 50
server.PATIENCE, lease.EXPIRY, health.BATCH = 0.5, 3.0, 8
_processes = multiprocessing.get_context("forkserver")


def read(url: str, home: Path, file: Path, said: Any) -> None:
    """Ingest the file; put what came of it."""
    try:
        library = opened(home, url)
        said.put("begun")
        ingest(library, [file])
        said.put("ended")
    except LibraryError as error:
        said.put(str(error))


def killed_once(folder: Path, file: Path, after: float) -> tuple[str, dict[str, Any]]:
    """What the interrupted ingest said, and the library after the next one."""
    chroma = ChromaServer(folder / "chroma").start()
    try:
        said = _processes.Queue()
        process = _processes.Process(target=read, args=(chroma.url, folder / "home", file, said))
        process.start()
        said.get()
        time.sleep(after)
        chroma.kill()
        heard = said.get()
        process.join()
        chroma.start()
        library = opened(folder / "home", chroma.url)
        ingest(library, [file])
        return heard, contents(library)
    finally:
        chroma.kill()


def main() -> None:
    """Kill, read again, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - moments that can be drawn again
    tally = {"kills": 0, "during the ingest": 0, "same": 0}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = written(folder / "a.jsonl", rows(80))
        ingest(whole := opened(folder / "whole"), [file])
        expected = contents(whole)
        server_folder = ChromaServer(folder / "timed").start()
        timed = opened(folder / "timed-home", server_folder.url)
        begun = time.perf_counter()
        ingest(timed, [file])
        seconds = time.perf_counter() - begun
        server_folder.kill()
        for number in range(given.kills):
            (kill := folder / str(number)).mkdir()
            after = chance.uniform(0, seconds)
            heard, found = killed_once(kill, file, after)
            differing = [name for name in expected if expected[name] != found[name]]
            tally["kills"] += 1
            tally["during the ingest"] += heard != "ended"
            tally["same"] += not differing
            print(f"{number}: after {after:.2f} s: {heard[:90]}; {differing or 'same'}", flush=True)
    print(json.dumps(tally))


if __name__ == "__main__":
    main()
