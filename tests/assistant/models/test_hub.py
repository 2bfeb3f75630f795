import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import namedtuple

import pytest
from huggingface_hub import constants

from assistant.models.download.hub import HubFile, cached_hub_files, fetch_hub_file, parse_spec
from retrieval.types import Cancelled, InputError, ModelFetchError, silent

WANTED = HubFile("someone/tiny-GGUF", "q8/tiny.gguf")
PAGE = "/someone/tiny-GGUF/resolve/main/q8/tiny.gguf"
COMMIT = "c0ffee" * 6 + "c0ff"
SCRIPT = """
import sys
from pathlib import Path
from assistant.models.download.hub import fetch_hub_file, parse_spec

def show(stage, done, total, unit):
    print(done, flush=True)

fetch_hub_file(parse_spec("hf:someone/tiny-GGUF:q8/tiny.gguf"), Path(sys.argv[1]), show)
"""


def look_at(monkeypatch, address):
    """Let huggingface_hub, which read the environment when it was imported, ask this address."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", address)


@pytest.fixture
def hub(site, monkeypatch):
    """A stand-in for the hub with one file, as huggingface_hub asks for it."""
    content = b"GGUF" + os.urandom(2**20)
    site.pages[PAGE] = content
    site.headers[PAGE] = {"X-Repo-Commit": COMMIT, "ETag": '"abc"'}
    look_at(monkeypatch, site.address)
    return site


def fails_with(hub, status, code):
    del hub.pages[PAGE]
    hub.errors[PAGE] = (status, {"X-Error-Code": code, "X-Repo-Commit": COMMIT})


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def test_a_file_is_fetched_once(hub, tmp_path, heard):
    path = fetch_hub_file(WANTED, tmp_path, heard)
    assert path == tmp_path / "hub" / "someone" / "tiny-GGUF" / "q8" / "tiny.gguf"
    assert path.read_bytes() == hub.pages[PAGE]
    assert files_in(tmp_path) == ["tiny.gguf"]
    size = len(hub.pages[PAGE])
    assert heard.calls[-1] == ("fetching hf:someone/tiny-GGUF:q8/tiny.gguf", size, size, "B")
    hub.asked.clear()
    assert fetch_hub_file(WANTED, tmp_path, silent) == path
    assert hub.asked == []


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (404, "RepoNotFound", "There is no repository someone/tiny-GGUF on the Hugging Face hub"),
        (404, "EntryNotFound", r"There is no file 'q8/tiny\.gguf' in someone/tiny-GGUF"),
        (403, "GatedRepo", "asks for its terms to be accepted first; .*HF_TOKEN"),
        (400, "", r"could not be fetched \(.*400 Bad Request.*\); check the network"),
    ],
)
def test_what_the_hub_refuses_becomes_a_sentence(hub, tmp_path, status, code, words):
    fails_with(hub, status, code)
    with pytest.raises(ModelFetchError, match=words) as caught:
        fetch_hub_file(WANTED, tmp_path, silent)
    assert "\n" not in str(caught.value)
    assert files_in(tmp_path) == []


def test_a_hub_that_cannot_be_reached(tmp_path, monkeypatch):
    look_at(monkeypatch, "http://127.0.0.1:9")
    with pytest.raises(ModelFetchError, match=r"could not be fetched .*check the network"):
        fetch_hub_file(WANTED, tmp_path, silent)


def test_a_file_that_is_no_gguf(hub, tmp_path):
    hub.pages[PAGE] = b"<html>"
    with pytest.raises(ModelFetchError, match=r"is not a GGUF model \(it starts with b'<htm'"):
        fetch_hub_file(WANTED, tmp_path, silent)
    assert files_in(tmp_path) == []


@pytest.mark.usefixtures("hub")
def test_too_little_room_stops_the_download(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ModelFetchError, match=r"has 0 MB free but hf:someone.* needs 1 MB"):
        fetch_hub_file(WANTED, tmp_path, silent)


def test_cancelling_half_way_leaves_nothing(hub, tmp_path, heard_until):
    hub.pages[PAGE] = b"GGUF" + os.urandom(24_000_000)
    hub.pause = 0.03
    progress = heard_until(10_000_000)  # huggingface_hub reports every 10 MB
    with pytest.raises(Cancelled):
        fetch_hub_file(WANTED, tmp_path, progress)
    assert progress.calls[-1][1] < 20_000_000
    assert files_in(tmp_path) == []
    for thread in threading.enumerate():
        if thread.name == "fetching":
            thread.join(30)
            assert not thread.is_alive()
    assert files_in(tmp_path) == []


def test_ctrl_c_leaves_nothing(hub, tmp_path):
    hub.pages[PAGE] = b"GGUF" + os.urandom(24_000_000)
    hub.pause = 0.03
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, tmp_path],
        env={**os.environ, "HF_ENDPOINT": hub.address},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert any(int(line) > 0 for line in process.stdout)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert files_in(tmp_path) == []


def test_a_spec_is_read():
    assert parse_spec("hf:someone/tiny-GGUF:q8/tiny.gguf") == WANTED
    assert WANTED.spec == "hf:someone/tiny-GGUF:q8/tiny.gguf"


@pytest.mark.parametrize(
    "spec",
    [
        "hf:",
        "hf:owner:file.gguf",
        "hf:owner/repo",
        "hf:owner/repo:file.bin",
        "hf:owner/repo:",
        "hf:../repo:file.gguf",
        "hf:owner/repo:../../file.gguf",
        "hf:owner/repo:/file.gguf",
        "hf:owner/repo/more:file.gguf",
        "hf:owner/repo:model-00001-of-00002.gguf",
    ],
)
def test_another_form_is_refused(spec):
    with pytest.raises(InputError, match=r"expected hf:owner/repo:file\.gguf|one part of a model"):
        parse_spec(spec)


def test_the_cached_files_are_listed(tmp_path):
    for place in ["a/b/x.gguf", "a/b/q/y.gguf", "a/b/.staging-1/half.gguf", "a/b/readme.md"]:
        path = tmp_path / "hub" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [each.spec for each in cached_hub_files(tmp_path)] == [
        "hf:a/b:q/y.gguf",
        "hf:a/b:x.gguf",
    ]
    assert list(cached_hub_files(tmp_path / "nothing")) == []
