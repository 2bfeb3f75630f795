"""Fits the reader's head `answerable` and the weights of the probability of an answer.

    python fit_answerable.py SEEDS SCIFACT [--cache FILE] [--keep-head]

SEEDS and SCIFACT are libraries of the seeds and of SciFact's abstracts. Questions that one of their
papers answers, that their own paper does not answer, and that no paper answers are read with the
best three papers that search finds. A logistic regression over the vector of question and abstract
and what was known beside it tells which are answered; its part on the vector becomes the head. A
second one, over that head and the other features of `abstention`, gives `abstention.WEIGHTS` and
`BIAS`, which are printed, scaled so that as many answerable questions as before are below the
threshold, and as many above a probability of 0.9. With `--keep-head` only the second is fitted.
What was read is kept in FILE. Prints what is refused of the questions that shaped nothing
(`../scope_questions.jsonl` and the kept out half of `scope.jsonl`); see ../reading.md.
"""

import argparse
import json
import pickle
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
from answer_examples import SEEN, share
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from assistant.models.gguf.trained import READER, read_tensors
from assistant.pipeline.abstention import Features, QuestionEntities
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.pipeline.startup import open_library, open_reader
from assistant.settings import Settings
from retrieval.query.lookup import Lookup
from retrieval.search.rerank import ReadPassage, RerankSettings
from retrieval.search.search import search
from retrieval.types import never, silent

DATA = Path(__file__).parent / "data"
UNSEEN = Path(__file__).parents[1] / "scope_questions.jsonl"
FIELDS = ("ml", "biomedical")
"""Of the two libraries."""
DEPTH = 3
EVERY = 3
"""Of the questions on no paper, one of so many is put to the second library."""
STRENGTH, SCALARS, FACTOR = 0.001, 4, 6.0
"""Of the fit; numbers behind the vector, and how much more one counts than a dimension."""
BELOW, ABOVE = (-1.386, 0.05), (2.197, 0.31)
"""Logits of the threshold and of 0.9, and the share of answerable questions below each."""


@dataclass(frozen=True)
class Asked:
    """A question for a library."""

    question: str
    answers: bool
    group: str
    """What it is counted with."""
    paper: str = ""
    """The paper that it is about, if one is."""
    leans: bool = False
    """Whether only a conversation tells that paper."""
    unseen: bool = False
    """Whether it is kept out of the fit."""


@dataclass(frozen=True)
class Judged:
    """A question with a paper found for it."""

    asked: Asked
    library: str
    x: NDArray[np.float32]
    """The vector of both, the logit `answered`, similarity, absent names, unknown words."""
    features: Features
    """With the head as it was."""


