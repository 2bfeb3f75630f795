"""A file's papers out of the library again.

A paper goes when no other file gives it. One that others give too loses only the entry of the
file among its sources: its text and fields are the union of all that was read, and which of them
another file would have given alone is not kept.
"""

import difflib
import time
from dataclasses import dataclass

from retrieval.errors import InputError
from retrieval.library import Library
from retrieval.mending import drop_files, mend, without_files
from retrieval.progress import Progress, silent

_NAMES_TOLD = 3


@dataclass(frozen=True, slots=True)
class Removal:
    """What the removal of a file does, or did; the fields of the command's JSON."""

    source: str
    """The file's name."""
    removed: int
    """Papers that no other file gives."""
    kept: int
    """Papers that stay, since other files give them too."""
    papers: int
    """Papers left in the library."""
    seconds: float = 0.0


def removal_of(library: Library, source: str) -> Removal:
    """What `remove_source` would do; nothing is changed.

    Raises:
        InputError: no paper was read from a file of this name.
        LibraryError: the library cannot be read.
    """
    kept, gone = without_files(library, {source})
    if not kept and not gone:
        raise InputError(_unknown(library, source))
    return Removal(source, len(gone), len(kept), library.store.count()[0] - len(gone))


def remove_source(library: Library, source: str, progress: Progress = silent) -> Removal:
    """Remove the papers that were read from the file `source`.

    An interruption is completed by the next ingest. A file that was removed is not read again
    unless it is ingested by its name; the seeds, too, stay away.

    Args:
        library: where the papers are.
        source: the file's name, as the papers' sources have it.
        progress: told how many papers are gone.

    Raises:
        InputError: no paper was read from a file of this name.
        LibraryInUseError: another process is writing.
        LibraryError: the library cannot be read or written.
    """
    started = time.monotonic()
    with library.exclusive():
        if library.was_interrupted:
            mend(library, progress)
        removal = removal_of(library, source)
        with library.writing(removes={source}):
            drop_files(library, {source}, progress)
    seconds = round(time.monotonic() - started, 3)
    return Removal(source, removal.removed, removal.kept, removal.papers, seconds)


def _unknown(library: Library, source: str) -> str:
    names = {each.file for stored in library.store.papers() for each in stored.paper.sources}
    if not names:
        return f"No paper was read from a file {source!r}: the library has no papers."
    by_letters = {name.casefold(): name for name in sorted(names)}
    near = difflib.get_close_matches(source.casefold(), by_letters, _NAMES_TOLD, 0.3)
    shown = [by_letters[name] for name in near] or sorted(names)[:_NAMES_TOLD]
    told = ", ".join(repr(name) for name in shown)
    return f"No paper was read from a file {source!r}; the nearest of {len(names)} are {told}."
