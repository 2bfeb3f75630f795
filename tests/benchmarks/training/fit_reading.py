"""Fits what is done with the reader's logits: `python fit_reading.py HOME [HOME …] [--cache FILE]`.

Each HOME is a library that has papers of the validation split, which training kept out: the seeds,
or the biomedical papers. Their questions go through the real first stage and the real reader. From
that come, each with ten-fold cross-validation by paper:

- the weights of reranking: a listwise softmax over the papers found;
- the weights of the probability that an abstract answers: a logistic regression;
- what the budget and gap of the evidence give.

Prints a table for each; the numbers go into `RerankSettings`, `abstention.WEIGHTS` and
`EvidenceSettings` by hand, with what was tried written into ../reading.md.
"""

import argparse
import json
import pickle
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from assistant.models import resolve_reader
from assistant.models.reader_gguf import read_heads
from assistant.pipeline.abstention import Features, QuestionEntities
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.settings import Settings
from assistant.startup import open_library
from retrieval.progress import silent
from retrieval.query.lookup import Lookup
from retrieval.search.reader import Reader
from retrieval.search.rerank import RerankSettings, read_papers
from retrieval.search.search import search

DATA = Path(__file__).parent / "data"
DEPTH = 12
FOLDS = 10


def lines(name: str) -> list[dict]:
    """The validation rows of a data file."""
    rows = map(json.loads, (DATA / name).open(encoding="utf-8"))
    return [row for row in rows if row.get("split", "validation") == "validation"]


def gathered(homes: list[Path]) -> list[dict]:
    """Every validation question with what search and reader say of the papers found."""
    settings = Settings()
    reader = Reader(resolve_reader(settings.cache), read_heads(), threads=settings.threads)
    known = {row["paper"]: row for row in lines("papers.jsonl")}
    rows = []
    for home in homes:
        library = open_library(settings.model_copy(update={"home": home}), silent)
        lookup = Lookup.over(library)
        here = {stored.paper.id for stored in library.store.papers()}
        asked = []
        for row in lines("questions.jsonl"):
            if row["paper"] not in here:
                continue
            asked += [
                (each["question"], row["paper"], each["evidence"], "answer")
                for each in row["questions"]
            ]
            each = row["follow_up"]
            asked.append((each["standalone"], row["paper"], each["evidence"], "answer"))
            asked.append((row["silent"], row["paper"], [], "silent"))
        asked += [(row["question"], "", [], "elsewhere") for row in lines("unanswerable.jsonl")]
        for question, paper, evidence, kind in asked:
            passages = search(library, question, DEPTH)
            read = read_papers(
                question, passages, reader, lambda: False, RerankSettings.order_kept()
            )
            entities = QuestionEntities.of(
                StandaloneQuestion(question, question), lookup.named(question)
            )
            sentences = known[paper]["sentences"] if paper else []
            rows.append(
                {
                    "question": question,
                    "paper": paper,
                    "kind": kind,
                    "home": home.name,
                    "gold": [sentences[at] for at in evidence],
                    "found": [
                        {
                            "id": each.passage.paper.id,
                            "fused": each.passage.score,
                            "relevance": each.read.relevance,
                            "answered": each.read.answered,
                            "best": max(one.evidence for one in each.read.sentences),
                            "sentences": [
                                (one.sentence.text, one.evidence) for one in each.read.sentences
                            ],
                            "features": astuple(entities.features(each, library.lexical)),
                            "known": each.passage.paper.id in entities.known,
                        }
                        for each in read
                    ],
                }
            )
        print(home, len(asked), "questions", flush=True)
    return rows


def folds(rows: list[dict]) -> np.ndarray:
    """A fold for every row, the same for all questions on a paper."""
    papers = sorted({row["paper"] or row["question"] for row in rows})
    of = {paper: at % FOLDS for at, paper in enumerate(papers)}
    return np.array([of[row["paper"] or row["question"]] for row in rows])


def fit_ranking(rows: list[dict]) -> None:
    """Weights of the reader's logits beside the fused score."""
    rows = [row for row in rows if row["kind"] == "answer"]
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


