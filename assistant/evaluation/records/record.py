"""A run on disk: its record (`run.json`), which has all that could change its figures, its rows.

Keys of a record that are not known here, such as those of earlier versions, are ignored.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.questions.lines import contents
from assistant.evaluation.records.provenance import (
    code_facts,
    library_facts,
    machine_facts,
    model_facts,
    package_versions,
    prompt_hashes,
    settings_facts,
)
from assistant.evaluation.scorers import VERSION
from assistant.evaluation.types import Row
from assistant.settings import NO_ABLATIONS, Ablations, Settings
from retrieval.index.files import write_whole
from retrieval.types import InputError

SAMPLES = "samples.jsonl"
"""One row per sample."""
RECORD = "run.json"
"""The run record."""
FIGURES = "figures.json"
"""The figures and every sample's scores; a baseline is read from it."""
REPORT = "report.html"
"""The report for people."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Which questions are asked, and how often."""

    file: str
    """A JSONL file or a BEIR folder; its absolute path in a record."""
    sha256: str = ""
    """Of the questions; empty until they are read."""
    limit: int | None = None
    """Samples at most, in proportion over the types."""
    types: tuple[str, ...] = ()
    """Empty: all."""
    samples: int = 0
    """Number of them, once it is known."""
    repeats: int = 0
    """How often each sample is asked again."""
    seed: int = 0
    """Of the intervals' draws."""
    ablations: Ablations = NO_ABLATIONS


@dataclass(frozen=True, slots=True)
class Times:
    """When a run was made, and how long it took."""

    begun: str
    """ISO 8601, UTC."""
    ended: str = ""
    """Empty until every sample has a row."""
    seconds: float = 0.0
    """From the first question to the last, summed over all beginnings; the time of a killed process
    is lost."""
    beginnings: int = 1
    """How often the run was started or resumed."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The contents of `run.json`; every part but times and machine may change figures."""

    code: Mapping[str, Any]
    """Version, commit, whether the tree was dirty, a hash of the sources."""
    packages: Mapping[str, str]
    """Versions of the required packages."""
    models: Mapping[str, Mapping[str, Any]]
    """File, size, hash and quantization of chat model, embedder, reader, support model, cutter and,
    if it is used, the writer's adapter."""
    settings: Mapping[str, Any]
    """Every setting."""
    prompts: Mapping[str, str]
    """Hash of every prompt, by its name."""
    library: Mapping[str, Any]
    """Number of papers and chunks, embedder, chunker, and a hash of the papers."""
    asking: Asking
    scorers: str
    """Version of the scorers."""
    machine: Mapping[str, Any]
    times: Times


class Difference(NamedTuple):
    """A value in which two records differ."""

    part: str
    before: Any
    now: Any

    def __str__(self) -> str:
        """The difference, for the sentence of an error."""
        return f"{self.part} ({_short(self.before)} there, {_short(self.now)} now)"


_PARTS_THAT_MAY_DIFFER = ("machine", "times")
"""Parts that do not change figures."""
_MAY_DIFFER = frozenset(
    "code.commit code.dirty settings.home settings.cache settings.model settings.embedder "
    "settings.threads".split()
)
"""Values that do not change figures, beside paths of files, which have hashes of their own."""
_LABELS = {
    "asking.sha256": "the file of questions",
    "asking.samples": "the number of samples",
    **{f"asking.{name}": f"--{name}" for name in ("limit", "types", "repeats", "seed")},
    "library.sha256": "the papers of the library",
}
"""Names for people; other values are named as in the file."""
_LONGEST_VALUE = 120
"""Characters of a value that a sentence shows."""
_SHORT_HASH = 12
"""Digits of a hash that a sentence shows."""
_RECORD = TypeAdapter(RunRecord)
_ROW = TypeAdapter(Row)


