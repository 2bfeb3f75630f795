"""Settings, the one place that reads the environment.

Precedence: command-line flag, then environment (`ASSISTANT_…`), then `config.toml` in the user's
configuration folder, then the defaults below. Unknown keys are refused.
"""

import os
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from retrieval.errors import InputError

APPLICATION = "abstracts-assistant"
CONFIG_FILE = platformdirs.user_config_path(APPLICATION) / "config.toml"


def _default_threads() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


class Settings(BaseSettings):
    """Everything that can be set; see each field."""

    model_config = SettingsConfigDict(
        env_prefix="ASSISTANT_", toml_file=CONFIG_FILE, extra="forbid", frozen=True
    )

    home: Path = Field(
        default=platformdirs.user_data_path(APPLICATION), description="folder of the library"
    )
    cache: Path = Field(
        default=platformdirs.user_cache_path(APPLICATION), description="folder of the models"
    )
    model: str = Field(default="default", description="chat model: default, GGUF path or hf:…")
    embedder: str = Field(default="default", description="embedder: default, GGUF path or hf:…")
    adapter: bool = Field(
        default=True, description="whether the default chat model writes with its adapter"
    )
    context: int = Field(default=4096, ge=1024, description="the chat model's context, tokens")
    thinking: int = Field(
        default=0, ge=0, description="tokens for which a model that thinks may do so"
    )
    threads: int = Field(default_factory=_default_threads, ge=1, description="CPU threads")
    host: str = Field(default="127.0.0.1", description="address the browser app listens on")
    port: int = Field(default=7860, ge=1, le=65535, description="port of the browser app")
    allow_ingest: bool = Field(
        default=False, description="whether papers may be added over the HTTP API"
    )
    server_name: str = Field(
        default="", description="name under which a proxy makes the browser app known"
    )
    auth_file: Path | None = Field(default=None, description="file of the users who may come in")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags first, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings(flags: dict[str, Any]) -> Settings:
    """Settings with `flags` (only those that were given) on top.

    Raises:
        InputError: a value does not fit, or the file has an unknown key or is no TOML.
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


def reach_directly(host: str) -> None:
    """Have this process reach `host` and itself without the proxy that the environment names.

    Gradio asks its own page whether it is up, and would ask a proxy for it.
    """
    for name in ("NO_PROXY", "no_proxy"):
        known = os.environ.get(name, "")
        os.environ[name] = ",".join(filter(None, (known, "localhost", "127.0.0.1", host)))
