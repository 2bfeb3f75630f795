"""The error tree: what the person at the keyboard can fix.

Every message is one sentence that says what was wrong, what was expected and what to do next.
It is printed without a traceback; any other exception is a bug and keeps its own.
"""


class UserError(Exception):
    """Something the person can fix."""


class InputError(UserError):
    """A file, an argument or a question that cannot be used."""


class LibraryError(UserError):
    """The library on disk cannot be used as asked."""


class LibraryInUseError(LibraryError):
    """Another process is writing to the library."""


class LibraryMismatchError(LibraryError):
    """The library was made with another embedder, chunker or format."""


class ModelError(UserError):
    """A model file that is missing, broken, or too large."""


class ModelFetchError(ModelError):
    """A model could not be fetched, checked, unpacked or converted."""


class ServeError(UserError):
    """The browser app could not be started."""


class BusyError(UserError):
    """Too many are waiting for the model."""


class NotReadyError(UserError):
    """The first start has not ended: models or papers are still being fetched and read."""


class EvaluationError(UserError):
    """An evaluation came out worse than its baseline, or a replay otherwise than its run."""


class Cancelled(Exception):  # noqa: N818 - it reports a wish, not a fault
    """The person stopped the work; nothing half-done is left behind."""
