"""What is known about the writes to some files: the last one, and whether it ended.

A process that is killed cannot say so. So every write is announced with the state of the files
before it: if it never ended and the files are others now, they may be torn.
"""

import json
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

Files = dict[str, list[int]]
"""Size and time of change of every file, by path."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The last write."""

    revision: str
    """Another one for every write; empty if there was none."""
    before: Files | None
    """The files as they were, while the write has not ended."""


class Journal:
    """The journal of the files that `files` finds, kept at `path`."""

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
        except (ValueError, TypeError):  # nobody knows: take the files for torn
            return JournalEntry("", {})

    def begin(self) -> str:
        """Announce a write; returns its revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, self._files()))

    def end(self) -> str:
        """Announce that the files are whole; returns the new revision."""
        return self._write(JournalEntry(uuid.uuid4().hex, None))

    def is_torn(self, entry: JournalEntry) -> bool:
        """Whether the entry's write did not end after it had begun to change files."""
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
