"""Every setting: of the program, of answers, and the ablations that measurements use."""

import argparse
import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from retrieval.types import InputError, Retriever, SearchSettings

APPLICATION = "abstracts-assistant"
CONFIG_FILE = platformdirs.user_config_path(APPLICATION) / "config.toml"
_PACKAGE = Path(__file__).parent
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
"""Cores that this process may use."""


def _field(default: Any, description: str, value: str | None = None, **limits: Any) -> Any:
    """A setting; `value` names its value in the help of its flag."""
    return Field(default=default, title=value, description=description, **limits)


class SharedSettings(BaseSettings):
    """The settings that every command takes as flags."""

    model_config = SettingsConfigDict(
        env_prefix="ASSISTANT_", toml_file=CONFIG_FILE, extra="forbid", frozen=True
    )

    home: Path = _field(platformdirs.user_data_path(APPLICATION), "folder of the library", "DIR")
    cache: Path = _field(platformdirs.user_cache_path(APPLICATION), "folder of the models", "DIR")
    chroma: str = _field(
        "",
        "Chroma server that has the papers, in place of the folder: "
        "http://HOST:PORT, if needed with ?tenant=NAME&database=NAME&prefix=NAME",
        "URL",
    )
    chroma_token_file: Path | None = _field(
        None, "file with the token that the Chroma server asks for", "FILE"
    )
    model: str = _field("default", "chat model: default, a path or hf:owner/repo:file", "GGUF")
    embedder: str = _field("default", "embedder: default, a path or hf:owner/repo:file", "GGUF")
    model_url: str = _field("", "chat model on an OpenAI-compatible server instead", "URL")
    model_name: str = _field("", "its name there, if there are several", "NAME")
    api_key_file: Path | None = _field(None, "file with the key of that server", "FILE")
    slots: int = _field(0, "questions it answers at once; 0: as it says", "N", ge=0, le=256)
    embedder_url: str = _field("", "embedder on an OpenAI-compatible server instead", "URL")
    embedder_name: str = _field("", "its name there, if there are several", "NAME")
    embedder_key_file: Path | None = _field(None, "file with the key of that server", "FILE")
    adapter: bool = _field(default=True, description="use the default chat model's adapter")
    context: int = _field(4096, "the chat model's context, tokens", "TOKENS", ge=1024)
    thinking: int = _field(
        0, "tokens that a thinking model may think before it answers", "TOKENS", ge=0
    )
    threads: int = _field(_CORES, "CPU threads", "N", ge=1)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Precedence: flags, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


class Settings(SharedSettings):
    """All settings of the program; the flags of these are those of `serve`."""

    host: str = _field("127.0.0.1", "address the browser app listens on")
    port: int = _field(7860, "port of the browser app", ge=1, le=65535)
    allow_ingest: bool = _field(
        default=False, description="let the HTTP API add papers (POST /v1/ingest)"
    )
    server_name: str = _field("", "name under which a proxy makes the browser app known", "NAME")
    database: str = _field(
        "",
        "where conversations are kept: postgresql://USER@HOST/NAME (default: a file in the "
        "library's folder)",
        "URL",
    )
    auth_file: Path | None = _field(None, "file of the users who may come in", "FILE")
    proxies: str = _field(
        "",
        "addresses and networks, separated by commas, of the proxies whose X-Forwarded-For, "
        "-Proto and -Prefix are believed",
        "ADDRESSES",
    )
    root_path: str = _field(
        "",
        "path under which a proxy serves the browser app, such as /papers",
        "PATH",
        pattern=r"^(/[^/?#\s]+)*$",
    )

    @field_validator("proxies")
    @classmethod
    def _check_networks(cls, proxies: str) -> str:
        for each in filter(None, map(str.strip, proxies.split(","))):
            ip_network(each)
        return proxies


def add_flags(
    parser: argparse.ArgumentParser, names: Iterable[str], title: str = "", *, hidden: bool = False
) -> None:
    """Let `parser` read these settings; those not given leave no attribute.

    The help lists them under `title`, by default among the other options.
    """
    group = parser.add_argument_group(title) if title else parser
    for name in names:
        field, flag = Settings.model_fields[name], name.replace("_", "-")
        default = str(field.default).replace(str(Path.home()), "~").replace("%", "%%")
        has_default = field.annotation is not bool and field.default not in {None, "", "default"}
        shown = f"{field.description} (default: {default})" if has_default else field.description
        options: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS}
        options["help"] = argparse.SUPPRESS if hidden else shown
        if field.annotation is not bool:
            options |= {"type": int if field.annotation is int else str, "metavar": field.title}
            group.add_argument(f"--{flag}", **options)
        elif field.default:
            options["help"] = argparse.SUPPRESS if hidden else f"do not {shown}"
            group.add_argument(f"--no-{flag}", action="store_false", **options)
        else:
            group.add_argument(f"--{flag}", action="store_true", **options)


