"""Kills at random moments of writing: what a library is like once the command is run again.

    python tests/benchmarks/bench_kills.py [--kills 25] [--seed 1] [--inside]

A first ingest, an update with changed files, the removal of a file and a repair of a damaged
library of 60 made-up papers are each killed (SIGKILL) after a random share of the time that they
take, in a process of their own. Another process then opens the library, every second time searches
it, runs the same again, and compares all that can be seen with a run that was not killed. The
embedder of the tests stands in; vectors are saved and batches end more often than usual, so that
more kills fall between them. Prints a table, then one JSON line. Results are in ingest.md.
"""

import argparse
import functools
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

_TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(_TESTS / "retrieval"))

from fake_embedder import WordEmbedder  # noqa: E402 - of the tests

from retrieval.index import chroma, connection  # noqa: E402
from retrieval.index.manifest import read_manifest  # noqa: E402
from retrieval.library import health  # noqa: E402
from retrieval.library.ingest import ingest, remove_source  # noqa: E402
from retrieval.library.library import Library  # noqa: E402
from retrieval.search.search import search  # noqa: E402
from retrieval.text.splitting import ChunkSettings  # noqa: E402
from retrieval.types import (  # noqa: E402
    InputError,
    LibraryError,
    SearchSettings,
)

chroma.SYNC_THRESHOLD = connection.SYNC_THRESHOLD = 50
health.BATCH = 8

PAPERS, SHARED = 60, 10
QUERIES = ("weight of herons", "heron12 lake3 reed7", "vowel40 grows")
EXHAUSTIVE = SearchSettings(dense_depth=10_000)
"""Takes up every paper: which of several equally near chunks Chroma finds first is left to it."""
_NOUNS = ("heron", "lake", "reed", "vowel", "turnip", "orbit", "glacier", "lantern")

_processes = multiprocessing.get_context("forkserver")
Work = Callable[[Path], None]


# --- papers


def made_up() -> list[dict[str, Any]]:
    """Sixty papers that have words in common, but no two the same text."""
    chance = random.Random(7)  # noqa: S311 - the same papers every time
    return [
        {
            "title": f"Study {number} of {chance.choice(_NOUNS)}{number}",
            "authors": [f"Ada Name{number}", f"Bo Name{number % 7}"],
            "year": 2000 + number % 20,
            "abstract": " ".join(_sentence(chance) for _ in range(chance.randint(3, 8))),
        }
        for number in range(PAPERS)
    ]


def _sentence(chance: random.Random) -> str:
    words = [f"{chance.choice(_NOUNS)}{chance.randrange(60)}" for _ in range(5)]
    return f"The weight of {words[0]} grows with {words[1]} where {' and '.join(words[2:])} meet."


def write_files(folder: Path) -> None:
    """Two files that share ten papers, in `first` and, changed, in `changed`."""
    rows = made_up()
    later = [dict(row) for row in rows]
    for row in later[::3]:
        row["abstract"] = row["abstract"][: row["abstract"].index(".") + 1]
    for row in later[1::3]:
        row["abstract"] += " A sentence was added at the very end of this abstract."
    for row in later[::5]:
        row["authors"] = ["Someone Else"]
    for number, row in enumerate(later[::7]):
        row["id"] = f"given-{number}"
    half = (PAPERS + SHARED) // 2
    for name, papers in (("first", rows), ("changed", later)):
        (folder / name).mkdir()
        second = [row | {"venue": "Birds"} for row in papers[half - SHARED :]]
        for file, part in (("one.jsonl", papers[:half]), ("two.jsonl", second)):
            (folder / name / file).write_text("\n".join(map(json.dumps, part)), "utf-8")


# --- work on a library, each in a process of its own


def opened(home: Path) -> Library:
    """The library with the tests' embedder."""
    return Library(home, WordEmbedder(), ChunkSettings(tokens=12))


def read_files(files: Path, home: Path) -> None:
    """Ingest a folder."""
    ingest(opened(home), [files])


def remove_file(home: Path) -> None:
    """Remove one of the two files."""
    remove_source(opened(home), "two.jsonl")


def repair(home: Path) -> None:
    """Do what `assistant doctor --repair` does."""
    health.repair(opened(home))


