"""Reading a GGUF file's header cheaply: its plain values, without tensors and vocabulary.

The format is specified at https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The `gguf`
package reads it too, but builds every token of the vocabulary as an object, which takes seconds.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAGIC: Final = b"GGUF"
SCALARS: Final = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q",
    12: "<d",
}  # fmt: skip
"""Format's number of a value type -> how `struct` reads it."""
STRING: Final = 8
ARRAY: Final = 9

Plain = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file says about itself."""

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
        """Type of most tensors, as llama.cpp names it, for example Q4_K_M."""
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
    """A place in the file that moves on as values are read."""

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
    import gguf  # noqa: PLC0415 - only to name what is listed

    if not isinstance(value, int) or value not in list(gguf.LlamaFileType):
        return "unknown"
    name = gguf.LlamaFileType(value).name
    return name.removeprefix("MOSTLY_").removeprefix("ALL_")
