"""Writes what training changed as the reader's weights: `python export_reader.py BASE_GGUF IN OUT`.

BASE_GGUF is the default embedder as the product writes it, IN the checkpoint `reader.pt`, OUT the
weights file. The change of every matrix is rounded to 8 bits, with a scale for each of its rows.
"""

import argparse
import hashlib
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.numpy import save_file

LAYERS = 6
LARGEST = 127
"""Of a number of 8 bits."""


def fingerprint(tensors: dict[str, gguf.ReaderTensor]) -> str:
    """SHA-256 of the matrices of the layers, in hexadecimal: the same in every header."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name.startswith("blk."):
            digest.update(np.ascontiguousarray(tensors[name].data).tobytes())
    return digest.hexdigest()


def main() -> None:
    """Write the weights and say how much of the change rounding loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(asked.base).tensors}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, LAYERS)
    out: dict[str, np.ndarray] = {}
    lost, changed = 0.0, 0.0
    for source, tensor in torch.load(asked.checkpoint, map_location="cpu").items():
        trained = tensor.float().numpy()
        if source.startswith("heads."):
            out[source] = trained.astype(np.float32)
            continue
        if source.startswith("bert.embeddings"):
            continue
        name = names.get_name(source.removeprefix("bert."), try_suffixes=(".weight", ".bias"))
        added = trained - tensors[name].data.astype(np.float32)
        if added.ndim == 1:
            out[f"{name}.added"] = added.astype(np.float16)
            continue
        scale = np.abs(added).max(axis=1) / LARGEST
        steps = np.rint(added / np.maximum(scale, 1e-12)[:, None]).astype(np.int8)
        out[f"{name}.steps"], out[f"{name}.scale"] = steps, scale.astype(np.float32)
        lost += float(((steps * scale[:, None] - added) ** 2).sum())
        changed += float((added**2).sum())
    notes = {"base": fingerprint(tensors), "base_name": "all-MiniLM-L6-v2"}
    save_file(out, asked.out, metadata=notes)
    print(f"{asked.out.stat().st_size / 1e6:.1f} MB, {lost / changed:.5f} of the change lost")


if __name__ == "__main__":
    main()
