"""The files of a run's folder, and its rows on disk, which no crash damages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.types import Row
from retrieval.types import InputError

SAMPLES = "samples.jsonl"
"""One row per sample."""
RECORD = "run.json"
"""The run record."""
FIGURES = "figures.json"
"""The figures and every sample's scores; a baseline is read from it."""
REPORT = "report.html"
"""The report for people."""

_FORM = TypeAdapter(Row)


class Append(Protocol):
    """Appends a row."""

    def __call__(self, row: Row) -> None:
        """Write the row; it is on disk when this returns.

        Raises:
            InputError: the disk is full, or the file can no longer be written.
        """


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` in the order in which they were written; none if there is no file.

    An incomplete last line, left by a crash, is ignored.

    Raises:
        InputError: the file cannot be read, or a whole line is no row.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    return [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1)]


def _row(line: bytes, where: str) -> Row:
    try:
        return _FORM.validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"{where} is no row of an evaluation run ({error.errors()[0]['msg']}); "
            "run the evaluation again with another --out."
        ) from error


@contextmanager
def appending(path: Path) -> Iterator[Append]:
    """Gives a function that appends rows to `path`; an incomplete last line is cut off first.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        file = path.open("ab", buffering=0)  # nothing is left to write when the file is closed
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); choose another --out."
        ) from error

    def append(row: Row) -> None:
        left = _FORM.dump_json(row) + b"\n"
        try:
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"{path} cannot be written any more ({error.strerror}); make room and give the "
                "same command again to resume the run."
            ) from error

    with file:
        file.truncate(path.read_bytes().rfind(b"\n") + 1)
        yield append
