"""Models of the Hugging Face hub: reads names like `hf:owner/repo:file.gguf`, fetches the files."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from assistant.models.download import hub_download
from assistant.models.download.fetch import (
    STAGING_PREFIX,
    disk_full_error,
    install,
    require_space,
    staging_folder,
)
from assistant.models.download.subprocesses import DownloadFailedError, run_download
from retrieval.encoders.llamacpp import GGUF_MAGIC
from retrieval.types import InputError, ModelFetchError, Progress

PREFIX: Final = "hf:"
SPEC: Final = re.compile(r"hf:(?P<owner>\w[\w.-]*)/(?P<repository>\w[\w.-]*):(?P<file>\S+\.gguf)")
PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class HubFile:
    """One GGUF file in a repository of the hub."""

    owner: str
    """Person or organisation."""
    repository: str
    """Repository, without its owner."""
    file: str
    """Path inside the repository."""

    @property
    def spec(self) -> str:
        """Its name in settings: `hf:owner/repo:file.gguf`."""
        return f"{PREFIX}{self.owner}/{self.repository}:{self.file}"

    def path(self, cache: Path) -> Path:
        """Its path in the cache."""
        return _hub_folder(cache) / self.owner / self.repository / self.file


def parse_spec(spec: str) -> HubFile:
    """Read `hf:owner/repo:file.gguf`.

    Raises:
        InputError: `spec` has another form, or names one part of a model in several files.
    """
    match = SPEC.fullmatch(spec)
    if match is None or ".." in PurePosixPath(match["file"]).parts or match["file"][0] == "/":
        raise InputError(
            f"{spec!r} does not name a model on the hub; expected hf:owner/repo:file.gguf, "
            "for example hf:Qwen/Qwen2.5-3B-Instruct-GGUF:qwen2.5-3b-instruct-q4_k_m.gguf."
        )
    if PART.search(spec):
        raise InputError(
            f"{spec!r} is one part of a model in several files; choose a quantization that "
            "its repository gives in one file."
        )
    return HubFile(match["owner"], match["repository"], match["file"])


def fetch_hub_file(wanted: HubFile, cache: Path, progress: Progress) -> Path:
    """The file in the cache, fetched if it is not there yet.

    Raises:
        ModelFetchError: it does not exist, cannot be fetched, is not GGUF, or the disk is full.
    """
    path = wanted.path(cache)
    if path.is_file():
        return path
    folder = _hub_folder(cache) / wanted.owner / wanted.repository
    with staging_folder(folder, title=wanted.spec, progress=progress) as staging:
        if path.is_file():  # another process fetched it while this one waited
            return path
        fetched = _download(wanted, staging, progress)
        _check_magic(fetched, wanted)
        path.parent.mkdir(parents=True, exist_ok=True)
        install(fetched, path)
    return path


def cached_hub_files(cache: Path) -> Iterator[HubFile]:
    """The hub's models that are in the cache, in alphabetical order."""
    for path in sorted(_hub_folder(cache).glob("*/*/**/*.gguf")):
        owner, repository, *rest = path.relative_to(_hub_folder(cache)).parts
        if not rest[0].startswith(STAGING_PREFIX):
            yield HubFile(owner, repository, "/".join(rest))


def _hub_folder(cache: Path) -> Path:
    return cache / "hub"


def _download(wanted: HubFile, staging: Path, progress: Progress) -> Path:
    checked = False

    def report(done: int, total: int) -> None:
        nonlocal checked
        if total and not checked:  # the size is known only once the hub has answered
            require_space(staging, total - done, title=wanted.spec)
            checked = True
        progress(f"fetching {wanted.spec}", done, total, "B")

    command = [
        *(sys.executable, "-P", str(Path(hub_download.__file__))),
        *(f"{wanted.owner}/{wanted.repository}", wanted.file, str(staging)),
    ]
    try:
        run_download(command, environment=os.environ, report=report)
    except DownloadFailedError as error:
        raise _download_failed(error, wanted, staging) from error
    return staging / wanted.file


def _download_failed(error: DownloadFailedError, wanted: HubFile, staging: Path) -> ModelFetchError:
    last = error.lines[-1] if error.lines else f"exit code {error.code}"
    if "[Errno 28]" in last:
        return disk_full_error(staging.parent, title=wanted.spec)
    if error.code == hub_download.EXPLAINED:
        return ModelFetchError(last)
    return ModelFetchError(
        f"{wanted.spec} could not be fetched ({last[:200]}); check the network and try again."
    )


def _check_magic(path: Path, wanted: HubFile) -> None:
    with path.open("rb") as file:
        magic = file.read(len(GGUF_MAGIC))
    if magic != GGUF_MAGIC:
        raise ModelFetchError(
            f"{wanted.spec} is not a GGUF model (it starts with {magic!r}, expected "
            f"{GGUF_MAGIC!r}); choose another file of that repository."
        )
