"""Facts that a run depends on: program, models, settings, prompts, library and machine."""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from pydantic import TypeAdapter

from assistant import __version__
from assistant.evaluation.records.record import Asking, Provenance, RunRecord, Times, now
from assistant.evaluation.scorers import VERSION
from assistant.models import resolve_chat_model, resolve_embedder, resolve_encoder
from assistant.models.gguf.trained import (
    ADAPTER,
    CUTTER,
    READER,
    SENTENCE_READER,
    SUPPORT,
    file_key,
)
from assistant.models.listing import A_SERVER, describe_models, read_header
from assistant.pipeline.abstention import read_calibration, threshold
from assistant.pipeline.startup import place_of
from assistant.settings import APPLICATION, Settings, WritingSettings, resource_folder
from retrieval.index.chroma import ChromaStore
from retrieval.index.files import load_cached, save_cached
from retrieval.search.rerank import RerankSettings
from retrieval.types import ModelError, Paper, Progress

_SOURCES = Path(__file__).parents[3]
"""The folder of the packages `assistant` and `retrieval`."""
_FINGERPRINT = "fingerprint.json"
"""In a library's folder: the hash of its papers, with the revision of the store that they had."""
_TEXT = TypeAdapter(str)
_NOT_OF_ANSWERS = set(
    "allow_ingest api_key_file auth_file chroma_token_file database embedder_key_file host port "
    "server_name slots".split()
)
"""Settings that change no answer."""


def make_record(asking: Asking, settings: Settings, files: Mapping[str, Path]) -> RunRecord:
    """The record of a run that begins now; `files` are those of its models, by their roles."""
    answering = asdict(asking.ablations.answer_settings(WritingSettings()))
    if not asking.ablations.free_writing:
        answering["writing"]["mode"] = "as the probe decides"  # when the model is loaded
    made = made_with(settings, files, answering)
    return RunRecord(
        **{part.name: getattr(made, part.name) for part in fields(made)},
        asking=asking,
        scorers=VERSION,
        machine={
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        times=Times(begun=now()),
    )


def made_with(
    settings: Settings, files: Mapping[str, Path], answering: Mapping[str, Any]
) -> Provenance:
    """What answers are made with now: models from `files`, by their roles, `answering` settings."""
    prompts = sorted(resource_folder("prompts").glob("*.txt"))
    return Provenance(
        code=_code(),
        packages=_packages(),
        models={role: _model(path) for role, path in files.items()} | _on_servers(settings),
        settings=_settings(settings, answering),
        prompts={path.stem: sha256_of(path) for path in prompts},
        library=library_facts(settings),
    )


def model_files(settings: Settings, progress: Progress) -> dict[str, Path]:
    """The files of the models that answer, by their roles, but for those on servers; fetched
    on first use.

    Raises:
        ModelError: a model cannot be fetched.
    """
    files = {
        "reader": resolve_encoder(READER, settings.cache, progress),
        "sentence_reader": resolve_encoder(SENTENCE_READER, settings.cache, progress),
        "support": resolve_encoder(SUPPORT, settings.cache, progress),
        "cutter": resolve_encoder(CUTTER, settings.cache, progress),
    }
    if not settings.model_url:
        threads = settings.threads
        files["chat"] = resolve_chat_model(settings.model, settings.cache, threads, progress)
    if not settings.embedder_url:
        files["embedder"] = resolve_embedder(settings.embedder, settings.cache, progress)
    if settings.adapter and ADAPTER.is_file():  # without its file the model is asked without it
        files["writer"] = ADAPTER
    return files


def library_facts(settings: Settings) -> dict[str, Any]:
    """Papers, chunks, hash, embedder and chunker of the library."""
    place = place_of(settings)
    store = ChromaStore(place.connection)
    papers, chunks = store.count()
    manifest = place.read()
    return {
        "papers": papers,
        "chunks": chunks,
        "sha256": _kept_fingerprint(settings.home, store),
        "embedder": manifest and manifest.embedder,
        "chunker": manifest and f"{manifest.chunker}, {manifest.chunk_tokens} tokens",
    }


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept_fingerprint(home: Path, store: ChromaStore) -> str:
    """SHA-256 of all papers, computed once for each state of the store and kept beside it."""
    revision, path = store.revision, home / _FINGERPRINT
    found = load_cached(path, revision, _TEXT)
    if found is None:
        found = _fingerprint(stored.paper for stored in store.papers())
        save_cached(path, revision, found, _TEXT)
    return found


def _fingerprint(papers: Iterable[Paper]) -> str:
    """SHA-256 of all fields of papers, independent of their order."""
    lines = sorted(json.dumps(asdict(paper), sort_keys=True) for paper in papers)
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


@cache
def _code() -> dict[str, Any]:
    """Version, commit and state of the checkout, and a hash of all sources, as they were first."""
    packages = (_SOURCES / "assistant", _SOURCES / "retrieval")
    digest = hashlib.sha256()
    for path in sorted(path for folder in packages for path in folder.rglob("*.py")):
        digest.update(path.relative_to(_SOURCES).as_posix().encode() + path.read_bytes())
    commit, dirty = _commit()
    return {
        "version": __version__,
        "commit": commit,
        "dirty": dirty,
        "sources_sha256": digest.hexdigest(),
    }


def _commit() -> tuple[str | None, bool | None]:
    """Commit of the checkout, and whether it has changes; None if the package is installed."""
    try:
        _git("ls-files", "--error-unmatch", "assistant/__init__.py")
        return _git("rev-parse", "HEAD").strip(), bool(_git("status", "--porcelain"))
    except (OSError, subprocess.CalledProcessError):
        return None, None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_SOURCES), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


