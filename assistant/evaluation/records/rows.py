"""The files of a run's folder, and its rows on disk, which no crash damages."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.questions.lines import contents
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


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` in the order in which they were written; none if there is no file.

    An incomplete last line, left by a crash, is ignored.

    Raises:
        InputError: the file cannot be read, or a whole line is no row.
    """
    lines = contents(path).split(b"\n")[:-1] if path.exists() else []
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
def appending(path: Path) -> Iterator[Callable[[Row], None]]:
    """Gives a function that appends a row to `path`; the row is on disk when it returns.

    An incomplete last line is cut off first.

    Raises:
        InputError: the file cannot be written, or no longer, as when the disk is full.
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
