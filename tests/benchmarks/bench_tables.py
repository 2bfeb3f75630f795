"""Measures which cells of evidence tables are filled, and how well; see tables.md.

python tests/benchmarks/bench_tables.py HOME

HOME is a library of the seeds. `table_cells.jsonl` has pairs of a paper and a column with the
sentences that fill the cell, none if the abstract says nothing; no head was fitted on them.
"""

import json
import sys
from pathlib import Path

from assistant.pipeline.startup import open_library, open_reader
from assistant.research.columns import THRESHOLD, Candidate, candidates
from assistant.settings import Settings
from retrieval.types import never

CELLS = Path(__file__).with_name("table_cells.jsonl")
Cell = tuple[list[Candidate], list[str]]
"""The sentences of an abstract, and those that fill the cell."""


def report(name: str, cells: list[Cell], threshold: float) -> None:
    """How the cells are filled at a threshold, with the product's weights."""
    best = [(max(found, key=lambda each: each.logit), held) for found, held in cells]
    filled = [(each, held) for each, held in best if each.logit >= threshold]
    right = sum(each.sentence.text in held for each, held in filled)
    silent = sum(not held for _, held in filled)
    missed = sum(bool(held) for each, held in best if each.logit < threshold)
    empty = len(best) - len(filled)
    print(
        f"{name} {threshold:+.2f}: {len(cells)} cells, {len(filled)} filled: {right} right, "
        f"{len(filled) - right} wrong ({silent} where the abstract says nothing); "
        f"{empty} empty: {empty - missed} right, {missed} wrong"
    )


def auc(cells: list[Cell]) -> float:
    """How often a cell that can be filled has a higher logit than one that cannot."""
    logits = [(max(each.logit for each in found), bool(held)) for found, held in cells]
    pairs = [(a, b) for a, is_held in logits if is_held for b, other in logits if not other]
    return sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs)


def main(home: str) -> None:
    """Print how cells are filled at several thresholds."""
    settings = Settings(home=Path(home))
    library = open_library(settings, lambda *_: None)
    reader = open_reader(settings, lambda *_: None)
    lines = [json.loads(line) for line in CELLS.read_text("utf-8").splitlines()]
    stored = library.store.stored_by_id(sorted({line["paper"] for line in lines}))
    cells = [
        (candidates(reader, stored[line["paper"]].paper, line["column"], never), line["sentences"])
        for line in lines
    ]
    for threshold in (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0):
        report("in use" if threshold == THRESHOLD else "", cells, threshold)
    print(f"AUC {auc(cells):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
