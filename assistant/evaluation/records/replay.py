"""Replays: a run that has ended is asked again, and the first difference is reported."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assistant.evaluation.records.record import (
    RECORD,
    SAMPLES,
    Difference,
    RunRecord,
    first_difference,
    read_record,
    read_rows,
)
from assistant.evaluation.types import Row
from assistant.types import Json
from retrieval.types import InputError, counted

REPLAY = "replay"
"""The default folder of a replay, inside that of the run."""
_RESTORED = (
    *("home", "cache", "chroma", "model", "model_url", "model_name", "embedder", "embedder_url"),
    *("embedder_name", "adapter", "context", "thinking", "threads"),
)
"""Settings that a replay takes from the record, unless a flag sets them."""


def replayable_record(folder: Path) -> RunRecord:
    """The record of a run; raises InputError if it has not ended or its questions are gone."""
    record = _ended_record(folder)
    if not Path(record.asking.file).exists():
        raise InputError(
            f"The questions of {folder} are no longer in {record.asking.file}; "
            "bring them back there."
        )
    return record


def restored_settings(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a record that a replay takes from it, as flags."""
    return {name: kept[name] for name in _RESTORED if name in kept}


def check_replay_folder(out: Path) -> None:
    """Raises InputError if `out` has an ended run; only default folders of replays are replaced."""
    if (kept := read_record(out / RECORD)) and kept.times.ended:
        raise InputError(f"{out} has a run that has ended; give another --out for the replay.")


def replayed(before: Path, now: Path) -> Json:
    """The first differences between two ended runs of the same questions, as scripts read them."""
    old, new = read_rows(before / SAMPLES), {row.id: row for row in read_rows(now / SAMPLES)}
    record = first_difference(_ended_record(before), _ended_record(now))
    differing = (found for row in old if row.id in new for found in _differences(row, new[row.id]))
    row = next(differing, None)
    return {
        "replayed": str(before),
        "out": str(now),
        "samples": len(old),
        "same": row is None,
        "record_difference": record and record._asdict(),
        "row_difference": row,
    }


def replay_lines(found: Json) -> list[str]:
    """What `replayed` found, for people."""
    lines = ["The records of both runs agree."]
    if record := found["record_difference"]:
        lines = [f"The records differ first in {Difference(**record)}."]
    if row := found["row_difference"]:
        place = f"{row['id']}, turn {row['turn']}, {row['part']}"
        lines.append(f"The replies differ first in {place}.")
        return [*lines, f"- {row['before']}", f"+ {row['now']}"]
    samples = counted(found["samples"], "sample")
    return [*lines, f"{samples} gave the same bytes, apart from timings."]


def _ended_record(folder: Path) -> RunRecord:
    record = read_record(folder / RECORD)
    if record is None:
        raise InputError(f"{folder} has no {RECORD}; give the --out of an evaluation run.")
    if not record.times.ended:
        raise InputError(f"The run in {folder} has not ended; give its command again to resume it.")
    return record


def _differences(before: Row, now: Row) -> Iterator[Json]:
    """The parts of a sample's replies that differ, each with its turn and its values."""
    if before.failed != now.failed:
        found = {"before": before.failed, "now": now.failed}
        yield {"id": before.id, "turn": 0, "part": "failed", **found}
    for turn, (old, new) in enumerate(zip(before.replies, now.replies, strict=True)):
        one = {"ranking": list(old.ranking), **(old.answer or {})}
        other = {"ranking": list(new.ranking), **(new.answer or {})}
        for part, value in one.items():  # what later versions add to an answer is no difference
            if part != "timings" and value != other.get(part):
                values = {"before": value, "now": other.get(part)}
                yield {"id": before.id, "turn": turn, "part": part, **values}
