"""A script that fetches one file from the Hugging Face hub; `hub.py` runs it as a subprocess.

As a subprocess it can be stopped at any moment. It prints progress like `pip --progress-bar raw`,
and one sentence if it fails with exit code `EXPLAINED`. It imports nothing of this package, so
that its path is enough to run it.
"""

import errno
import os
import sys
from typing import Any

EXPLAINED = 3
"""Exit code if the last line printed is a sentence for the person."""


def main(owner_and_name: str, file: str, folder: str) -> int:
    """Fetch `file` of a repository into `folder`; return the exit code."""
    # One plain download: xet would also write caches of its own outside our folder.
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    import huggingface_hub  # noqa: PLC0415 - reads the variables above when imported

    try:
        # Asked first, as it fails at once without a network; the download tries for 20 s.
        huggingface_hub.get_hf_file_metadata(huggingface_hub.hf_hub_url(owner_and_name, file))
        huggingface_hub.hf_hub_download(
            owner_and_name, file, local_dir=folder, tqdm_class=_progress_class()
        )
    except Exception as error:  # a process boundary: every error becomes text
        print(_sentence(error, owner_and_name, file), flush=True)
        return EXPLAINED
    return 0


def _progress_class() -> Any:
    """A tqdm class that prints lines instead of a bar."""
    from tqdm import tqdm  # noqa: PLC0415

    def display(bar: Any, *_: Any, **__: Any) -> None:
        print(f"Progress {int(bar.n)} of {int(bar.total or 0)}", flush=True)

    return type("ProgressLines", (tqdm,), {"display": display})


def _sentence(error: Exception, owner_and_name: str, file: str) -> str:
    from huggingface_hub import errors  # noqa: PLC0415

    where = f"{owner_and_name} on the Hugging Face hub"
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
        return f"There is no file {file!r} in {where}; check the name in its list of files."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "[Errno 28] No space left on device"
    cause = error.__cause__ or error
    return (
        f"{file} of {where} could not be fetched ({type(cause).__name__}: "
        f"{' '.join(str(cause).split())[:200]}); check the network and try again."
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
