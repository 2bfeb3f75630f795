"""The journal tells whether files are those that the last write left."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from retrieval.index.files import Journal, JournalEntry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "vectors" / "a.bin"
    file.parent.mkdir()
    file.write_bytes(b"whole")
    os.utime(file, ns=(0, 0))  # clocks of file systems are coarse
    return file


@pytest.fixture
def journal(file: Path, tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.json", lambda: list(file.parent.iterdir()))


def change(file: Path) -> None:
    file.write_bytes(b"whole and more")


def rewrite(file: Path) -> None:
    """The same size, as when vectors are written over others."""
    file.write_bytes(b"other")


def remove(file: Path) -> None:
    file.unlink()


def add(file: Path) -> None:
    file.with_name("b.bin").touch()


def test_without_a_write_there_is_no_revision_and_nothing_torn(journal: Journal) -> None:
    assert journal.read() == JournalEntry("")
    assert not journal.is_torn(journal.read())


def test_every_write_has_a_revision_of_its_own(journal: Journal) -> None:
    revisions = [journal.begin(), journal.end(), journal.begin(), journal.end()]
    assert len(set(revisions)) == 4
    assert journal.read().revision == revisions[-1]


@pytest.mark.parametrize("act", [change, rewrite, remove, add])
@pytest.mark.parametrize("in_a_write", [True, False])
def test_files_changed_since_the_last_write_ended_are_torn(
    journal: Journal, file: Path, act: Callable[[Path], None], in_a_write: bool
) -> None:
    journal.end()
    if in_a_write:
        journal.begin()
    assert not journal.is_torn(journal.read())
    assert not journal.have_changed()
    act(file)
    assert journal.have_changed()
    assert journal.is_torn(journal.read())
    journal.end()
    assert not journal.is_torn(journal.read())


def test_a_copy_of_the_files_is_not_torn(journal: Journal, file: Path, tmp_path: Path) -> None:
    journal.end()
    copy = tmp_path / "copy"
    shutil.copytree(file.parent, copy / "vectors")
    os.utime(copy / "vectors" / "a.bin", ns=(9, 9))
    shutil.copy(tmp_path / "journal.json", copy)
    moved = Journal(copy / "journal.json", lambda: list((copy / "vectors").iterdir()))
    assert not moved.is_torn(moved.read())


@pytest.mark.parametrize(("before", "is_torn"), [(None, False), ({"a.bin": [5, 0]}, True)])
def test_a_journal_without_checksums(
    journal: Journal, tmp_path: Path, before: object, is_torn: bool
) -> None:
    old = {"revision": "r", "before": before}
    (tmp_path / "journal.json").write_text(json.dumps(old), "utf-8")
    assert journal.read().revision == "r"
    assert journal.is_torn(journal.read()) == is_torn


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"{}", b"[1]", b"null"])
def test_files_under_a_journal_that_cannot_be_read_are_taken_for_torn(
    journal: Journal, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "journal.json").write_bytes(content)
    assert journal.is_torn(journal.read())
