"""Fits the two heads of the draft audit: `python fit_audit.py SCIFACT --cache FOLDER`.

`claim` tells sentences of a draft that claim a fact from the others, over the reader's vectors of
`data/drafts.jsonl` and of claims of the other files. `stance` says whether a sentence of an
abstract supports a claim, contradicts it, or neither, over the support model's vectors, the
reader's logits and two guards; it learns from SciFact's training pairs (Wadden et al. 2020) and
from `pairs.jsonl` and `support.jsonl`. Thresholds are read off the printed tables. SCIFACT holds
`support_train.jsonl`. The vectors are kept in FOLDER: with them a fit takes a minute.
"""

import argparse
import json
import pickle
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from assistant.generation.verification.guards import breaks
from assistant.models.gguf.trained import READER, SUPPORT
from assistant.research.audit.judge import COMPARED, HEADS, base_fingerprint

DATA = Path(__file__).parent / "data"
CONTRADICTING = frozenset(
    "negation direction number quantity unit comparison order time roles".split()
)
"""Kinds of faults by which a claim says the contrary; the others say more than the evidence."""
FOLDS = 3
PAIRS = 1700
HELD_PAIRS = 500
Row = dict[str, Any]


def lines(path: Path) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kept(path: Path, make: Callable[[], list[Row]]) -> list[Row]:
    """What is in a file of the cache, or else what `make` returns."""
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    found: list[Row] = pickle.loads(path.read_bytes())
    return found


def models() -> tuple[Any, Any]:
    """The reader and the support model."""
    from assistant.generation.verification.support import SupportModel  # noqa: PLC0415
    from assistant.models import resolve_encoder  # noqa: PLC0415
    from assistant.models.gguf.trained import read_heads  # noqa: PLC0415
    from assistant.settings import Settings  # noqa: PLC0415
    from retrieval.search.reader import Reader  # noqa: PLC0415

    settings = Settings()
    of = {
        each: (resolve_encoder(each, settings.cache), read_heads(each))
        for each in (READER, SUPPORT)
    }
    threads = settings.threads
    return Reader(*of[READER], threads=threads), SupportModel(*of[SUPPORT], threads=threads)


def compared(support: Any, claim: str, sentence: str, title: str) -> Row:
    """A claim and a sentence, read together."""
    found = support.compare(claim, sentence, title)
    return {"text": sentence, "cls": found.vector.astype(np.float16), "logit": found.logit}


def scifact(folder: Path) -> list[Row]:
    """SciFact's training pairs: sentences that the reader picks, and those that people marked."""
    from retrieval.types import Paper, never  # noqa: PLC0415

    reader, support = models()
    found = []
    for row in lines(folder / "support_train.jsonl"):
        abstract = " ".join(row["sentences"])
        paper = Paper(row["doc_id"], row["title"], (), "", None, "", abstract, ())
        (read,) = reader.read(row["claim"], [paper], never)
        best = sorted(read.sentences, key=lambda each: -each.evidence)[:COMPARED]
        logits = {each.sentence.text: each.evidence for each in best}
        gold = [row["sentences"][at] for at in row["rationale_sentences"]]
        sentences = [
            {
                **compared(support, row["claim"], text, row["title"]),
                "ev": logits.get(text),
                "gold": any(text in each or each in text for each in gold),
            }
            for text in dict.fromkeys([*logits, *gold])
        ]
        known = {"id": row["id"], "claim": row["claim"], "label": row["label"]}
        found.append(known | {"rel": read.relevance, "ans": read.answered, "f": sentences})
    return found


