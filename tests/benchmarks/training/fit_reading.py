"""Fits what is done with the reader's logits.

    python fit_reading.py HOME [HOME …] [--cache FILE] [--every N]

Each HOME is a library that has papers of the validation split, which training kept out: the seeds,
or the biomedical papers. Their questions go through the real first stage and the real reader. From
that come, each with ten-fold cross-validation by paper:

- the weights of reranking: a listwise softmax over the papers found;
- the weights of the probability that an abstract answers: a logistic regression, and what it
  refuses of the questions of `scope.jsonl` that it was not fitted on;
- what the budget and gap of the evidence give.

Prints a table for each; the numbers go into `RerankSettings`, `abstention.WEIGHTS`,
`evidence.WORDS` and `evidence.GAP` by hand, with what was tried written into ../reading.md.
"""

import argparse
import json
import pickle
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from assistant.models import resolve_encoder
from assistant.models.gguf.trained import READER, read_heads
from assistant.pipeline.abstention import (
    BIAS,
    DEFAULT_THRESHOLD,
    WEIGHTS,
    Features,
    QuestionEntities,
    probability,
)
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.pipeline.startup import open_library
from assistant.settings import AnswerSettings, Settings
from retrieval.query.lookup import Lookup
from retrieval.search.reader import Reader
from retrieval.search.rerank import RerankSettings, read_papers
from retrieval.search.search import search
from retrieval.types import never, silent

DATA = Path(__file__).parent / "data"
DEPTH = 12
FOLDS = 10
JUDGED = AnswerSettings().judged
PENALTY, ROUNDS = 0.02, 10
"""Of squared weights; more holds back that of similarity."""


def lines(name: str) -> list[dict]:
    """The validation rows of a data file."""
    rows = map(json.loads, (DATA / name).open(encoding="utf-8"))
    return [row for row in rows if row.get("split", "validation") == "validation"]


def asked_of(here: set[str], every: int) -> list[dict]:
    """The validation questions that a library with the papers `here` is asked."""
    asked, before = [], {}
    for row in lines("questions.jsonl"):
        if row["paper"] not in here:
            continue
        before[row["paper"]] = row["questions"][0]["question"]
        follow_up = {**row["follow_up"], "question": row["follow_up"]["standalone"]}
        asked += [(each, row["paper"], "answer") for each in (*row["questions"], follow_up)]
        asked.append(({"question": row["silent"]}, row["paper"], "silent"))
        asked.append((row["follow_up"], row["paper"], "follow-up"))
    kinds = {"answered": "answer", "near miss": "silent", "open follow-up": "open follow-up"}
    asked += [
        (row, row["paper"], kinds[row["kind"]])
        for row in lines("hard.jsonl")
        if row["paper"] in here
    ]
    asked += [
        (row, row["a"], "follow-up")
        for row in lines("turns.jsonl")
        if row["a"] in here and row["kind"] == "stay"
    ]
    asked += [(row, "", "elsewhere") for row in lines("unanswerable.jsonl")]
    asked = asked[::every] + list(scope_of(here))
    return [
        {
            "question": each["question"],
            "evidence": each.get("evidence", []),
            "paper": paper,
            "kind": kind,
            "group": paper or each.get("field", "") or each["question"],
            "shape": each.get("shape", ""),
            "kept_out": each.get("shape") and each["split"] == "validation",
        }
        for each, paper, kind in asked
    ]


def scope_of(here: set[str]) -> Iterator[tuple[dict, str, str]]:
    """The questions of `scope.jsonl` for the seeds, and some that are far from any library."""
    rows = list(map(json.loads, (DATA / "scope.jsonl").open(encoding="utf-8")))
    if not any(row.get("paper") in here for row in rows):
        rows = [row for row in rows if row["kind"] == "far"][::4]
    for row in rows:
        if row.get("paper", "") in ("", *here):
            yield row, row.get("paper", ""), row["kind"]


