"""Fits linear heads on finished encoders: `python fit_heads.py claim|shape|role|leaning`.

Regressions over the vectors that the shipped encoders give. Of the reader, `claim` tells claims
from questions, `shape` says which form of answer a message asks for, `role` what a sentence does in
its abstract; of the cutter, `leaning` says whether a sentence needs the one before it. They are
fitted on the training split and written into the weights; figures on the validation split are
printed.
"""

import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from assistant.generation.verification.cutter import Cutter, leaning_features
from assistant.models import resolve_encoder
from assistant.models.gguf.trained import (
    CUTTER,
    READER,
    EncoderWeights,
    read_heads,
    read_tensors,
)
from assistant.pipeline.startup import open_reader
from assistant.settings import Settings
from retrieval.search.reader import ROLES, SHAPES, Reader
from retrieval.text.splitting import split_sentences
from retrieval.types import Paper

DATA = Path(__file__).parent / "data"
EVERY = 3
"""Of the many questions, for `claim`."""
KEPT = 0.98
"""Share of what people ask that must not be taken for a claim: then the reader would not rank."""
WEIGHTS = {
    "shapes": 3.0,
    "requests": 1.5,
    "particulars": 1.5,
    "overviews": 1.0,
    "ordinary": 0.5,
}
"""Of a message, by file, for `shape`: those of `shapes.jsonl` are of most kinds."""
HELD_OUT = 0.1
"""Share of shapes and papers that are kept out, by a checksum of their text."""
DEFINITIONS = ("What is {}?", "define {}", "What does {} mean, and what is it for?")
"""How a definition is asked for, for `role`."""
ABOUT = "What is “{}” about?"
"""Asks for all that an abstract says, for `role`."""
SHAPE_OF = {
    "definition": "definition",
    "verdict": "polar",
    "reason": "other",
    "limit": "limits",
    "topic": "overview",
    "comparison": "comparison",
}
"""Shapes of the questions of `ordinary.jsonl`, by kind; the other kinds have none of their own."""
LIMITS = (ABOUT, "What are the limits of “{}”?")
"""How the papers of `limits.jsonl` are asked about, for `role`."""
ROLE_OF = {
    "definition": "definition",
    "limit": "limit",
    "comparison": "comparison",
    "overview": "topic",
}
"""Roles for the question, with the kind of question of `ordinary.jsonl` that they answer."""
RARE = ("limit",)
"""Roles that hardly any sentence has: their probability is as if half of the sentences had them."""
Weights = tuple[NDArray[np.float32], NDArray[np.float32]]
Examples = list[tuple[NDArray[np.float32], bool, bool]]
"""What a role is judged by, whether it has the role, and whether it is kept out of the fit."""


def lines(name: str) -> Iterator[dict]:
    """The rows of a data file."""
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def is_held_out(key: str) -> bool:
    """Whether an example is kept out of the fit."""
    return zlib.crc32(key.encode()) % 1000 < 1000 * HELD_OUT


def claims() -> Iterator[tuple[str, bool, bool]]:
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


def fit_claim(reader: Reader) -> Weights:
    """The head that tells claims from questions."""
    rows = list(claims())
    # People leave the full stop out, and the question mark.
    typed = [text.rstrip(".?!") if at % 2 else text for at, (text, _, _) in enumerate(rows)]
    x = np.concatenate([reader.vector(text) for text in typed])
    y, held = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    found = LogisticRegression(C=1.0, max_iter=2000, class_weight="balanced")
    found.fit(x[~held], y[~held])
    logits = found.decision_function(x)
    least = np.quantile(logits[~held & ~y], KEPT)
    known, others = (np.mean(logits[held & part] > least) for part in (y, ~y))
    print(f"claim: {held.sum()} kept out: of claims {known:.3f} are known, of others {others:.3f}")
    return found.coef_, found.intercept_ - least


def shapes() -> Iterator[tuple[str, str, bool, str]]:
    """Every message, its shape, whether it is kept out, and the file it is from."""
    for name in ("shapes", "requests"):
        for row in lines(f"{name}.jsonl"):
            yield row["message"], row["shape"], is_held_out(row["message"]), name
    for row in lines("particulars.jsonl"):
        yield row["question"], row["shape"], is_held_out(row["paper"]), "particulars"
    for row in lines("overviews.jsonl"):
        if row["kind"] == "named":
            yield row["question"], "summary", row["split"] == "validation", "overviews"
    for row in lines("ordinary.jsonl"):
        for each in row["asked"]:
            if shape := SHAPE_OF.get(each["kind"]):
                yield each["question"], shape, row["split"] == "validation", "ordinary"


