"""How fast a model is: figures that fit what it was seen to do."""

import time
from collections.abc import Callable

import pytest
from fakes import FakeChatModel

from assistant.models.chat import LlamaCppChatModel, measure
from assistant.server.service import Service
from assistant.settings import Settings
from retrieval.types import Cancelled, NotReadyError, never


def test_a_real_model_reads_faster_than_it_writes(chat_model: LlamaCppChatModel) -> None:
    speed = measure(chat_model, never)
    assert speed.reading > speed.writing > 0


def test_tokens_and_seconds_are_those_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    # Asked for the time before, after the first word and after every other: 2 s, then 0.5 s each.
    times = iter([10.0, *(12.0 + 0.5 * at for at in range(5))])
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    model = FakeChatModel("five words is a story")
    speed = measure(model, never)
    assert speed.writing == pytest.approx(2.0)
    assert speed.reading == pytest.approx(model.count(model.history[0]) / 2)


def test_a_measurement_can_be_stopped(load_chat_model: Callable[[], LlamaCppChatModel]) -> None:
    with pytest.raises(Cancelled):
        measure(load_chat_model(), lambda: True)


def test_nothing_is_measured_before_there_is_a_model() -> None:
    service = Service(Settings())
    with pytest.raises(NotReadyError):
        service.measure_speed()
    assert (service.speed, len(service.queue)) == (None, 0)
