"""Where the files that ship with the program are: prompts and seeds.

In an installed copy they lie inside this package, in a source checkout beside it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource_folder(name: str) -> Path:
    """The folder `prompts` or `seeds`."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
