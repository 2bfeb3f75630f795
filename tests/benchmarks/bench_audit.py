"""The draft audit on SciFact's development claims, end to end in the library of its abstracts.

    python tests/benchmarks/bench_audit.py SCIFACT --home HOME [--claims 300] [--cache FILE]

SCIFACT holds `support_dev.jsonl`; HOME is a library made of its `corpus.jsonl`. Every claim is
searched, read and compared once; the audit's verdict and the baselines are computed from that:
labels (supported, contradicted, nothing found), the sentences shown as evidence, and what is shown
as supported and as contradicted, by truth. A claim that the audit takes for none counts as nothing
found. The thresholds of the lexical and the reader's baseline are the best on these very claims, in
their favour. Then the 40 sentences of `audit_drafts.jsonl` in the library of the seeds, if `--seeds
HOME` names it. Prints the table of audit.md, then one JSON line.
"""

import argparse
import json
import pickle
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from assistant.generation.verification.support import THRESHOLD
from assistant.pipeline.startup import open_library, open_reader, open_verifier
from assistant.research.audit import judge
from assistant.research.audit.judge import READ, Auditor, Stance, read_pairs, verdict_of
from assistant.research.audit.types import Verdict
from assistant.settings import Settings
from retrieval.search.search import search
from retrieval.types import never, silent

LABELS = ("supported", "contradicted", "nothing found")
OF_SCIFACT = dict(zip(("SUPPORT", "CONTRADICT", "NOT_ENOUGH_INFO"), LABELS, strict=True))
WRITTEN = Path(__file__).with_name("audit_drafts.jsonl")
_SHORTEST_WORD, _STEM = 4, 6
SCALARS = [0, 4, 5, 6, 7, 8]
"""Support logit, the reader's three and the guards among the features."""
MOST_SHOWN = 3
"""Sentences that the audit shows for a claim."""
ANSWERS, DENIAL_SHARE, EVIDENCE_WEIGHT = 0.0, 0.4, 0.03
"""Of `reader_then_stance`; the first two were chosen on 90 training claims."""


@dataclass
class Gold:
    """What SciFact says of a claim."""

    label: str
    sentences: set[tuple[str, str]]
    """Paper and text of every marked sentence."""
    abstracts: set[tuple[str, str]]
    """Paper and label of every abstract that supports or contradicts it."""


@dataclass
class Pair:
    """A claim and one sentence of an abstract, as the audit sees them."""

    paper: str
    text: str
    scalars: list[float]
    """Support logit, the reader's evidence, relevance and answer, two guards."""
    stance: Stance


@dataclass
class Judged:
    """A claim with the sentences that it is judged by."""

    claim: str
    is_claim: bool
    """Whether the audit takes it for one."""
    pairs: list[Pair]


Predicted = tuple[str, list[tuple[str, str]]]
"""A label, and the sentences shown for it."""
Predict = Callable[[Judged], Predicted]


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def gold_of(folder: Path) -> dict[str, Gold]:
    """What is known of each claim; a claim on which two papers differ is contradicted."""
    known: dict[str, Gold] = {}
    for row in lines(folder / "support_dev.jsonl"):
        gold = known.setdefault(row["claim"], Gold("nothing found", set(), set()))
        label = OF_SCIFACT[row["label"]]
        if label != "nothing found":
            gold.abstracts.add((row["doc_id"], label))
            gold.label = "contradicted" if gold.label == "contradicted" else label
        marked = row["rationale_sentences"]
        gold.sentences |= {(row["doc_id"], row["sentences"][at].strip()) for at in marked}
    return known


def judged(auditor: Auditor, claim: str, verifier: Any, reader: Any) -> Judged:
    """A claim with every pair that the audit looks at."""
    papers = [each.paper for each in search(auditor.library, claim, READ)]
    read = list(read_pairs(reader, verifier, claim, papers, never))
    with mock.patch.object(judge, "read_pairs", return_value=read):  # not read twice
        stances = list(auditor.stances(claim, papers, never))
    pairs = [
        Pair(each.evidence.paper.id, each.evidence.text, x[0, SCALARS].tolist(), each)
        for each, (_, x) in zip(stances, read, strict=True)
    ]
    return Judged(claim, auditor.is_claim(claim), pairs)


def audit(judged: Judged) -> Predicted:
    """As the product decides and shows: the surest sentence of each of three papers at most."""
    if not judged.is_claim:
        return NOTHING
    verdict, telling = verdict_of([each.stance for each in judged.pairs])
    best: dict[str, str] = {}
    for each in telling:
        best.setdefault(each.evidence.paper.id, each.evidence.text)
    return verdict.value, list(best.items())[:MOST_SHOWN]


