"""Models of the Hugging Face hub: reads names like `hf:owner/repo:file.gguf`, fetches the files."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

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
        fetched = _download(wanted, staging, progress)
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


@dataclass(slots=True)
class _State:
    """What a download and the thread that waits for it tell each other."""

    done: int = 0
    size: int = 0
    stopped: bool = False
    failure: BaseException | None = None


def _download(wanted: HubFile, staging: Path, progress: Progress) -> Path:
    """Fetch the file in a thread, so that a silent hub can be stopped too."""
    state = _State()

    def fetch() -> None:
        try:
            _fetch(wanted, staging, state)
        except BaseException as error:
            state.failure = error

    thread = threading.Thread(target=fetch, name="fetching", daemon=True)
    thread.start()
    try:
        is_running = True
        while is_running:
            thread.join(LOOK_SECONDS)
            is_running = thread.is_alive()
            progress(f"fetching {wanted.spec}", state.done, state.size, "B")
    finally:
        state.stopped = True
        thread.join(LOOK_SECONDS)  # on a slow line it ends with the next 10 MB, or the process
    if state.failure:
        raise state.failure
    return staging / wanted.file


def _fetch(wanted: HubFile, staging: Path, state: _State) -> None:
    import huggingface_hub.constants  # noqa: PLC0415 - heavy, and seldom needed

    # One plain download: xet would also write caches of its own outside our folder.
    huggingface_hub.constants.HF_HUB_DISABLE_XET = True
    try:
        # Asked first, as it fails at once without a network; the download tries for 20 s.
        url = huggingface_hub.hf_hub_url(wanted.repository, wanted.file)
        state.size = huggingface_hub.get_hf_file_metadata(url).size or 0
        require_space(staging, state.size, title=wanted.spec)
        huggingface_hub.hf_hub_download(
            wanted.repository, wanted.file, local_dir=staging, tqdm_class=_bar_class(state)
        )
    except (ModelFetchError, Cancelled):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise  # explained where the folder is
        raise ModelFetchError(_sentence(error, wanted)) from error


def _bar_class(state: _State) -> Any:
    """What huggingface_hub takes for a progress bar: counts, and ends a stopped download."""

    class Bar:
        def __init__(self, **_: object) -> None:
            pass

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, count: int) -> None:
            if state.stopped:
                raise Cancelled
            state.done += count

    return Bar


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
