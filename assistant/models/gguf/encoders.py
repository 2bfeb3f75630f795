"""The encoders trained from the embedder: they ship as differences to it, with linear heads."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

import retrieval.search
from assistant.models.catalogue import REINSTALL
from retrieval.encoders.embedder import Heads
from retrieval.search.reader import HEADS
from retrieval.types import ModelError


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """The difference between an encoder and the embedder; its model card is beside the file."""

    name: str
    """Name of the encoder in messages and file names."""
    path: Path
    """A safetensors file: for every matrix `NAME.steps`, int8 of shape (outputs, inputs), and
    `NAME.scale`, shape (outputs,); for every vector `NAME.added`; for every head `heads.…`."""
    heads: tuple[str, ...]
    """Names of the linear heads."""


READER: Final = EncoderWeights(
    "reader", Path(retrieval.search.__file__).with_name("reader.safetensors"), HEADS
)
SUPPORT: Final = EncoderWeights(
    "support model", Path(__file__).parents[1] / "support.safetensors", ("support",)
)
CUTTER: Final = EncoderWeights(
    "cutter", Path(__file__).parents[1] / "cutter.safetensors", ("start", "end", "order")
)


def read_heads(weights: EncoderWeights) -> Heads:
    """The linear heads of an encoder; `ModelError` if the file is missing or damaged."""
    tensors, _ = read_tensors(weights)
    wanted = {f"{head}.{part}" for head in weights.heads for part in ("weight", "bias")}
    if missing := sorted(name for name in wanted if f"heads.{name}" not in tensors):
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} have no {missing[0]}; {REINSTALL}."
        )
    return Heads({name: tensors[f"heads.{name}"].astype(np.float32) for name in wanted})


def read_tensors(weights: EncoderWeights) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The tensors and the metadata of a weights file; `ModelError` if it is missing or damaged."""
    with _explained(weights), safe_open(weights.path, "np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, dict(file.metadata() or {})


def weights_hash(weights: EncoderWeights) -> str:
    """SHA-256 of the weights file, in hexadecimal; `ModelError` if the file is missing."""
    with _explained(weights):
        return hashlib.sha256(weights.path.read_bytes()).hexdigest()


@contextmanager
def _explained(weights: EncoderWeights) -> Iterator[None]:
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", "") or " ".join(str(error).split())[:120]
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} cannot be read ({reason}); {REINSTALL}."
        ) from error
