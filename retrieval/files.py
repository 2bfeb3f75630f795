"""Files that are written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from retrieval.errors import LibraryError


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path`: beside it first, so that what was there stays until it is done.

    Processes that write the same file do not disturb each other: the last to end wins.

    Raises:
        LibraryError: the folder cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
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