def cut_vectors(home: Path) -> None:
    """Damage: the vectors are half as long as they were."""
    for file in home.glob("chroma/*/data_level0.bin"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def lose_chunks(home: Path) -> None:
    """Damage: every third paper has no chunks, and some chunks have no paper."""
    store = opened(home).store
    ids = sorted(stored.paper.id for stored in store.papers())
    store.delete_chunks(list(store.chunk_vectors(ids[::3])))
    with store._turn(writing=True):
        stray = store._whole_chunks(ids=[f"{ids[1]}:0"])
        store._put(stray | {"ids": ["nobody:0"]})


def spoil_lexical(home: Path) -> None:
    """Damage: the files of the lexical index are cut."""
    for file in (each for each in home.glob("lexical/**/*") if each.is_file()):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def contents(home: Path) -> dict[str, Any]:
    """All that can be seen of a library, and what a check finds."""
    library = opened(home)
    library.ready_to_search()
    papers = {stored.paper.id: stored for stored in library.store.papers()}
    ids = [f"{id_}:{n}" for id_, stored in papers.items() for n in range(stored.chunk_count)]
    found = [(query, search(library, query, 20, EXHAUSTIVE)) for query in QUERIES]
    return {
        "count": library.store.count(),
        "papers": {id_: asdict(stored.paper) for id_, stored in papers.items()},
        "chunks": {id_: asdict(chunk) for id_, chunk in library.store.chunks_by_id(ids).items()},
        "indexed": sorted(library.lexical.ids),
        "findings": health.check(library).findings,
        "found": [(query, p.paper.id, p.chunk.id) for query, hits in found for p in hits],
        "numbers": {
            "vectors": {id_: each.tolist() for id_, each in library.store.vectors(ids).items()},
            "scores": [[p.score for p in hits] for _, hits in found],
        },
    }


def searched(home: Path) -> str:
    """What a search says before anything is mended; a passage that is none of its paper is told."""
    library = opened(home)
    try:
        passages = [hit for query in QUERIES for hit in search(library, query, 20)]
    except LibraryError as error:
        return "refused with advice" if "`assistant " in str(error) else f"wrong: {error}"
    for hit in passages:
        if hit.paper.abstract[hit.chunk.start : hit.chunk.end] != hit.chunk.text:
            return f"wrong: {hit.chunk.id} is not in its paper"
    return "answered"


def mended(work: Work, searches: bool, home: Path) -> tuple[str, dict[str, Any]]:
    """Open a killed library, perhaps search it, run the work again, and look at everything."""
    said = searched(home) if searches else ""
    try:
        work(home)
    except InputError:  # the removal had ended, only the process had not
        if work is not remove_file:
            raise
    return said, contents(home)


# --- processes


def _child(work: Callable[[Path], Any], home: Path, telling: Connection) -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for as long as the process lives
    telling.send("begun")
    telling.send(work(home))


def started(work: Callable[[Path], Any], home: Path) -> tuple[Any, Connection]:
    """A process that has just begun with the work."""
    heard, telling = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_child, args=(work, home, telling))
    process.start()
    telling.close()
    heard.recv()
    return process, heard


def outcome(work: Callable[[Path], Any], home: Path) -> tuple[Any, float]:
    """What the work returns in a process of its own, and its seconds."""
    process, heard = started(work, home)
    begun = time.perf_counter()
    try:
        result = heard.recv()
    except EOFError as error:
        process.join()
        raise RuntimeError(f"{work} ended with {process.exitcode}") from error
    seconds = time.perf_counter() - begun
    process.join()
    return result, seconds


def is_killed(work: Work, home: Path, after: float) -> bool:
    """Kill the work `after` so many seconds; false if it had ended by then."""
    process, _ = started(work, home)
    time.sleep(after)
    process.kill()
    process.join()
    return bool(process.exitcode)


# --- the kills


@dataclass(frozen=True)
class Case:
    """Something to kill."""

    name: str
    work: Work
    before: Path | None
    """The library at its beginning; None: there is none."""
    expected: dict[str, Any]
    """The library after a run that was not killed."""
    seconds: float