@cache
def _packages() -> dict[str, str]:
    """The required packages that are installed, with their versions."""
    found: dict[str, str] = {}
    for needed in map(Requirement, requires(APPLICATION) or ()):
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            with suppress(PackageNotFoundError):
                found[needed.name] = version(needed.name)
    return dict(sorted(found.items()))


def _model(path: Path) -> dict[str, Any]:
    try:
        sha256, quantization = _read_model(path, file_key(path))
    except OSError as error:
        raise ModelError(
            f"The model's file {path} cannot be read ({error.strerror}), so that nobody can say "
            "what answers are made with; start the assistant again."
        ) from error
    return {
        "name": path.stem,
        "file": str(path.resolve()),
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "quantization": quantization,
    }


@lru_cache(maxsize=32)
def _read_model(path: Path, _stamp: str) -> tuple[str, str | None]:
    """Hash and quantization of a model file, read once as long as its stamp stays."""
    header = read_header(path)
    return sha256_of(path), header.quantization if header else None


def _on_servers(settings: Settings) -> dict[str, dict[str, Any]]:
    """The models that run on servers, of which no file can be hashed."""
    if not (settings.model_url or settings.embedder_url):
        return {}
    used = describe_models(settings)
    return {
        each.role: {"name": each.name, "server": each.spec}
        for each in used
        if each.in_use and each.source == A_SERVER
    }


def _settings(settings: Settings, answering: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting that may change an answer, and where the models and the library lie."""
    kept = settings.model_dump(mode="json", exclude=_NOT_OF_ANSWERS)
    for name in ("home", "cache", "model", "embedder"):  # a replay may begin in another folder
        path = Path(kept[name])
        if name in ("home", "cache") or path.is_file():
            kept[name] = str(path.resolve())
    for name in ("model_url", "model_name", "embedder_url", "embedder_name"):
        if not kept[name]:  # as in the records from before there were servers
            del kept[name]
    calibration = read_calibration(settings.home)
    return kept | {
        "answering": dict(answering),
        "reranking": asdict(RerankSettings()),
        "least_confidence": threshold(settings.home),
        "calibrated_on": calibration.source
        if calibration and calibration.is_current
        else "questions about the seeds",
    }


def _cpu() -> str:
    """Name of the processor; Linux has it in a file, as Python does not know it there."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())
