"""Fits what is done with the reader's logits.

    python fit_reading.py HOME [HOME …] [--cache FILE] [--every N]

Each HOME is a library that has papers of the validation split, which training kept out: the seeds,
or the biomedical papers. Their questions go through the real first stage and the real reader. From
that come, each with ten-fold cross-validation by paper:

- the weights of reranking: a listwise softmax over the papers found;
- what the budget and gap of the evidence give.

Prints a table for each; the numbers go into `RerankSettings`, `evidence.WORDS` and `evidence.GAP`
by hand, with what was tried written into ../reading.md. `fit_answerable.py` fits when to abstain.
"""

import argparse
import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from assistant.pipeline.startup import open_library, open_reader
from assistant.settings import Settings
from retrieval.search.rerank import RerankSettings, read_papers
from retrieval.search.search import search
from retrieval.types import never, silent

DATA = Path(__file__).parent / "data"
DEPTH = 12
FOLDS = 10


def lines(name: str) -> list[dict]:
    """The validation rows of a data file."""
    rows = map(json.loads, (DATA / name).open(encoding="utf-8"))
    return [row for row in rows if row.get("split", "validation") == "validation"]


def asked_of(here: set[str], every: int) -> list[dict]:
    """The validation questions that papers of `here` answer."""
    asked = []
    for row in lines("questions.jsonl"):
        follow_up = {**row["follow_up"], "question": row["follow_up"]["standalone"]}
        asked += [(each, row["paper"]) for each in (*row["questions"], follow_up)]
    asked += [(row, row["paper"]) for row in lines("hard.jsonl") if row["kind"] == "answered"]
    return [
        {"question": each["question"], "evidence": each.get("evidence", []), "paper": paper}
        for each, paper in [(each, paper) for each, paper in asked if paper in here][::every]
    ]


def gathered(homes: list[Path], every: int) -> list[dict]:
    """Every validation question with what search and reader say of the papers found."""
    settings = Settings()
    reader = open_reader(settings, silent)
    known = {row["paper"]: row for row in lines("papers.jsonl")}
    rows = []
    for home in homes:
        library = open_library(settings.model_copy(update={"home": home}), silent)
        here = {stored.paper.id for stored in library.store.papers()}
        for row in asked_of(here, every):
            passages = search(library, row["question"], DEPTH)
            order = RerankSettings.order_kept()
            read = read_papers(row["question"], passages, reader, never, order)
            sentences = known[row["paper"]]["sentences"] if row["evidence"] else []
            row |= {"gold": [sentences[at] for at in row["evidence"]]}
            row["found"] = [
                {
                    "id": each.passage.paper.id,
                    "fused": each.passage.score,
                    "relevance": each.read.relevance,
                    "answered": each.read.answered,
                    "best": max(one.evidence for one in each.read.sentences),
                    "sentences": [(one.sentence.text, one.evidence) for one in each.read.sentences],
                }
                for each in read
            ]
            rows.append(row)
        print(home, len(rows), "questions", flush=True)
    return rows


def folds(rows: list[dict]) -> np.ndarray:
    """A fold for every row, the same for all questions on a paper."""
    papers = sorted({row["paper"] for row in rows})
    of = {paper: at % FOLDS for at, paper in enumerate(papers)}
    return np.array([of[row["paper"]] for row in rows])


def fit_ranking(rows: list[dict]) -> None:
    """Weights of the reader's logits beside the fused score."""
    matrices, rights = [], []
    for row in rows:
        matrices.append(
            np.array([[f["fused"], f["relevance"], f["answered"], f["best"]] for f in row["found"]])
        )
        rights.append([f["id"] == row["paper"] for f in row["found"]])

    def figures(scores: list[np.ndarray]) -> tuple[float, float]:
        ranks = [
            1 + int((s > s[r.index(True)]).sum()) if any(r) else 0
            for s, r in zip(scores, rights, strict=True)
        ]
        return (
            float(np.mean([rank == 1 for rank in ranks])),
            float(np.mean([1 / rank if 0 < rank <= 10 else 0 for rank in ranks])),
        )

    def loss(weights: np.ndarray, part: Sequence[int]) -> float:
        total = 0.02 * float((weights**2).sum())
        for at in part:
            if any(rights[at]):
                scores = matrices[at] @ weights
                total += np.logaddexp.reduce(scores) - scores[rights[at].index(True)]
        return total

    fold = folds(rows)
    for name, columns in (
        ("first stage", [0]),
        ("relevance", [0, 1]),
        ("answered", [0, 2]),
        ("all", [0, 1, 2, 3]),
    ):
        mask = np.isin(np.arange(4), columns).astype(float)

        def fitted(part: Sequence[int], mask: np.ndarray = mask) -> np.ndarray:
            return minimize(lambda weights: loss(weights * mask, part), np.ones(4)).x * mask

        scores: list[np.ndarray] = [np.zeros(0)] * len(rows)
        for held in range(FOLDS):
            part = [at for at in range(len(rows)) if fold[at] != held]
            best = fitted(part)
            for at in np.flatnonzero(fold == held):
                scores[at] = matrices[at] @ best
        whole = fitted(range(len(rows)))
        first, mrr = figures(scores)
        shares = whole / whole[0]
        print(f"ranking, {name:12} R@1 {first:.3f} MRR@10 {mrr:.3f} weights {shares.round(3)}")


def show_evidence(rows: list[dict]) -> None:
    """What share of the gold sentences is chosen, and how many words that takes."""
    for words in (60, 70, 80, 90):
        for gap in (2.0, 3.0, 5.0):
            found, length = [], []
            for row in rows:
                own = [f for f in row["found"] if f["id"] == row["paper"]]
                if not row["gold"] or not own:
                    continue
                scored = sorted(own[0]["sentences"], key=lambda s: -s[1])
                chosen, used = [scored[0][0]], len(scored[0][0].split())
                for text, logit in scored[1:]:
                    more = used + len(text.split())
                    if logit >= scored[0][1] - gap and more <= words:
                        chosen, used = [*chosen, text], more
                found.append(all(g in chosen for g in row["gold"]))
                length.append(used)
            share, mean = np.mean(found), np.mean(length)
            print(f"evidence, {words} words, gap {gap}: all gold {share:.3f}, {mean:.0f} words")


def main() -> None:
    """Gather, or take what was gathered, and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask only every so many questions")
    asked = parser.parse_args()
    if asked.cache and asked.cache.exists():
        rows = pickle.loads(asked.cache.read_bytes())
    else:
        rows = gathered(asked.homes, asked.every)
        if asked.cache:
            asked.cache.write_bytes(pickle.dumps(rows))
    fit_ranking(rows)
    show_evidence(rows)


if __name__ == "__main__":
    main()
