"""GGUF files of chat models with few, random weights: what they write means nothing."""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import gguf
import numpy as np
from chat_templates import GEMMA
from fakes import LICHEN, TIDAL, WHISPER, ZEBRA

from assistant.models.llama.tokenizer import _byte_of_letter

LETTER_OF = {byte: letter for letter, byte in _byte_of_letter().items()}
WIDTH, HEADS, HEAD_WIDTH, INNER, LAYERS = 64, 4, 16, 96, 2
TRAINED = 2048
SEED = 7


def words_of(text: str) -> list[str]:
    """`text` in words, numbers, signs and spaces, nothing lost that BPE could merge."""
    return re.findall(r" ?[^\W\d_]+|\d+| ?[^\w\s]+|\s+", text)


WORDS = words_of(" ".join((LICHEN, TIDAL, WHISPER, ZEBRA)))


def merges_of(words: Iterable[str], count: int) -> list[tuple[str, str]]:
    """The commonest pairs of neighbours, merged one after the other, as BPE is trained."""
    spelled = Counter(tuple(LETTER_OF[byte] for byte in word.encode("utf-8")) for word in words)
    merges: list[tuple[str, str]] = []
    while len(merges) < count:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, times in spelled.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += times
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        spelled = Counter({_merged(word, best): times for word, times in spelled.items()})
    return merges


def _merged(word: Sequence[str], pair: tuple[str, str]) -> tuple[str, ...]:
    done: list[str] = []
    for letter in word:
        if done and (done[-1], letter) == pair:
            done[-1] += letter
        else:
            done.append(letter)
    return tuple(done)


def write_bpe_vocabulary(
    writer: gguf.GGUFWriter,
    merges: Sequence[tuple[str, str]],
    pre: str,
    marks: Sequence[str],
    kind: gguf.TokenType = gguf.TokenType.CONTROL,
) -> int:
    """A byte-level vocabulary with marks behind it, of which the last ends a text."""
    tokens = [LETTER_OF[byte] for byte in range(256)]
    tokens += dict.fromkeys("".join(pair) for pair in merges)
    kinds = [gguf.TokenType.NORMAL] * len(tokens) + [kind] * len(marks)
    tokens += marks
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(len(tokens) - 1)
    return len(tokens)


def write_sentencepiece_vocabulary(
    writer: gguf.GGUFWriter, words: Iterable[str], marks: Sequence[str]
) -> int:
    """Pieces with scores, single bytes, and control marks; `<bos>` begins a text."""
    letters = {letter for word in words for letter in word}
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", *marks]
    kinds = [gguf.TokenType.CONTROL] * len(pieces)
    kinds[3] = gguf.TokenType.UNKNOWN
    pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    kinds += [gguf.TokenType.BYTE] * 256
    normal = [*sorted({"▁", *letters}), *sorted({f"▁{word}" for word in words if len(word) > 1})]
    normal = list(dict.fromkeys(normal))
    pieces += normal
    kinds += [gguf.TokenType.NORMAL] * len(normal)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(pieces)
    writer.add_token_scores([-float(place) for place in range(len(pieces))])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(3)
    writer.add_add_space_prefix(value=False)
    return len(pieces)


def write_weights(writer: gguf.GGUFWriter, architecture: str, vocabulary: int) -> None:
    """Sizes and random weights of a small transformer of `architecture`."""
    writer.add_context_length(TRAINED)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(HEAD_WIDTH)
    writer.add_value_length(HEAD_WIDTH)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(HEAD_WIDTH)
    writer.add_vocab_size(vocabulary)
    random = np.random.default_rng(SEED)

    def add(name: str, *shape: int) -> None:
        values = random.normal(0, 0.3, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))

    add("token_embd", vocabulary, WIDTH)
    add("output_norm", WIDTH)
    heads = HEADS * HEAD_WIDTH
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for norm in ("attn_norm", "ffn_norm"):
            add(f"{block}.{norm}", WIDTH)
        for name in ("attn_q", "attn_k", "attn_v"):
            add(f"{block}.{name}", heads, WIDTH)
            if architecture == "qwen2":
                writer.add_tensor(f"{block}.{name}.bias", np.zeros(heads, dtype=np.float32))
        add(f"{block}.attn_output", WIDTH, heads)
        if architecture == "gemma2":
            add(f"{block}.post_attention_norm", WIDTH)
            add(f"{block}.post_ffw_norm", WIDTH)
        add(f"{block}.ffn_gate", INNER, WIDTH)
        add(f"{block}.ffn_up", INNER, WIDTH)
        add(f"{block}.ffn_down", WIDTH, INNER)


def save(writer: gguf.GGUFWriter, path: Path) -> Path:
    """The file, whole."""
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


CHATML_MARKS = ("<|im_start|>", "<|endoftext|>", "<|im_end|>")
LLAMA3_MARKS = (
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
)  # fmt: skip
GEMMA_MARKS = ("<start_of_turn>", "<end_of_turn>")


def bpe_model(
    path: Path,
    architecture: str,
    pre: str,
    template: str,
    marks: Sequence[str],
    *,
    user_defined: bool = False,
) -> Path:
    """A chat model with a byte-level vocabulary, a `llama` or a `qwen2`."""
    writer = gguf.GGUFWriter(path, architecture)
    kind = gguf.TokenType.USER_DEFINED if user_defined else gguf.TokenType.CONTROL
    size = write_bpe_vocabulary(writer, merges_of(WORDS, 200), pre, marks, kind)
    if marks[0] == "<|begin_of_text|>":
        writer.add_bos_token_id(size - len(marks))
        writer.add_add_bos_token(value=True)
    if template:
        writer.add_chat_template(template)
    write_weights(writer, architecture, size)
    return save(writer, path)


def gemma_model(path: Path) -> Path:
    """A chat model with a SentencePiece vocabulary and no role for the system."""
    writer = gguf.GGUFWriter(path, "gemma2")
    size = write_sentencepiece_vocabulary(writer, [word.strip() for word in WORDS], GEMMA_MARKS)
    writer.add_eot_token_id(5)
    writer.add_chat_template(GEMMA)
    writer.add_sliding_window(64)
    write_weights(writer, "gemma2", size)
    return save(writer, path)
