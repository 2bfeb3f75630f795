"""What a run was made with: everything that could move its figures, kept as `run.json`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assistant.ablations import Ablations
from assistant.answer_settings import WritingSettings
from assistant.evaluation.provenance import (
    code_facts,
    library_facts,
    machine_facts,
    model_facts,
    package_versions,
    prompt_hashes,
)
from assistant.evaluation.scorers import VERSION
from assistant.pipeline.calibration import read_calibration, threshold
from assistant.settings import Settings
from retrieval.errors import InputError
from retrieval.files import write_whole
from retrieval.search.rerank import RerankSettings


@dataclass(frozen=True, slots=True)
class Asking:
    """Which questions are asked, and how."""

    file: str
    """Path of the questions, absolute."""
    sha256: str
    """Of the questions."""
    limit: int | None
    types: tuple[str, ...]
    """Empty: all."""
    samples: int
    repeats: int
    seed: int
    ablations: Ablations


@dataclass(frozen=True, slots=True)
class Times:
    """When a run was made."""

    begun: str
    """ISO 8601, UTC."""
    ended: str = ""
    """Empty until every sample was asked."""
    seconds: float = 0.0
    """From the first question to the last, over all beginnings after interruptions; what was killed
    is not counted."""
    beginnings: int = 1


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The contents of `run.json`; every part but times, machine and workers may move figures."""

    code: Mapping[str, Any]
    """Version, commit, whether the tree was dirty, a hash of the sources."""
    packages: Mapping[str, str]
    """Versions of the packages that it stands on."""
    models: Mapping[str, Mapping[str, Any]]
    """Chat model, embedder, reader, support model, cutter, and the writer's adapter if there is
    one: file, size, hash, quantization."""
    settings: Mapping[str, Any]
    """Every setting."""
    prompts: Mapping[str, str]
    """Hash of every prompt, by its name."""
    library: Mapping[str, Any]
    """How many papers and chunks, how they were cut, and a hash of the papers."""
    asking: Asking
    scorers: str
    """Version of the scorers."""
    machine: Mapping[str, Any]
    workers: int
    times: Times


Difference = tuple[str, Any, Any]
"""Where two records differ, and what each says there."""

_MOVES_NOTHING = ("machine", "workers", "times")
"""Parts that say how fast a run was, not what came of it."""
_NAMED_OTHERWISE = (
    "code.commit",
    "code.dirty",
    "models.chat.file",
    "models.embedder.file",
    "models.reader.file",
    "models.support.file",
    "models.cutter.file",
    "models.writer.file",
    "settings.home",
    "settings.cache",
    "settings.model",
    "settings.embedder",
    "settings.threads",
    "asking.file",
)
"""Where things lie, and what they are called: what lies there has a hash of its own."""
_BY_PROBE = "as the probe decides"
"""How the model is asked for answers."""
_IN_WORDS = {
    "asking.sha256": "the file of questions",
    "asking.limit": "--limit",
    "asking.types": "--types",
    "asking.samples": "the number of samples",
    "asking.repeats": "--repeats",
    "asking.seed": "--seed",
    "library.sha256": "the papers of the library",
    "models.chat.sha256": "the chat model's file",
    "models.embedder.sha256": "the embedder's file",
    "models.reader.sha256": "the reader's file",
    "models.support.sha256": "the support model's file",
    "models.cutter.sha256": "the cutter's file",
    "models.writer.sha256": "the writer's file",
}
"""What is called otherwise where people read it."""
_LONGEST_VALUE = 120
"""Characters of a value in a sentence."""
_SHORT_HASH = 12
"""Digits that tell one hash from another."""
_OF_THE_SERVER = {"auth_file", "host", "port", "server_name", "allow_ingest"}
_FORM = TypeAdapter(RunRecord)


def make_record(
    asking: Asking,
    settings: Settings,
    files: Mapping[str, Path],
    workers: int,
) -> RunRecord:
    """The record of a run that begins now.

    Args:
        asking: what is asked.
        settings: of the person.
        files: those of the models: `chat`, `embedder`, `reader`, `support`, `cutter`, and `writer`
            if its adapter is used.
        workers: processes that ask.

    Raises:
        LibraryError: the library cannot be read.
    """
    return RunRecord(
        code=code_facts(),
        packages=package_versions(),
        models={role: model_facts(path) for role, path in files.items()},
        settings=_settings(settings, asking.ablations),
        prompts=prompt_hashes(),
        library=library_facts(settings.home),
        asking=asking,
        scorers=VERSION,
        machine=machine_facts(),
        workers=workers,
        times=Times(begun=_now()),
    )