def lines(name: str) -> list[dict]:
    """The rows of a data file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def asked_of(field: str) -> Iterator[Asked]:
    """The questions for a field's library, also those on papers that it lacks.

    Halves of two files are left out: the sentence reader was trained on them.
    """
    unplaced = [
        Asked(row["question"], False, "far")
        for row in lines("far.jsonl")
        if share(row["question"]) >= SEEN
    ]
    unplaced += [Asked(row["question"], False, "elsewhere") for row in lines("unanswerable.jsonl")]
    yield from unplaced if field == FIELDS[0] else unplaced[::EVERY]
    nearby = [row for row in lines("nearby.jsonl") if share(row["paper"]) >= SEEN]
    for row in (*nearby, *lines("named.jsonl")):
        group, unseen = row.get("group", "nearby"), row.get("split") == "validation"
        for answers in (True, False):
            for each in row["answered" if answers else "silent"]:
                yield Asked(each, answers, group, row["paper"], unseen=unseen)
    yield from _validation(field)
    for row in lines("polar.jsonl"):
        if row["split"] == "validation":
            yield Asked(row["question"], row["verdict"] != "open", "polar", row["paper"])
    yield from _general()
    yield from _ordinary()
    yield from _short(field)


def _validation(field: str) -> Iterator[Asked]:
    """Questions on papers that the reader was not trained on."""
    for row in lines("questions.jsonl"):
        if row["split"] == "validation" and row["field"] == field:
            paper = row["paper"]
            yield from (Asked(e["question"], True, "detail", paper) for e in row["questions"][:3])
            yield Asked(row["silent"], False, "detail", paper)
            yield Asked(row["follow_up"]["question"], True, "follow-up", paper, leans=True)
    for row in lines("hard.jsonl"):
        if row["split"] == "validation":
            leans, answers = row["kind"] == "open follow-up", row["kind"] == "answered"
            group = "follow-up" if leans else "hard"
            yield Asked(row["question"], answers, group, row["paper"], leans=leans)
    for row in lines("turns.jsonl"):
        if row["kind"] == "stay" and row["split"] == "validation":
            yield Asked(row["question"], True, "follow-up", row["a"], leans=True)
    for row in lines("several.jsonl"):
        if row["split"] == "validation":
            yield from (Asked(row["question"], True, "several", paper) for paper in row["papers"])


def _general() -> Iterator[Asked]:
    """Questions on the topic of a paper that the readers were not trained on."""
    for row in lines("general.jsonl"):
        if row["split"] == "validation":
            answered = (*row["general"], row["exact"])
            yield from (Asked(each["question"], True, "general", row["paper"]) for each in answered)
            yield from (Asked(each, False, "general", row["paper"]) for each in row["silent"])


def _ordinary() -> Iterator[Asked]:
    """Questions of many shapes by people who do not know the paper, likewise."""
    for row in lines("ordinary.jsonl"):
        if row["split"] == "validation":
            for each in row["asked"]:
                yield Asked(each["question"], bool(each["evidence"]), "ordinary", row["paper"])


def _short(field: str) -> Iterator[Asked]:
    """Short messages of every shape; those that are not fitted on among them."""
    for row in lines("scope.jsonl"):
        if row["kind"] == "far" or field == FIELDS[0]:
            answers, unseen = row["kind"] in ("topic", "paper"), row["split"] == "validation"
            group, paper = f"scope, {row['kind']}", row.get("paper", "")
            yield Asked(row["question"], answers, group, paper, unseen=unseen)
    for row in map(json.loads, UNSEEN.read_text("utf-8").splitlines()):
        if row["library"] in ("any", ("seeds", "scifact")[FIELDS.index(field)]):
            yield Asked(row["question"], row["kind"] == "answerable", row["group"], unseen=True)


def judged(home: Path, field: str) -> Iterator[Judged]:
    """The questions of a field with the best papers of its library."""
    settings = Settings(home=home)
    reader = open_reader(settings, silent)
    library = open_library(settings, silent)
    lookup, order = Lookup.over(library), RerankSettings()
    papers = {stored.paper.id: stored.paper for stored in library.store.papers()}
    for asked in asked_of(field):
        ids = (asked.paper, asked.paper.removeprefix("scifact-"))
        own = next((each for each in ids if each in papers), "")
        if asked.paper and not own:
            continue
        focus = (papers[own],) if asked.leans else ()
        text = " ".join([asked.question, *(paper.title for paper in focus)])
        standalone = StandaloneQuestion(asked.question, text, focus_papers=focus)
        named = lookup.named(asked.question)
        entities = QuestionEntities.of(standalone, named)
        found = []
        for passage in search(library, asked.question, DEPTH, also=[own] if own else ()):
            if own and passage.paper.id != own:
                continue
            close = reader.read_closely(asked.question, passage.paper)
            read = reader.read_alone(asked.question, passage.paper, close.read, never)
            features = entities.features(ReadPassage(passage, read), library.lexical)
            rest = (features.similarity, features.absent_names, features.unknown)
            value = (
                passage.score + order.relevance * read.relevance + order.answered * read.answered
            )
            x = np.array([*close.whole, read.answered, *rest], np.float32)
            found.append((value, Judged(asked, field, x, features)))
        best = sorted(found, key=lambda each: -each[0])
        yield from (each for _, each in (best[:1] if asked.answers else best))


def fitted(known: list[Judged]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias of the logistic regression; answered and not answered count the same."""
    x = np.array([each.x for each in known], float)
    y = np.array([each.asked.answers for each in known])
    scaler = StandardScaler().fit(x)
    factor = np.where(np.arange(x.shape[1]) < x.shape[1] - SCALARS, 1.0, FACTOR) / scaler.scale_
    balance = np.where(y, (~y).sum() / y.sum(), 1.0)
    fit = LogisticRegression(C=STRENGTH, max_iter=3000)
    fit.fit((x - scaler.mean_) * factor, y, sample_weight=balance)
    weights = fit.coef_[0] * factor
    return weights, float(fit.intercept_[0] - weights @ scaler.mean_)


