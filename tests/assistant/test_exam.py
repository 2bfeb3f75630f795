"""Which models are asked for answers, by how they answer made-up questions."""

import json
import os
from pathlib import Path

import pytest
from fakes import FakeChatModel

from assistant import exam
from assistant.chat_model import LlamaCppChatModel
from assistant.exam import LEAST_PASSED, TASKS, passes, passes_once
from retrieval.errors import Cancelled

RIGHT = tuple(
    next(f"{note} [{at}]" for at, note in enumerate(task.notes, 1) if task.answer in note)
    for task in TASKS
)
BESIDE = tuple(f"{task.notes[0]} [1]" for task in TASKS)
"""True, and not what was asked."""
LIE = "The notes describe 99 unheard-of giraffes from Vienna [1]."


def test_every_task_has_one_note_that_answers_it() -> None:
    for task in TASKS:
        assert sum(task.answer in note for note in task.notes) == 1


def test_a_model_that_copies_what_was_asked_passes() -> None:
    model = FakeChatModel(*RIGHT)
    assert passes(model)
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
def test_a_model_that_does_not(replies: tuple[str, ...]) -> None:
    assert not passes(FakeChatModel(*replies))


def test_a_model_that_fails_two_still_passes() -> None:
    assert passes(FakeChatModel(RIGHT[0], LIE, *RIGHT[2:5], LIE))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    return file


def test_the_exam_is_taken_once(file: Path, tmp_path: Path) -> None:
    record = tmp_path / "cache" / "exams.json"
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    assert passes_once(FakeChatModel(), file, record)
    assert [path.name for path in record.parent.iterdir()] == ["exams.json"]


def test_a_record_that_cannot_be_kept_costs_only_another_exam(file: Path) -> None:
    record = file / "cache" / "exams.json"
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    assert not passes_once(FakeChatModel(*BESIDE), file, record)


def test_other_rules_ask_for_another_exam(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "exams.json"
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    monkeypatch.setattr(exam, "EXAM_VERSION", exam.EXAM_VERSION + 1)
    assert not passes_once(FakeChatModel(*BESIDE), file, record)


def test_another_file_of_the_same_name_takes_its_own(file: Path, tmp_path: Path) -> None:
    record = tmp_path / "exams.json"
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    os.utime(file, (1, 1))
    assert not passes_once(FakeChatModel(*BESIDE), file, record)
    assert len(json.loads(record.read_text("utf-8"))) == 2


def test_a_model_with_less_room_takes_its_own(file: Path, tmp_path: Path) -> None:
    record = tmp_path / "exams.json"
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    assert not passes_once(FakeChatModel(*BESIDE, context=2048), file, record)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model.gguf": 3'])
def test_a_damaged_record_counts_as_none(file: Path, tmp_path: Path, text: str) -> None:
    record = tmp_path / "exams.json"
    record.write_text(text, "utf-8")
    assert passes_once(FakeChatModel(*RIGHT), file, record)
    assert passes_once(FakeChatModel(), file, record)


def test_progress_is_told_and_may_stop(file: Path, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int, unit: str) -> None:
        assert (stage, total, unit) == ("trying out how well the model writes", 6, "questions")
        if done == 2:
            raise KeyboardInterrupt

    record = tmp_path / "exams.json"
    with pytest.raises(KeyboardInterrupt):
        passes_once(FakeChatModel(*RIGHT), file, record, stop)
    assert not record.exists()


def test_an_exam_that_is_stopped_within_a_task_leaves_no_verdict(
    file: Path, tmp_path: Path
) -> None:
    record = tmp_path / "exams.json"
    with pytest.raises(Cancelled):
        passes_once(FakeChatModel(*RIGHT), file, record, stopped=lambda: True)
    assert not record.exists()


def test_the_default_model_quotes(chat_model: LlamaCppChatModel) -> None:
    assert not passes(chat_model)
