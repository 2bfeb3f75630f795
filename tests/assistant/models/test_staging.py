import errno
import os
import threading

import pytest

from assistant.models.download.fetch import made_once
from retrieval.types import Cancelled, ModelFetchError, silent


def writing(text):
    """Makes a file with this text."""

    def make(staging):
        assert list(staging.iterdir()) == []
        (staging / "rest").touch()
        (staging / "made").write_text(text)
        return staging / "made"

    return make


def raising(error):
    def make(staging):
        (staging / "half").touch()
        raise error

    return make


def made(path, make, progress=silent):
    return made_once(path, title="it", progress=progress, make=make)


def test_a_file_is_made_once_and_nothing_else_is_left(tmp_path):
    leftover = tmp_path / "kept" / ".staging-old" / "half"
    leftover.mkdir(parents=True)
    path = tmp_path / "kept" / "file"
    assert made(path, writing("new")).read_text() == "new"
    assert made(path, writing("newer")).read_text() == "new"
    assert {each.name for each in path.parent.iterdir()} == {".lock", "file"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, Cancelled, ZeroDivisionError])
def test_any_exception_passes_and_the_folder_goes(tmp_path, error):
    with pytest.raises(error):
        made(tmp_path / "file", raising(error))
    assert [each.name for each in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "became full while it was made ready; free some space"),
        (errno.EDQUOT, "became full while it was made ready; free some space"),
        (errno.EROFS, "Read-only file system"),
    ],
)
def test_what_the_disk_says_becomes_a_sentence(tmp_path, number, words):
    with pytest.raises(ModelFetchError, match=words):
        made(tmp_path / "file", raising(OSError(number, os.strerror(number))))


def test_a_broken_pipe_is_not_the_disk(tmp_path):
    with pytest.raises(BrokenPipeError):
        made(tmp_path / "file", raising(BrokenPipeError))


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_cache_folder_that_cannot_be_made(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(ModelFetchError, match=r"cannot hold it .*a folder that you may"):
        made(tmp_path / "file" / below / "model", writing("new"))


def test_a_second_worker_waits_says_so_and_finds_the_file(tmp_path, heard):
    found = []

    def second():
        found.append(made(tmp_path / "file", writing("second"), heard).read_text())

    thread = threading.Thread(target=second)

    def make(staging):
        thread.start()
        thread.join(1.2)
        assert thread.is_alive()
        return writing("first")(staging)

    made(tmp_path / "file", make)
    thread.join()
    assert found == ["first"]
    assert heard.stages == ["waiting for another process to finish it"]


def test_waiting_can_be_cancelled(tmp_path):
    caught = []

    def cancel(*_):
        raise Cancelled

    def second():
        with pytest.raises(Cancelled) as error:
            made(tmp_path / "file", writing("second"), cancel)
        caught.append(error)

    def make(staging):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert staging.is_dir()
        return writing("first")(staging)

    assert made(tmp_path / "file", make).read_text() == "first"
    assert len(caught) == 1
