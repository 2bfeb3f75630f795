"""What was found out about model files and takes long: kept in a JSON file of the cache."""

import json
from contextlib import suppress
from pathlib import Path

from retrieval.errors import LibraryError
from retrieval.files import write_whole

Fact = str | bool


class FileFacts:
    """Facts by key. A file that cannot be read counts as empty; one that cannot be written is not.

    What is lost is found out again.
    """

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path

    def get(self, key: str) -> Fact | None:
        """The fact; None if it is not known."""
        value = self._all().get(key)
        return value if isinstance(value, str | bool) else None

    def keep(self, key: str, fact: Fact) -> None:
        """Remember it."""
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
    """What tells a file from another: its name, size and time."""
    stat = file.stat()
    return f"{file.name} {stat.st_size} {stat.st_mtime_ns}"
