"""Many at once: places, figures and endings of questions whose answers the test writes."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import Asking, FakeChatModel, FakeReader, answered, paper
from prometheus_client.parser import text_string_to_metric_families

from assistant.models.llama.decoding import Sampling
from assistant.server.jobs.queue import RequestQueue
from assistant.server.jobs.setup import SetupState
from assistant.server.service import Service, Waiting
from assistant.settings import Settings
from assistant.types import Completed, Event, Outcome, Retrieved, Turn
from retrieval.search.rerank import Ranking
from retrieval.types import BusyError, Cancelled, InputError, LibraryError, NotReadyError

PATIENCE = 60
"""Seconds after which something hangs."""
ENDS = {
    "answered?": Outcome.ANSWERED,
    "silent?": Outcome.ABSTRACT_SILENT,
    "nowhere?": Outcome.NOT_IN_LIBRARY,
}
FAILURES = {"broken?": ZeroDivisionError(), "unreadable?": LibraryError("No papers.")}


class ScriptedAssistant:
    """Ends each question as its words say, once the test lets it."""

    model = FakeChatModel()

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.at_work = threading.Semaphore(0)
        """Released when a question is begun."""
        self.go_on = threading.Event()
        self.go_on.set()

    def stream(
        self,
        question: str,
        _history: Sequence[Turn],
        stopped: Callable[[], bool],
        _sampling: Sampling,
    ) -> Iterator[Event]:
        self.begun.append(question)
        yield Retrieved(question, ())
        self.at_work.release()
        while not self.go_on.wait(0.001):
            if stopped():
                raise Cancelled
        if stopped():
            raise Cancelled
        if question in FAILURES:
            raise FAILURES[question]
        answer = answered(paper(), "It does not need retraining.", question)
        yield Completed(replace(answer, outcome=ENDS.get(question, Outcome.ANSWERED)))


@pytest.fixture
def engine() -> ScriptedAssistant:
    return ScriptedAssistant()


@pytest.fixture
def service(engine: ScriptedAssistant, tmp_path: Path) -> Service:
    return serving(engine, tmp_path)


def serving(assistant: object, folder: Path) -> Service:
    """A service that is set up already."""
    service = Service(Settings(home=folder, cache=folder))
    setup: Any = SimpleNamespace(state=SetupState(assistant=assistant))  # type: ignore[arg-type]
    service.setup = setup
    return service


def final(service: Service, question: str, **asked: Any) -> str:
    """The question that the last event answers."""
    *_, last = service.ask(question, **asked)
    assert isinstance(last, Completed)
    return last.answer.question


def figure(service: Service, name: str, **labels: str) -> float:
    """A figure as Prometheus reads it."""
    families = text_string_to_metric_families(service.metrics.text().decode())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    )


def outcomes(service: Service) -> dict[str, float]:
    """How many questions had which end."""
    families = text_string_to_metric_families(service.metrics.text().decode())
    return {
        sample.labels["outcome"]: sample.value
        for family in families
        for sample in family.samples
        if sample.name == "assistant_questions_total"
    }


def wait_for(condition: Callable[[], bool]) -> None:
    """Until `condition`; what never comes fails the test."""
    patience = threading.Event()
    for _ in range(PATIENCE * 100):
        if condition():
            return
        patience.wait(0.01)
    pytest.fail("it never came")


@pytest.mark.parametrize("question", ENDS)
def test_an_answer_is_counted_once_with_its_tokens_and_stages(
    service: Service, question: str
) -> None:
    assert final(service, question) == question
    assert outcomes(service) == {ENDS[question].value: 1}
    assert figure(service, "assistant_tokens_total", kind="prompt") == 10
    assert figure(service, "assistant_tokens_total", kind="completion") == 5
    stages = {"retrieval": 0.1, "rerank": 0.0, "first_token": 0.2, "total": 0.3}
    for stage, seconds in stages.items():
        assert figure(service, "assistant_stage_seconds_count", stage=stage) == 1
        assert figure(service, "assistant_stage_seconds_sum", stage=stage) == seconds
    assert figure(service, "assistant_stage_seconds_count", stage="queue") == 1
    assert b"_created" not in service.metrics.text(), "half of the figures would be noise"


@pytest.mark.parametrize(
    ("question", "error", "outcome"),
    [
        ("broken?", ZeroDivisionError, "failed"),
        ("unreadable?", LibraryError, "refused"),
        (" ", InputError, "refused"),
        ("why " * 600, InputError, "refused"),
    ],
)
def test_a_question_that_fails_is_counted_once_and_leaves_the_model_free(
    service: Service, question: str, error: type[Exception], outcome: str
) -> None:
    with pytest.raises(error):
        list(service.ask(question))
    assert outcomes(service) == {outcome: 1}
    assert len(service.queue) == 0
    assert final(service, "answered?") == "answered?"


def test_a_question_too_long_does_not_wait_to_be_told_so(
    service: Service, engine: ScriptedAssistant
) -> None:
    with service.queue.enter(), pytest.raises(InputError, match="at most 2,000"):
        service.ask("why " * 600)
    assert engine.begun == []


def test_before_the_setup_has_ended_every_question_is_refused_at_once(tmp_path: Path) -> None:
    service = serving(None, tmp_path)
    with pytest.raises(NotReadyError, match="is being set up"):
        service.ask("answered?")
    with pytest.raises(NotReadyError):
        asyncio.run(service.search_async("answered?", 5, reranked=True))
    assert outcomes(service) == {"refused": 1}


def test_a_full_line_refuses_in_place_of_the_first_event(service: Service) -> None:
    service.queue = RequestQueue(longest=1)
    with service.queue.enter(), pytest.raises(BusyError):
        next(service.ask("answered?"))
    assert outcomes(service) == {"refused": 1}
    assert final(service, "answered?") == "answered?"


def test_one_owner_leaves_places_for_others(service: Service) -> None:
    service.queue = RequestQueue(longest=2)
    with service.queue.enter("ann"):
        with pytest.raises(BusyError, match="of your questions"):
            next(service.ask("answered?", owner="ann"))
        waiting = service.ask("answered?", owner="bob")
        assert isinstance(next(waiting), Waiting)
    assert isinstance(list(waiting)[-1], Completed)


def test_a_question_nobody_began_to_read_takes_no_place(
    service: Service, engine: ScriptedAssistant
) -> None:
    unread = service.ask("answered?")
    assert len(service.queue) == 0
    unread.close()
    del unread
    assert outcomes(service) == {}
    assert engine.begun == []


def test_the_model_is_free_before_the_answer_is_read(service: Service) -> None:
    events = service.ask("answered?")
    assert isinstance(next(events), Retrieved)
    wait_for(lambda: len(service.queue) == 0)
    assert final(service, "silent?") == "silent?"
    assert isinstance(next(events), Completed)


@pytest.mark.parametrize("how", ["closed", "forgotten", "stopped"])
def test_who_no_longer_wants_an_answer_frees_the_model(
    service: Service, engine: ScriptedAssistant, how: str
) -> None:
    engine.go_on.clear()
    stop = threading.Event()
    events = service.ask("answered?", stopped=stop.is_set)
    next(events)
    assert len(service.queue) == 1
    if how == "closed":
        events.close()
    elif how == "stopped":
        stop.set()
        with pytest.raises(Cancelled):
            next(events)
    del events
    assert len(service.queue) == 0
    assert outcomes(service) == {"stopped": 1}


@pytest.mark.parametrize("how", ["closed", "forgotten", "stopped"])
def test_who_no_longer_waits_lets_the_next_one_move_on(
    service: Service, engine: ScriptedAssistant, how: str
) -> None:
    stop = threading.Event()
    with service.queue.enter():
        waiting, behind = service.ask("silent?", stopped=stop.is_set), service.ask("answered?")
        first = next(waiting)
        assert isinstance(first, Waiting)
        assert first.ahead == 1
        later = next(behind)
        assert isinstance(later, Waiting)
        assert later.ahead == 2
        if how == "closed":
            waiting.close()
        elif how == "stopped":
            stop.set()
            with pytest.raises(Cancelled):
                list(waiting)
        del waiting
        assert len(service.queue) == 2
        assert next(event for event in behind if event == Waiting(1, None))
    assert isinstance(list(behind)[-1], Completed)
    assert engine.begun == ["answered?"]
    assert outcomes(service) == {"stopped": 1, "answered": 1}


def test_a_question_that_breaks_breaks_no_other(
    service: Service, engine: ScriptedAssistant
) -> None:
    engine.go_on.clear()
    with ThreadPoolExecutor(3) as people:
        asked = []
        for question in ("broken?", "answered?", "unreadable?"):
            asked.append(people.submit(final, service, question))
            wait_for(lambda: len(service.queue) == len(asked))
        engine.go_on.set()
        with pytest.raises(ZeroDivisionError):
            asked[0].result(PATIENCE)
        assert asked[1].result(PATIENCE) == "answered?"
        with pytest.raises(LibraryError):
            asked[2].result(PATIENCE)
    assert outcomes(service) == {"failed": 1, "answered": 1, "refused": 1}


def test_when_the_server_ends_nobody_waits_on(service: Service, engine: ScriptedAssistant) -> None:
    engine.go_on.clear()
    with ThreadPoolExecutor(5) as people:
        asked = [people.submit(final, service, f"question {number}?") for number in range(5)]
        assert engine.at_work.acquire(timeout=PATIENCE)
        service.close()
        for each in asked:
            with pytest.raises(Cancelled):
                each.result(PATIENCE)
    with pytest.raises(Cancelled):
        service.ask("answered?")
    assert len(service.queue) == 0
    assert outcomes(service) == {"stopped": 6}


def test_eight_people_with_five_questions_each_get_their_own_answers_in_order(
    service: Service, engine: ScriptedAssistant
) -> None:
    def converse(person: int) -> list[str]:
        return [final(service, f"question {number} of {person}?") for number in range(5)]

    engine.go_on.clear()
    with ThreadPoolExecutor(8) as people:
        conversations = []
        for person in range(8):
            conversations.append(people.submit(converse, person))
            wait_for(lambda: len(service.queue) == len(conversations))
        engine.go_on.set()
        for person, conversation in enumerate(conversations):
            assert conversation.result(PATIENCE) == [
                f"question {number} of {person}?" for number in range(5)
            ]
    assert engine.begun[:8] == [f"question 0 of {person}?" for person in range(8)]
    assert outcomes(service) == {"answered": 40}
    assert len(service.queue) == 0


def test_stops_at_any_moment_count_each_question_once(service: Service) -> None:
    chances = [threading.Event() for _ in range(24)]

    def ask(number: int) -> str:
        try:
            return final(service, "answered?", stopped=chances[number].is_set)
        except Cancelled:
            return "stopped"

    with ThreadPoolExecutor(24) as people:
        ends = [people.submit(ask, number) for number in range(24)]
        for chance in chances[::2]:
            chance.set()
        told = [end.result(PATIENCE) for end in ends]
    assert set(told[1::2]) == {"answered?"}
    assert len(service.queue) == 0
    assert sum(outcomes(service).values()) == 24
    assert set(outcomes(service)) <= {"answered", "stopped"}
    assert not [thread for thread in threading.enumerate() if thread.name == "writing"]


def test_a_search_waits_for_its_turn_and_can_be_stopped_meanwhile(
    asking: Asking, tmp_path: Path
) -> None:
    assistant, _ = asking(reader=FakeReader({"lichen": "photographs"}))
    service = serving(assistant, tmp_path)

    def search(*, reranked: bool = True, seconds: float = PATIENCE) -> Ranking:
        found = service.search_async("Which photographs?", 2, reranked=reranked)
        return asyncio.run(asyncio.wait_for(found, seconds))

    with service.queue.enter():
        with pytest.raises(TimeoutError):
            search(seconds=0.05)
        assert search(reranked=False).passages
        wait_for(lambda: len(service.queue) == 1)
    assert search().passages[0].paper.id == "lichen"
    wait_for(lambda: len(service.queue) == 0)
    assert figure(service, "assistant_stage_seconds_count", stage="queue") == 1
    assert outcomes(service) == {}


def test_the_real_engine_answers_through_it(asking: Asking, tmp_path: Path) -> None:
    question = "How many of the weights does ZebraPrune remove?"
    assistant, _ = asking("ZebraPrune removes 40% of the weights [1].")
    alone = assistant.answer(question)
    assistant, _ = asking("ZebraPrune removes 40% of the weights [1].")
    *_, last = serving(assistant, tmp_path).ask(question)
    assert isinstance(last, Completed)
    assert last.answer.text == alone.text
