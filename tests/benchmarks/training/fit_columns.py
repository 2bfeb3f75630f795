"""Fits the head that fills cells of evidence tables: `python fit_columns.py [--cache FILE]`.

A logistic regression over what `columns.features` gives for every sentence of the papers and
columns in `data/columns.jsonl` and `data/short_abstracts.jsonl`; a sixth of the papers is kept out.
What was read is kept in FILE.
`../bench_tables.py` measures the head on papers that are not in the data.
"""

import argparse
import json
import pickle
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from assistant.models.gguf.trained import READER, encoder_fingerprint, read_tensors
from assistant.pipeline.startup import open_reader
from assistant.research.columns import HEADS, features
from assistant.settings import Settings
from retrieval.types import Paper, never, silent

DATA = Path(__file__).parent / "data"
STRENGTHS = (0.001, 0.003, 0.01)
"""Of the fit, tried on the papers kept out."""
USED = 0.003
SHORT = "short-"
"""Begins the ids of the papers in `short_abstracts.jsonl`."""
HELD_OUT = 6
"""One paper of so many is kept out."""


@dataclass(frozen=True)
class Cell:
    """The sentences of an abstract for a column, and which of them fill it."""

    paper: str
    x: NDArray[np.float32]
    fills: list[bool]

    @property
    def is_short(self) -> bool:
        """Whether its abstract was written for the data, in two to five sentences."""
        return self.paper.startswith(SHORT)

    @property
    def is_held_out(self) -> bool:
        """Whether it is kept out of the fit."""
        return zlib.crc32(self.paper.encode()) % HELD_OUT == 0


def lines(name: str) -> list[dict]:
    """The rows of a data file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def examples() -> Iterator[tuple[Paper, str, list[str]]]:
    """A paper, a column, and the sentences of its abstract that fill it."""
    papers = {row["paper"]: row for row in lines("papers.jsonl")}
    for row in lines("columns.jsonl"):
        known = papers[row["paper"]]
        telling = [known["sentences"][at] for at in row["sentences"]]
        yield _paper(row["paper"], known), row["column"], telling
    for number, row in enumerate(lines("short_abstracts.jsonl")):
        for column, telling in row["cells"].items():
            paper = _paper(f"{SHORT}{number}", row)
            yield paper, column, [row["sentences"][at] for at in telling]


def _paper(name: str, row: dict) -> Paper:
    return Paper(name, row["title"], (), "", None, "", " ".join(row["sentences"]), ())


def cells() -> list[Cell]:
    """Every cell of the data, read."""
    reader = open_reader(Settings(), silent)
    found = []
    for paper, column, telling in examples():
        sentences, x = features(reader, paper, column, never)
        fills = [any(s.text in each or each in s.text for each in telling) for s in sentences]
        found.append(Cell(paper.id, x.astype(np.float16), fills))
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
        for name, part in (
            ("long", [each for each in held if not each.is_short]),
            ("short", [each for each in held if each.is_short]),
        ):
            logits = [each.x.astype(np.float32) @ weight[0] + bias[0] for each in part]
            filled = [any(each.fills) for each in part]
            auc = roc_auc_score(filled, [each.max() for each in logits])
            right = [
                c.fills[int(np.argmax(x))]
                for c, x in zip(part, logits, strict=True)
                if any(c.fills)
            ]
            print(
                f"{strength}, {name}: AUC filled or not {auc:.3f}, "
                f"right sentence first {np.mean(right):.3f}"
            )
    weight, bias = fitted(known, USED)
    tensors, _ = read_tensors(HEADS)  # the roles stay as they are
    tensors |= {"heads.cell.weight": weight, "heads.cell.bias": bias}
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
