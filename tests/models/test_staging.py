import errno
import os
import threading

import pytest

from assistant.models.download.fetch import install, staging_folder
from retrieval.types import Cancelled, ModelFetchError, silent


def test_the_folder_is_empty_and_removed(tmp_path):
    leftover = tmp_path / "kept" / ".staging-old" / "half"
    leftover.mkdir(parents=True)
    with staging_folder(tmp_path / "kept", title="it", progress=silent) as staging:
        assert list(staging.iterdir()) == []
        (staging / "new").touch()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [".lock"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, Cancelled, ZeroDivisionError])
def test_any_exception_passes_and_the_folder_goes(tmp_path, error):
    with (
        pytest.raises(error),
        staging_folder(tmp_path, title="it", progress=silent) as staging,
    ):
        raise error
    assert not staging.exists()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "became full while it was made ready; free some space"),
        (errno.EDQUOT, "became full while it was made ready; free some space"),
        (errno.EROFS, "Read-only file system"),
    ],
)
def test_what_the_disk_says_becomes_a_sentence(tmp_path, number, words):
    with (
        pytest.raises(ModelFetchError, match=words),
        staging_folder(tmp_path, title="it", progress=silent),
    ):
        raise OSError(number, os.strerror(number))


def test_a_broken_pipe_is_not_the_disk(tmp_path):
    with (
        pytest.raises(BrokenPipeError),
        staging_folder(tmp_path, title="it", progress=silent),
    ):
        raise BrokenPipeError


def test_a_second_worker_waits_and_says_so(tmp_path, heard):
    order = []

    def second():
        with staging_folder(tmp_path, title="the model", progress=heard):
            order.append("second")

    with staging_folder(tmp_path, title="the model", progress=silent):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(1.2)
        assert thread.is_alive()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert heard.stages == ["waiting for another process to finish the model"]


def test_waiting_can_be_cancelled(tmp_path):
    caught = []

    def cancel(*_):
        raise Cancelled

    def second():
        try:
            with staging_folder(tmp_path, title="it", progress=cancel):
                pass
        except Cancelled as error:
            caught.append(error)

    with staging_folder(tmp_path, title="it", progress=silent) as staging:
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert staging.is_dir()
    assert len(caught) == 1


def test_install_replaces_what_was_there(tmp_path):
    source, target = tmp_path / "new", tmp_path / "kept"
    source.write_text("new")
    target.write_text("old")
    install(source, target)
    assert target.read_text() == "new"
    assert not source.exists()
