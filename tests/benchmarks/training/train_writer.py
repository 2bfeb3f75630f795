"""Trains the writer: `python train_writer.py BASE OUT [--steps 1700] [--seed 0]`.

BASE is the default chat model as BF16, as the product writes it into its cache; OUT a folder for
checkpoints, log and figures. Needs the `train` extra.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM
from writer_examples import Example, examples
from writer_model import Tokens, load

from assistant.generation.verification.cutter import Cuts, Cutter
from assistant.models import resolve_encoder
from assistant.models.gguf.trained import CUTTER, read_heads
from assistant.settings import Settings
from retrieval.types import silent

BATCH = 8
"""Examples a step."""
BUCKET = 64
"""Examples of which those that are about as long come into one batch."""
LEARNING_RATE = 5e-4
WARM_UP = 30
"""Steps until the learning rate is reached."""
CHECKPOINT = 100
"""Steps between two."""


@dataclass(frozen=True, slots=True)
class Row:
    """An example in tokens."""

    task: str
    prompt: list[int]
    reply: list[int]


def main() -> None:
    """Train, measure on the validation split, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=1700)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=LEARNING_RATE, help="learning rate at first")
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--skip", type=int, default=0, help="batches that it has seen")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(asked.seed)
    model, tokens, all_ = load(asked.base), Tokens(asked.base), examples(_cuts(), asked.seed)
    if asked.start:
        model.load_state_dict(torch.load(asked.start), strict=False)
    rows = [_row(tokens, each) for each in all_ if each.split == "train"]
    train(model, rows, asked)
    held_back = [_row(tokens, each) for each in all_ if each.split == "validation"]
    figures = evaluate(model, held_back)
    (asked.out / "validation.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)


def _cuts() -> Callable[[str], Cuts]:
    """Where the shipped cutter cuts sentences, each read once."""
    path = resolve_encoder(CUTTER, Settings().cache, silent)
    return cache(Cutter(path, read_heads(CUTTER), threads=2).cuts)


def _row(tokens: Tokens, example: Example) -> Row:
    reply = [*tokens.of(example.reply), tokens.end]
    return Row(example.task, tokens.conversation(example.messages), reply)


def train(model: LlamaForCausalLM, rows: list[Row], asked: argparse.Namespace) -> None:
    """Train and keep a checkpoint now and then."""
    chance = random.Random(asked.seed)
    steps = asked.steps
    weights = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=asked.rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / min(WARM_UP, steps / 8)) * max(0.03, 1 - step / steps),
    )
    start, seen = time.time(), []
    batches = islice(_batches(rows, chance), asked.skip, None)
    for step in range(1, steps + 1):
        loss = losses(model, next(batches)).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        seen.append(float(loss.detach()))
        if step % 10 == 0:
            mean = sum(seen) / len(seen)
            print(step, steps, f"loss {mean:.3f}", round(time.time() - start), "s", flush=True)
            seen = []
        if step % CHECKPOINT == 0 or step == steps:
            torch.save(
                {n: p for n, p in model.named_parameters() if p.requires_grad},
                asked.out / "writer.pt",
            )


def _batches(rows: list[Row], chance: random.Random) -> Iterator[list[Row]]:
    """Batches without end of examples that are about as long."""
    while True:
        order = chance.sample(rows, len(rows))
        batches = []
        for at in range(0, len(order), BUCKET):
            bucket = sorted(
                order[at : at + BUCKET], key=lambda row: len(row.prompt) + len(row.reply)
            )
            batches += [bucket[i : i + BATCH] for i in range(0, len(bucket), BATCH)]
        yield from chance.sample(batches, len(batches))


def losses(model: LlamaForCausalLM, batch: list[Row]) -> Tensor:
    """The mean loss of each reply's tokens; shape (rows,). Only replies give logits."""
    longest = max(len(row.prompt) + len(row.reply) for row in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros(len(batch), longest, dtype=torch.long)
    for at, row in enumerate(batch):
        whole = torch.tensor(row.prompt + row.reply)
        ids[at, : len(whole)], mask[at, : len(whole)] = whole, 1
    states = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    before = [states[at, len(r.prompt) - 1 :][: len(r.reply)] for at, r in enumerate(batch)]
    logits = model.lm_head(torch.cat(before)).float()
    wanted = torch.tensor([token for row in batch for token in row.reply])
    each = nn.functional.cross_entropy(logits, wanted, reduction="none")
    return torch.stack([part.mean() for part in each.split([len(row.reply) for row in batch])])


def evaluate(model: LlamaForCausalLM, rows: list[Row]) -> dict[str, float]:
    """The mean loss of each task's replies."""
    model.eval()
    found: dict[str, list[float]] = {}
    order = sorted(rows, key=lambda row: len(row.prompt))
    with torch.no_grad():
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            for row, loss in zip(batch, losses(model, batch).tolist(), strict=True):
                found.setdefault(row.task, []).append(loss)
    return {task: sum(values) / len(values) for task, values in found.items()}


if __name__ == "__main__":
    main()
