"""Writes the adapter for llama.cpp: `python export_writer.py BASE IN OUT`.

BASE is the default chat model as BF16, IN the checkpoint `writer.pt`, OUT the adapter's GGUF file.
"""

import argparse
from pathlib import Path

import gguf
import numpy as np
import torch
from writer_model import MATRICES, RANK, SCALE, Header, interleaved

from assistant.models.gguf.trained import BASE_KEY, norms_fingerprint


def main() -> None:
    """Write it and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    header = Header.of(gguf.GGUFReader(asked.base))
    trained = torch.load(asked.checkpoint, map_location="cpu")
    writer = gguf.GGUFWriter(asked.out, "llama")
    writer.add_type("adapter")
    writer.add_name("Writer")
    writer.add_license("apache-2.0")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", SCALE * RANK)
    writer.add_string(BASE_KEY, norms_fingerprint(asked.base))
    for layer in range(header.layers):
        for name, target in MATRICES.items():
            a, b = (trained[f"model.layers.{layer}.{name}.{part}"].float() for part in "ab")
            if target in ("attn_q", "attn_k"):
                b = interleaved(b, header.heads if target == "attn_q" else header.key_heads)
            for part, matrix in (("lora_a", a), ("lora_b", b)):
                tensor = matrix.detach().contiguous().numpy().astype(np.float16)
                writer.add_tensor(f"blk.{layer}.{target}.weight.{part}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"{asked.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
