"""Writes what training changed as the reader's weights: `python export_reader.py BASE_GGUF IN OUT`.

BASE_GGUF is the default embedder as the product writes it, IN the checkpoint `reader.pt`, OUT the
weights file. Every changed matrix is written as the product of two thin ones, the best of their
rank (a truncated singular value decomposition).
"""

import argparse
import hashlib
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.numpy import save_file

LAYERS = 6


def fingerprint(tensors: dict[str, gguf.ReaderTensor]) -> str:
    """SHA-256 of the matrices of the layers, in hexadecimal: the same in every header."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name.startswith("blk."):
            digest.update(np.ascontiguousarray(tensors[name].data).tobytes())
    return digest.hexdigest()


def main() -> None:
    """Write the weights and say how much of the change they keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rank", type=int, default=128)
    asked = parser.parse_args()
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(asked.base).tensors}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, LAYERS)
    out: dict[str, np.ndarray] = {}
    kept, changed = 0.0, 0.0
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
        left, values, right = np.linalg.svd(added, full_matrices=False)
        root = np.sqrt(values[: asked.rank])
        out[f"{name}.up"] = (left[:, : asked.rank] * root).astype(np.float16)
        out[f"{name}.down"] = (root[:, None] * right[: asked.rank]).astype(np.float16)
        kept += float((values[: asked.rank] ** 2).sum())
        changed += float((values**2).sum())
    notes = {"base": fingerprint(tensors), "base_name": "all-MiniLM-L6-v2", "rank": str(asked.rank)}
    save_file(out, asked.out, metadata=notes)
    print(f"{asked.out.stat().st_size / 1e6:.1f} MB, {kept / changed:.3f} of the change kept")


if __name__ == "__main__":
    main()
