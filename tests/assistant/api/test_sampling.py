"""`temperature` and `seed` of a request: they act on a model that writes freely, or are noted."""

from pathlib import Path
from typing import Any

import pytest
from fakes import Asking, FakeReader
from fastapi import FastAPI
from fastapi.testclient import TestClient

from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.server.api.chat_completions import chat_routes
from assistant.server.jobs.setup import SetupState
from assistant.server.service import Service
from assistant.settings import AnswerSettings, Settings, WritingMode, WritingSettings

WRITTEN = "ZebraPrune removes 40% of the weights of a vision model. [1]"


@pytest.mark.parametrize(
    ("mode", "options", "sampling", "notes"),
    [
        (WritingMode.FREE, {"temperature": 0.7, "seed": 5}, Sampling(0.7, 5), 0),
        (WritingMode.FREE, {}, LIKELIEST, 0),
        (WritingMode.QUOTE, {"temperature": 0.7}, None, 1),
        (WritingMode.QUOTE, {"seed": 5}, None, 1),
        (WritingMode.QUOTE, {"temperature": 0}, None, 0),
    ],
)
def test_sampling_acts_where_the_model_writes_freely_and_is_noted_elsewhere(
    asking: Asking,
    tmp_path: Path,
    mode: WritingMode,
    options: dict[str, Any],
    *,
    sampling: Sampling | None,
    notes: int,
) -> None:
    settings = AnswerSettings(least_confidence=-1.0, writing=WritingSettings(mode=mode))
    reader = FakeReader({"zebra": "removes"})
    assistant, model = asking(WRITTEN, settings=settings, reader=reader)
    service = Service(Settings(home=tmp_path, cache=tmp_path))
    service.setup._state = SetupState(assistant=assistant)
    app = FastAPI()
    app.include_router(chat_routes(service))
    question = {"role": "user", "content": "What does ZebraPrune remove?"}
    reply = TestClient(app).post("/v1/chat/completions", json={"messages": [question], **options})
    found = reply.json()["assistant"]["notes"]
    assert len(found) == notes
    assert all("`temperature` and `seed` had no effect" in note for note in found)
    assert model.samplings == ([] if sampling is None else [sampling])
