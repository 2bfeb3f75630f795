"""The parts trained for this package: the writer, an adapter (LoRA), and the encoders.

Each belongs to one base model: the writer to the default chat model, in any quantization, and the
encoders, which ship as differences with linear heads, to the default embedder. They are trained in
`tests/benchmarks/training`; the model cards are beside the weights.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

import retrieval.search
from retrieval.encoders.embedder import Heads
from retrieval.index.files import write_whole
from retrieval.search.reader import HEADS
from retrieval.types import LibraryError, ModelError

if TYPE_CHECKING:
    from gguf import GGUFReader

REINSTALL: Final = (
    "install the package again: pip install --force-reinstall --no-deps abstracts-assistant"
)
"""The remedy if a file that ships with the package is missing or damaged."""
_FOLDER: Final = Path(__file__).parents[1]
ADAPTER: Final = _FOLDER / "writer.gguf"
BASE_KEY: Final = "adapter.base.fingerprint"
"""Key of the adapter's header that names its base model."""


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """The difference between an encoder and the embedder."""

    name: str
    """Name of the encoder in messages and file names."""
    path: Path
    """A safetensors file: for every matrix `NAME.steps`, int8 of shape (outputs, inputs), and
    `NAME.scale`, shape (outputs,); for every vector `NAME.added`; for every head `heads.…`."""
    heads: tuple[str, ...]
    """Names of the linear heads."""


_SEARCH: Final = Path(retrieval.search.__file__).parent
READER: Final = EncoderWeights("reader", _SEARCH / "reader.safetensors", HEADS)
SENTENCE_READER: Final = EncoderWeights(
    "sentence reader", _SEARCH / "sentence_reader.safetensors", ("answer",)
)
SUPPORT: Final = EncoderWeights(
    "support model", _FOLDER / "support.safetensors", ("support", "stance")
)
CUTTER: Final = EncoderWeights(
    "cutter", _FOLDER / "cutter.safetensors", ("start", "end", "order", "leaning")
)


Fact = str | bool


class FileFacts:
    """Facts by key, kept in a file: a cache, so errors of reading and writing are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, key: str) -> Fact | None:
        """The fact, or None if it is not known."""
        value = self._all().get(key)
        return value if isinstance(value, str | bool) else None

    def keep(self, key: str, fact: Fact) -> None:
        """Store a fact."""
        with suppress(OSError, LibraryError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps({**self._all(), key: fact}, indent=1))

    def _all(self) -> dict[str, object]:
        try:
            known = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def file_key(file: Path) -> str:
    """A key that changes when the file does: its name, size and time."""
    stat = file.stat()
    return f"{file.name} {stat.st_size} {stat.st_mtime_ns}"


def is_base(model: Path, known: FileFacts, adapter: Path) -> bool:
    """Whether an adapter was trained on the model in this file.

    Raises `ModelError` if either file is missing or damaged.
    """
    wanted = base_of(adapter)
    key = f"{file_key(model)} fingerprint"
    found = known.get(key)
    if found is None:
        found = norms_fingerprint(model)
        known.keep(key, found)
    return found == wanted


def base_of(adapter: Path) -> str:
    """The fingerprint of the base model that an adapter was trained on.

    Raises `ModelError` if the file is missing, damaged or not such an adapter.
    """
    try:
        field = _read_gguf(adapter).get_field(BASE_KEY)
    except ModelError:
        field = None
    if field is None:
        raise ModelError(
            f"The writer's adapter {adapter} is missing or damaged, so it is left out; {REINSTALL}."
        )
    return str(field.contents())


def norms_fingerprint(model: Path) -> str:
    """SHA-256 over the norms of a GGUF model, in hexadecimal; `ModelError` if it is damaged.

    Quantization leaves norms as they are, so all files of one model have the same fingerprint, and
    so has a model that was trained further without its norms. Takes a second.
    """
    digest = hashlib.sha256()
    tensors = {tensor.name: tensor for tensor in _read_gguf(model).tensors}
    for name in sorted(name for name in tensors if "norm" in name):
        digest.update(name.encode())
        digest.update(tensors[name].data.astype("<f4").tobytes())
    return digest.hexdigest()


def _read_gguf(path: Path) -> "GGUFReader":
    """The tensors and header of a file; slow, as every token becomes an object."""
    from gguf import GGUFReader  # noqa: PLC0415 - heavy, and seldom needed

    try:
        return GGUFReader(path)
    except (OSError, IndexError, KeyError, ValueError) as error:
        raise ModelError(
            f"The model {path} cannot be read ({' '.join(str(error).split())[:80]}); the file may "
            "be damaged: get it again."
        ) from error


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


def encoder_fingerprint(*encoders: EncoderWeights) -> str:
    """A checksum of encoders without their heads, to which heads fitted on them are bound."""
    digest = hashlib.sha256()
    for weights in encoders:
        tensors, _ = read_tensors(weights)
        for name in sorted(name for name in tensors if not name.startswith("heads.")):
            digest.update(tensors[name].tobytes())
    return digest.hexdigest()[:16]


@contextmanager
def _explained(weights: EncoderWeights) -> Iterator[None]:
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", "") or " ".join(str(error).split())[:120]
        raise ModelError(
            f"The {weights.name}'s weights {weights.path} cannot be read ({reason}); {REINSTALL}."
        ) from error
