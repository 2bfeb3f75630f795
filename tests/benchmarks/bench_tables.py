"""Fits and measures which cells of evidence tables are filled; see tables.md.

python tests/benchmarks/bench_tables.py HOME

HOME is a library of the seeds. `table_cells.jsonl` has pairs of a paper and a column with the
sentences that fill the cell, none if the abstract says nothing. Papers are split in two halves:
weights and threshold are fitted on the first, and measured on the second.
"""

import json
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np

from assistant.pipeline.startup import open_library, open_reader
from assistant.research.columns import BIAS, THRESHOLD, WEIGHTS, Candidate, candidates
from assistant.settings import Settings
from retrieval.types import never

CELLS = Path(__file__).with_name("table_cells.jsonl")
RIDGE = 1.0
Cell = tuple[list[Candidate], list[str]]
"""The sentences of an abstract, and those that fill the cell."""


def fitted(cells: list[Cell]) -> tuple[list[float], float]:
    """Weights and bias of a logistic regression over all sentences, by Newton's method."""
    x = np.array([astuple(each.features) for found, _ in cells for each in found])
    y = np.array([each.sentence.text in held for found, held in cells for each in found], float)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = np.c_[(x - mean) / spread, np.ones(len(x))]
    penalty = np.diag([*[RIDGE] * x.shape[1], 1e-6])
    beta = np.zeros(z.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-z @ beta))
        curvature = (z * (p * (1 - p))[:, None]).T @ z + penalty
        beta -= np.linalg.solve(curvature, z.T @ (p - y) + penalty @ beta)
    weights = beta[:-1] / spread
    return weights.round(2).tolist(), round(float(beta[-1] - weights @ mean), 2)


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
    """Print the fit on the first half and the figures of both."""
    settings = Settings(home=Path(home))
    library = open_library(settings, lambda *_: None)
    reader = open_reader(settings, lambda *_: None)
    lines = [json.loads(line) for line in CELLS.read_text("utf-8").splitlines()]
    order = sorted({line["paper"] for line in lines})
    stored = library.store.stored_by_id(order)
    halves: tuple[list[Cell], list[Cell]] = ([], [])
    for line in lines:
        found = candidates(reader, stored[line["paper"]].paper, line["column"], never)
        halves[order.index(line["paper"]) % 2].append((found, line["sentences"]))
    print("fitted", *fitted(halves[0]), "in use", astuple(WEIGHTS), BIAS)
    for threshold in (-1.0, -0.75, -0.5, -0.25, 0.0, 0.5, 1.0):
        report("first half ", halves[0], threshold)
    report("second half", halves[1], THRESHOLD)
    print(f"AUC {auc(halves[0]):.3f} first half, {auc(halves[1]):.3f} second half")


if __name__ == "__main__":
    main(*sys.argv[1:])
