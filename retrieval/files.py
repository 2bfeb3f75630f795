"""Files that are written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from retrieval.errors import LibraryError


def write_whole(path: Path, text: str, mode: int = 0o666) -> None:
    """Write `text` to `path`: beside it first, so that what was there stays until it is done.

    Processes that write the same file do not disturb each other: the last to end wins.

    Args:
        path: what is written or replaced.
        text: what it says then.
        mode: who may read and write it, less what the process's umask takes away.

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
