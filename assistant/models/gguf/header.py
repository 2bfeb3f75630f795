"""What a GGUF file's header says of its model, and facts found out about such files."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from retrieval.encoders.llamacpp import read_metadata
from retrieval.index.files import write_whole
from retrieval.types import LibraryError


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a GGUF file."""

    name: str | None
    """The model's own name."""
    licence: str | None
    """Licence of the weights."""
    quantization: str
    """llama.cpp's name for the type of most tensors, for example Q4_K_M."""
    context: int | None
    """Tokens of context that the model was trained for."""
    is_embedder: bool
    """Whether the model pools its tokens into one vector."""


def read_header(path: Path) -> Header | None:
    """The header of a GGUF file; None if llama.cpp cannot read `path`."""
    values = read_metadata(path)
    if values is None:
        return None
    architecture = values.get("general.architecture")
    context = values.get(f"{architecture}.context_length")
    return Header(
        name=values.get("general.name") or None,
        licence=values.get("general.license") or None,
        quantization=_file_type_name(values.get("general.file_type", "")),
        context=int(context) if context else None,
        is_embedder=f"{architecture}.pooling_type" in values,
    )


def _file_type_name(number: str) -> str:
    import gguf  # noqa: PLC0415 - heavy, and needed for listings only

    try:
        name = gguf.LlamaFileType(int(number)).name
    except ValueError:
        return "unknown"
    return name.removeprefix("MOSTLY_").removeprefix("ALL_")


Fact = str | bool


class FileFacts:
    """Facts by key, kept in a file: a cache, so errors of reading and writing are ignored."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
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
