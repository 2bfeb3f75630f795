"""Measures of support: which tells a supported claim from another best.

    python tests/benchmarks/bench_support.py FOLDER

First on the written pairs of the training data that were kept out of training, kind by kind, with
the whole check. Then on SciFact's claims; the folder holds support_dev.jsonl. A claim is compared
with the two sentences of its abstract that are nearest to it, whatever its label; the support model
also with the sentences that people marked, for what supports or contradicts it. Takes a few
minutes, for the vectors. Prints a table, then one JSON line. Results are in checking.md.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assistant.generation.verification.guards import breaks
from assistant.generation.verification.support import THRESHOLD, SupportModel
from assistant.models import resolve_embedder, resolve_encoder
from assistant.models.gguf.trained import SUPPORT, read_heads
from assistant.settings import Settings
from retrieval.encoders.embedder import Embedder, LlamaCppEmbedder

Row = dict[str, Any]
Scores = NDArray[np.float64]
DATA = Path(__file__).parent / "training" / "data"
_STEM_LETTERS, _SHORTEST_WORD = 6, 4


def rows_of(path: Path, embedder: Embedder) -> list[Row]:
    """The pairs of a file, with the two sentences nearest to each claim and their cosines."""
    rows: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    vectors: dict[str, Any] = {}
    for row in rows:
        if row["doc_id"] not in vectors:
            vectors[row["doc_id"]] = np.array([embedder.embed(text) for text in row["sentences"]])
        cosines = vectors[row["doc_id"]] @ embedder.embed(row["claim"])
        nearest = sorted(np.argsort(cosines)[-2:])
        row["cosine"] = float(np.mean(np.sort(cosines)[-2:]))
        row["nearest"] = [row["sentences"][at] for at in nearest]
        row["marked"] = [row["sentences"][at] for at in row["rationale_sentences"]]
    return rows


def words_in_common(row: Row) -> float:
    """Share of the claim's longer words, cut short, that the nearest sentences have."""
    claim, known = stems(row["claim"]), stems(" ".join(row["nearest"]))
    return len(claim & known) / max(len(claim), 1)


def stems(text: str) -> set[str]:
    """The beginnings of its longer words."""
    words = (word.strip(".,;:()[]") for word in text.casefold().split())
    return {word[:_STEM_LETTERS] for word in words if len(word) >= _SHORTEST_WORD}


def auc(positive: Scores, negative: Scores) -> float:
    """How often a positive has the higher score."""
    wins = positive[:, None] > negative
    return float(np.mean(wins) + 0.5 * np.mean(positive[:, None] == negative))


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    settings = Settings()
    embedder = LlamaCppEmbedder(
        resolve_embedder("default", settings.cache), threads=settings.threads
    )
    path = resolve_encoder(SUPPORT, settings.cache)
    model = SupportModel(path, read_heads(SUPPORT), threads=settings.threads)
    pairs = kept_out(model)
    print(json.dumps(pairs, indent=1))
    rows = rows_of(folder / "support_dev.jsonl", embedder)
    marked = [row for row in rows if row["marked"]]
    measures = {
        "words in common": (rows, [words_in_common(row) for row in rows]),
        "cosine": (rows, [row["cosine"] for row in rows]),
        "support model": (rows, [judged(model, row["claim"], row["nearest"], "") for row in rows]),
        "support model, marked": (
            marked,
            [judged(model, row["claim"], row["marked"], "") for row in marked],
        ),
    }
    results = {name: figures(of, np.array(scores)) for name, (of, scores) in measures.items()}
    for name, row in results.items():
        print(f"{name:22}", *(f"{key} {value:.3f}" for key, value in row.items()), sep="  ")
    print(json.dumps({"pairs": pairs, **results}))


def kept_out(model: SupportModel) -> dict[str, float]:
    """Of the written pairs kept out of training: what passes guards and model."""
    papers = {row["paper"]: row for row in lines("papers")}
    scores: dict[str, list[float]] = defaultdict(list)
    beside: list[float] = []
    for row in [*lines("support"), *lines("pairs"), *lines("edits")]:
        if row["split"] == "validation":
            paper = papers[row["paper"]]
            cited = [paper["sentences"][at] for at in sorted(set(row["evidence"]))]
            score = judged(model, row["claim"], cited, paper["title"])
            is_held = row["label"] == "supported"
            scores["supported" if is_held else f"{row['kind']} passed"].append(score)
            others = [text for text in paper["sentences"] if text not in cited]
            if others and not is_held and score < THRESHOLD:
                more = [*cited, others[len(row["claim"]) % len(others)]]
                beside.append(judged(model, row["claim"], more, paper["title"]))
    holds = np.array(scores.pop("supported"))
    faults = np.array([score for each in scores.values() for score in each])
    found = {
        "supported": len(holds),
        "unsupported": len(faults),
        "auc": auc(holds, faults),
        "supported refused": float(np.mean(holds < THRESHOLD)),
        "unsupported passed": float(np.mean(faults >= THRESHOLD)),
        "refused, passed with one more sentence": float(np.mean(np.array(beside) >= THRESHOLD)),
    }
    for refused in (0.05, 0.1, 0.15, 0.2, 0.3):
        least = np.quantile(holds, refused)
        found[f"unsupported passed where {refused:.0%} of supported are refused"] = float(
            np.mean(faults >= least)
        )
        found[f"threshold for {refused:.0%}"] = float(least)
    return found | {
        kind: float(np.mean(np.array(each) >= THRESHOLD)) for kind, each in sorted(scores.items())
    }


def judged(model: SupportModel, claim: str, cited: list[str], title: str) -> float:
    """The logit of the best sentence, of those with which the claim breaks no guard."""
    known = (text for text in cited if not breaks(claim, [text], title))
    return max((model.logit(claim, text, title) for text in known), default=-99.0)


def lines(name: str) -> list[Row]:
    """The rows of a file of the training data."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def figures(rows: list[Row], scores: Scores) -> dict[str, float]:
    """AUC of support against all else and against each other label; what passes the threshold."""
    labels = np.array([row["label"] for row in rows])
    right = labels == "SUPPORT"
    found = {"auc": auc(scores[right], scores[~right])}
    for label in ("CONTRADICT", "NOT_ENOUGH_INFO"):
        if (labels == label).any():
            found[f"auc, {label.lower()}"] = auc(scores[right], scores[labels == label])
    found["supported passed"] = float(np.mean(scores[right] >= THRESHOLD))
    found["others passed"] = float(np.mean(scores[~right] >= THRESHOLD))
    return found


if __name__ == "__main__":
    main()