def gathered(homes: list[Path], every: int) -> list[dict]:
    """Every validation question with what search and reader say of the papers found."""
    settings = Settings()
    reader = Reader(
        resolve_encoder(READER, settings.cache), read_heads(READER), threads=settings.threads
    )
    known = {row["paper"]: row for row in lines("papers.jsonl")}
    rows = []
    for home in homes:
        library = open_library(settings.model_copy(update={"home": home}), silent)
        lookup = Lookup.over(library)
        papers = {stored.paper.id: stored.paper for stored in library.store.papers()}
        for row in asked_of(set(papers), every):
            question, own = row["question"], row["paper"]
            bare = "follow-up" in row["kind"]
            passages = search(library, question, DEPTH, also=[own] if bare else ())
            if bare:
                passages = [each for each in passages if each.paper.id == own]
            read = read_papers(question, passages, reader, never, RerankSettings.order_kept())
            standalone = StandaloneQuestion(question, question)
            if bare:
                standalone = StandaloneQuestion(question, "", focus_papers=(papers[own],))
            entities = QuestionEntities.of(standalone, lookup.named(question))
            sentences = known[own]["sentences"] if row["evidence"] else []
            row |= {"home": home.name, "gold": [sentences[at] for at in row["evidence"]]}
            row["found"] = [
                {
                    "id": each.passage.paper.id,
                    "fused": each.passage.score,
                    "relevance": each.read.relevance,
                    "answered": each.read.answered,
                    "best": max(one.evidence for one in each.read.sentences),
                    "sentences": [(one.sentence.text, one.evidence) for one in each.read.sentences],
                    "features": entities.features(each, library.lexical),
                    "known": each.passage.paper.id in entities.known,
                }
                for each in read
            ]
            rows.append(row)
        print(home, len(rows), "questions", flush=True)
    return rows


def value_in(found: dict, weights: RerankSettings) -> float:
    """What a paper found is ranked by."""
    return (
        found["fused"]
        + weights.relevance * found["relevance"]
        + weights.answered * found["answered"]
    )


