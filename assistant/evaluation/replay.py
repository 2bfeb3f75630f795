"""A finished run asked again: what differs first, in what it was made with or in what came."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.evaluation.asking import stable
from assistant.evaluation.record import (
    Difference,
    RunRecord,
    difference_said,
    first_difference,
    read_record,
)
from assistant.evaluation.rows import read_rows
from assistant.evaluation.run_folder import RECORD, SAMPLES
from assistant.evaluation.scorers.wording import counted
from assistant.evaluation.types import Json, Row
from retrieval.errors import InputError

REPLAY = "replay"
"""The folder, inside that of a run, where it is asked again by default."""
_RESTORED = ("home", "cache", "model", "embedder", "adapter", "context", "thinking", "threads")
"""Settings that a replay takes from the record, where no flag says otherwise."""


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A sample of which something else came."""

    id: str
    turn: int
    part: str
    before: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay showed."""

    samples: int
    record: Difference | None
    """What the runs were made with differs here first."""
    row: RowDifference | None
    """What came differs here first."""


def replayable_record(folder: Path) -> RunRecord:
    """The record of a run that can be asked again.

    Raises:
        InputError: there is none, it has not ended, or its questions are gone.
    """
    record = _finished_record(folder)
    file = record.asking.file
    if not Path(file).exists():
        raise InputError(
            f"The questions of {folder} are no longer in {file}; bring them back there."
        )
    return record


def check_gives_way(out: Path) -> None:
    """See that a folder named for a replay has no run of its own.

    Raises:
        InputError: it has one that has ended; only unnamed replays give way to the next.
    """
    if (kept := read_record(out / RECORD)) and kept.times.ended:
        raise InputError(f"{out} has a run that has ended; give another --out for the replay.")


def _finished_record(folder: Path) -> RunRecord:
    record = read_record(folder / RECORD)
    if record is None:
        raise InputError(f"{folder} has no {RECORD}; give the --out of an evaluation run.")
    if not record.times.ended:
        raise InputError(
            f"The run in {folder} has not ended; give its command again to go on with it."
        )
    return record


def restored(record: RunRecord) -> dict[str, Any]:
    """Flags that set what the record's run was made with, as far as there were such settings."""
    return {name: record.settings[name] for name in _RESTORED if name in record.settings}


def replayed(before: Path, now: Path) -> Replayed:
    """What differs between two finished runs of the same questions."""
    old, new = read_rows(before / SAMPLES), {row.id: row for row in read_rows(now / SAMPLES)}
    return Replayed(
        samples=len(old),
        record=first_difference(_finished_record(before), _finished_record(now)),
        row=_first(old, new),
    )


def _first(old: Sequence[Row], new: dict[str, Row]) -> RowDifference | None:
    pairs = ((row, new[row.id]) for row in old if row.id in new)
    return next((found for pair in pairs for found in _differences(*pair)), None)


def _differences(before: Row, now: Row) -> Iterable[RowDifference]:
    """Where two rows of a sample differ."""
    if before.failed != now.failed:
        yield RowDifference(before.id, 0, "failed", before.failed, now.failed)
    for turn, (old, new) in enumerate(zip(before.replies, now.replies, strict=True)):
        if stable(old.ranking, old.answer) == stable(new.ranking, new.answer):
            continue
        parts: dict[str, tuple[Any, Any]] = {"ranking": (list(old.ranking), list(new.ranking))}
        for name in {**(old.answer or {}), **(new.answer or {})}:
            parts[name] = ((old.answer or {}).get(name), (new.answer or {}).get(name))
        for name, (one, other) in parts.items():
            if one != other and name != "timings":
                yield RowDifference(before.id, turn, name, one, other)


def replay_lines(found: Replayed) -> list[str]:
    """What a replay showed, for people."""
    lines = ["Both runs were made with the same."]
    if found.record:
        lines = [f"What the runs were made with differs first in: {difference_said(found.record)}."]
    if found.row is None:
        return [
            *lines,
            f"The same bytes came for {counted(found.samples, 'sample')}, but for the times.",
        ]
    row = found.row
    place = f"{row.id}, turn {row.turn}, {row.part}"
    return [*lines, f"What came differs first in: {place}.", f"- {row.before}", f"+ {row.now}"]


def replay_json(found: Replayed, before: Path, now: Path) -> Json:
    """The last line of a replay."""
    return {
        "replayed": str(before),
        "out": str(now),
        "samples": found.samples,
        "same": found.row is None,
        "record_difference": found.record
        and dict(zip(("part", "before", "now"), found.record, strict=True)),
        "row_difference": found.row and asdict(found.row),
    }
