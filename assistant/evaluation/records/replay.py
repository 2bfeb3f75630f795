"""Replays: a run that has ended is asked again, and the first difference is reported."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assistant.evaluation.records.record import (
    RECORD,
    SAMPLES,
    Difference,
    RunRecord,
    first_difference,
    read_record,
    read_rows,
)
from assistant.evaluation.scorers import counted
from assistant.evaluation.types import Json, Row
from retrieval.types import InputError

REPLAY = "replay"
"""The default folder of a replay, inside that of the run."""
_RESTORED = ("home", "cache", "model", "embedder", "adapter", "context", "thinking", "threads")
"""Settings that a replay takes from the record, unless a flag sets them."""


class RowDifference(NamedTuple):
    """A part of a sample's reply that differs."""

    id: str
    turn: int
    part: str
    before: Any
    now: Any


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The comparison of a run with its replay."""

    samples: int
    record: Difference | None
    """The first difference of the records, None if there is none."""
    row: RowDifference | None
    """The first difference of the replies, None if there is none."""


def replayable_record(folder: Path) -> RunRecord:
    """The record of a run; raises InputError if it has not ended or its questions are gone."""
    record = _ended_record(folder)
    if not Path(record.asking.file).exists():
        raise InputError(
            f"The questions of {folder} are no longer in {record.asking.file}; "
            "bring them back there."
        )
    return record


def restored(record: RunRecord) -> dict[str, Any]:
    """The settings of a run as flags, as far as its record has them."""
    return {name: record.settings[name] for name in _RESTORED if name in record.settings}


def check_replay_folder(out: Path) -> None:
    """Raises InputError if `out` has an ended run; only default folders of replays are replaced."""
    if (kept := read_record(out / RECORD)) and kept.times.ended:
        raise InputError(f"{out} has a run that has ended; give another --out for the replay.")


def replayed(before: Path, now: Path) -> ReplayResult:
    """The first differences between two ended runs of the same questions."""
    old, new = read_rows(before / SAMPLES), {row.id: row for row in read_rows(now / SAMPLES)}
    differing = (found for row in old if row.id in new for found in _differences(row, new[row.id]))
    return ReplayResult(
        samples=len(old),
        record=first_difference(_ended_record(before), _ended_record(now)),
        row=next(differing, None),
    )


def replay_lines(found: ReplayResult) -> list[str]:
    """The comparison with a replay, for people."""
    first = "The records of both runs agree."
    if found.record:
        first = f"The records differ first in {found.record}."
    if row := found.row:
        place = f"{row.id}, turn {row.turn}, {row.part}"
        return [first, f"The replies differ first in {place}.", f"- {row.before}", f"+ {row.now}"]
    samples = counted(found.samples, "sample")
    return [first, f"{samples} gave the same bytes, apart from timings."]


def replay_json(found: ReplayResult, before: Path, now: Path) -> Json:
    """The comparison with a replay, for scripts."""
    return {
        "replayed": str(before),
        "out": str(now),
        "samples": found.samples,
        "same": found.row is None,
        "record_difference": found.record and found.record._asdict(),
        "row_difference": found.row and found.row._asdict(),
    }


def _ended_record(folder: Path) -> RunRecord:
    record = read_record(folder / RECORD)
    if record is None:
        raise InputError(f"{folder} has no {RECORD}; give the --out of an evaluation run.")
    if not record.times.ended:
        raise InputError(f"The run in {folder} has not ended; give its command again to resume it.")
    return record


def _differences(before: Row, now: Row) -> Iterator[RowDifference]:
    """The differences between two rows of a sample."""
    if before.failed != now.failed:
        yield RowDifference(before.id, 0, "failed", before.failed, now.failed)
    for turn, (old, new) in enumerate(zip(before.replies, now.replies, strict=True)):
        one = {"ranking": list(old.ranking), **(old.answer or {})}
        other = {"ranking": list(new.ranking), **(new.answer or {})}
        for part in dict.fromkeys((*one, *other)):
            if part != "timings" and one.get(part) != other.get(part):
                yield RowDifference(before.id, turn, part, one.get(part), other.get(part))
