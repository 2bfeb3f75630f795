"""The same code at 100,000 abstracts: ingest rate, start-up, search, lookup, memory, disk.

    python tests/benchmarks/bench_scale.py --questions QUESTIONS.jsonl [--corpus CORPUS.jsonl]
        [--papers 5000 100000] [--short] [--made HOME] [--chroma URL]

The abstracts are sentences of the seeds and of CORPUS.jsonl (BEIR's SciFact) in new combinations,
the same on every run; with `--short` one sentence each, so one chunk. Vectors are random unit
vectors, so that the time is not that of embedding; questions are embedded for real. `--made` uses
a library that was made before; then a file of 100 papers is added to it. With `--chroma` the
library is on that server of Chroma. CPU seconds are this process's: on a busy machine compare
those. Prints a table, then one JSON line. Results are in scale.md.
"""

import argparse
import hashlib
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from assistant.models import resolve_embedder
from assistant.settings import Settings, resource_folder
from retrieval.encoders.embedder import LlamaCppEmbedder, Vector
from retrieval.formats import files_of, read_file
from retrieval.index.place import Place
from retrieval.index.server import ServerPlace, address_of
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.query.lookup import Lookup
from retrieval.search.search import search
from retrieval.text.splitting import split_sentences
from retrieval.types import Record

DIMENSIONS = 384
VENUES = ("ICLR", "NeurIPS", "ICML", "CHI", "Nature Medicine", "Cell")
DECISIONS = ("oral", "spotlight", "poster", "")
LENGTHS, SHORT = (5, 9), (1, 1)
"""Least and most sentences of an abstract."""
A_FILE = 100_000
"""Papers of a file; each is read whole, so more take more memory."""


class RandomVectors:
    """The real embedder's name and tokens, with a random unit vector for every text."""

    def __init__(self, real: LlamaCppEmbedder, *, questions: bool) -> None:
        """Embed for real only if what comes are `questions`."""
        self.name, self.count = real.name, real.count
        self.embed: Callable[[str], Vector] = real.embed if questions else _random_vector


def _random_vector(text: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


def made_papers(
    count: int, records: list[Record], seed: int = 0, lengths: tuple[int, int] = LENGTHS
) -> Iterator[dict[str, Any]]:
    """Papers of so many sentences of others, with names, venue, year and decision."""
    chance = random.Random(seed)  # noqa: S311 - the same papers on every run
    sentences = [
        sentence.text for record in records for sentence in split_sentences(record.abstract)
    ]
    titles = [record.title.split() for record in records if record.title]
    names = [name.split() for record in records for name in record.authors if " " in name]
    for number in range(count):
        first, second = chance.choice(titles), chance.choice(titles)
        yield {
            "id": f"made-{number}-{seed}" if seed else f"made-{number}",
            "title": " ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :]),
            "abstract": " ".join(chance.sample(sentences, chance.randint(*lengths))),
            "authors": [
                f"{chance.choice(names)[0]} {chance.choice(names)[-1]}"
                for _ in range(chance.randint(1, 6))
            ],
            "venue": chance.choice(VENUES),
            "year": chance.randint(1990, 2023),
            "decision": chance.choice(DECISIONS),
        }


def place_of(home: Path, chroma: str) -> Place | None:
    """The place on a server, whose prefix is the folder's name."""
    return ServerPlace(address_of(f"{chroma}?prefix=scale-{home.name}"), home) if chroma else None


def measure_adding(
    home: Path, chroma: str, records: list[Record], embedder: LlamaCppEmbedder
) -> dict[str, float]:
    """Seconds in which a new process adds 100 papers, twice: at first the index may be older."""
    row = {}
    for name, seed in (("first add s", 1), ("add s", 2)):
        file = home.with_name(f"added-{seed}-{time.time_ns()}.jsonl")
        lines = (json.dumps(paper) for paper in made_papers(100, records, time.time_ns()))
        file.write_text("\n".join(lines), "utf-8")
        started, worked = time.perf_counter(), time.process_time()
        embedding = RandomVectors(embedder, questions=False)
        report = ingest(Library(home, embedding, place=place_of(home, chroma)), [file])
        row[name] = time.perf_counter() - started
        row[f"CPU of the {name}"] = time.process_time() - worked
        assert report.added == 100
    return row | {"papers": report.papers}


def measure_ingest(
    count: int, records: list[Record], embedder: LlamaCppEmbedder, options: argparse.Namespace
) -> dict[str, float]:
    """Papers a second into a new library, and its size."""
    papers = made_papers(count, records, lengths=SHORT if options.short else LENGTHS)
    files = []
    for start in range(0, count, A_FILE):
        files.append(options.folder / f"{count}-{start}.jsonl")
        with files[-1].open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(paper) + "\n" for paper in islice(papers, A_FILE))
    home = options.folder / str(count)
    embedding = RandomVectors(embedder, questions=False)
    library = Library(home, embedding, place=place_of(home, options.chroma))
    before = time.process_time()
    reports = [ingest(library, [file]) for file in files]
    worked, seconds = time.process_time() - before, sum(each.seconds for each in reports)
    size = sum(path.stat().st_size for path in library.home.rglob("*") if path.is_file())
    return {
        "papers": reports[-1].papers,
        "chunks": reports[-1].chunks,
        "seconds": seconds,
        "papers/s": reports[-1].papers / seconds,
        "CPU ms a paper": 1000 * worked / reports[-1].papers,
        "memory of the ingest MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "MB on disk": size / 1e6,
    }