def pairs() -> list[Row]:
    """Written pairs: those kept out of training, and others, each with its first sentence."""
    _, support = models()
    papers = {row["paper"]: row for row in lines(DATA / "papers.jsonl")}
    rows = [row for name in ("pairs", "support") for row in lines(DATA / f"{name}.jsonl")]
    random.Random(0).shuffle(rows)
    held = [row for row in rows if row["split"] == "validation"][:HELD_PAIRS]
    found = []
    for row in held + [row for row in rows if row["split"] != "validation"][:PAIRS]:
        paper = papers[row["paper"]]
        sentence = paper["sentences"][row["evidence"][0]]
        known = {name: row[name] for name in ("claim", "paper", "label", "split")}
        read = compared(support, row["claim"], sentence, paper["title"])
        found.append(known | {"kind": row.get("kind") or "supported", "f": [read]})
    return found


def stance_examples(folder: Path, cache: Path) -> Iterator[tuple[list[float], Row, int, str, str]]:
    """Scalars, vectors, stance, source and key of every example."""
    titles = {row["id"]: row["title"] for row in lines(folder / "support_train.jsonl")}
    for row in kept(cache / "scifact_train.pkl", lambda: scifact(folder)):
        for each in row["f"]:
            known = row["label"] != "NOT_ENOUGH_INFO" and each["gold"]
            stance = (0 if row["label"] == "SUPPORT" else 1) if known else 2
            scalars = [each["logit"], each["ev"] or 0.0, row["rel"], row["ans"]]
            scalars += guards(row["claim"], each["text"], titles[row["id"]])
            yield scalars, each, stance, "scifact", row["claim"]
    papers = {row["paper"]: row for row in lines(DATA / "papers.jsonl")}
    for row in kept(cache / "pairs_1700.pkl", pairs):
        (each,) = row["f"]
        stance = 0 if row["label"] == "supported" else 1 if row["kind"] in CONTRADICTING else 2
        paper = papers[row["paper"]]
        text = each.get("text") or row["ev"][0]
        scalars = [
            each["logit"],
            np.nan,
            np.nan,
            np.nan,
            *guards(row["claim"], text, paper["title"]),
        ]
        source = "held" if row["split"] == "validation" else "pairs"
        yield scalars, each, stance, source, row["paper"]


def guards(claim: str, sentence: str, title: str) -> list[float]:
    """Whether the claim breaks the guards of numbers and of names."""
    broken = breaks(claim, [sentence], title)
    return [float(broken == guard) for guard in ("number", "name")]


@dataclass(frozen=True)
class Examples:
    """What the stance is learned from."""

    trials: dict[str, NDArray[Any]]
    """Features by the name of a trial; the last one is used."""
    y: NDArray[Any]
    source: NDArray[Any]
    folds: NDArray[Any]


def examples_of(folder: Path, cache: Path) -> Examples:
    """All examples, with the features of each trial."""
    rows = list(stance_examples(folder, cache))
    scalars = np.array([row[0] for row in rows])
    y, source = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    # A written pair has no abstract to be ranked in: as if the reader had picked it.
    usual = np.nanmean(scalars[(source == "scifact") & (y < 2)], axis=0)
    scalars = np.where(np.isnan(scalars), usual, scalars)
    pair = np.array([row[1]["cls"] for row in rows], np.float32)
    trials = {
        "support logit alone": scalars[:, :1],
        "six scalars": scalars,
        "vector of the pair": pair,
        "vector of the pair, scalars": np.hstack([pair, scalars]),
    }
    folds = np.array([zlib.crc32(row[4].encode()) % FOLDS for row in rows])
    return Examples(trials, y, source, folds)


def fit_stance(known: Examples) -> tuple[NDArray[Any], NDArray[Any]]:
    """The head of the stance."""
    x, used = list(known.trials.values())[-1], known.source != "held"
    found = model_of(x[used], known.y[used])
    mean, scale, fit = found[0].mean_, found[0].scale_, found[1]
    weight = fit.coef_ / scale
    return weight, fit.intercept_ - weight @ mean