def fit_shape(reader: Reader) -> Weights:
    """The head of the form of answer."""
    messages, truths, kept_out, files = zip(*shapes(), strict=True)
    x = np.concatenate([reader.message_features(message) for message in messages])
    y = np.array([SHAPES.index(shape) for shape in truths])
    held, source = np.array(kept_out), np.array(files)
    weights = np.array([WEIGHTS[name] for name in files])
    found = LogisticRegression(C=0.03, max_iter=1000).fit(x[~held], y[~held], weights[~held])
    said, sure = found.predict(x), found.predict_proba(x).max(axis=1)
    for name in WEIGHTS:
        mine = held & (source == name)
        print(f"shape, {name}: right {np.mean(said[mine] == y[mine]):.3f} of {mine.sum()} kept out")
        is_sure = mine & (sure >= 0.5)
        print(f"  at 0.5 and more: {np.mean(said[is_sure] == y[is_sure]):.3f} of {is_sure.sum()}")
        for at, shape in enumerate(SHAPES):
            truth, called = mine & (y == at), is_sure & (said == at)
            if truth.any() and called.any():
                recall, precision = np.mean(said[truth] == at), np.mean(y[called] == at)
                print(f"  {shape:12} recall {recall:.2f}, precision at 0.5 {precision:.2f}")
    return found.coef_, found.intercept_


def fit_role(reader: Reader) -> Weights:
    """The head of the roles of sentences, each by itself.

    The reader's vectors of a sentence depend on the question, so each paper is read with several.
    Whether a sentence is a definition depends on what was asked: only what defines that counts.
    """
    papers = {row["paper"]: row for row in lines("papers.jsonl")}
    questions = {row["paper"]: row["questions"] for row in lines("questions.jsonl")}
    labels: dict[str, dict[str, dict]] = {}
    for row in lines("roles.jsonl"):
        labels.setdefault(row["paper"], {})[row["text"]] = row
    all_terms = sorted({row["defines"] for row in lines("roles.jsonl") if row.get("defines")})
    examples: dict[str, Examples] = {role: [] for role in ROLES}
    for id_, sentences in labels.items():
        row, held = papers[id_], is_held_out(id_)
        paper = Paper(id_, row["title"], (), "", None, "", " ".join(row["sentences"]), ())
        texts = [each.text for each in split_sentences(paper.abstract)]
        asked = [ABOUT.format(row["title"]), row["title"]]
        asked += [each["question"] for each in questions.get(id_, [])[:2]]
        terms = sorted({each["defines"] for each in sentences.values() if each.get("defines")})
        others = [all_terms[zlib.crc32(f"{id_}{at}".encode()) % len(all_terms)] for at in range(2)]
        for question, term in [
            *((question, "") for question in asked),
            *((form.format(term), term) for term in terms for form in DEFINITIONS),
            *((DEFINITIONS[0].format(term), term) for term in others),
        ]:
            read = zip(texts, reader.read_closely(question, paper).sentences, strict=True)
            known = [(sentences[text], vector) for text, vector in read if text in sentences]
            for label, vector in known:
                defines = bool(term) and label.get("defines") == term
                examples["definition"].append((vector, defines, held))
                if not term:
                    for role in set(ROLES) - set(ROLE_OF):
                        examples[role].append((vector, role in label["roles"], held))
    examples["definition"] += definitions(reader, papers)
    examples["limit"] += limits(reader, papers)
    for role, kind in ROLE_OF.items():
        examples[role] += answering(reader, papers, kind)
    fits = [_fit_one(role, examples[role]) for role in ROLES]
    return np.concatenate([weight for weight, _ in fits]), np.concatenate(
        [bias for _, bias in fits]
    )


def definitions(reader: Reader, papers: dict[str, dict]) -> Examples:
    """The examples of `definitions.jsonl`; where a sentence defines, the others do not."""
    labels: dict[tuple[str, str], dict[str, bool]] = {}
    for row in lines("definitions.jsonl"):
        labels.setdefault((row["paper"], row["term"]), {})[row["text"]] = row["defines"]
    examples = []
    for (id_, term), known in labels.items():
        row = papers[id_]
        paper = Paper(id_, row["title"], (), "", None, "", " ".join(row["sentences"]), ())
        texts = [each.text for each in split_sentences(paper.abstract)]
        for form in DEFINITIONS[:2]:
            read = zip(texts, reader.read_closely(form.format(term), paper).sentences, strict=True)
            examples += [
                (vector, known.get(text, False), is_held_out(id_))
                for text, vector in read
                if text in known or any(known.values())
            ]
    return examples


