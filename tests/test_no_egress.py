"""The proof that nothing needs another machine: the smoke path in a network without a route."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SMOKE = Path(__file__).with_name("offline_smoke.py")
ROOT = SMOKE.parents[1]
ALONE = ["unshare", "--net", *(() if os.geteuid() == 0 else ("--map-root-user",))]
"""Begins a process whose network has no route; without root in a user namespace of its own."""


def _can_be_alone() -> bool:
    has_command = shutil.which("unshare") is not None
    return has_command and subprocess.run([*ALONE, "true"], check=False).returncode == 0


@pytest.mark.skipif(not _can_be_alone(), reason="needs network namespaces, which Linux has")
def test_everything_works_without_a_network(
    cache: Path, embedder_path: Path, tmp_path: Path
) -> None:
    assert (cache.exists(), embedder_path.exists()) == (True, True)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{SMOKE.parent}"}
    command = [*ALONE, sys.executable, str(SMOKE), str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("ALL DONE WITHOUT A NETWORK\n")
