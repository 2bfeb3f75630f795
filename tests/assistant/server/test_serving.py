"""Several people at once with the real models: whole answers, and a model free after a stop.

The long version, with figures, is tests/benchmarks/bench_serving.py.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread

import pytest
from test_service import serving

from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.pipeline.assistant import Assistant
from assistant.server.service import Service
from assistant.settings import AnswerSettings, WritingMode, WritingSettings
from assistant.types import (
    Answer,
    Completed,
    EvidenceSelected,
    Reranked,
    Retrieved,
    answer_json,
    dumps,
)
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import Cancelled

QUESTIONS = (
    "What accuracy does the classifier or the vision model reach?",  # two papers compete for it
    "Which network forecasts tidal currents near harbours?",
    "What falls when a recogniser is adapted to whispers?",
    "Does ZebraPrune need retraining?",
)


@pytest.fixture(scope="module")
def service(
    library: Library,
    chat_model: LlamaCppChatModel,
    reader: Reader,
    verifier: Verifier,
    tmp_path_factory: pytest.TempPathFactory,
) -> Service:
    """Over the small library; all is answered, and the model writes, as better ones do."""
    writing = WritingSettings(mode=WritingMode.FREE, max_tokens=40)
    settings = AnswerSettings(least_confidence=-1.0, writing=writing)
    assistant = Assistant(library, chat_model, reader, verifier, settings)
    return serving(assistant, tmp_path_factory.mktemp("serving"))


def whole(answer: Answer) -> str:
    """Everything of an answer that does not depend on the clock."""
    fields = answer_json(answer, None, 0)
    del fields["timings"]
    return dumps(fields)


def ask(service: Service, question: str) -> str:
    *_, last = service.ask(question)
    assert isinstance(last, Completed)
    return whole(last.answer)


@pytest.fixture(scope="module")
def alone(service: Service) -> dict[str, str]:
    """What each question is answered where nobody else asks."""
    return {question: ask(service, question) for question in QUESTIONS}


def test_two_at_once_get_the_answers_that_each_gets_alone(
    service: Service, alone: dict[str, str]
) -> None:
    def converse(questions: tuple[str, ...]) -> list[str]:
        return [ask(service, question) for question in questions]

    with ThreadPoolExecutor(2) as people:
        told = list(people.map(converse, [QUESTIONS[:2], QUESTIONS[2:]]))
    assert [*told[0], *told[1]] == [alone[question] for question in QUESTIONS]
    assert len(service.queue) == 0


def at_look(number: int) -> Callable[[], bool]:
    """Becomes true the given time that it is asked, and stays so."""
    looks: list[int] = []

    def stopped() -> bool:
        looks.append(1)
        return len(looks) >= number

    return stopped


def while_the_model_is_at_work() -> bool:
    return current_thread().name == "stopping"


@pytest.mark.parametrize(
    "stopped", [at_look(1), at_look(4), at_look(20), while_the_model_is_at_work]
)
def test_a_stop_frees_the_model_and_leaves_nothing_behind(
    service: Service, alone: dict[str, str], stopped: Callable[[], bool]
) -> None:
    with pytest.raises(Cancelled):
        list(service.ask(QUESTIONS[0], stopped=stopped))
    assert len(service.queue) == 0
    assert ask(service, QUESTIONS[1]) == alone[QUESTIONS[1]]


@pytest.mark.parametrize("stage", [Retrieved, Reranked, EvidenceSelected])
def test_a_stop_in_any_stage_frees_the_model(
    service: Service, alone: dict[str, str], stage: type
) -> None:
    events = service.ask(QUESTIONS[0])
    next(event for event in events if isinstance(event, stage))
    events.close()
    assert len(service.queue) == 0
    assert ask(service, QUESTIONS[3]) == alone[QUESTIONS[3]]
