"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from retrieval.index.files import write_whole
from retrieval.types import LibraryError


def test_the_file_is_all_that_is_left(tmp_path: Path) -> None:
    write_whole(tmp_path / "library.json", "before")
    write_whole(tmp_path / "library.json", "after")
    assert [path.name for path in tmp_path.iterdir()] == ["library.json"]
    assert (tmp_path / "library.json").read_text("utf-8") == "after"


def test_two_processes_write_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "library.json"
    inner = iter([lambda: write_as(2, "second"), lambda: None])

    def write_as(process: int, text: str) -> None:
        monkeypatch.setattr(os, "getpid", lambda: process)
        write_whole(path, text)

    monkeypatch.setattr(os, "fsync", lambda _file: next(inner)())
    write_as(1, "first")  # while it is being written, the second is written from start to end
    assert path.read_text("utf-8") == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_no_folder_to_write_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", "utf-8")
    with pytest.raises(LibraryError, match="cannot be written"):
        write_whole(tmp_path / "file" / "library.json", "text")
    assert (tmp_path / "file").read_text("utf-8") == "kept"
