"""Measures of support on SciFact's claims: which tells a supported claim from another best.

    python tests/benchmarks/bench_support.py FOLDER

The folder holds support_train.jsonl and support_dev.jsonl. A claim is compared with the two
sentences of its abstract that are nearest to it, whatever its label; for what contradicts it or
supports it also with the sentences that people marked. Thresholds and the classifier are fitted to
the training pairs. Takes about ten minutes, for the vectors. Prints a table, then one JSON line.
Results are in checking.md.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assistant.checking import is_supported
from assistant.checking.claim import Claim
from assistant.models import resolve_embedder
from assistant.settings import Settings
from retrieval.embedder import Embedder, LlamaCppEmbedder

Row = dict[str, Any]
Scores = NDArray[np.float64]


def rows_of(path: Path, embedder: Embedder) -> list[Row]:
    """The pairs of a file with the cosines of the claim and each sentence."""
    rows: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    vectors: dict[str, Any] = {}
    for row in rows:
        if row["doc_id"] not in vectors:
            vectors[row["doc_id"]] = np.array([embedder.embed(text) for text in row["sentences"]])
        row["cosines"] = vectors[row["doc_id"]] @ embedder.embed(row["claim"])
        nearest = sorted(np.argsort(row["cosines"])[-2:])
        row["nearest"] = [row["sentences"][at] for at in nearest]
    return rows


def features(row: Row, rarity: Callable[[str], float]) -> list[float]:
    """Words in common, the same weighted by rarity, best cosine, mean of the two best."""
    claim = Claim(row["claim"], row["nearest"])
    words = [claim.said.words[at] for at in claim.content]
    weights = [rarity(word.stem) for word in words]
    common = sum(weight for weight, word in zip(weights, words, strict=True) if claim.has(word))
    cosines = sorted(row["cosines"])[-2:]
    return [
        sum(map(claim.has, words)) / max(len(words), 1),
        common / (sum(weights) or 1.0),
        float(cosines[-1]),
        float(np.mean(cosines)),
    ]


def rarity_in(rows: list[Row]) -> Callable[[str], float]:
    """Inverse frequency of stems among the abstracts."""
    abstracts = {row["doc_id"]: row["sentences"] for row in rows}
    counts = Counter(
        stem for sentences in abstracts.values() for stem in Claim("", sentences).stems
    )
    return lambda stem: math.log(len(abstracts) / (1 + counts[stem]) + 1)


def fitted(features: Scores, labels: NDArray[np.bool_]) -> Callable[[Scores], Scores]:
    """Logistic regression by gradient descent, with a little weight decay."""
    mean, spread = features.mean(0), features.std(0) + 1e-9

    def with_one(each: Scores) -> Scores:
        return np.c_[np.ones(len(each)), (each - mean) / spread]

    weights = np.zeros(features.shape[1] + 1)
    for _ in range(3000):
        chance = 1 / (1 + np.exp(-with_one(features) @ weights))
        decay = 0.01 * np.r_[0.0, weights[1:]]
        weights -= 0.5 * (with_one(features).T @ (chance - labels) / len(labels) + decay)
    return lambda each: 1 / (1 + np.exp(-with_one(each) @ weights))


def auc(positive: Scores, negative: Scores) -> float:
    """How often a positive has the higher score."""
    wins = positive[:, None] > negative
    return float(np.mean(wins) + 0.5 * np.mean(positive[:, None] == negative))


def best_threshold(scores: Scores, labels: NDArray[np.bool_]) -> float:
    """The threshold of the highest F1."""
    return float(
        max(
            np.unique(scores),
            key=lambda least: (
                2 * np.sum((scores >= least) & labels) / (np.sum(scores >= least) + labels.sum())
            ),
        )
    )


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    embedder = LlamaCppEmbedder(
        resolve_embedder("default", Settings().cache), threads=Settings().threads
    )
    train, dev = (rows_of(folder / f"support_{part}.jsonl", embedder) for part in ("train", "dev"))
    rarity = rarity_in(train)
    known, asked = (np.array([features(row, rarity) for row in rows]) for rows in (train, dev))
    taught, labels = (
        np.array([row["label"] == "SUPPORT" for row in rows]) for rows in (train, dev)
    )
    silent = np.array([row["label"] == "NOT_ENOUGH_INFO" for row in dev])
    classify = fitted(known, taught)
    measures = {
        "words in common": (known[:, 0], asked[:, 0]),
        "weighted by rarity": (known[:, 1], asked[:, 1]),
        "cosine": (known[:, 2], asked[:, 2]),
        "words + cosine": (known[:, 0] + known[:, 2], asked[:, 0] + asked[:, 2]),
        "classifier": (classify(known), classify(asked)),
    }
    results = {}
    for name, (before, scores) in measures.items():
        passed = scores >= best_threshold(before, taught)
        results[name] = {
            "auc": auc(scores[labels], scores[~labels]),
            "auc, not enough": auc(scores[labels], scores[silent]),
            "precision": float(np.sum(passed & labels) / max(passed.sum(), 1)),
            "recall": float(np.sum(passed & labels) / labels.sum()),
        }
    results |= {"check": checked(dev, "nearest"), "check, marked": checked(dev, "marked")}
    for name, row in results.items():
        print(f"{name:20}", *(f"{key} {value:.3f}" for key, value in row.items()), sep="  ")
    print(json.dumps(results))


def checked(rows: list[Row], evidence: str) -> dict[str, float]:
    """Precision and recall of the whole check."""
    passed: dict[str, list[bool]] = {"SUPPORT": [], "CONTRADICT": [], "NOT_ENOUGH_INFO": []}
    for row in rows:
        marked = [row["sentences"][at] for at in row["rationale_sentences"]]
        cited = row["nearest"] if evidence == "nearest" else marked
        if cited:
            passed[row["label"]].append(is_supported(row["claim"], cited))
    every = sum(map(sum, passed.values()))
    right = sum(passed["SUPPORT"])
    return {"precision": right / max(every, 1), "recall": right / len(passed["SUPPORT"])}


if __name__ == "__main__":
    main()
