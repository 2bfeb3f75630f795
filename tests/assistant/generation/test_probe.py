"""How models are asked, by how they answer made-up questions."""

import json
import os
from pathlib import Path

import pytest
from fakes import FakeChatModel

from assistant.generation import probe as probing
from assistant.generation.probe import LEAST_PASSED, TASKS, Probe
from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.header import FileFacts
from assistant.settings import WritingMode
from retrieval.types import Cancelled

RIGHT = tuple(
    next(f"{note} [{at}]" for at, note in enumerate(task.notes, 1) if task.answer in note)
    for task in TASKS
)
BESIDE = tuple(f"{task.notes[0]} [1]" for task in TASKS)
"""True, and not what was asked."""
LIE = "The notes describe 99 unheard-of giraffes from Vienna [1]."


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "model-facts.json"


@pytest.fixture
def probe(verifier: Verifier, record: Path) -> Probe:
    return Probe(verifier, FileFacts(record))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    return file


def test_every_task_has_one_note_that_answers_it() -> None:
    for task in TASKS:
        assert sum(task.answer in note for note in task.notes) == 1


def test_a_model_that_copies_what_was_asked_passes(probe: Probe) -> None:
    model = FakeChatModel(*RIGHT)
    assert probe.passes(model, WritingMode.FREE)
    assert len(model.history) == LEAST_PASSED  # the others could change nothing


@pytest.mark.parametrize(
    "replies",
    [
        (LIE,) * 6,
        BESIDE,
        ("",) * 6,
        tuple(f"{right} {LIE}" for right in RIGHT),
        ("The notes do not say.",) * 6,
        (*RIGHT[: LEAST_PASSED - 1], LIE, LIE, LIE),
    ],
    ids=["lies", "beside", "silent", "lies later", "does not say", "too few"],
)
def test_a_model_that_does_not(probe: Probe, replies: tuple[str, ...]) -> None:
    assert not probe.passes(FakeChatModel(*replies), WritingMode.FREE)


def test_a_model_that_fails_two_still_passes(probe: Probe) -> None:
    model = FakeChatModel(RIGHT[0], LIE, *RIGHT[2:5], LIE)
    assert probe.passes(model, WritingMode.FREE)


def test_a_model_is_tried_once(probe: Probe, record: Path, file: Path) -> None:
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    assert probe.passes_once(FakeChatModel(), WritingMode.FREE, file)
    assert [path.name for path in record.parent.iterdir()] == [record.name]


def test_a_record_that_cannot_be_kept_costs_only_another_trial(
    verifier: Verifier, file: Path
) -> None:
    probe = Probe(verifier, FileFacts(file / "cache" / "facts.json"))
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    assert not probe.passes_once(FakeChatModel(*BESIDE), WritingMode.FREE, file)


def test_other_rules_ask_for_another_trial(
    probe: Probe, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    monkeypatch.setattr(probing, "PROBE_VERSION", probing.PROBE_VERSION + 1)
    assert not probe.passes_once(FakeChatModel(*BESIDE), WritingMode.FREE, file)


def test_another_file_of_the_same_name_takes_its_own(
    probe: Probe, record: Path, file: Path
) -> None:
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    os.utime(file, (1, 1))
    assert not probe.passes_once(FakeChatModel(*BESIDE), WritingMode.FREE, file)
    assert len(json.loads(record.read_text("utf-8"))) == 2


def test_a_model_with_less_room_or_asked_otherwise_takes_its_own(probe: Probe, file: Path) -> None:
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    assert not probe.passes_once(FakeChatModel(*BESIDE, context=2048), WritingMode.FREE, file)
    assert not probe.passes_once(FakeChatModel(*BESIDE), WritingMode.BRIEF, file)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model.gguf": 3'])
def test_a_damaged_record_counts_as_none(probe: Probe, record: Path, file: Path, text: str) -> None:
    record.parent.mkdir()
    record.write_text(text, "utf-8")
    assert probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file)
    assert probe.passes_once(FakeChatModel(), WritingMode.FREE, file)


def test_progress_is_told_and_may_stop(probe: Probe, record: Path, file: Path) -> None:
    def stop(stage: str, done: int, total: int, unit: str) -> None:
        assert (stage, total, unit) == ("trying out how well the model writes", 6, "questions")
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe.passes_once(FakeChatModel(*RIGHT), WritingMode.FREE, file, stop)
    assert not record.exists()


def test_a_trial_that_is_stopped_within_a_task_leaves_no_verdict(
    probe: Probe, record: Path, file: Path
) -> None:
    model = FakeChatModel(*RIGHT)
    with pytest.raises(Cancelled):
        probe.passes_once(model, WritingMode.FREE, file, stopped=lambda: True)
    assert not record.exists()


def test_the_default_model_writes_with_its_adapter_only(
    probe: Probe, chat_model: LlamaCppChatModel, writing_model: LlamaCppChatModel
) -> None:
    assert not probe.passes(chat_model, WritingMode.FREE)
    assert probe.passes(writing_model, WritingMode.BRIEF)
