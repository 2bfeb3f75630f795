"""Which model the adapter belongs to, and what happens where its file is not right."""

from pathlib import Path

import gguf
import numpy as np
import pytest
from grids import thinned

from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.trained import (
    ADAPTER,
    BASE_KEY,
    FileFacts,
    base_of,
    is_base,
    norms_fingerprint,
)
from assistant.pipeline import startup
from assistant.settings import Settings, WritingMode
from retrieval.types import ModelError, silent

MOST_BYTES = 12_000_000


def adapter_for(path: Path, base: str, architecture: str = "llama") -> Path:
    """An adapter that names `base` and changes nothing that llama.cpp knows."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 1.0)
    writer.add_string(BASE_KEY, base)
    for part in ("lora_a", "lora_b"):
        writer.add_tensor(f"blk.0.attn_q.weight.{part}", np.zeros((1, 7), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def facts(tmp_path: Path) -> FileFacts:
    return FileFacts(tmp_path / "facts.json")


@pytest.fixture
def model(chat_model_path: Path) -> LlamaCppChatModel:
    return LlamaCppChatModel(chat_model_path, context=1024, threads=1)


@pytest.fixture(scope="module")
def unadapted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that remembers how well the model writes without an adapter."""
    return tmp_path_factory.mktemp("unadapted")


def test_it_is_small_and_belongs_to_the_default_model(
    chat_model_path: Path, embedder_path: Path, facts: FileFacts
) -> None:
    assert ADAPTER.stat().st_size <= MOST_BYTES
    assert is_base(chat_model_path, facts, ADAPTER)
    assert is_base(chat_model_path, facts, ADAPTER)  # as remembered
    assert not is_base(embedder_path, facts, ADAPTER)


def test_the_fingerprint_does_not_depend_on_the_type_of_the_matrices(tmp_path: Path) -> None:
    found = set()
    for dtype in (np.float16, np.float32):
        path = tmp_path / f"{np.dtype(dtype).name}.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_tensor("blk.0.attn_norm.weight", np.arange(8, dtype=np.float32))
        writer.add_tensor("blk.0.attn_q.weight", np.ones((8, 8), dtype=dtype))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        found.add(norms_fingerprint(path))
    assert len(found) == 1


@pytest.mark.parametrize("content", [None, b"", b"GGUF", b"GGUF" + b"\xff" * 40, b"not a model"])
def test_a_missing_or_torn_file_is_an_error_with_what_to_do(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "writer.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match="missing or damaged, so it is left out; install"):
        base_of(path)


@pytest.mark.parametrize(
    "fault", thinned(["missing", "torn", "other llama.cpp", "cut", "other shapes"], 2)
)
def test_with_a_file_that_cannot_be_used_the_app_quotes_and_says_so(  # noqa: PLR0917
    fault: str,
    tmp_path: Path,
    unadapted: Path,
    model: LlamaCppChatModel,
    verifier: Verifier,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "writer.gguf"
    match fault:
        case "torn":
            path.write_bytes(ADAPTER.read_bytes()[:100])
        case "cut":
            path.write_bytes(ADAPTER.read_bytes()[:1_000_000])
        case "other llama.cpp":
            adapter_for(path, base_of(ADAPTER), "gemma2")
        case "other shapes":
            adapter_for(path, base_of(ADAPTER))
    monkeypatch.setattr(startup, "ADAPTER", path)
    settings = Settings(cache=unadapted)
    assert startup.writing_mode(model, verifier, settings, silent) is WritingMode.QUOTE
    [notice] = [line for line in capsys.readouterr().err.splitlines() if "assistant: " in line]
    assert str(path) in notice


@pytest.mark.parametrize("chosen", ["default", "/models/other.gguf"])
def test_an_adapter_of_another_base_is_not_used(  # noqa: PLR0917
    chosen: str,
    tmp_path: Path,
    unadapted: Path,
    model: LlamaCppChatModel,
    verifier: Verifier,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(startup, "ADAPTER", adapter_for(tmp_path / "w.gguf", "0" * 64))
    settings = Settings(cache=unadapted, model=chosen)
    assert startup.writing_mode(model, verifier, settings, silent) is WritingMode.QUOTE
    notice = capsys.readouterr().err
    assert ("was trained on another model" in notice) == (chosen == "default")


def test_without_it_the_default_model_quotes(
    unadapted: Path, model: LlamaCppChatModel, verifier: Verifier
) -> None:
    settings = Settings(cache=unadapted, adapter=False)
    assert startup.writing_mode(model, verifier, settings, silent) is WritingMode.QUOTE


def test_with_it_the_default_model_writes_briefly_and_the_verdict_is_remembered(
    tmp_path: Path, model: LlamaCppChatModel, verifier: Verifier
) -> None:
    settings = Settings(cache=tmp_path)
    asked = []

    def progress(stage: str, *_: object) -> None:
        asked.append(stage)

    assert startup.writing_mode(model, verifier, settings, progress) is WritingMode.BRIEF
    assert asked
    asked.clear()
    assert startup.writing_mode(model, verifier, settings, progress) is WritingMode.BRIEF
    assert not asked
