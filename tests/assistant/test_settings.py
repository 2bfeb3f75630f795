from pathlib import Path

import pytest

from assistant import settings as module
from assistant.settings import Settings, load_settings
from retrieval.types import InputError


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file in place of the person's, which is not there yet."""
    path = tmp_path / "config.toml"
    monkeypatch.setattr(module, "CONFIG_FILE", path)
    monkeypatch.setitem(Settings.model_config, "toml_file", path)
    for field in Settings.model_fields:
        monkeypatch.delenv(f"ASSISTANT_{field.upper()}", raising=False)
    return path


def test_the_defaults() -> None:
    settings = load_settings({})
    assert (settings.host, settings.port) == ("127.0.0.1", 7860)
    assert (settings.model, settings.embedder, settings.context) == ("default", "default", 4096)
    assert settings.adapter
    assert settings.threads >= 1
    assert settings.home.is_absolute()
    assert settings.cache.is_absolute()


def test_flag_before_environment_before_file_before_default(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings({}).port == 7860
    config.write_text('port = 1111\nmodel = "file.gguf"\n', "utf-8")
    assert load_settings({}).port == 1111
    monkeypatch.setenv("ASSISTANT_PORT", "2222")
    assert load_settings({}).port == 2222
    settings = load_settings({"port": 3333})
    assert (settings.port, settings.model) == (3333, "file.gguf")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("home", "/x/y", Path("/x/y")),
        ("cache", "c", Path("c")),
        ("model", "hf:a/b:c.gguf", "hf:a/b:c.gguf"),
        ("embedder", "e.gguf", "e.gguf"),
        ("adapter", "false", False),
        ("context", "2048", 2048),
        ("threads", "3", 3),
        ("host", "0.0.0.0", "0.0.0.0"),  # noqa: S104 - nothing listens
        ("port", "80", 80),
    ],
)
def test_every_setting_from_the_environment(
    name: str, text: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ASSISTANT_{name.upper()}", text)
    assert getattr(load_settings({}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [("port", 0), ("port", 65536), ("port", "http"), ("context", 10), ("threads", 0)],
)
def test_a_value_that_does_not_fit(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"The setting '{name}' cannot be {value!r}") as caught:
        load_settings({name: value})
    assert "\n" not in str(caught.value)


def test_a_value_of_the_environment_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_PORT", "many")
    with pytest.raises(InputError, match="The setting 'port' cannot be 'many'"):
        load_settings({})


def test_an_unknown_key_of_the_file(config: Path) -> None:
    config.write_text("ports = 80\n", "utf-8")
    with pytest.raises(InputError, match=r"The setting 'ports' cannot be 80 .*config\.toml"):
        load_settings({})


def test_other_variables_of_the_environment_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_UNRELATED", "1")
    load_settings({})


@pytest.mark.parametrize("content", [b"port = \n", b"[[[", b"port = 1\nport = 2", b"\xff\xfe"])
def test_a_file_that_is_no_toml(config: Path, content: bytes) -> None:
    config.write_bytes(content)
    with pytest.raises(InputError, match=r"config\.toml is not valid TOML .*; mend or remove it\."):
        load_settings({})


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings({}).port = 1