def likeliest(judged: Judged) -> Predicted:
    """The stance that is likelier than the others for the surest pair, without strictness."""
    support = max(judged.pairs, key=lambda each: each.stance.support)
    denial = max(judged.pairs, key=lambda each: each.stance.contradiction)
    if max(support.stance.support, 2 * denial.stance.contradiction) < 0.5:
        return "nothing found", []
    is_for = support.stance.support >= 2 * denial.stance.contradiction
    best = support if is_for else denial
    return LABELS[not is_for], [(best.paper, best.text)]


def reader_then_stance(judged: Judged) -> Predicted:
    """The reader decides whether an abstract answers, the stance which way."""
    top = max(judged.pairs, key=lambda each: (each.scalars[3], each.scalars[1]))
    if top.scalars[3] < ANSWERS:
        return NOTHING
    same = [each for each in judged.pairs if each.paper == top.paper]
    support = max(each.stance.support for each in same)
    denial = max(each.stance.contradiction for each in same)
    best = max(
        same,
        key=lambda each: (
            each.stance.support + each.stance.contradiction + EVIDENCE_WEIGHT * each.scalars[1]
        ),
    )
    return LABELS[denial / (support + denial) > DENIAL_SHARE], [(best.paper, best.text)]


def support_alone(judged: Judged) -> Predicted:
    """The support check of written answers: supported or nothing."""
    best = max(judged.pairs, key=lambda each: each.scalars[0])
    held = best.scalars[0] >= THRESHOLD and not any(best.scalars[4:])
    return ("supported", [(best.paper, best.text)]) if held else ("nothing found", [])


def reader_alone(least: float) -> Predict:
    """The reader: supported if an abstract answers, by its best sentence."""

    def predict(judged: Judged) -> Predicted:
        best = max(judged.pairs, key=lambda each: (each.scalars[3], each.scalars[1]))
        return ("supported", [(best.paper, best.text)]) if best.scalars[3] >= least else NOTHING

    return predict


def lexical(least: float) -> Predict:
    """Words in common: supported from a share of the claim's words on."""

    def predict(judged: Judged) -> Predicted:
        best = max(judged.pairs, key=lambda each: shared(judged.claim, each.text))
        is_like = shared(judged.claim, best.text) >= least
        return ("supported", [(best.paper, best.text)]) if is_like else NOTHING

    return predict


NOTHING: Predicted = ("nothing found", [])


def shared(claim: str, text: str) -> float:
    """Share of the claim's longer words, cut short, that a text has."""
    said, known = (
        {
            word.strip(".,;:()")[:_STEM]
            for word in each.casefold().split()
            if len(word) >= _SHORTEST_WORD
        }
        for each in (claim, text)
    )
    return len(said & known) / max(len(said), 1)


def by_chance(seed: int) -> Predict:
    """A label as frequent as in SciFact's training claims, and a sentence at random."""
    chance = random.Random(seed)  # noqa: S311

    def predict(judged: Judged) -> Predicted:
        (label,) = chance.choices(LABELS, (370, 194, 355))
        pair = chance.choice(judged.pairs)
        return (label, [(pair.paper, pair.text)]) if label != LABELS[2] else NOTHING

    return predict


def figures(predicted: Iterable[Predicted], golds: Iterable[Gold]) -> dict[str, float]:
    """Macro F1 of the labels, accuracy, F1 of the sentences, and what is shown, by truth.

    The abstract-level label-only F1 is that of published systems (Wadden et al. 2020): over pairs
    of a claim and an abstract that supports or contradicts it.
    """
    both = list(zip(predicted, golds, strict=True))
    f1 = []
    for label in LABELS:
        right = sum(said[0] == gold.label == label for said, gold in both)
        all_ = sum((said[0] == label) + (gold.label == label) for said, gold in both)
        f1.append(2 * right / all_ if all_ else 0.0)
    shown = sum(len(said[1]) for said, _ in both)
    marked = sum(len(gold.sentences) for _, gold in both)
    hits = sum(is_marked(each, gold) for said, gold in both for each in said[1])
    found = [({(paper, said[0]) for paper, _ in said[1]}, gold.abstracts) for said, gold in both]
    labelled = sum(len(papers) + len(known) for papers, known in found)
    return {
        "label macro F1": float(np.mean(f1)),
        **{f"F1 {label}": value for label, value in zip(LABELS, f1, strict=True)},
        "accuracy": float(np.mean([said[0] == gold.label for said, gold in both])),
        "evidence F1": 2 * hits / (shown + marked) if shown + marked else 0.0,
        "evidence precision": hits / shown if shown else 0.0,
        "abstract label-only F1": 2 * sum(len(a & b) for a, b in found) / labelled,
        **{
            f"{truth} shown as {shown}": sum(
                said[0] == shown and gold.label == truth for said, gold in both
            )
            for shown in LABELS[:2]
            for truth in LABELS
        },
    }


