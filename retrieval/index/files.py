"""Writes files whole or not at all, and keeps the journal that reveals torn index files."""

import json
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from retrieval.types import LibraryError


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace `path` by a file with `text`; until then the old file stays.

    Processes that write the same file do not disturb each other: the last one to end wins.

    Args:
        path: the file to write or replace.
        text: its new contents.
        mode: its permissions, before the process's umask.

    Raises:
        LibraryError: the folder cannot be written.
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


Files = dict[str, list[int]]
"""Size and modification time of every file, by path."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The state of the last write."""

    revision: str
    """Changes with every write; empty if there was none."""
    before: Files | None
    """The files before the write; None once it has ended."""


class Journal:
    """The journal at `path` of the files that `files` finds."""

    def __init__(self, path: Path, files: Callable[[], list[Path]]) -> None:
        """Nothing is read or written yet."""
        self._path = path
        self._paths = files

    def read(self) -> JournalEntry:
        """The last entry."""
        try:
            return JournalEntry(**json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return JournalEntry("", None)
        except (ValueError, TypeError):  # unreadable, so the files count as torn
            return JournalEntry("", {})

    def begin(self) -> str:
        """Announce a write; return its revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, self._files()))

    def end(self) -> str:
        """Announce that the files are whole; return the new revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, None))

    def is_torn(self, entry: JournalEntry) -> bool:
        """Whether the entry's write has not ended but has changed files."""
        return entry.before is not None and entry.before != self._files()

    def _files(self) -> Files:
        found = {path: path.stat() for path in self._paths()}
        return {str(path): [stat.st_size, stat.st_mtime_ns] for path, stat in found.items()}

    def _write(self, entry: JournalEntry) -> str:
        temporary = self._path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(asdict(entry), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)
        return entry.revision
