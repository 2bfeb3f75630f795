"""The rows of a run on disk: a line each, written as the sample ends, whole after any crash."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.types import Row
from retrieval.errors import InputError

_FORM = TypeAdapter(Row)


class Append(Protocol):
    """Writes a row behind the others."""

    def __call__(self, row: Row) -> None:
        """On disk when it returns.

        Raises:
            InputError: the disk is full, or the file cannot be written any more.
        """


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` in the order in which they were written; none if there is no file.

    What a crash left of a last line is not a row.

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
    """A way to write rows behind those of `path`; a torn last line is cut off first.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        file = path.open("ab", buffering=0)  # no rest of a row that did not fit is written at last
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
                "same command again, it goes on where it was."
            ) from error

    with file:
        file.truncate(_whole_bytes(path))
        yield append


def _whole_bytes(path: Path) -> int:
    """Bytes of the lines that are whole."""
    return path.read_bytes().rfind(b"\n") + 1
