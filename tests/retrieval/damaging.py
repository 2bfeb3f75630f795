"""Damages each file of copies of a library, one at a time, and prints what becomes of it.

A program of its own: a damaged file may end the process that reads it. Each line is a JSON object
with the file, whether it is shorter or has other bits, the counts, and what a search says before
and after a repair: the papers found, or the sentence of an error.
"""

import json
import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from fake_embedder import WordEmbedder

from retrieval.index import chroma, connection
from retrieval.library.health import repair
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.library.overview import Overviews
from retrieval.search.search import search
from retrieval.text.splitting import ChunkSettings
from retrieval.types import UserError

chroma.SYNC_THRESHOLD = connection.SYNC_THRESHOLD = 10  # vectors are saved early


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    changed = bytearray(content)
    chance = random.Random(len(content))  # noqa: S311 - the same bits every time
    for _ in range(40):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def found(home: Path) -> list[list[object]] | str:
    try:
        library = Library(home, WordEmbedder(), ChunkSettings(8))
        passages = search(library, "study of graph number3 kernels", 40)
        return [[each.paper.abstract, round(each.score, 4)] for each in passages]
    except UserError as error:
        return str(error)


def counts(home: Path) -> dict[str, object] | str:
    try:
        return asdict(Overviews(Library(home, WordEmbedder(), ChunkSettings(8))).overview())
    except UserError as error:
        return str(error)


def repaired(home: Path) -> str:
    try:
        repair(Library(home, WordEmbedder(), ChunkSettings(8)))
    except UserError as error:
        return str(error)
    return ""


def outcome(whole: Path, file: Path, home: Path, damage: Callable[[bytes], bytes]) -> None:
    shutil.copytree(whole, home)
    damaged = home / file
    damaged.write_bytes(damage(damaged.read_bytes()))
    line = {"file": file.as_posix(), "damage": damage.__name__, "counts": counts(home)}
    print(json.dumps(line | {"before": found(home), "said": repaired(home), "after": found(home)}))


def main(folder: Path) -> None:
    papers = folder / "papers.jsonl"
    text = "We study graph{0} with text{0}. It is a graph of number{1}. Then kernels{0} are shown."
    rows = [{"title": f"T{n}", "abstract": text.format(n, n % 7)} for n in range(30)]
    papers.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    whole = folder / "whole"
    ingest(Library(whole, WordEmbedder(), ChunkSettings(8)), [papers])
    line = {"file": "", "counts": counts(whole)}
    print(json.dumps(line | {"before": found(whole), "after": found(whole)}))
    files = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
    for number, file in enumerate(each for each in files if (whole / each).stat().st_size):
        for damage in (truncated, flipped):
            outcome(whole, file, folder / f"{damage.__name__}{number}", damage)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
