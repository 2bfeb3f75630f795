"""Damaged files: a sentence or a repair, never a crash, never a silent wrong result."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("damaging.py")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The outcome of the whole library first, then those of damaged copies."""
    ended = subprocess.run(
        [sys.executable, PROGRAM, tmp_path_factory.mktemp("damage")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_every_damaged_file_is_told_of_or_repaired(outcomes: list[dict[str, Any]]) -> None:
    whole, *damaged = outcomes
    assert len(whole["before"]) == 30
    assert len(damaged) > 30
    for each in damaged:
        for said in (each["before"], each["after"]):
            assert said == whole["before"] or "`assistant " in said, each
    assert {each["file"].rpartition("/")[2] for each in damaged if each["said"]} <= {
        "chroma.sqlite3"
    }


def test_all_but_the_records_can_be_made_anew(outcomes: list[dict[str, Any]]) -> None:
    whole, *damaged = outcomes
    for each in damaged:
        if not each["file"].endswith(".sqlite3"):
            assert each["after"] == whole["before"], each


def test_damaged_counts_are_counted_anew(outcomes: list[dict[str, Any]]) -> None:
    whole, *damaged = outcomes
    assert whole["counts"]["papers"] == 30
    of_counts = [each for each in damaged if each["file"] == "overview.json"]
    assert [each["counts"] for each in of_counts] == [whole["counts"]] * 2


def test_damaged_vectors_do_not_end_the_process(outcomes: list[dict[str, Any]]) -> None:
    vectors = [each for each in outcomes if each["file"].endswith("data_level0.bin")]
    assert len(vectors) == 4  # of chunks and of papers
    assert all(
        "damaged, by an interrupted write or on the disk" in each["before"] for each in vectors
    )