def judged(rows: list[dict], weights: RerankSettings) -> list[tuple[int, dict, int, str]]:
    """Papers of which one is to be told apart: row, paper, whether it answers, and of which kind.

    Of a question that its paper answers that paper, if it reads best, and the best of the others,
    which would be the best if the paper were not there.
    """

    def value(found: dict) -> float:
        return (
            found["fused"]
            + weights.relevance * found["relevance"]
            + weights.answered * found["answered"]
            + weights.evidence * found["best"]
        )

    out = []
    for at, row in enumerate(rows):
        ranked = sorted(row["found"], key=value, reverse=True)
        others = [found for found in ranked if found["id"] != row["paper"]]
        if row["kind"] != "answer":
            out.append((at, ranked[0], 0, row["kind"]))
        elif ranked[0]["id"] == row["paper"]:
            out.append((at, ranked[0], 1, "answer"))
        if row["kind"] == "answer" and others:
            out.append((at, others[0], 0, "neighbour"))
    return out


def fit_abstention(rows: list[dict], weights: RerankSettings) -> None:
    """The probability that the paper which reads best answers."""
    papers = judged(rows, weights)
    keep = [at for at, *_ in papers]
    xs, ys = [found["features"] for _, found, *_ in papers], [right for *_, right, _ in papers]
    kinds = [kind for *_, kind in papers]
    x, y, kinds = np.array(xs, float), np.array(ys, float), np.array(kinds)
    fold = folds(rows)[keep]
    balance = np.where(y == 1, (y == 0).sum() / (y == 1).sum(), 1.0)
    names = [f.name for f in fields(Features)]

    def fitted(mask: np.ndarray, part: np.ndarray) -> np.ndarray:
        def loss(w: np.ndarray) -> float:
            logits = (x[part] * mask) @ w[:-1] + w[-1]
            terms = np.logaddexp(0, np.where(y[part] == 1, -logits, logits))
            return float((balance[part] * terms).sum() + 0.5 * (w[:-1] ** 2).sum())

        return minimize(loss, np.zeros(x.shape[1] + 1)).x

    for name, columns in (
        ("answered only", [1, 0, 0, 0, 0]),
        ("reader", [1, 1, 0, 0, 0]),
        ("reader, similarity", [1, 1, 1, 0, 0]),
        ("reader, names", [1, 1, 0, 1, 0]),
        ("all", [1, 1, 1, 1, 0]),
    ):
        mask = np.array(columns, float)
        p = np.zeros(len(y))
        for held in range(FOLDS):
            w = fitted(mask, fold != held)
            p[fold == held] = (x[fold == held] * mask) @ w[:-1] + w[-1]
        w = fitted(mask, np.ones(len(y), bool))
        out = []
        for wrong in (0.03, 0.05, 0.08):
            t = np.quantile(p[y == 1], wrong)
            refused = {
                k: float((p[kinds == k] < t).mean()) for k in ("silent", "neighbour", "elsewhere")
            }
            out.append(
                f"at {wrong:.0%} (p {1 / (1 + np.exp(-t)):.2f}) "
                + " ".join(f"{k} {v:.2f}" for k, v in refused.items())
            )
        auc = np.mean([(p[y == 1] > n).mean() for n in p[y == 0]])
        print(f"abstention, {name:20} AUC {auc:.3f}; " + "; ".join(out))
        print("   ", dict(zip([*names, "bias"], w.round(3).tolist(), strict=True)))


def show_evidence(rows: list[dict]) -> None:
    """What share of the gold sentences is chosen, and how many words that takes."""
    for words in (45, 50, 55, 60, 65):
        for gap in (1.5, 2.5, 4.0):
            found, length = [], []
            for row in rows:
                own = [f for f in row["found"] if f["id"] == row["paper"]]
                if row["kind"] != "answer" or not own:
                    continue
                scored = sorted(own[0]["sentences"], key=lambda s: -s[1])
                chosen: list[str] = []
                for text, logit in scored:
                    used = sum(len(c.split()) for c in chosen)
                    if not chosen or (
                        logit >= scored[0][1] - gap and used + len(text.split()) <= words
                    ):
                        chosen.append(text)
                found.append(all(g in chosen for g in row["gold"]))
                length.append(sum(len(c.split()) for c in chosen))
            share, used = np.mean(found), np.mean(length)
            print(f"evidence, {words} words, gap {gap}: all gold {share:.3f}, {used:.0f} words")


def main() -> None:
    """Gather, or take what was gathered, and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path)
    asked = parser.parse_args()
    if asked.cache and asked.cache.exists():
        rows = pickle.loads(asked.cache.read_bytes())
    else:
        rows = gathered(asked.homes)
        if asked.cache:
            asked.cache.write_bytes(pickle.dumps(rows))
    fit_ranking(rows)
    fit_abstention(rows, RerankSettings())
    show_evidence(rows)


if __name__ == "__main__":
    main()