def folds(rows: list[dict]) -> np.ndarray:
    """A fold for every row, the same for all questions on a paper or a field.

    The last fold, `FOLDS`, has what is kept out of all fits.
    """
    groups = sorted({row["group"] for row in rows})
    of = {group: at % FOLDS for at, group in enumerate(groups)}
    return np.array([FOLDS if row["kept_out"] else of[row["group"]] for row in rows])


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

    Of a question that its paper answers that paper, if it is among the best three, and the best of
    the others, which would be the best if the paper were not there.
    """
    out = []
    for at, row in enumerate(rows):
        ranked = sorted(row["found"], key=lambda found: -value_in(found, weights))
        own = [found for found in ranked if found["id"] == row["paper"]]
        if row["kind"] == "topic":
            out.append((at, ranked[0], 1, row["kind"]))
        elif row["kind"] in ("answer", "follow-up", "paper"):
            out += [(at, found, 1, row["kind"]) for found in own if found in ranked[:3]]
        else:
            out.append((at, (own or ranked)[0], 0, row["kind"]))
        others = [found for found in ranked[:2] if found["id"] != row["paper"]]
        if row["kind"] == "answer" and others:
            out.append((at, others[0], 0, "neighbour"))
    return [(at, found, right, f"{kind}, {rows[at]['home']}") for at, found, right, kind in out]


def fit_abstention(rows: list[dict], weights: RerankSettings) -> None:
    """The probability that the paper which reads best answers."""
    papers = judged(rows, weights)
    keep = [at for at, *_ in papers]
    names = [each.name for each in fields(Features)]
    x = np.array([astuple(found["features"]) for _, found, *_ in papers], float)
    y = np.array([right for *_, right, _ in papers])
    kinds = np.array([kind for *_, kind in papers])
    bare = np.array(["follow-up" in kind for kind in kinds])
    fold = folds(rows)[keep]
    # Right and wrong count the same, among follow-ups as among other questions.
    balance = np.ones(len(y))
    for part in (bare, ~bare):
        balance[part & (y == 1)] = (part & (y == 0)).sum() / max(1, (part & (y == 1)).sum())

    def fitted(mask: np.ndarray, part: np.ndarray) -> np.ndarray:
        def loss(w: np.ndarray) -> float:
            logits = (x[part] * mask) @ w[:-1] + w[-1]
            terms = np.logaddexp(0, np.where(y[part] == 1, -logits, logits))
            return float((balance[part] * terms).sum() + PENALTY * (w[:-1] ** 2).sum())

        return minimize(loss, np.zeros(x.shape[1] + 1)).x

    for name, left_out in (
        ("answered only", ("similarity", "absent_names", "unknown")),
        ("as before `scope.jsonl`", ("unknown",)),
        ("no names", ("absent_names",)),
        ("no similarity", ("similarity",)),
        ("all", ()),
    ):
        mask = np.array([each not in left_out for each in names], float)
        p = np.zeros(len(y))
        for held in range(FOLDS + 1):
            w = fitted(mask, (fold != held) & (fold != FOLDS))
            p[fold == held] = 1 / (1 + np.exp(-((x[fold == held] * mask) @ w[:-1] + w[-1])))
        w = fitted(mask, fold != FOLDS)
        auc = np.mean([(p[(y == 1) & ~bare] > n).mean() for n in p[(y == 0) & ~bare]])
        print(f"abstention, {name}: AUC {auc:.3f}")
        print("   ", dict(zip([*names, "bias"], w.round(3).tolist(), strict=True)))
        for wrong in (0.03, 0.05, 0.08):
            least = np.quantile(p[(y == 1) & ~bare], wrong)
            shares = {kind: float((p[kinds == kind] < least).mean()) for kind in sorted({*kinds})}
            shown = ", ".join(f"{kind} {share:.2f}" for kind, share in shares.items())
            print(f"    refused below {least:.3f}: {shown}")


def fit_best(rows: list[dict], weights: RerankSettings) -> None:
    """The same on the paper of the best ones that is likeliest to answer, as the product judges.

    Which that is depends on the weights, so both are found in turns. These are the weights of the
    product; its bias is lower, so that the threshold refuses what it is meant to.
    """
    rows = [row for row in rows if not row["kept_out"] and "follow-up" not in row["kind"]]
    y = np.array([row["kind"] in ("answer", "paper", "topic") for row in rows])
    balance = np.where(y, (~y).sum() / y.sum(), 1.0)
    x = []
    for row in rows:
        ranked = sorted(row["found"], key=lambda found: -value_in(found, weights))
        x.append(np.array([astuple(found["features"]) for found in ranked[:JUDGED]], float))
    w = np.append(astuple(WEIGHTS), BIAS)
    for _ in range(ROUNDS):
        best = np.array([each[np.argmax(each @ w[:-1])] for each in x])

        def loss(w: np.ndarray, best: np.ndarray = best) -> float:
            logits = best @ w[:-1] + w[-1]
            terms = np.logaddexp(0, np.where(y, -logits, logits))
            return float((balance * terms).sum() + PENALTY * (w[:-1] ** 2).sum())

        w = minimize(loss, w).x
    names = [each.name for each in fields(Features)]
    print("abstention, best papers:", dict(zip([*names, "bias"], w.round(2).tolist(), strict=True)))
    p = 1 / (1 + np.exp(-np.array([max(each @ w[:-1]) for each in x]) - w[-1]))
    kinds = np.array([row["kind"] for row in rows])
    for least in (0.2, 0.25, 0.3, 0.35, 0.4):
        shares = {kind: float((p[kinds == kind] < least).mean()) for kind in sorted({*kinds})}
        shown = ", ".join(f"{kind} {share:.2f}" for kind, share in shares.items())
        print(f"    refused below {least:.2f}: {shown}")


def show_scope(rows: list[dict], weights: RerankSettings) -> None:
    """What the shipped weights refuse of the questions kept out, by library, kind and shape."""
    refused = defaultdict(list)
    for row in rows:
        if row["kept_out"]:
            ranked = sorted(row["found"], key=lambda found: -value_in(found, weights))
            best = max(probability(found["features"]) for found in ranked[:JUDGED])
            for part in (row["shape"], "all"):
                refused[row["home"], row["kind"], part].append(best < DEFAULT_THRESHOLD)
    for (home, kind, part), each in sorted(refused.items()):
        print(f"scope, {home}, {kind}, {part}: {sum(each)} of {len(each)} refused")


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
    fit_abstention(rows, RerankSettings())
    fit_best(rows, RerankSettings())
    show_scope(rows, RerankSettings())
    show_evidence(rows)


if __name__ == "__main__":
    main()
