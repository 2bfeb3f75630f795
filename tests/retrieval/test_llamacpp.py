"""Loading models where the processor announces what does not work."""

from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from retrieval.encoders import llamacpp

BINDINGS: Any = llama_cpp.llama_cpp
WITH_AMX = b"CPU : AVX2 = 1 | AMX_INT8 = 1 | REPACK = 1 | "
WITHOUT_AMX = b"CPU : AVX2 = 1 | REPACK = 1 | "


@pytest.mark.parametrize(("announced", "extra_layouts"), [(WITH_AMX, False), (WITHOUT_AMX, True)])
def test_amx_and_only_amx_turns_extra_weight_layouts_off(
    monkeypatch: pytest.MonkeyPatch, announced: bytes, *, extra_layouts: bool
) -> None:
    plain = llamacpp._default_parameters
    monkeypatch.setattr(BINDINGS, "llama_model_default_params", plain)
    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: announced)
    llamacpp._avoid_amx()
    assert BINDINGS.llama_model_default_params().use_extra_bufts is extra_layouts


def test_a_model_works_without_extra_weight_layouts(
    monkeypatch: pytest.MonkeyPatch, embedder_path: Path
) -> None:
    plain = llamacpp._default_parameters
    monkeypatch.setattr(BINDINGS, "llama_model_default_params", plain)
    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: WITH_AMX)
    model = llamacpp.load(embedder_path, context=64, threads=1, embedding=True)
    assert model.model_params.use_extra_bufts is False
    assert len(model.embed("herons")) == 384
