"""A run: every sample asked once, its row kept, whatever interrupts it."""

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from assistant.evaluation.record import (
    RunRecord,
    begun_again,
    difference_said,
    ended,
    first_difference,
    interrupted,
    read_record,
    write_record,
)
from assistant.evaluation.rows import appending, read_rows
from assistant.evaluation.run_folder import FIGURES, RECORD, REPORT, SAMPLES
from assistant.evaluation.types import Row, Sample, SampleType
from retrieval.errors import InputError
from retrieval.progress import Progress

Ask = Callable[[Sequence[Sample]], Generator[Row, None, None]]
"""Asks samples and gives their rows, each as it is done."""


def chosen(
    samples: Sequence[Sample], types: Sequence[SampleType], limit: int | None
) -> tuple[Sample, ...]:
    """The samples of some types (none: of all), or as many of these as the limit lets.

    Fewer are taken from every type in proportion, evenly spread over those of the type.

    Raises:
        InputError: there are none.
    """
    of_types = [sample for sample in samples if not types or sample.type in types]
    if not of_types:
        here = ", ".join(sorted({sample.type for sample in samples}))
        raise InputError(f"No question is of the types asked for; the file has {here}.")
    if limit is None or limit >= len(of_types):
        return tuple(of_types)
    of_type = {type_: [each for each in of_types if each.type == type_] for type_ in SampleType}
    shares = sorted(
        ((at + 0.5) / len(group), type_)
        for type_, group in of_type.items()
        for at in range(len(group))
    )
    counts = Counter(type_ for _, type_ in shares[:limit])
    taken = {
        of_type[type_][at * len(of_type[type_]) // count].id
        for type_, count in counts.items()
        for at in range(count)
    }
    return tuple(sample for sample in of_types if sample.id in taken)


def missing(samples: Sequence[Sample], folder: Path) -> list[Sample]:
    """The samples that have no row yet."""
    done = {row.id for row in read_rows(folder / SAMPLES)}
    return [sample for sample in samples if sample.id not in done]


def kept_record(folder: Path, record: RunRecord) -> RunRecord:
    """The record of the run in `folder`: the one there, if it is a beginning of the same run.

    A run of which nothing came gives way to any other.

    Raises:
        InputError: the folder has another run, or files that would be written over.
    """
    kept = read_record(folder / RECORD)
    if kept is None:
        for name in (SAMPLES, FIGURES, REPORT):
            if (folder / name).exists():
                raise InputError(
                    f"{folder} has a {name} of something else (there is no {RECORD}); "
                    "give another --out."
                )
        return record
    if not read_rows(folder / SAMPLES):
        return record
    if different := first_difference(kept, record):
        raise InputError(
            f"{folder} has another run, which differs in {difference_said(different)}; "
            "give another --out."
        )
    return begun_again(kept)


def remove_ended(folder: Path) -> None:
    """Remove the files of a run that has ended; one that has not ended stays, to go on with it.

    Raises:
        InputError: the record there cannot be read.
    """
    kept = read_record(folder / RECORD)
    if kept and kept.times.ended:
        for name in (REPORT, FIGURES, SAMPLES, RECORD):  # the record last: it tells what they are
            (folder / name).unlink(missing_ok=True)


def run(
    samples: Sequence[Sample], folder: Path, record: RunRecord, ask: Ask, progress: Progress
) -> None:
    """Ask every sample that has no row in `folder` yet; if there is none, the run has ended.

    Args:
        samples: all of the run.
        folder: where record and rows are kept.
        record: of this run, see `kept_record`.
        ask: asks samples.
        progress: told after every sample.
    """
    left = missing(samples, folder)
    if not left:  # stopped between its last row and its end
        write_record(folder / RECORD, ended(record, 0.0))
        return
    write_record(folder / RECORD, interrupted(record, 0.0))
    done = len(samples) - len(left)
    start = time.monotonic()
    progress("asking", done, len(samples), "samples")
    try:
        with appending(folder / SAMPLES) as append, closing(ask(left)) as rows:
            for row in rows:
                append(row)
                done += 1
                progress("asking", done, len(samples), "samples")
    finally:
        seconds = time.monotonic() - start
        finish = ended if done == len(samples) else interrupted
        write_record(folder / RECORD, finish(record, seconds))