def print_trials(known: Examples) -> None:
    """Every trial by cross-validation over claims, with and without the written pairs."""
    y, source = known.y, known.source
    for only in ("scifact", "all"):
        used = (source == "scifact") if only == "scifact" else source != "held"
        for name, x in known.trials.items():
            said = np.zeros((len(y), 3))
            for fold in range(FOLDS):
                out = known.folds == fold
                said[out] = model_of(x[used & ~out], y[used & ~out]).predict_proba(x[out])
            for part in ("scifact", "held"):
                print_figures(f"{only:8} {name:28} on {part:8}", said, y, source == part)


def model_of(x: NDArray[Any], y: NDArray[Any]) -> Any:
    """A logistic regression over standardized features."""
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.001, max_iter=300)).fit(x, y)


def print_figures(name: str, said: NDArray[Any], y: NDArray[Any], part: NDArray[Any]) -> None:
    """How well the stances are told apart."""
    known = part & (y < 2)
    denied = said[:, 1] / (said[:, 0] + said[:, 1])
    print(
        name,
        f"contradicted from supported {roc_auc_score(y[known] == 1, denied[known]):.3f}",
        f"from all {roc_auc_score(y[part] == 1, said[part, 1]):.3f}",
        f"supported from all {roc_auc_score(y[part] == 0, said[part, 0]):.3f}",
        flush=True,
    )
    for least in (0.4, 0.5, 0.6, 0.7, 0.8, 0.86, 0.92):
        sure, con = said[:, 0] >= least, said[:, 1] >= least
        rates = [np.mean(sure[part & (y == at)]) for at in range(3)]
        rates += [np.mean(con[part & (y == at)]) for at in (1, 0, 2)]
        if "pair, scalars" in name:
            print(
                "   ",
                least,
                "supported at this of (s, c, n):",
                *(f"{r:.3f}" for r in rates[:3]),
                "contradicted of (c, s, n):",
                *(f"{r:.3f}" for r in rates[3:]),
            )


def claim_rows() -> list[Row]:
    """Sentences of drafts, and claims of the other files, with their vectors."""
    reader, _ = models()
    rows = lines(DATA / "drafts.jsonl")
    chance = random.Random(0)
    for name in ("claims", "support"):
        known = sorted({row["claim"] for row in lines(DATA / f"{name}.jsonl")})
        rows += [{"text": text, "claim": True, "kind": name} for text in chance.sample(known, 120)]
    return [row | {"mf": reader.message_features(row["text"])[0]} for row in rows]


def fit_claim(cache: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """The head that tells claims from other sentences of drafts; a fifth is kept out."""
    rows = kept(cache / "claims.pkl", claim_rows)
    x = np.array([row["mf"] for row in rows], np.float32)
    y = np.array([row["claim"] for row in rows])
    is_draft = np.array([row["kind"] not in ("claims", "scifact", "support") for row in rows])
    held = np.array([zlib.crc32(row["text"].encode()) % 5 == 0 for row in rows])
    weight = np.where(is_draft, 1.0, 0.5)
    found = LogisticRegression(C=0.01, max_iter=3000, class_weight="balanced")
    found.fit(x[~held], y[~held], sample_weight=weight[~held])
    said = found.predict(x)
    for name, part in (("claims", held & is_draft & y), ("others", held & is_draft & ~y)):
        print(f"claim: of {part.sum()} {name} kept out {np.mean(said[part] == y[part]):.3f} right")
    return found.coef_, found.intercept_


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scifact", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args()
    known = examples_of(options.scifact, options.cache)
    fits = {"claim": fit_claim(options.cache), "stance": fit_stance(known)}
    tensors = {}
    for head, (weight, bias) in fits.items():
        tensors[f"heads.{head}.weight"] = np.ascontiguousarray(weight, np.float32)
        tensors[f"heads.{head}.bias"] = np.ascontiguousarray(bias, np.float32)
    notes = {"base": base_fingerprint()}
    save_file(tensors, HEADS.path, metadata=notes)
    print_trials(known)


if __name__ == "__main__":
    main()