def load_settings(flags: dict[str, Any]) -> Settings:
    """The settings, with `flags` above the environment and the file.

    Raises `InputError` if a value is invalid, or the file has an unknown key or is no valid TOML.
    """
    try:
        return Settings(**flags)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{CONFIG_FILE} is not valid TOML ({error}); mend or remove it."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"The setting {name!r} cannot be {first.get('input')!r} ({first['msg']}); "
            "check the flags, the ASSISTANT_… variables and config.toml."
        ) from error


class WritingMode(StrEnum):
    """How the chat model writes; the capability probe chooses."""

    FREE = "free"
    """It writes a whole answer."""
    BRIEF = "brief"
    """With its adapter it writes one sentence a paper."""
    QUOTE = "quote"
    """It writes nothing: the answer quotes the evidence."""


@dataclass(frozen=True, slots=True)
class WritingSettings:
    """Settings and limits of writing; see tests/benchmarks/answers.md."""

    max_tokens: int = 160
    """Tokens that the model writes at most."""
    most_sentences: int = 6
    """Sentences written at most."""
    most_failures: int = 2
    """Unsupported sentences after which the model is stopped."""
    mode: WritingMode = WritingMode.FREE
    """Chosen by the capability probe."""
    grammar: bool = True
    """Whether `answer_grammar` holds the model to sentences with citation keys."""
    checks: bool = True
    """Whether a sentence of the model is shown only if its evidence supports it.

    If not, every sentence is shown and called verified. That serves only to measure what
    verification is worth; no command that answers people offers it.
    """


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Settings of an answer; see tests/benchmarks/answers.md."""

    passages: int = 10
    """Papers found, and shown as the closest ones if the assistant abstains."""
    judged: int = 3
    """Best papers one of which must be likely to answer."""
    least_confidence: float | None = None
    """Questions with less confidence are not answered; by default as the library is calibrated."""
    search: SearchSettings = field(default_factory=SearchSettings)
    rerank: bool = True
    """Whether reading the best papers changes their order."""
    writing: WritingSettings = field(default_factory=WritingSettings)


@dataclass(frozen=True, slots=True)
class Ablations:
    """Which parts of the pipeline are left out for a measurement; by default none."""

    retriever: Retriever = Retriever.HYBRID
    """The first-stage ranking."""
    rerank: bool = True
    """Whether reading the best papers changes their order."""
    check: bool = True
    """Whether the sentences of the model are verified; a model that writes none is not affected."""
    free_writing: bool = False
    """Whether the model writes whole answers without a grammar, whatever the probe says."""

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Ablations":
        """The ablations chosen by the flags of `add_ablation_flags`."""
        chosen = {each.name: getattr(options, each.name) for each in fields(cls)}
        return cls(**{**chosen, "retriever": Retriever(options.retriever)})

    def answer_settings(self, writing: WritingSettings) -> AnswerSettings:
        """The settings of an answer with these ablations; `writing` is without them."""
        writing = replace(
            writing,
            mode=WritingMode.FREE if self.free_writing else writing.mode,
            grammar=writing.grammar and not self.free_writing,
            checks=writing.checks and self.check,
        )
        search = SearchSettings(retriever=self.retriever)
        return AnswerSettings(search=search, rerank=self.rerank, writing=writing)


NO_ABLATIONS = Ablations()


def add_ablation_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `Ablations.from_options` reads."""
    flags = parser.add_argument_group("ablations", "parts of the path left out, for measurements")
    flags.add_argument(
        "--retriever",
        choices=[each.value for each in Retriever],
        default=Retriever.HYBRID.value,
        help="what ranks the papers (default: %(default)s)",
    )
    for flag, name, help_ in (
        ("--no-rerank", "rerank", "first-stage ranking only"),
        ("--no-check", "check", "show what the model writes without checking it"),
    ):
        flags.add_argument(flag, dest=name, action="store_false", help=help_)
    flags.add_argument(
        "--free-writing",
        action="store_true",
        help="ask the model for whole answers whatever the probe said, without a grammar",
    )


def reach_directly(host: str) -> None:
    """Exempt `host` and this computer from the proxy that the environment names.

    Gradio requests its own page to see whether it is up, and must not ask a proxy for it.
    """
    for name in ("NO_PROXY", "no_proxy"):
        known = os.environ.get(name, "")
        os.environ[name] = ",".join(filter(None, (known, "localhost", "127.0.0.1", host)))


def resource_folder(name: str) -> Path:
    """The folder `prompts` or `seeds`: in the installed package, or else in the repository."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
