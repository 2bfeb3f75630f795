"""How long work reports on itself, so that a terminal and a page can both show it."""

from typing import Protocol


class Progress(Protocol):
    """Called as work advances; may raise `Cancelled` to stop it."""

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report that `done` of `total` units of `stage` are finished."""


def silent(stage: str, done: int, total: int, unit: str) -> None:
    """Report nothing."""


def never() -> bool:
    """For work that nobody can stop."""
    return False