def is_marked(shown: tuple[str, str], gold: Gold) -> bool:
    """Whether a sentence shown is one that people marked, or a part or a join of such."""
    paper, text = shown
    return any(id_ == paper and (known in text or text in known) for id_, known in gold.sentences)


def best_of(
    make: Callable[[float], Predict],
    leasts: Iterable[float],
    known: Sequence[Judged],
    golds: Sequence[Gold],
) -> dict[str, float]:
    """The figures with the threshold that is best on these claims."""
    tried = [figures([make(least)(each) for each in known], golds) for least in leasts]
    return max(tried, key=lambda each: each["label macro F1"])


def main() -> None:
    """Judge, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--cache", type=Path, help="what was judged is kept here")
    parser.add_argument("--seeds", type=Path, help="a library of the seeds")
    options = parser.parse_args()
    golds = gold_of(options.folder)
    claims = sorted(golds)
    random.Random(1).shuffle(claims)  # noqa: S311
    known = read_or_judge(options, claims[: options.claims])
    gold = [golds[each.claim] for each in known]
    found = {
        "random (mean of 20)": mean_of([at_random(seed, known, gold) for seed in range(20)]),
        "lexical": best_of(lexical, np.arange(0.1, 1, 0.05), known, gold),
        "reader alone": best_of(reader_alone, np.arange(-8, 8, 0.5), known, gold),
        "support check alone": figures([support_alone(each) for each in known], gold),
        "audit, likeliest stance": figures([likeliest(each) for each in known], gold),
        "reader, then stance": figures([reader_then_stance(each) for each in known], gold),
        "audit, as shipped": figures([audit(each) for each in known], gold),
    }
    show(found)
    reach = [
        any(is_marked((pair.paper, pair.text), truth) for pair in each.pairs)
        for each, truth in zip(known, gold, strict=True)
        if truth.sentences
    ]
    print(
        f"of {len(reach)} claims with evidence {np.mean(reach):.3f} have a marked sentence compared"
    )
    print(f"{sum(not each.is_claim for each in known)} of {len(known)} claims are taken for none")
    written = on_seeds(options.seeds) if options.seeds else {}
    print(json.dumps({"claims": len(known), **found, "written": written}))


def show(found: dict[str, dict[str, float]]) -> None:
    """The table of audit.md; what is shown is counted by truth, in the order of the labels."""
    shares = ["label macro F1", *(f"F1 {label}" for label in LABELS), "accuracy", "evidence F1"]
    shares.append("abstract label-only F1")
    print("| |", " | ".join([*shares, *(f"shown as {label}" for label in LABELS[:2])]), "|")
    for name, row in found.items():
        cells = [f"{row[key]:.3f}" for key in shares]
        counts = [
            [f"{row[f'{truth} shown as {label}']:.0f}" for truth in LABELS] for label in LABELS[:2]
        ]
        print(f"| {name} |", " | ".join([*cells, *map(", ".join, counts)]), "|")


def at_random(seed: int, known: Sequence[Judged], golds: Sequence[Gold]) -> dict[str, float]:
    """The figures of one run by chance."""
    predict = by_chance(seed)
    return figures([predict(each) for each in known], golds)


def mean_of(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each figure."""
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def read_or_judge(options: Any, claims: Sequence[str]) -> list[Judged]:
    """What is in the cache, or else judged now."""
    if options.cache and options.cache.exists():
        return pickle.loads(options.cache.read_bytes())  # noqa: S301 - our own file
    settings = Settings(home=options.home)
    library = open_library(settings, silent)
    library.ready_to_search()
    reader, verifier = open_reader(settings, silent), open_verifier(settings, silent)
    auditor = Auditor(library, reader, verifier)
    known = [judged(auditor, claim, verifier, reader) for claim in claims]
    if options.cache:
        options.cache.write_bytes(pickle.dumps(known))
    return known


def on_seeds(home: Path) -> dict[str, dict[str, int]]:
    """The verdicts on the written sentences, by the truth."""
    settings = Settings(home=home)
    library = open_library(settings, silent)
    library.ready_to_search()
    auditor = Auditor(library, open_reader(settings, silent), open_verifier(settings, silent))
    table: dict[str, dict[str, int]] = {each.value: dict.fromkeys(Verdict, 0) for each in Verdict}
    for row in lines(WRITTEN):
        verdict = Verdict.NO_CLAIM
        if auditor.is_claim(row["text"]):
            papers = [each.paper for each in search(library, row["text"], judge.READ)]
            verdict, _ = verdict_of(list(auditor.stances(row["text"], papers, never)))
        table[row["verdict"]][verdict] += 1
    for truth, row in table.items():
        print(f"{truth:14}", *(f"{count} {verdict}" for verdict, count in row.items()), sep="  ")
    return {truth: {key.value: n for key, n in row.items()} for truth, row in table.items()}


if __name__ == "__main__":
    main()