def first_difference(before: RunRecord, now: RunRecord) -> Difference | None:
    """The first thing that may move figures in which two records differ.

    Where it lies in a file or a folder does not count, only what is in it.
    """
    old, new = _flat(before), _flat(now)
    for name in dict.fromkeys(chain(old, new)):
        if old.get(name) != new.get(name):
            if name == "code.sources_sha256":
                return "the program", _program(before), _program(now)
            return _IN_WORDS.get(name, name), old.get(name), new.get(name)
    return None


def _program(record: RunRecord) -> str:
    """Which program made a record, for people."""
    code = record.code
    state = " with changes" if code["dirty"] else ""
    commit = f", commit {code['commit']}{state}" if code["commit"] else ""
    return f"version {code['version']}{commit}, sources {code['sources_sha256'][:_SHORT_HASH]}"


def difference_said(difference: Difference) -> str:
    """A difference in words."""
    name, before, now = difference
    return f"{name} ({_short(before)} there, {_short(now)} now)"


def _short(value: Any) -> str:
    """A value as it fits into a sentence; of a hash the beginning."""
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _flat(record: RunRecord) -> dict[str, Any]:
    fields = _FORM.dump_python(record, mode="json")
    parts = {name: part for name, part in fields.items() if name not in _MOVES_NOTHING}
    flat = dict(_leaves("", parts))
    return {name: value for name, value in flat.items() if name not in _NAMED_OTHERWISE}


def _leaves(name: str, part: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(part, dict) and part:
        for key, value in part.items():
            yield from _leaves(f"{name}.{key}" if name else key, value)
    else:
        yield name, part


def read_record(path: Path) -> RunRecord | None:
    """The record at `path`, or nothing if there is none.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return _FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    except ValidationError as error:
        raise InputError(
            f"{path} is no record of an evaluation run of this version; give another folder."
        ) from error


def write_record(path: Path, record: RunRecord) -> None:
    """Keep a record, whole or not at all.

    Raises:
        LibraryError: the folder cannot be written.
    """
    write_whole(path, _FORM.dump_json(record, indent=2).decode("utf-8"))


def record_json(record: RunRecord) -> dict[str, Any]:
    """The record as JSON."""
    fields: dict[str, Any] = _FORM.dump_python(record, mode="json")
    return fields


def ended(record: RunRecord, seconds: float) -> RunRecord:
    """The record of a run whose last sample was asked now, after so many seconds more."""
    total = round(record.times.seconds + seconds, 3)
    return replace(record, times=replace(record.times, ended=_now(), seconds=total))


def interrupted(record: RunRecord, seconds: float) -> RunRecord:
    """The record of a run that has not ended after so many seconds more."""
    total = round(record.times.seconds + seconds, 3)
    return replace(record, times=replace(record.times, ended="", seconds=total))


def begun_again(record: RunRecord) -> RunRecord:
    """The record of a run that is gone on with."""
    beginnings = record.times.beginnings + 1
    return replace(record, times=replace(record.times, beginnings=beginnings))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _settings(settings: Settings, ablations: Ablations) -> dict[str, Any]:
    kept = settings.model_dump(mode="json", exclude=_OF_THE_SERVER)
    answering = asdict(ablations.answer_settings(WritingSettings()))
    if not ablations.free_writing:
        answering["writing"]["mode"] = _BY_PROBE
    kept |= {"home": str(settings.home.resolve()), "cache": str(settings.cache.resolve())}
    for name in ("model", "embedder"):  # a replay may begin in another folder
        if (path := Path(kept[name])).is_file():
            kept[name] = str(path.resolve())
    calibration = read_calibration(settings.home)
    return kept | {
        "answering": answering,
        "reranking": asdict(RerankSettings()),
        "least_confidence": threshold(settings.home),
        "calibrated_on": calibration.source if calibration else "questions about the seeds",
    }
