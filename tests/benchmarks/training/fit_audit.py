"""Fits the two heads of the draft audit: `python fit_audit.py SCIFACT --cache FOLDER`.

`claim` tells sentences of a draft that claim a fact from the others, over the reader's vectors of
`data/drafts.jsonl` and of claims of the other files. `stance` says whether a sentence of an
abstract supports a claim, contradicts it, or neither, over what `judge.features` gives. Of claims
that the support model was trained on its head would be too sure, so it is fitted on others: the
validation splits of `stances.jsonl` and `pairs.jsonl`, and SciFact's training claims on the papers
that the encoder's training left out (Wadden et al. 2020). SCIFACT holds `support_train.jsonl` and
`support_dev.jsonl`, of which only the numbers of its papers are used. What was read is kept in
FOLDER: with it a fit takes seconds.
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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support_examples import CONTRADICTING, CONTRADICTS, NEITHER, SUPPORTS

from assistant.models.gguf.trained import READER, SUPPORT, encoder_fingerprint
from assistant.pipeline.startup import open_reader, open_verifier
from assistant.research.audit.judge import HEADS, read_pairs
from assistant.settings import Settings
from retrieval.types import Paper, never, silent

DATA = Path(__file__).parent / "data"
FOLDS = 5
PAIRS = 400
"""Written pairs that are read."""
OF_SCIFACT = {"SUPPORT": SUPPORTS, "CONTRADICT": CONTRADICTS, "NOT_ENOUGH_INFO": NEITHER}
OF_STANCES = {"supports": SUPPORTS, "contradicts": CONTRADICTS, "neither": NEITHER}
TRIALS = {
    "support logit": [0],
    "stance": [1, 2, 3],
    "without the abstract": list(range(9)),
    "all": list(range(13)),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A claim, an abstract, and what its sentences say of the claim."""

    source: str
    claim: str
    paper: Paper
    stance: int
    telling: tuple[str, ...]
    """The sentences that say so; the others are silent."""


@dataclass(frozen=True)
class Example:
    """A sentence that the audit would compare with a claim."""

    source: str
    claim: str
    x: NDArray[np.float32]
    stance: int


def lines(path: Path) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kept(path: Path, make: Callable[[], list[Any]]) -> list[Any]:
    """What is in a file of the cache, or else what `make` returns."""
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    found: list[Any] = pickle.loads(path.read_bytes())
    return found


def asked(folder: Path) -> Iterator[Asked]:
    """All claims that the encoder was not trained on."""
    left_out = {row["doc_id"] for row in lines(folder / "support_dev.jsonl")}
    for row in lines(folder / "support_train.jsonl"):
        if row["doc_id"] in left_out:
            telling = [row["sentences"][at] for at in row["rationale_sentences"]]
            paper = paper_of(row["doc_id"], row["title"], row["sentences"])
            stance = OF_SCIFACT[row["label"]]
            yield Asked("SciFact", row["claim"], paper, stance, tuple(telling))
    for row in lines(DATA / "stances.jsonl"):
        if row["split"] == "validation":
            paper = paper_of(row["paper"], row["title"], row["sentences"])
            for each in row["claims"]:
                telling = [row["sentences"][at] for at in each["evidence"]]
                stance = OF_STANCES[each["stance"]]
                yield Asked("stances", each["claim"], paper, stance, tuple(telling))
    papers = {row["paper"]: row for row in lines(DATA / "papers.jsonl")}
    rows = [row for row in lines(DATA / "pairs.jsonl") if row["split"] == "validation"]
    for row in random.Random(0).sample(rows, PAIRS):
        stance = CONTRADICTS if row.get("kind") in CONTRADICTING else NEITHER
        stance = SUPPORTS if row["label"] == "supported" else stance
        sentences = papers[row["paper"]]["sentences"]
        telling = [sentences[at] for at in row["evidence"]]
        paper = paper_of(row["paper"], papers[row["paper"]]["title"], sentences)
        yield Asked("pairs", row["claim"], paper, stance, tuple(telling))


