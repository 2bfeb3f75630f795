"""Whether a library is whole: its chunks, its records, its lexical index, its last write."""

from dataclasses import dataclass

from retrieval.errors import LibraryError
from retrieval.library import Library
from retrieval.mending import mend
from retrieval.progress import Progress, silent

CHECKING = "Checking the library"
_STEPS = 2


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found; the fields of the command's JSON."""

    papers: int
    chunks: int
    interrupted: bool
    """Whether the last write did not end."""
    readable: bool
    """Whether the chunks can be read."""
    damaged: int
    """Papers whose chunks do not make up their abstract."""
    stray: int
    """Chunks that belong to no paper."""
    unreachable: int
    """Chunks that no search by meaning finds."""
    unindexed: int
    """Papers that the lexical index does not have."""
    overindexed: int
    """Papers that only the lexical index has."""
    current: bool
    """Whether the lexical index was built from the library as it is."""

    @property
    def sound(self) -> bool:
        """Whether nothing has to be repaired."""
        return not self.findings

    @property
    def findings(self) -> tuple[str, ...]:
        """What is wrong, a sentence each."""
        said = (
            (self.interrupted, "The last write to the library was interrupted."),
            (not self.readable, "The chunks cannot be read; they have to be embedded anew."),
            (self.damaged, f"{_papers(self.damaged)} without the right chunks."),
            (self.stray, f"{_counted(self.stray, 'chunk')} of no paper."),
            (self.unreachable, f"{_counted(self.unreachable, 'chunk')} that no search finds."),
            (self.unindexed, f"{_papers(self.unindexed)} missing in the lexical index."),
            (self.overindexed, f"{_papers(self.overindexed)} only in the lexical index."),
            (not self.current, "The lexical index was built from another state of the library."),
        )
        return tuple(sentence for is_so, sentence in said if is_so)


def check(library: Library, progress: Progress = silent) -> Health:
    """Look whether the library is whole; nothing is changed.

    Raises:
        LibraryInUseError: another process is writing.
        LibraryError: not even the records can be read.
    """
    with library.exclusive():
        progress(CHECKING, 0, _STEPS, "steps")
        ids = {stored.paper.id for stored in library.store.papers()}
        try:
            damaged, stray = (len(found) for found in library.store.damage())
            readable = True
        except LibraryError:
            damaged, stray, readable = len(ids), 0, False
        progress(CHECKING, 1, _STEPS, "steps")
        indexed = _indexed(library)
        health = Health(
            papers=len(ids),
            chunks=library.store.count()[1] if readable else 0,
            interrupted=library.was_interrupted,
            readable=readable,
            damaged=damaged,
            stray=stray,
            unreachable=len(library.store.unreachable()) if readable else 0,
            unindexed=len(ids - indexed),
            overindexed=len(indexed - ids),
            current=library.lexical.revision == library.revision or not (ids or indexed),
        )
        progress(CHECKING, _STEPS, _STEPS, "steps")
    return health


def repair(library: Library, progress: Progress = silent) -> Health:
    """Make the library whole, as an ingest does after an interruption, and look again.

    Raises:
        LibraryInUseError: another process is writing.
        LibraryError: the library cannot be read or written.
    """
    with library.exclusive():
        mend(library, progress)
    return check(library, progress)


def _indexed(library: Library) -> set[str]:
    return set(library.lexical.ids) if library.lexical.revision else set()


def _papers(count: int) -> str:
    return f"{_counted(count, 'paper')} {'is' if count == 1 else 'are'}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
