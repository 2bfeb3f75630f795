"""Writes the GGUF files of the embedder and of the encoders trained from it."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors import safe_open

from assistant.models.gguf.trained import EncoderWeights, read_tensors
from retrieval.types import ModelError

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
    """Write a BERT encoder as GGUF with mean pooling (Reimers and Gurevych 2019).

    `weights`, `vocabulary` and `config` are its `model.safetensors`, `vocab.txt` (one WordPiece
    token a line) and `config.json`. An interruption leaves `target` incomplete, so give a temporary
    name. Raises `OSError` if a file cannot be read or written.
    """
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


def write_encoder_gguf(base: Path, target: Path, weights: EncoderWeights) -> None:
    """Write as `target` the embedder `base` (GGUF) with the difference in `weights` added.

    An interruption leaves `target` incomplete, so give a temporary name. Raises `ModelError` if
    `weights` is missing, damaged, or of another embedder, and `OSError` if it cannot write.
    """
    tensors, about = read_tensors(weights)
    shutil.copyfile(base, target)
    try:
        written = {tensor.name: tensor for tensor in gguf.GGUFReader(target, "r+").tensors}
    except (IndexError, KeyError, ValueError) as error:
        raise ModelError(
            f"The embedder's file {base} is damaged ({' '.join(str(error).split())[:80]}); remove "
            "it so that it is fetched again."
        ) from error
    if (found := fingerprint(written)) != about.get("base"):
        raise ModelError(
            f"The {weights.name}'s weights belong to the embedder {about.get('base_name')!r} "
            f"with the fingerprint {str(about.get('base'))[:12]}, but {base} has {found[:12]}; "
            "remove that file so that it is fetched again."
        )
    for name, tensor in written.items():
        if f"{name}.steps" in tensors:
            added = tensors[f"{name}.steps"] * tensors[f"{name}.scale"][:, None]
        elif f"{name}.added" in tensors:
            added = tensors[f"{name}.added"].astype(np.float32)
        else:
            continue
        tensor.data[...] = (tensor.data.astype(np.float32) + added).astype(tensor.data.dtype)


def fingerprint(tensors: dict[str, Any]) -> str:
    """SHA-256 of the layers' tensors, in hexadecimal; the header does not matter."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name.startswith("blk."):
            digest.update(np.ascontiguousarray(tensors[name].data).tobytes())
    return digest.hexdigest()


def _add_sizes(writer: Any, sizes: dict[str, Any]) -> None:
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
    stored, types = zip(*map(stored_token, tokens), strict=True)
    writer.add_token_list(stored)
    writer.add_token_types(types)
    for key, token in SPECIAL_KEYS.items():
        writer.add_uint32(key, tokens.index(token))


def stored_token(token: str) -> tuple[str, gguf.TokenType]:
    """A WordPiece token in llama.cpp's spelling: word starts marked, not continuations (##).

    >>> stored_token("read")[0], stored_token("##ing")[0], stored_token("[CLS]")[0]
    ('▁read', 'ing', '[CLS]')
    """
    if token in SPECIAL_KEYS.values():
        return token, gguf.TokenType.CONTROL
    if token.startswith("[unused"):
        return token, gguf.TokenType.UNUSED
    is_start = not token.startswith("##")
    return f"\u2581{token}" if is_start else token.removeprefix("##"), gguf.TokenType.NORMAL


def _add_tensors(writer: Any, weights: Path, layers: int) -> None:
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    with safe_open(weights, "np") as tensors:
        for source in tensors.keys():  # noqa: SIM118 - not a dictionary
            if any(unused in source for unused in UNUSED_TENSORS):
                continue
            target = names.get_name(source, try_suffixes=(".weight", ".bias"))
            if target is None:
                raise ValueError(f"no BERT encoder has a tensor {source!r}")
            tensor = tensors.get_tensor(source)
            # llama.cpp adds these to activations, which needs F32.
            is_added = tensor.ndim == 1 or target.startswith(("position", "token_types"))
            writer.add_tensor(target, tensor.astype(np.float32 if is_added else np.float16))
