"""The wheel carries what the program reads, and works away from its source."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*pip, str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.parametrize("folder", ["prompts", "seeds"])
def test_the_wheel_carries_the_files_unchanged(wheel: Path, folder: str) -> None:
    files = sorted((ROOT / folder).iterdir())
    assert files
    with zipfile.ZipFile(wheel) as archive:
        for file in files:
            assert archive.read(f"assistant/{folder}/{file.name}") == file.read_bytes()


WEIGHTS = (
    "assistant/models/writer.gguf",
    "assistant/models/support.safetensors",
    "assistant/models/cutter.safetensors",
    "retrieval/search/reader.safetensors",
)


@pytest.mark.parametrize("file", WEIGHTS)
def test_the_wheel_carries_the_trained_weights_unchanged(wheel: Path, file: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(file) == (ROOT / file).read_bytes()


def test_the_wheel_carries_style_and_licence_but_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    web = "assistant/server/web"
    files = {f"{web}/static/frame.css", f"{web}/templates/chat.html"}
    assert files | {"assistant/server/api/static/docs.js"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith("tests/") for name in names)


def test_an_installed_copy_finds_its_own_files_from_another_folder(
    wheel: Path, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    subprocess.run([*pip, str(installed), str(wheel)], check=True)
    program = (
        "from assistant.settings import resource_folder as f; "
        "from assistant.generation.prompts import answer_messages; "
        "answer_messages('why?', [], []); print(f('seeds')); print(f('prompts'))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert shown == [str(installed / "assistant" / name) for name in ("seeds", "prompts")]
