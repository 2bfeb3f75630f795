"""Reads the header of a GGUF file cheaply, and keeps what was found out about such files.

Of the header only plain values are read, not the tensors or the vocabulary.

The format is specified at https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The `gguf`
package reads it too, but builds every token of the vocabulary as an object, which takes seconds.
"""

import json
import mmap
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from retrieval.index.files import write_whole
from retrieval.types import LibraryError

MAGIC: Final = b"GGUF"
SCALARS: Final = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
"""`struct` format of a value type, by its number in the file format."""
STRING: Final = 8
ARRAY: Final = 9

Plain = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Header:
    """The plain values of a GGUF file's header."""

    values: dict[str, Plain]
    """Keys with their plain values; arrays are left out."""

    @property
    def name(self) -> str | None:
        """The model's own name."""
        return self._text("general.name")

    @property
    def licence(self) -> str | None:
        """Licence of the weights."""
        return self._text("general.license")

    @property
    def quantization(self) -> str:
        """llama.cpp's name for the type of most tensors, for example Q4_K_M."""
        return _file_type_name(self.values.get("general.file_type"))

    @property
    def context(self) -> int | None:
        """Tokens of context that the model was trained for."""
        value = self.values.get(f"{self.values.get('general.architecture')}.context_length")
        return value if isinstance(value, int) else None

    @property
    def is_embedder(self) -> bool:
        """Whether the model pools its tokens into one vector."""
        return f"{self.values.get('general.architecture')}.pooling_type" in self.values

    def _text(self, key: str) -> str | None:
        value = self.values.get(key)
        return value if isinstance(value, str) and value else None


def read_header(path: Path) -> Header | None:
    """The header of a GGUF file; None if `path` cannot be read as one."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            if view[:4] != MAGIC:
                return None
            return Header(dict(_values(_Cursor(view))))
    except (OSError, OverflowError, ValueError, KeyError, struct.error):
        return None


class _Cursor:
    """A position in the file that advances as values are read."""

    def __init__(self, view: mmap.mmap) -> None:
        self._view = view
        self.place = len(MAGIC) + struct.calcsize("<IQ")  # version and number of tensors

    def scalar(self, form: str) -> int | float | bool:
        value: int | float | bool = struct.unpack_from(form, self._view, self.place)[0]
        self.place += struct.calcsize(form)
        return value

    def text(self) -> str:
        length = int(self.scalar("<Q"))
        raw = self._view[self.place : self.place + length]
        self.place += length
        return raw.decode("utf-8", "replace")

    def require_inside(self) -> None:
        if self.place > len(self._view):
            raise ValueError("the header is longer than its file")

    def skip_text(self) -> None:
        self.place += 8 + int.from_bytes(self._view[self.place : self.place + 8], "little")


def _values(cursor: _Cursor) -> Iterator[tuple[str, Plain]]:
    for _ in range(int(cursor.scalar("<Q"))):
        key = cursor.text()
        kind = int(cursor.scalar("<I"))
        if kind == STRING:
            yield key, cursor.text()
        elif kind == ARRAY:
            _skip_array(cursor)
        else:
            yield key, cursor.scalar(SCALARS[kind])


def _skip_array(cursor: _Cursor) -> None:
    kind, length = int(cursor.scalar("<I")), int(cursor.scalar("<Q"))
    if kind in SCALARS:
        cursor.place += length * struct.calcsize(SCALARS[kind])
        return
    for _ in range(length):
        if kind == ARRAY:
            _skip_array(cursor)
        else:
            cursor.skip_text()
        cursor.require_inside()  # a damaged length would otherwise be counted down from 2**64


def _file_type_name(value: Plain | None) -> str:
    import gguf  # noqa: PLC0415 - heavy, and needed for listings only

    if not isinstance(value, int) or value not in list(gguf.LlamaFileType):
        return "unknown"
    name = gguf.LlamaFileType(value).name
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