def head_of(known: list[Judged]) -> tuple[NDArray[np.float64], float]:
    """The head `answerable` and its bias: the part of the fit on the vector."""
    weights, bias = fitted(known)
    tensors, _ = read_tensors(READER)
    answered = tensors["heads.answered.weight"][0]  # linear in the same vector
    size = len(answered)
    head = weights[:size] + weights[size] * answered
    return head, bias + weights[size] * float(tensors["heads.answered.bias"][0])


def weighted(known: list[Judged]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias of the features; answerable questions lie where `BELOW` and `ABOVE` say."""
    x = np.array([astuple(each.features) for each in known])
    y = np.array([each.asked.answers for each in known])
    spread = x.std(axis=0)
    weigh = np.where(y, (~y).sum() / y.sum(), 1.0)
    fit = LogisticRegression(max_iter=3000).fit(x / spread, y, sample_weight=weigh)
    weights, bias = fit.coef_[0] / spread, float(fit.intercept_[0])
    logits = best_of(known, weights, bias)
    answered = [logit for asked, logit in logits.items() if asked.answers]
    low, high = np.quantile(answered, [BELOW[1], ABOVE[1]])
    factor = (ABOVE[0] - BELOW[0]) / (high - low)
    return weights * factor, float(BELOW[0] + factor * (bias - low))


def best_of(known: list[Judged], weights: NDArray[np.float64], bias: float) -> dict[Asked, float]:
    """The logit of every question: that of its best paper."""
    found: dict[Asked, float] = defaultdict(lambda: -np.inf)
    for each in known:
        logit = float(np.array(astuple(each.features)) @ weights) + bias
        found[each.asked] = max(found[each.asked], logit)
    return found


def show(known: list[Judged], weights: NDArray[np.float64], bias: float) -> None:
    """What is refused of every group, by library; of those that shaped nothing last."""
    refused = defaultdict(list)
    for name in FIELDS:
        of = [each for each in known if each.library == name]
        for asked, logit in best_of(of, weights, bias).items():
            group = (asked.unseen, name, asked.group, asked.answers)
            refused[group].append(logit < BELOW[0])
    for (unseen, name, group, answers), each in sorted(refused.items()):
        kept, kind = "unseen" if unseen else "fitted", "answerable" if answers else "silent"
        print(f"{kept}, {name}, {group}, {kind}: {np.mean(each):.3f} of {len(each)} refused")


def main() -> None:
    """Read, fit, print, write the head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", type=Path)
    parser.add_argument("scifact", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--keep-head", action="store_true")
    options = parser.parse_args()
    if options.cache and options.cache.exists():
        known = pickle.loads(options.cache.read_bytes())
    else:
        homes = (options.seeds, options.scifact)
        known = [e for home, field in zip(homes, FIELDS, strict=True) for e in judged(home, field)]
        if options.cache:
            options.cache.write_bytes(pickle.dumps(known))
    seen = [each for each in known if not each.asked.unseen]
    if not options.keep_head:
        head, bias = head_of(seen)
        known, seen = (
            [
                replace(
                    e,
                    features=replace(e.features, answerable=float(e.x[: len(head)] @ head) + bias),
                )
                for e in part
            ]
            for part in (known, seen)
        )
        tensors, notes = read_tensors(READER)
        tensors["heads.answerable.weight"] = head[None].astype(np.float32)
        tensors["heads.answerable.bias"] = np.array([bias], np.float32)
        save_file(tensors, READER.path, metadata=notes)
    weights, bias = weighted(seen)
    show(known, weights, bias)
    print("weights", Features(*weights.round(2).tolist()), "bias", round(bias, 2))


if __name__ == "__main__":
    main()