def limits(reader: Reader, papers: dict[str, dict]) -> Examples:
    """The examples of the role `limit`; `limits.jsonl` stands above `roles.jsonl`."""
    labels: dict[str, dict[str, bool]] = {}
    for row in lines("roles.jsonl"):
        labels.setdefault(row["paper"], {})[row["text"]] = "limit" in row["roles"]
    for row in lines("limits.jsonl"):
        labels.setdefault(row["paper"], {})[row["text"]] = row["limit"]
    examples = []
    for id_, known in labels.items():
        row = papers[id_]
        paper = Paper(id_, row["title"], (), "", None, "", " ".join(row["sentences"]), ())
        texts = [each.text for each in split_sentences(paper.abstract)]
        for question in LIMITS:
            read = zip(
                texts,
                reader.read_closely(question.format(row["title"]), paper).sentences,
                strict=True,
            )
            examples += [(v, known[t], is_held_out(id_)) for t, v in read if t in known]
    return examples


def answering(reader: Reader, papers: dict[str, dict], kind: str) -> Examples:
    """The sentences of papers with their questions of this kind in `ordinary.jsonl`."""
    examples = []
    for row in lines("ordinary.jsonl"):
        if not (known := papers.get(row["paper"])):
            continue
        abstract = " ".join(known["sentences"])
        paper = Paper(row["paper"], known["title"], (), "", None, "", abstract, ())
        if [each.text for each in split_sentences(abstract)] != known["sentences"]:
            continue
        for each in row["asked"]:
            if each["kind"] == kind:
                read = reader.read_closely(each["question"], paper).sentences
                examples += [
                    (vector, at in each["evidence"], row["split"] == "validation")
                    for at, vector in enumerate(read)
                ]
    return examples


def _fit_one(role: str, examples: Examples) -> Weights:
    x, y, held = (np.array(column) for column in zip(*examples, strict=True))
    weights = "balanced" if role in RARE else None
    found = LogisticRegression(C=0.03, max_iter=5000, class_weight=weights)
    found.fit(x[~held], y[~held])
    logits, truth = found.decision_function(x[held]), y[held]
    auc, precision = roc_auc_score(truth, logits), average_precision_score(truth, logits)
    print(f"role {role:12} {truth.sum():4} of {len(truth)}: AUC {auc:.3f}, AP {precision:.3f}")
    return found.coef_, found.intercept_


def fit_leaning(_reader: Reader) -> Weights:
    """The head of the cutter that says whether a sentence can be understood alone."""
    model = resolve_encoder(CUTTER, Settings().cache, lambda *_: None)
    cutter = Cutter(model, read_heads(CUTTER), threads=Settings().threads)
    rows = list(lines("leaning.jsonl"))
    # The first sentence of an abstract leans on none; pairs of one's own have no paper.
    opened = {row["paper"]: row["sentences"][0] for row in lines("papers.jsonl")}
    papers = sorted({row["paper"] for row in rows} - {""})
    rows += [{"paper": id_, "text": opened[id_], "leans": False} for id_ in papers]
    x = np.concatenate([leaning_features(cutter.vectors(row["text"])) for row in rows])
    y = np.array([row["leans"] for row in rows])
    held = np.array([bool(row["paper"]) and is_held_out(row["paper"]) for row in rows])
    found = LogisticRegression(C=0.2, solver="liblinear").fit(x[~held], y[~held])
    logits, truth = found.decision_function(x[held]), y[held]
    auc, precision = roc_auc_score(truth, logits), average_precision_score(truth, logits)
    print(f"leaning {truth.sum()} of {len(truth)}: AUC {auc:.3f}, AP {precision:.3f}")
    return found.coef_, found.intercept_


FITS: dict[str, tuple[EncoderWeights, Callable[[Reader], Weights]]] = {
    "claim": (READER, fit_claim),
    "shape": (READER, fit_shape),
    "role": (READER, fit_role),
    "leaning": (CUTTER, fit_leaning),
}


def main() -> None:
    """Fit, print, write."""
    reader = open_reader(Settings(), lambda *_: None)
    for head in sys.argv[1:]:
        weights, fit = FITS[head]
        weight, bias = fit(reader)
        tensors, notes = read_tensors(weights)
        tensors[f"heads.{head}.weight"] = np.ascontiguousarray(weight, np.float32)
        tensors[f"heads.{head}.bias"] = np.ascontiguousarray(bias, np.float32)
        save_file(tensors, weights.path, metadata=notes)


if __name__ == "__main__":
    main()
