"""Fits the head that tells claims from questions: `python fit_claims.py WEIGHTS`.

A logistic regression over what the finished reader makes of a text, on the training split; it is
written into the file WEIGHTS (`reader.safetensors`), and its figures on the validation split are
printed. Claims are those of the data; what people ask, and titles, are not.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from assistant.models import resolve_encoder
from assistant.models.gguf.trained import READER, read_tensors
from assistant.settings import Settings
from retrieval.encoders.embedder import Heads
from retrieval.search.reader import Reader

DATA = Path(__file__).parent / "data"
EVERY = 3
"""Of the many questions."""
KEPT = 0.98
"""Share of what people ask that must not be taken for a claim: then the reader would not rank."""


def lines(name: str) -> Iterator[dict]:
    """The rows of a data file."""
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def texts() -> Iterator[tuple[str, bool, bool]]:
    """Every text, whether it is a claim, and whether it is of the validation split."""
    for name in ("support.jsonl", "pairs.jsonl", "claims.jsonl"):
        for row in lines(name):
            yield row["claim"], True, row.get("split") == "validation"
    asked: list[tuple[str, str]] = []
    for name in ("hard.jsonl", "messages.jsonl", "overviews.jsonl", "several.jsonl", "turns.jsonl"):
        asked += [(row["question"], row["split"]) for row in lines(name)]
    for row in lines("questions.jsonl"):
        asked += [(each["question"], row["split"]) for each in row["questions"]]
    # Titles have no split of their own; every tenth is kept out.
    asked += [
        (row["title"], "validation" if at % 10 == 0 else "train")
        for at, row in enumerate(lines("papers.jsonl"))
        if row["title"]
    ]
    for text, split in asked[::EVERY]:
        yield text, False, split == "validation"


def main() -> None:
    """Fit, print, write."""
    weights = Path(sys.argv[1])
    settings = Settings()
    tensors, notes = read_tensors(weights)
    reader = Reader(resolve_encoder(READER, settings.cache), Heads({}), threads=settings.threads)
    rows = list(texts())
    # People leave the full stop out, and the question mark.
    typed = [text.rstrip(".?!") if at % 2 else text for at, (text, _, _) in enumerate(rows)]
    x = np.concatenate([reader.vector(text) for text in typed])
    y, held = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    found = LogisticRegression(C=1.0, max_iter=2000, class_weight="balanced").fit(
        x[~held], y[~held]
    )
    logits = found.decision_function(x)
    least = np.quantile(logits[~held & ~y], KEPT)
    claims, others = (np.mean(logits[held & part] > least) for part in (y, ~y))
    print(f"{held.sum()} kept out: of claims {claims:.3f} are known, of others {others:.3f} taken")
    tensors["heads.claim.weight"] = found.coef_.astype(np.float32)
    tensors["heads.claim.bias"] = (found.intercept_ - least).astype(np.float32)
    save_file(tensors, weights, metadata=notes)


if __name__ == "__main__":
    main()
