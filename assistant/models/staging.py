"""Checked writes into the cache: one writer at a time, and nothing half-written stays behind."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from retrieval.errors import ModelFetchError
from retrieval.progress import Progress

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
STAGING_PREFIX = ".staging-"
LOCK_LOOK_SECONDS = 0.5
"""Time between two looks at a lock that another process holds."""


@contextmanager
def staging_folder(folder: Path, *, title: str, progress: Progress) -> Iterator[Path]:
    """An empty folder inside `folder` to work in, removed again whatever happens.

    Only one process works in `folder` at a time: a second one waits, saying so through
    `progress`, and should then look whether there is anything left to do.

    Args:
        folder: where the finished files will stand; made if it is missing.
        title: what is being made, for messages: "the chat model X".
        progress: told about the waiting; may raise `Cancelled`.

    Raises:
        ModelFetchError: the disk is full or `folder` cannot be written.
    """
    with _disk_errors_explained(folder, title):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        _acquire(lock, title, progress)
        try:
            _remove_staging(folder)  # left by a process that was killed: the lock is ours
            # A name of its own: what a killed process started may still write into the old one.
            yield Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=folder))
        finally:
            _remove_staging(folder)
            lock.release()


def require_space(folder: Path, needed: int, *, title: str) -> None:
    """Refuse to start what the disk has no room for.

    Raises:
        ModelFetchError: fewer than `needed` bytes are free where `folder` stands.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelFetchError(
            f"The disk of {folder} has {_megabytes(free)} MB free but {title} needs "
            f"{_megabytes(needed)} MB while it is made ready; free some space, or name a folder "
            "on another disk with ASSISTANT_CACHE."
        )


def disk_full_error(folder: Path, *, title: str) -> ModelFetchError:
    """The error for a disk that became full during the work."""
    return ModelFetchError(
        f"The disk of {folder} became full while {title} was made ready; free some space, or "
        "name a folder on another disk with ASSISTANT_CACHE, and try again."
    )


def install(source: Path, target: Path) -> None:
    """Put the finished file `source` in place of `target`, so that it survives a power cut.

    Both must be on one file system, as a staging folder and its parent are.
    """
    with source.open("rb") as file:
        os.fsync(file.fileno())
    source.replace(target)


def _remove_staging(folder: Path) -> None:
    for staging in folder.glob(f"{STAGING_PREFIX}*"):
        shutil.rmtree(staging, ignore_errors=True)


def _acquire(lock: FileLock, title: str, progress: Progress) -> None:
    waited = 0.0
    while True:
        try:
            lock.acquire(timeout=LOCK_LOOK_SECONDS)
        except Timeout:
            waited += LOCK_LOOK_SECONDS
            # The total is not known, which 0 says.
            progress(f"waiting for another process to finish {title}", int(waited), 0, "s")
        else:
            return


@contextmanager
def _disk_errors_explained(folder: Path, title: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # from a progress report that nobody reads any more, not from the disk
    except OSError as error:
        if error.errno in DISK_FULL:
            raise disk_full_error(folder, title=title) from error
        raise ModelFetchError(
            f"{folder} cannot hold {title} ({error.strerror or error}); it must be a folder "
            "that you may write to: mend it, or name another one with ASSISTANT_CACHE."
        ) from error


def _megabytes(count: int) -> int:
    return round(count / 1_000_000)
