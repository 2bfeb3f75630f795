"""Encoders trained for this package: the default embedder with what training added to it.

The package ships only the difference, in 8 bits with a scale for every row of a matrix. Added once
to the embedder's own numbers, it costs nothing while reading.
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import retrieval.search
from assistant.models.catalogue import REINSTALL
from retrieval.errors import ModelError
from retrieval.search.encoder import Heads
from retrieval.search.reader import HEADS


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """What training added to the embedder; its model card stands beside the file."""

    name: str
    """What the encoder is called in messages and file names."""
    path: Path
    """A safetensors file: of every matrix `NAME.steps`, int8 of shape (outputs, inputs), and
    `NAME.scale`, shape (outputs,); of every vector `NAME.added`; `heads.…`."""
    heads: tuple[str, ...]


READER: Final = EncoderWeights(
    "reader", Path(retrieval.search.__file__).with_name("reader.safetensors"), HEADS
)
SUPPORT: Final = EncoderWeights(
    "support model", Path(__file__).with_name("support.safetensors"), ("support",)
)
CUTTER: Final = EncoderWeights(
    "cutter", Path(__file__).with_name("cutter.safetensors"), ("start", "end", "order")
)


def read_heads(weights: EncoderWeights) -> Heads:
    """The linear heads of an encoder.

    Raises:
        ModelError: the file is missing or damaged.
    """
    tensors, _ = read_tensors(weights)
    wanted = {f"{head}.{part}" for head in weights.heads for part in ("weight", "bias")}
    if missing := sorted(name for name in wanted if f"heads.{name}" not in tensors):
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} have no {missing[0]}; {REINSTALL}."
        )
    return Heads({name: tensors[f"heads.{name}"].astype(np.float32) for name in wanted})


def write_encoder_gguf(base: Path, target: Path, weights: EncoderWeights) -> None:
    """Write the embedder `base` with the difference in `weights` added as `target`.

    Args:
        base: GGUF file of the embedder that the encoder was trained from.
        target: where to write; not safe against interruption, so give a temporary name.
        weights: what is added.

    Raises:
        ModelError: `weights` is missing, damaged, or of another embedder.
        OSError: `target` cannot be written.
    """
    import gguf  # noqa: PLC0415 - heavy, and needed once in the life of a cache

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
            _add(tensor, tensors[f"{name}.steps"] * tensors[f"{name}.scale"][:, None])
        elif f"{name}.added" in tensors:
            _add(tensor, tensors[f"{name}.added"].astype(np.float32))


def fingerprint(tensors: dict[str, Any]) -> str:
    """SHA-256 of the matrices of the layers, in hexadecimal: the same in every header."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        if name.startswith("blk."):
            digest.update(np.ascontiguousarray(tensors[name].data).tobytes())
    return digest.hexdigest()


def weights_hash(weights: EncoderWeights) -> str:
    """SHA-256 of the weights file, in hexadecimal.

    Raises:
        ModelError: the file is missing.
    """
    try:
        return hashlib.sha256(weights.path.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} cannot be read ({error.strerror}); "
            f"{REINSTALL}."
        ) from error


def _add(tensor: Any, added: NDArray[np.float32]) -> None:
    """Add to a tensor of a GGUF file that is open for writing."""
    tensor.data[...] = (tensor.data.astype(np.float32) + added).astype(tensor.data.dtype)


def read_tensors(
    weights: EncoderWeights,
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The tensors and the notes of a weights file.

    Raises:
        ModelError: it is missing or damaged.
    """
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    try:
        with safe_open(weights.path, "np") as file:
            names = list(file.keys())
            return {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
    except (OSError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} cannot be read ({reason}); {REINSTALL}."
        ) from error
