"""The writer: an adapter (LoRA) that teaches the default chat model to answer from evidence.

It ships with the package and belongs to one base model, whatever its quantization. Trained in
`tests/benchmarks/training`.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assistant.models.catalogue import REINSTALL
from assistant.models.gguf.header import FileFacts, file_key
from retrieval.types import ModelError

if TYPE_CHECKING:
    from gguf import GGUFReader

ADAPTER: Final = Path(__file__).parents[1] / "writer.gguf"
"""Its model card is beside it."""
BASE_KEY: Final = "adapter.base.fingerprint"
"""Key of the adapter's header that names its base model."""


def base_of(adapter: Path) -> str:
    """The fingerprint of the base model that an adapter was trained on.

    Raises `ModelError` if the file is missing, damaged or not such an adapter.
    """
    try:
        field = read_gguf(adapter).get_field(BASE_KEY)
    except ModelError:
        field = None
    if field is None:
        raise ModelError(
            f"The writer's adapter {adapter} is missing or damaged, so it is left out; {REINSTALL}."
        )
    return str(field.contents())


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


def norms_fingerprint(model: Path) -> str:
    """SHA-256 over the norms of a GGUF model, in hexadecimal.

    Quantization leaves norms as they are, so all files of one model have the same fingerprint, and
    so has a model that was trained further without its norms. Takes a second. Raises `ModelError`
    if the file is damaged.
    """
    digest = hashlib.sha256()
    tensors = {tensor.name: tensor for tensor in read_gguf(model).tensors}
    for name in sorted(name for name in tensors if "norm" in name):
        digest.update(name.encode())
        digest.update(tensors[name].data.astype("<f4").tobytes())
    return digest.hexdigest()


def read_gguf(path: Path) -> "GGUFReader":
    """The tensors and header of a GGUF file.

    Takes a second, as every token of the vocabulary becomes an object. Raises `ModelError` if the
    file is missing or damaged.
    """
    from gguf import GGUFReader  # noqa: PLC0415 - heavy, and seldom needed

    try:
        return GGUFReader(path)
    except (OSError, IndexError, KeyError, ValueError) as error:
        why = " ".join(str(error).split())[:80]
        raise ModelError(
            f"The model {path} cannot be read ({why}); the file may be damaged: get it again."
        ) from error