def measure_use(
    home: Path, chroma: str, questions: list[str], embedder: LlamaCppEmbedder
) -> dict[str, float]:
    """Seconds to the first search of a new process, then milliseconds a search and a lookup."""
    started = time.perf_counter()
    embedding = RandomVectors(embedder, questions=True)
    library = Library(home, embedding, place=place_of(home, chroma))
    library.ready_to_search()
    search(library, questions[0], 10)
    opened = time.perf_counter() - started
    lookup = Lookup.over(library)
    return {
        "open and first search s": opened,
        **_times("search", lambda text: search(library, text, 10), questions),
        **_times("lookup", lambda text: lookup.find(text, 10), questions[:50]),
        "memory MB": psutil.Process().memory_info().rss / 1e6,  # the peak would be the parent's
    }


def _times(what: str, call: Callable[[str], object], texts: list[str]) -> dict[str, float]:
    """Milliseconds a text: median and 95th percentile on the clock, and the mean of CPU time."""
    taken, before = [], time.process_time()
    for text in texts:
        started = time.perf_counter()
        call(text)
        taken.append(1000 * (time.perf_counter() - started))
    return {
        f"{what} p50 ms": statistics.median(taken),
        f"{what} p95 ms": float(np.quantile(taken, 0.95)),
        f"{what} CPU ms": 1000 * (time.process_time() - before) / len(texts),
    }


def main() -> None:
    """Make libraries, and use each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--papers", type=int, nargs="*", default=[5_000, 100_000])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--folder", type=Path, help="keep the libraries here")
    parser.add_argument("--made", type=Path, help="a library made before")
    parser.add_argument("--chroma", default="", help="the server that has the libraries")
    parser.add_argument("--use", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    embedder = LlamaCppEmbedder(resolve_embedder("default", Settings().cache), threads=2)
    if options.use:
        asked = _questions(options.questions)
        print(json.dumps(measure_use(options.use, options.chroma, asked, embedder)))
        return
    files = [*files_of([resource_folder("seeds")]), *filter(None, [options.corpus])]
    records = [record for file in files for record in read_file(file).records]
    if options.made:
        row = _in_new_process(options.made)
        row |= measure_adding(options.made, options.chroma, records, embedder)
        print(json.dumps(row))
        return
    is_kept = bool(options.folder)
    options.folder = options.folder or Path(tempfile.mkdtemp())
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    for count in options.papers:
        row = measure_ingest(count, records, embedder, options)
        row |= _in_new_process(options.folder / str(count))
        rows[str(count)] = row
        print(count, *(f"{name} {value:,.1f}" for name, value in row.items()), sep="  ", flush=True)
    if not is_kept:
        shutil.rmtree(options.folder)
    print(json.dumps(rows))


def _in_new_process(home: Path) -> dict[str, float]:
    command = [sys.executable, *sys.argv, "--use", str(home)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    row: dict[str, float] = json.loads(done.stdout)
    return row


def _questions(path: Path) -> list[str]:
    samples = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [sample["question"] for sample in samples if sample["type"] == "single"]


if __name__ == "__main__":
    main()
