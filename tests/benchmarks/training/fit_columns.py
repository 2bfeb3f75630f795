"""Fits the head that fills cells of evidence tables: `python fit_columns.py [--cache FILE]`.

A logistic regression over what `columns.features` gives for every sentence of the papers and
columns in `data/columns.jsonl`; a sixth of the papers is kept out. What was read is kept in FILE.
`../bench_tables.py` measures the head on papers that are not in the data.
"""

import argparse
import json
import pickle
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from assistant.models.gguf.trained import READER, encoder_fingerprint
from assistant.pipeline.startup import open_reader
from assistant.research.columns import HEADS, features
from assistant.settings import Settings
from retrieval.types import Paper, never, silent

DATA = Path(__file__).parent / "data"
STRENGTHS = (0.001, 0.003, 0.01)
"""Of the fit, tried on the papers kept out."""
USED = 0.003
HELD_OUT = 6
"""One paper of so many is kept out."""


@dataclass(frozen=True)
class Cell:
    """The sentences of an abstract for a column, and which of them fill it."""

    paper: str
    x: NDArray[np.float32]
    fills: list[bool]

    @property
    def is_held_out(self) -> bool:
        """Whether it is kept out of the fit."""
        return zlib.crc32(self.paper.encode()) % HELD_OUT == 0


def lines(name: str) -> list[dict]:
    """The rows of a data file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def cells() -> list[Cell]:
    """Every cell of the data, read."""
    reader = open_reader(Settings(), silent)
    papers = {row["paper"]: row for row in lines("papers.jsonl")}
    found = []
    for row in lines("columns.jsonl"):
        known = papers[row["paper"]]
        paper = Paper(
            row["paper"], known["title"], (), "", None, "", " ".join(known["sentences"]), ()
        )
        telling = [known["sentences"][at] for at in row["sentences"]]
        sentences, x = features(reader, paper, row["column"], never)
        fills = [any(s.text in each or each in s.text for each in telling) for s in sentences]
        found.append(Cell(row["paper"], x.astype(np.float16), fills))
    return found


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if options.cache and options.cache.exists():
        known = pickle.loads(options.cache.read_bytes())
    else:
        known = cells()
        if options.cache:
            options.cache.write_bytes(pickle.dumps(known))
    held = [each for each in known if each.is_held_out]
    for strength in STRENGTHS:
        weight, bias = fitted([each for each in known if not each.is_held_out], strength)
        logits = [each.x.astype(np.float32) @ weight[0] + bias[0] for each in held]
        filled = [any(each.fills) for each in held]
        auc = roc_auc_score(filled, [each.max() for each in logits])
        first = np.mean(
            [c.fills[int(np.argmax(x))] for c, x in zip(held, logits, strict=True) if any(c.fills)]
        )
        print(f"{strength}: AUC filled or not {auc:.3f}, right sentence first {first:.3f}")
    weight, bias = fitted(known, USED)
    tensors = {"heads.cell.weight": weight, "heads.cell.bias": bias}
    save_file(tensors, HEADS.path, metadata={"base": encoder_fingerprint(READER)})


def fitted(known: list[Cell], strength: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weight, shape (1, features), and bias, shape (1,)."""
    x = np.vstack([each.x for each in known]).astype(np.float32)
    y = np.concatenate([each.fills for each in known])
    scaler = StandardScaler().fit(x)
    fit = LogisticRegression(C=strength, max_iter=2000).fit(scaler.transform(x), y)
    weight = fit.coef_ / scaler.scale_
    return weight.astype(np.float32), (fit.intercept_ - weight @ scaler.mean_).astype(np.float32)


if __name__ == "__main__":
    main()
