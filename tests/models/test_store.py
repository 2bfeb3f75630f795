import os
import shutil
import subprocess
import sys

import pytest

from assistant.models import resolve_chat_model, resolve_embedder, store
from assistant.models.quantization import Measurement
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
heavy = {"huggingface_hub", "gguf", "safetensors", "torch"} & set(sys.modules)
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
def shipped(tmp_path, monkeypatch):
    """A cache that holds something in place of the shipped chat model; fetching fails."""
    path = store.CHAT.shipped(tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(store, "fetch_members", lambda *_, **__: pytest.fail("fetched twice"))
    return path


@pytest.fixture
def copying(monkeypatch):
    """Copies in place of quantized files."""

    def copy(source, target, *_, **__):
        shutil.copy(source, target)

    monkeypatch.setattr(store.quantization.bindings, "quantize", copy)


@pytest.mark.usefixtures("copying")
def test_only_the_chosen_type_and_its_record_stay(shipped, tmp_path, monkeypatch):
    leftover = shipped.with_name("SmolLM2-135M-Instruct.BF16.gguf")
    leftover.write_bytes(b"of a run that was killed")
    numbers = [Measurement("Q8_0", 1, 100, 10), Measurement("F16", 2, 200, 20)]
    monkeypatch.setattr(store.quantization, "measure_all", lambda *_, **__: numbers)
    path = resolve_chat_model("default", tmp_path, 1)
    assert path.name == "SmolLM2-135M-Instruct.F16.gguf"
    assert {each.name for each in path.parent.iterdir()} == {
        ".lock",
        "SmolLM2-135M-Instruct.F16.gguf",
        "SmolLM2-135M-Instruct.json",
    }
    assert resolve_chat_model("default", tmp_path, 1) == path


@pytest.mark.usefixtures("copying")
def test_stopping_at_the_choice_keeps_what_was_fetched(shipped, tmp_path):
    def stop(stage, *_):
        if stage.startswith("measuring"):
            raise Cancelled

    with pytest.raises(Cancelled):
        resolve_chat_model("default", tmp_path, 1, stop)
    assert {each.name for each in shipped.parent.iterdir()} == {".lock", shipped.name}


def test_a_disk_that_fills_up_under_llama_cpp(shipped, tmp_path):
    # A real one: it cannot read this file as a model, and gives the same code for both.
    with pytest.raises(ModelFetchError, match=r"could not write SmolLM2.* as Q8_0, most likely"):
        resolve_chat_model("default", tmp_path, 1)
    assert {each.name for each in shipped.parent.iterdir()} == {".lock", shipped.name}


def test_a_read_only_cache_that_is_complete_serves(tmp_path, embedder_path, monkeypatch):
    place = store.EMBEDDER.path(tmp_path)
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