def paper_of(id_: str, title: str, sentences: list[str]) -> Paper:
    """A paper with this abstract."""
    return Paper(id_, title, (), "", None, "", " ".join(sentences), ())


def examples(folder: Path) -> list[Example]:
    """The sentences that the audit compares with each claim."""
    settings = Settings()
    reader, verifier = open_reader(settings, silent), open_verifier(settings, silent)
    found = []
    for each in asked(folder):
        for evidence, x in read_pairs(reader, verifier, each.claim, [each.paper], never):
            text = evidence.text
            tells = any(text in known or known.strip() in text for known in each.telling)
            stance = each.stance if tells else NEITHER
            found.append(Example(each.source, each.claim, x[0], stance))
    return found


def fit_stance(known: list[Example]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The head of the stance, after the trials by cross-validation over claims."""
    x = np.array([each.x for each in known], np.float64)
    y = np.array([each.stance for each in known])
    folds = np.array([zlib.crc32(each.claim.encode()) % FOLDS for each in known])
    source = np.array([each.source for each in known])
    for name, columns in TRIALS.items():
        said = np.zeros((len(y), 3))
        for fold in range(FOLDS):
            out = folds == fold
            said[out] = model_of(x[~out][:, columns], y[~out]).predict_proba(x[out][:, columns])
        for part in ("SciFact", "stances", "pairs"):
            print_figures(f"{name:14} {part:8}", said, y, source == part, is_full=name == "all")
    found = model_of(x, y)
    mean, scale, fit = found[0].mean_, found[0].scale_, found[1]
    weight = fit.coef_ / scale
    return weight, fit.intercept_ - weight @ mean


def model_of(x: NDArray[Any], y: NDArray[Any]) -> Any:
    """A logistic regression over standardized features."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)).fit(x, y)


def print_figures(
    name: str, said: NDArray[Any], y: NDArray[Any], part: NDArray[Any], *, is_full: bool
) -> None:
    """How well the stances are told apart, and what each threshold lets pass."""
    known = part & (y < NEITHER)
    denied = said[:, CONTRADICTS] / (said[:, SUPPORTS] + said[:, CONTRADICTS])
    print(
        name,
        f"contradicted from supported {roc_auc_score(y[known] == CONTRADICTS, denied[known]):.3f}",
        f"from all {roc_auc_score(y[part] == CONTRADICTS, said[part, CONTRADICTS]):.3f}",
        f"supported from all {roc_auc_score(y[part] == SUPPORTS, said[part, SUPPORTS]):.3f}",
        flush=True,
    )
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9) if is_full else ():
        rates = [
            np.mean(said[part & (y == truth), stance] >= least)
            for stance in (SUPPORTS, CONTRADICTS)
            for truth in (SUPPORTS, CONTRADICTS, NEITHER)
        ]
        shown = " ".join(f"{rate:.3f}" for rate in rates)
        print(f"    {least}: said to support, then to contradict, of (s, c, n): {shown}")


def claim_rows() -> list[Row]:
    """Sentences of drafts, and claims of the other files, with their vectors."""
    reader = open_reader(Settings(), silent)
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
    options.cache.mkdir(parents=True, exist_ok=True)
    known = kept(options.cache / "stances.pkl", lambda: examples(options.scifact))
    fits = {"claim": fit_claim(options.cache), "stance": fit_stance(known)}
    tensors = {}
    for head, (weight, bias) in fits.items():
        tensors[f"heads.{head}.weight"] = np.ascontiguousarray(weight, np.float32)
        tensors[f"heads.{head}.bias"] = np.ascontiguousarray(bias, np.float32)
    save_file(tensors, HEADS.path, metadata={"base": encoder_fingerprint(READER, SUPPORT)})


if __name__ == "__main__":
    main()
