"""The encoders in torch with their heads, and how texts become their input.

`retrieval/encoders` runs the same models in llama.cpp.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from gguf import MODEL_ARCH, get_tensor_name_map
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertModel, BertTokenizerFast

from retrieval.encoders.embedder import CONTEXT
from retrieval.search.reader import FOCUSES, KINDS, QUESTION_TOKENS, TITLE_TOKENS

HEADS = {
    "relevance": 1,
    "answered": 1,
    "evidence": 1,
    "kind": len(KINDS),
    "focus": len(FOCUSES),
}


class Tokens:
    """Texts as token ids."""

    def __init__(self, base: Path) -> None:
        """Read the vocabulary of the embedder in the folder `base`."""
        self._tokenizer = BertTokenizerFast.from_pretrained(str(base))
        self.begin, self.end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id

    def of(self, text: str, most: int) -> list[int]:
        """The first tokens of `text`."""
        return self._tokenizer(text, add_special_tokens=False)["input_ids"][:most]

    def reading(
        self, question: str, title: str, sentences: list[str], length: int = CONTEXT
    ) -> tuple[list[int], list[int]]:
        """`[CLS] question [SEP] title [SEP] sentence [SEP] …` and where each sentence ends."""
        ids = [self.begin, *self.of(question, QUESTION_TOKENS), self.end]
        ids += [*self.of(title, TITLE_TOKENS), self.end]
        ends = []
        for sentence in sentences:
            tokens = self.of(sentence, CONTEXT)
            if len(ids) + len(tokens) + 1 > length:
                break
            ids += [*tokens, self.end]
            ends.append(len(ids) - 1)
        return ids, ends

    def message(self, message: str, previous: str) -> list[int]:
        """`[CLS] message [SEP] previous [SEP]`."""
        ids = [self.begin, *self.of(message, QUESTION_TOKENS), self.end]
        return [*ids, *self.of(previous, QUESTION_TOKENS), self.end]


@dataclass
class Read:
    """The heads' logits for one input."""

    relevance: Tensor
    answered: Tensor
    evidence: Tensor
    kind: Tensor
    focus: Tensor


class ReaderModel(nn.Module):
    """MiniLM with a linear head for each question put to it."""

    def __init__(self, base: Path) -> None:
        """Start from the embedder in the folder `base`."""
        super().__init__()
        self.bert = _embedder(base)
        size = self.bert.config.hidden_size
        self.heads = nn.ModuleDict({name: nn.Linear(size, n) for name, n in HEADS.items()})

    def forward(self, inputs: list[tuple[list[int], list[int]]], chunk: int = 6) -> list[Read]:
        """Read token ids with the ends of their sentences; short ones together with short ones."""
        out: list[Read | None] = [None] * len(inputs)
        order = sorted(range(len(inputs)), key=lambda at: len(inputs[at][0]))
        start = 0
        while start < len(order):
            part = [order[start]]
            while (
                start + len(part) < len(order)
                and (len(part) + 1) * len(inputs[order[start + len(part)]][0]) <= chunk * 320
            ):
                part.append(order[start + len(part)])
            start += len(part)
            longest = max(len(inputs[at][0]) for at in part)
            ids = torch.zeros(len(part), longest, dtype=torch.long)
            mask = torch.zeros(len(part), longest)
            for row, at in enumerate(part):
                ids[row, : len(inputs[at][0])] = torch.tensor(inputs[at][0])
                mask[row, : len(inputs[at][0])] = 1
            with torch.autocast("cpu", dtype=torch.bfloat16):
                hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
            hidden = hidden.float()
            for row, at in enumerate(part):
                first, ends = hidden[row, 0], hidden[row, inputs[at][1]]
                out[at] = Read(
                    self.heads["relevance"](first)[0],
                    self.heads["answered"](first)[0],
                    self.heads["evidence"](ends)[:, 0],
                    self.heads["kind"](first),
                    self.heads["focus"](first),
                )
        return [read for read in out if read is not None]


LAYERS = 6
TOKENS_AT_ONCE = 2400


class PairModel(nn.Module):
    """MiniLM with linear heads on its first vector."""

    def __init__(self, base: Path, heads: dict[str, int]) -> None:
        """Start from the embedder in the folder `base`; `heads` are outputs by name."""
        super().__init__()
        self.bert = _embedder(base)
        size = self.bert.config.hidden_size
        self.heads = nn.ModuleDict({name: nn.Linear(size, n) for name, n in heads.items()})

    def forward(self, inputs: list[list[int]]) -> Tensor:
        """The logits of token ids, the heads' side by side; shape (inputs, outputs of all)."""
        out: list[Tensor] = [torch.empty(0)] * len(inputs)
        order = sorted(range(len(inputs)), key=lambda at: len(inputs[at]))
        while order:
            size = 1
            while size < len(order) and (size + 1) * len(inputs[order[size]]) <= TOKENS_AT_ONCE:
                size += 1
            part, order = order[:size], order[size:]
            longest = len(inputs[part[-1]])
            ids = torch.zeros(len(part), longest, dtype=torch.long)
            mask = torch.zeros(len(part), longest)
            for row, at in enumerate(part):
                ids[row, : len(inputs[at])] = torch.tensor(inputs[at])
                mask[row, : len(inputs[at])] = 1
            with torch.autocast("cpu", dtype=torch.bfloat16):
                hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
            first = hidden[:, 0].float()
            logits = torch.cat([head(first) for head in self.heads.values()], dim=1)
            for row, at in enumerate(part):
                out[at] = logits[row]
        return torch.stack(out)


def read_checkpoint(path: Path, base: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint, or of an encoder as the package ships it (`.safetensors`)."""
    if path.suffix != ".safetensors":
        return dict(torch.load(path, map_location="cpu"))
    shipped = load_file(path)
    weights = {name: weight for name, weight in shipped.items() if name.startswith("heads.")}
    names = get_tensor_name_map(MODEL_ARCH.BERT, LAYERS)
    for source, weight in _embedder(base).state_dict().items():
        name = names.get_name(source, try_suffixes=(".weight", ".bias"))
        added = shipped.get(f"{name}.added", torch.zeros(()))
        if f"{name}.steps" in shipped:
            added = shipped[f"{name}.steps"] * shipped[f"{name}.scale"][:, None]
        weights[f"bert.{source}"] = weight + added.float()
    return weights


def _embedder(base: Path) -> BertModel:
    """The embedder in the folder `base`; dropout off, word vectors fixed.

    Dropout costs half of the speed on a CPU; the short schedule regularizes instead.
    """
    bert = BertModel.from_pretrained(
        str(base), add_pooling_layer=False, attn_implementation="eager"
    )
    bert.config.attention_probs_dropout_prob = 0.0
    for module in bert.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    bert.embeddings.requires_grad_(False)
    return bert