def make_record(asking: Asking, settings: Settings, files: Mapping[str, Path]) -> RunRecord:
    """The record of a run that begins now.

    Args:
        asking: the questions.
        settings: of the person.
        files: of the models `chat`, `embedder`, `reader`, `support`, `cutter`, and `writer` if its
            adapter is used.
    """
    return RunRecord(
        code=code_facts(),
        packages=package_versions(),
        models={role: model_facts(path) for role, path in files.items()},
        settings=settings_facts(settings, asking.ablations),
        prompts=prompt_hashes(),
        library=library_facts(settings.home),
        asking=asking,
        scorers=VERSION,
        machine=machine_facts(),
        times=Times(begun=_now()),
    )


def read_record(path: Path) -> RunRecord | None:
    """The record at `path`, None if there is no file; raises InputError if it is no record."""
    if not path.exists():
        return None
    try:
        return _RECORD.validate_json(contents(path))
    except ValidationError as error:
        raise InputError(
            f"{path} is no record of an evaluation run of this version; give another folder."
        ) from error


def write_record(path: Path, record: RunRecord) -> None:
    """Write a record, whole or not at all; raises LibraryError if the folder cannot be written."""
    write_whole(path, _RECORD.dump_json(record, indent=2).decode("utf-8"))


def record_json(record: RunRecord) -> dict[str, Any]:
    """The record as JSON."""
    fields: dict[str, Any] = _RECORD.dump_python(record, mode="json")
    return fields


def timed(record: RunRecord, seconds: float, *, ended: bool) -> RunRecord:
    """The record of a run that took further `seconds` until now."""
    total = round(record.times.seconds + seconds, 3)
    return replace(
        record, times=replace(record.times, ended=_now() if ended else "", seconds=total)
    )


def resumed(record: RunRecord) -> RunRecord:
    """The record of a run that is resumed."""
    return replace(record, times=replace(record.times, beginnings=record.times.beginnings + 1))


def first_difference(before: RunRecord, now: RunRecord) -> Difference | None:
    """The first difference that may change figures, if any; files are compared by content."""
    old, new = _flat(before), _flat(now)
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            if name == "code.sources_sha256":
                return Difference("the program", _program(before), _program(now))
            return Difference(_label(name), old.get(name), new.get(name))
    return None


def leaves(part: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a part of a record, nested ones named with dots."""
    for key, value in part.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _flat(record: RunRecord) -> dict[str, Any]:
    parts = record_json(record)
    for name in _PARTS_THAT_MAY_DIFFER:
        del parts[name]
    return {
        name: value
        for name, value in leaves(parts)
        if name not in _MAY_DIFFER and not name.endswith(".file")
    }


def _label(name: str) -> str:
    match name.split("."):
        case ["models", role, "sha256"]:
            return f"the {role} model's file"
        case _:
            return _LABELS.get(name, name)


def _program(record: RunRecord) -> str:
    """The version of the program that made a record."""
    code = record.code
    state = " with changes" if code["dirty"] else ""
    commit = f", commit {code['commit']}{state}" if code["commit"] else ""
    return f"version {code['version']}{commit}, sources {code['sources_sha256'][:_SHORT_HASH]}"


def _short(value: Any) -> str:
    """A value, cut to the length that fits into a sentence."""
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` as they were written; an incomplete last line is ignored.

    Raises:
        InputError: the file cannot be read, or a whole line is no row.
    """
    lines = contents(path).split(b"\n")[:-1] if path.exists() else []
    rows: list[Row] = []
    for line in lines:
        try:
            rows.append(_ROW.validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}, line {len(rows) + 1} is no row of an evaluation run "
                f"({error.errors()[0]['msg']}); run the evaluation again with another --out."
            ) from error
    return rows


@contextmanager
def appending(path: Path) -> Iterator[Callable[[Row], None]]:
    """Gives a function that appends a row to `path`, after cutting off an incomplete last line.

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
        left = _ROW.dump_json(row) + b"\n"
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
