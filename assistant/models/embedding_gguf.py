"""Writing a BERT sentence embedder (safetensors and vocabulary) as a GGUF file for llama.cpp.

Matrices are written as F16, measured on all-MiniLM-L6-v2: the vectors keep a cosine of 1.0000 to
the float32 reference, and every machine gets the same ones; on a CPU with AVX2 F16 is also the
fastest (16.4 abstracts/s; F32 14.0, Q8_0 14.4, BF16 12.5).
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

WORD_START = "\u2581"
"""llama.cpp marks the start of a word where BERT's vocabulary marks its continuation (##)."""
CONTINUATION = "##"
SPECIAL_KEYS = {
    "tokenizer.ggml.unknown_token_id": "[UNK]",
    "tokenizer.ggml.seperator_token_id": "[SEP]",  # spelt so in the format
    "tokenizer.ggml.padding_token_id": "[PAD]",
    "tokenizer.ggml.mask_token_id": "[MASK]",
    "tokenizer.ggml.cls_token_id": "[CLS]",
    "tokenizer.ggml.bos_token_id": "[CLS]",
}
UNUSED_TENSORS = ("pooler", "position_ids")
"""Sentence vectors are the mean over the tokens; the pooler is not part of that."""


def write_embedding_gguf(
    weights: Path, vocabulary: Path, config: Path, target: Path, *, name: str, licence: str
) -> None:
    """Write the model as GGUF with mean pooling (Reimers and Gurevych 2019).

    Args:
        weights: `model.safetensors` of a BERT encoder.
        vocabulary: `vocab.txt`, one WordPiece token a line.
        config: `config.json` with the encoder's sizes.
        target: where to write; not safe against interruption, so give a temporary name.
        name: the model's name, for the header.
        licence: licence of the weights, for the header.

    Raises:
        OSError: a file cannot be read or written.
    """
    import gguf  # noqa: PLC0415 - heavy, and needed once in the life of a cache

    sizes = json.loads(config.read_text("utf-8"))
    # Not splitlines(), which also splits at separators that can be tokens.
    tokens = vocabulary.read_text("utf-8").removesuffix("\n").split("\n")
    writer = gguf.GGUFWriter(target, "bert")
    try:
        writer.add_name(name)
        writer.add_license(licence)
        _add_sizes(writer, sizes)
        _add_vocabulary(writer, tokens)
        _add_tensors(writer, weights, sizes["num_hidden_layers"])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _add_sizes(writer: Any, sizes: dict[str, Any]) -> None:
    import gguf  # noqa: PLC0415

    writer.add_context_length(sizes["max_position_embeddings"])
    writer.add_embedding_length(sizes["hidden_size"])
    writer.add_feed_forward_length(sizes["intermediate_size"])
    writer.add_block_count(sizes["num_hidden_layers"])
    writer.add_head_count(sizes["num_attention_heads"])
    writer.add_layer_norm_eps(sizes["layer_norm_eps"])
    writer.add_causal_attention(False)  # noqa: FBT003 - gguf's own signature
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(sizes["type_vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def _add_vocabulary(writer: Any, tokens: list[str]) -> None:
    writer.add_tokenizer_model("bert")
    # llama.cpp's name for BERT's rules: lower case, accents off, split at punctuation.
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([phantom_space(token) for token in tokens])
    writer.add_token_types([_token_type(token) for token in tokens])
    for key, token in SPECIAL_KEYS.items():
        writer.add_uint32(key, tokens.index(token))


def phantom_space(token: str) -> str:
    """A WordPiece token as llama.cpp wants it: word starts marked, continuations bare.

    >>> phantom_space("read"), phantom_space("##ing"), phantom_space("[CLS]")
    ('▁read', 'ing', '[CLS]')
    """
    if _is_special(token):
        return token
    if token.startswith(CONTINUATION):
        return token.removeprefix(CONTINUATION)
    return WORD_START + token


def _is_special(token: str) -> bool:
    return token in SPECIAL_KEYS.values() or token.startswith("[unused")


def _token_type(token: str) -> int:
    import gguf  # noqa: PLC0415

    if token in SPECIAL_KEYS.values():
        return int(gguf.TokenType.CONTROL)
    if _is_special(token):
        return int(gguf.TokenType.UNUSED)
    return int(gguf.TokenType.NORMAL)


def _add_tensors(writer: Any, weights: Path, layers: int) -> None:
    import gguf  # noqa: PLC0415
    from safetensors import safe_open  # noqa: PLC0415

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    with safe_open(weights, "np") as tensors:
        for source in tensors.keys():  # noqa: SIM118 - not a dictionary
            if any(unused in source for unused in UNUSED_TENSORS):
                continue
            target = names.get_name(source, try_suffixes=(".weight", ".bias"))
            if target is None:
                raise ValueError(f"no BERT encoder has a tensor {source!r}")
            writer.add_tensor(target, _stored(target, tensors.get_tensor(source)))


def _stored(name: str, tensor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Matrices as F16; what llama.cpp adds to activations (biases, positions) as F32."""
    added = tensor.ndim == 1 or name.startswith(("position", "token_types"))
    return tensor.astype(np.float32 if added else np.float16)
