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

import filelock
from pydantic import TypeAdapter, ValidationError

from assistant.evaluation.questions.lines import contents
from assistant.evaluation.types import Row
from assistant.settings import NO_ABLATIONS, Ablations
from retrieval.index.files import write_whole
from retrieval.types import InputError

RECORD, SAMPLES, FIGURES, REPORT = "run.json", "samples.jsonl", "figures.json", "report.html"
"""The files of a run: its record; a row per sample; figures, from which a baseline is read, with
every sample's scores; the report for people."""


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
class Provenance:
    """What a run or an answer was made with; every part may change it."""

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


@dataclass(frozen=True, slots=True)
class RunRecord(Provenance):
    """The contents of `run.json`; every part but times and machine may change figures."""

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
        return f"{self.part} ({short(self.before)} there, {short(self.now)} now)"


_MAY_DIFFER = frozenset(
    "code.commit code.dirty settings.home settings.chroma settings.chroma_token_file "
    "settings.cache settings.model settings.embedder settings.threads library.revision".split()
)
"""Values that do not change figures, beside those of the machine, times, and paths of files, which
have hashes of their own."""
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
    return replace(record, times=replace(record.times, ended=now() if ended else "", seconds=total))


def now() -> str:
    """The time in UTC, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def first_difference(before: RunRecord, now: RunRecord) -> Difference | None:
    """The first difference that may change figures, if any; files are compared by content."""
    return difference_of(record_json(before), record_json(now))


def difference_of(before: Mapping[str, Any], now: Mapping[str, Any]) -> Difference | None:
    """The first difference of two records as JSON, in the order of the first one's parts."""
    old, new = lasting(before), lasting(now)
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            if name == "code.sources_sha256":
                return Difference("the program", _program(before["code"]), _program(now["code"]))
            return Difference(_label(name), old.get(name), new.get(name))
    return None


def lasting(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a record that may change figures, named with dots."""
    return {
        name: value
        for name, value in leaves(record)
        if name not in _MAY_DIFFER and not name.startswith(("machine.", "times."))
        if not name.endswith(".file")
    }


def kept_record(folder: Path, record: RunRecord) -> RunRecord:
    """The record of the run in `folder` if `record` resumes it, else `record` itself.

    A run without rows is replaced; another run, or files that are no run's, raise InputError.
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
            f"{folder} has another run, which differs in {different}; give another --out."
        )
    return replace(kept, times=replace(kept.times, beginnings=kept.times.beginnings + 1))


def remove_ended(folder: Path) -> None:
    """Remove the files of a run that has ended; an interrupted one stays, to be resumed."""
    kept = read_record(folder / RECORD)
    if kept and kept.times.ended:
        for name in (REPORT, FIGURES, SAMPLES, RECORD):  # the record last: it identifies the run
            (folder / name).unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a run's folder, which is made if needed."""
    lock = filelock.FileLock(folder / "lock", blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise InputError(
            f"Another process is running the evaluation in {folder}; wait, or give another --out."
        ) from error
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be written ({error.strerror}); choose another --out."
        ) from error
    with lock:
        yield


def leaves(part: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a part of a record, nested ones named with dots."""
    for key, value in part.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _label(name: str) -> str:
    part, _, rest = name.partition(".")
    if name == "models.writer.sha256":
        return "the adapter's file"
    if part == "models" and rest.endswith(".sha256"):
        return f"the {rest.removesuffix('.sha256')} model's file"
    return _LABELS.get(name, name)


def _program(code: Mapping[str, Any]) -> str:
    """The version of a program."""
    state = " with changes" if code["dirty"] else ""
    commit = f", commit {code['commit']}{state}" if code["commit"] else ""
    return f"version {code['version']}{commit}, sources {code['sources_sha256'][:_SHORT_HASH]}"


def short(value: Any) -> str:
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
