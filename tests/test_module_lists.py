"""The lists of modules in the packages' READMEs name every module."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("package", ["assistant", "retrieval"])
def test_every_module_has_a_line(package: str) -> None:
    lines = (ROOT / package / "README.md").read_text("utf-8").splitlines()
    listed = {line.split()[0] for line in lines if line[:1].isalpha() or line.startswith("_")}
    modules = {path.name for path in (ROOT / package).glob("*.py")} - {"__init__.py"}
    folders = {f"{path.parent.name}/" for path in (ROOT / package).glob("*/__init__.py")}
    assert modules | folders <= listed
