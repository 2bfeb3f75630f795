"""The writer in torch: the default chat model with a low-rank adapter on every matrix.

LoRA is from Hu et al. 2021 (arXiv:2106.09685).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import torch
from torch import Tensor, nn
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from assistant.generation.prompts import Message
from assistant.models.llama.chat_template import ChatTemplate

RANK = 16
SCALE = 2.0
"""What the adapter's product is multiplied by: alpha / rank."""
END = "<|im_end|>"
MATRICES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The adapted matrices of a layer, by their names in torch and in llama.cpp."""
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


class Lora(nn.Module):
    """A matrix and what is added to it: two thin ones."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(RANK, base.in_features) * 0.02)
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (…, features)."""
        thin = nn.functional.linear(x, self.a.to(x.dtype))
        return self.base(x) + nn.functional.linear(thin, self.b.to(x.dtype)) * SCALE


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file says of a llama model."""

    layers: int
    heads: int
    key_heads: int

    @classmethod
    def of(cls, reader: gguf.GGUFReader) -> "Header":
        """Read it."""

        def number(key: str) -> int:
            return int(reader.fields[f"llama.{key}"].contents())

        return cls(
            number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
        )


def interleaved(matrix: Tensor, heads: int) -> Tensor:
    """Rows of q or k as llama.cpp has them, of rows as torch has them; see `halved`."""
    half = matrix.shape[0] // heads // 2
    return matrix.reshape(heads, 2, half, -1).swapaxes(1, 2).reshape(matrix.shape)


def halved(matrix: Tensor, heads: int) -> Tensor:
    """Rows of q or k as torch has them, of rows as llama.cpp has them: they rotate other pairs."""
    half = matrix.shape[0] // heads // 2
    return matrix.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def load(path: Path) -> LlamaForCausalLM:
    """The chat model in the BF16 file `path` with an adapter that changes nothing yet."""
    reader = gguf.GGUFReader(path)
    header = Header.of(reader)

    def value(key: str) -> float:
        return reader.fields[f"llama.{key}"].contents()

    config = LlamaConfig(
        vocab_size=len(reader.fields["tokenizer.ggml.tokens"].contents()),
        hidden_size=int(value("embedding_length")),
        intermediate_size=int(value("feed_forward_length")),
        num_hidden_layers=header.layers,
        num_attention_heads=header.heads,
        num_key_value_heads=header.key_heads,
        rope_theta=float(value("rope.freq_base")),
        rms_norm_eps=float(value("attention.layer_norm_rms_epsilon")),
        max_position_embeddings=int(value("context_length")),
        tie_word_embeddings=True,
    )
    raw = {tensor.name: _tensor(tensor) for tensor in reader.tensors}
    state = {
        "model.embed_tokens.weight": raw["token_embd.weight"],
        "model.norm.weight": raw["output_norm.weight"],
    }
    for layer in range(header.layers):
        for name, source in (MATRICES | NORMS).items():
            matrix = raw[f"blk.{layer}.{source}.weight"]
            if source in ("attn_q", "attn_k"):
                matrix = halved(matrix, header.heads if source == "attn_q" else header.key_heads)
            state[f"model.layers.{layer}.{name}.weight"] = matrix
    model = LlamaForCausalLM(config).to(torch.bfloat16)
    missing, unknown = model.load_state_dict(state, strict=False)
    if unknown or set(missing) - {"lm_head.weight"}:
        raise ValueError(f"not the expected model: {missing}, {unknown}")
    model.tie_weights()
    model.requires_grad_(False)
    for layer in model.model.layers:
        for name in MATRICES:
            part, matrix = name.split(".")
            module = getattr(layer, part)
            setattr(module, matrix, Lora(getattr(module, matrix)))
    return model


def _tensor(tensor: gguf.ReaderTensor) -> Tensor:
    shape = [int(size) for size in reversed(tensor.shape)]
    if tensor.tensor_type == gguf.GGMLQuantizationType.BF16:
        return torch.frombuffer(bytearray(tensor.data.tobytes()), dtype=torch.bfloat16).reshape(
            shape
        )
    return torch.tensor(tensor.data.copy()).reshape(shape).to(torch.bfloat16)


class Tokens:
    """Conversations as token ids, cut as `llama.bindings.chat_prompt` cuts them."""

    def __init__(self, path: Path) -> None:
        """Read the vocabulary and the chat template of the GGUF file."""
        self._tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        fields = gguf.GGUFReader(path).fields
        source = fields["tokenizer.chat_template"].contents()
        self._template = ChatTemplate(source, bos="<|im_start|>", eos=END)
        self.end = int(self._tokenizer.convert_tokens_to_ids(END))

    def conversation(self, messages: Sequence[Message]) -> list[int]:
        """Up to where the reply begins."""
        parts = self._template.parts(messages)
        return [token for part in parts for token in self.of(part.text)]

    def of(self, text: str) -> list[int]:
        """The tokens of `text`."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def text(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`."""
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).strip()