@dataclass(frozen=True)
class Tally:
    """Numbers of kills of one kind."""

    kills: int = 0
    writing: int = 0
    """The manifest said that a write had begun and not ended."""
    answered: int = 0
    """A search before anything was mended gave papers."""
    refused: int = 0
    """It said what to run."""
    same: int = 0
    """After the second run all was as if nothing had happened."""

    def __add__(self, other: "Tally") -> "Tally":
        """The sums."""
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def case(folder: Path, name: str, work: Work, before: Path | None) -> Case:
    """A case with the outcome and the time of a run that is not killed."""
    home = folder / f"{name} expected".replace(" ", "-")
    if before:
        shutil.copytree(before, home)
    _, seconds = outcome(work, home)
    return Case(name, work, before, outcome(contents, home)[0], seconds)


def cases(folder: Path) -> list[Case]:
    """The four kinds of work; the damaged libraries are three."""
    write_files(folder)
    first = case(folder, "first ingest", functools.partial(read_files, folder / "first"), None)
    whole = folder / "first-ingest-expected"
    update = functools.partial(read_files, folder / "changed")
    listed = [
        first,
        case(folder, "update", update, whole),
        case(folder, "remove", remove_file, whole),
    ]
    for damage in (cut_vectors, lose_chunks, spoil_lexical):
        damaged = folder / damage.__name__
        shutil.copytree(whole, damaged)
        outcome(damage, damaged)
        of_damaged = case(folder, f"repair {damage.__name__}", repair, damaged)
        differing = differences(of_damaged.expected, first.expected)
        assert not differing, f"{damage.__name__} is not repaired: {differing}"
        listed.append(of_damaged)
    return listed


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names of what differs; numbers may differ in their last digits."""
    named = [name for name in one if name != "numbers" and one[name] != other[name]]
    if not named:
        vectors, expected = one["numbers"]["vectors"], other["numbers"]["vectors"]
        near = functools.partial(np.allclose, rtol=0, atol=1e-5)
        if not all(near(vectors[id_], expected[id_]) for id_ in expected):
            named.append("vectors")
        pairs = zip(one["numbers"]["scores"], other["numbers"]["scores"], strict=True)
        if not all(near(*pair) for pair in pairs):
            named.append("scores")
    return named


def killed_once(
    each: Case, home: Path, chance: random.Random, *, searches: bool, inside: bool
) -> Tally:
    """One kill within the work, or only within its write, and what came of it."""
    while True:
        shutil.rmtree(home, ignore_errors=True)
        if each.before:
            shutil.copytree(each.before, home)
        after = chance.uniform(0, each.seconds)
        killed = is_killed(each.work, home, after)
        manifest = read_manifest(home / "library.json")
        writing = bool(manifest and manifest.writing)
        if killed and (writing or not inside):
            break
    tally = Tally(kills=1, writing=writing)
    try:
        (said, left), _ = outcome(functools.partial(mended, each.work, searches), home)
    except RuntimeError as error:
        print(f"{each.name} after {after:.3f} s: {error}", flush=True)
        return tally
    wrong = [*differences(left, each.expected), *([said] if said.startswith("wrong") else ())]
    if wrong:
        print(f"{each.name} after {after:.3f} s: {', '.join(wrong)}", flush=True)
    return replace(
        tally,
        answered=said == "answered",
        refused=said.startswith("refused"),
        same=not wrong,
    )


def main() -> None:
    """Kill, mend, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=25, help="of each kind of work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help="only kills within the write")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - moments that can be drawn again
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    _processes.set_forkserver_preload(["retrieval.library.ingest", "retrieval.search.search"])
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, update, remove, *repairs = cases(folder)
        for each in (first, update, remove, *repairs):
            print(f"{each.name}: {each.seconds:.2f} s, {each.expected['count']}", flush=True)
        for number in range(given.kills):
            for each in (first, update, remove, repairs[number % len(repairs)]):
                kind = each.name.split()[0]
                how = {"searches": number % 2 == 0, "inside": given.inside}
                tally = killed_once(each, folder / "home", chance, **how)
                tallies[kind] = tallies.get(kind, Tally()) + tally
    names = [f.name for f in fields(Tally)]
    print(f"{'':10}", *(f"{name:>9}" for name in names))
    for kind, tally in tallies.items():
        print(f"{kind:10}", *(f"{getattr(tally, name):9}" for name in names))
    print(json.dumps({kind: asdict(tally) for kind, tally in tallies.items()}))


if __name__ == "__main__":
    main()
