"""Models of the Hugging Face hub: reads names like `hf:owner/repo:file.gguf`, fetches the files."""

import re
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from assistant.models.download.fetch import (
    DISK_FULL,
    LOOK_SECONDS,
    STAGING_PREFIX,
    made_once,
    require_space,
)
from retrieval.encoders.llamacpp import GGUF_MAGIC
from retrieval.types import Cancelled, InputError, ModelFetchError, Progress

PREFIX: Final = "hf:"
_HUB: Final = "hub"
"""Folder of the cache."""
SPEC: Final = re.compile(r"hf:(?P<repository>\w[\w.-]*/\w[\w.-]*):(?P<file>\S+\.gguf)")
PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class HubFile:
    """One GGUF file in a repository of the hub."""

    repository: str
    """`owner/name`."""
    file: str
    """Path inside the repository."""

    @property
    def spec(self) -> str:
        """Its name in settings: `hf:owner/repo:file.gguf`."""
        return f"{PREFIX}{self.repository}:{self.file}"

    def path(self, cache: Path) -> Path:
        """Its path in the cache."""
        return cache / _HUB / self.repository / self.file


def parse_spec(spec: str) -> HubFile:
    """Read `hf:owner/repo:file.gguf`.

    Raises `InputError` if `spec` has another form, or names one part of a model in several files.
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
    return HubFile(match["repository"], match["file"])


def fetch_hub_file(wanted: HubFile, cache: Path, progress: Progress) -> Path:
    """The file in the cache, fetched if it is not there yet.

    Raises `ModelFetchError` if it does not exist, cannot be fetched, is not GGUF, or the disk is
    full.
    """

    def make(staging: Path) -> Path:
        fetched = _Download(wanted, staging).wait(progress)
        with fetched.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
        if magic != GGUF_MAGIC:
            raise ModelFetchError(
                f"{wanted.spec} is not a GGUF model (it starts with {magic!r}, expected "
                f"{GGUF_MAGIC!r}); choose another file of that repository."
            )
        return fetched

    return made_once(wanted.path(cache), title=wanted.spec, progress=progress, make=make)


def cached_hub_files(cache: Path) -> Iterator[HubFile]:
    """The hub's models that are in the cache, in alphabetical order."""
    for path in sorted((cache / _HUB).glob("*/*/**/*.gguf")):
        owner, name, *rest = path.relative_to(cache / _HUB).parts
        if not any(part.startswith(STAGING_PREFIX) for part in rest):
            yield HubFile(f"{owner}/{name}", "/".join(rest))


class _Download(threading.Thread):
    """Fetches a file beside the thread that waits, so that a silent hub can be stopped too.

    huggingface_hub takes it for a progress bar, and so calls `update`.
    """

    def __init__(self, wanted: HubFile, staging: Path) -> None:
        super().__init__(name="fetching", daemon=True)
        self._wanted, self._staging = wanted, staging
        self._done, self._size = 0, 0
        self._stopped = False
        self._failure: BaseException | None = None

    def wait(self, progress: Progress) -> Path:
        """The file once it is fetched; whatever `progress` raises stops the download."""
        self.start()
        try:
            is_running = True
            while is_running:
                self.join(LOOK_SECONDS)
                is_running = self.is_alive()
                progress(f"fetching {self._wanted.spec}", self._done, self._size, "B")
        finally:
            self._stopped = True
            self.join(LOOK_SECONDS)  # on a slow line it ends with the next 10 MB, or the process
        if self._failure:
            raise self._failure
        return self._staging / self._wanted.file

    def run(self) -> None:
        try:
            self._fetch()
        except (ModelFetchError, Cancelled) as error:
            self._failure = error
        except Exception as error:
            is_full = isinstance(error, OSError) and error.errno in DISK_FULL
            # A full disk is explained where the folder is.
            self._failure = error if is_full else ModelFetchError(_sentence(error, self._wanted))

    def _fetch(self) -> None:
        import huggingface_hub.constants  # noqa: PLC0415 - heavy, and seldom needed

        repository, file = self._wanted.repository, self._wanted.file
        # One plain download: xet would also write caches of its own outside our folder.
        huggingface_hub.constants.HF_HUB_DISABLE_XET = True
        # Asked first, as it fails at once without a network; the download tries for 20 s.
        url = huggingface_hub.hf_hub_url(repository, file)
        self._size = huggingface_hub.get_hf_file_metadata(url).size or 0
        require_space(self._staging, self._size, title=self._wanted.spec)

        def bar(**_: object) -> Any:
            return nullcontext(self)

        huggingface_hub.hf_hub_download(
            repository, file, local_dir=self._staging, tqdm_class=cast("Any", bar)
        )

    def update(self, count: int) -> None:
        """Count the bytes; end a stopped download."""
        if self._stopped:
            raise Cancelled
        self._done += count


def _sentence(error: Exception, wanted: HubFile) -> str:
    from huggingface_hub import errors  # noqa: PLC0415

    where = f"{wanted.repository} on the Hugging Face hub"
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{where} asks for its terms to be accepted first; accept them on its page and set "
            "HF_TOKEN to an access token of yours."
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return (
            f"There is no repository {where}, or it is private; check the name, or set HF_TOKEN "
            "to an access token that may read it."
        )
    if isinstance(error, errors.RemoteEntryNotFoundError):
        return f"There is no file {wanted.file!r} in {where}; check the name in its list of files."
    cause = error.__cause__ or error
    return (
        f"{wanted.file} of {where} could not be fetched ({type(cause).__name__}: "
        f"{' '.join(str(cause).split())[:200]}); check the network and try again."
    )
