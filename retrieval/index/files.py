"""Writes files whole or not at all, and keeps checksums that reveal torn and damaged files."""

import json
import os
import uuid
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from retrieval.types import LibraryError

T = TypeVar("T")


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace `path` by a file with `text`; until then the old file stays.

    Processes that write the same file do not disturb each other: the last one to end wins. `mode`
    has the permissions before the umask. Raises `LibraryError` if the folder cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        opened = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):  # the folder may not even be one
            temporary.unlink(missing_ok=True)
        raise LibraryError(
            f"{path} cannot be written ({error.strerror}); check the folder and the disk's room."
        ) from error


Checksums = dict[str, list[int]]
"""Size and CRC-32 of every file, by its path."""


def checksum(file: Path) -> int:
    """The CRC-32 of a file's bytes."""
    crc = 0
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def checksum_of_fields(fields: Mapping[str, Any]) -> int:
    """The CRC-32 of fields as JSON, whatever their order."""
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())


def save_cached(path: Path, revision: str, made: T, form: TypeAdapter[T]) -> None:
    """Keep what was made of a revision of a library, unless the folder cannot be written.

    The fields are named after the file: `topics` in `topics.json`.
    """
    fields = form.dump_python(made, mode="json")
    kept = {"revision": revision, path.stem: fields, "checksum": checksum_of_fields(fields)}
    with suppress(LibraryError):
        write_whole(path, json.dumps(kept, ensure_ascii=False))


def load_cached(path: Path, revision: str | None, form: TypeAdapter[T]) -> T | None:
    """What `save_cached` kept of a revision, or of any if it is None; None if it is not there."""
    try:
        kept = json.loads(path.read_text("utf-8"))
        fields = kept[path.stem]
        is_whole = kept["checksum"] == checksum_of_fields(fields)
        is_current = revision is None or kept["revision"] == revision
        return form.validate_python(fields) if is_whole and is_current else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The state of the last write."""

    revision: str
    """Changes with every write; empty if there was none."""
    files: Checksums | None = None
    """The files when a write last ended; None if that is not known."""
    writing: bool = False
    """Whether the write has begun and not ended."""


class Journal:
    """The journal at `path` of the files that `files` finds; paths are relative to its folder."""

    def __init__(self, path: Path, files: Callable[[], list[Path]]) -> None:
        self._path, self._paths = path, files
        self._known: dict[Path, tuple[tuple[int, int], int]] = {}
        """Size and modification time of files, and their checksum then."""

    def read(self) -> JournalEntry:
        """The last entry."""
        try:
            fields = json.loads(self._path.read_text("utf-8"))
            if "before" in fields:  # of a program that kept no checksums
                return JournalEntry(fields["revision"], None if fields["before"] is None else {})
            return JournalEntry(**fields)
        except FileNotFoundError:
            return JournalEntry("")
        except (ValueError, TypeError, KeyError):  # unreadable, so the files count as torn
            return JournalEntry("", {})

    def begin(self) -> str:
        """Announce a write; return its revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, self.read().files, writing=True))

    def end(self) -> str:
        """Announce that the files are whole; return the new revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, self._checksums()))

    def is_torn(self, entry: JournalEntry) -> bool:
        """Whether the files differ from those of the last write that ended."""
        return entry.files is not None and entry.files != self._checksums()

    def have_changed(self) -> bool:
        """Whether this process has changed the files since their checksums were taken."""
        return {path: _stamp(path) for path in self._paths()} != {
            path: stamp for path, (stamp, _) in self._known.items()
        }

    def _checksums(self) -> Checksums:
        known, self._known = self._known, {}
        for path in self._paths():
            stamp, before = _stamp(path), known.get(path)
            same = before if before and before[0] == stamp else None
            self._known[path] = same or (stamp, checksum(path))
        return {
            path.relative_to(self._path.parent).as_posix(): [stamp[0], crc]
            for path, (stamp, crc) in self._known.items()
        }

    def _write(self, entry: JournalEntry) -> str:
        write_whole(self._path, json.dumps(asdict(entry)))
        return entry.revision


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns
