"""How models are asked, by how they answer made-up questions."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import FakeChatModel

from assistant.generation import probe as probing
from assistant.generation.probe import LEAST_PASSED, passes, passes_once, tasks
from assistant.generation.verification.support import Verifier
from assistant.models.chat import LlamaCppChatModel
from assistant.models.gguf.trained import FileFacts, file_key
from assistant.settings import WritingMode
from retrieval.types import Cancelled

RIGHT = tuple(
    next(f"{note} [{at}]" for at, note in enumerate(task.notes, 1) if task.answer in note)
    for task in tasks()
)
BESIDE = tuple(f"{task.notes[0]} [1]" for task in tasks())
"""True, and not what was asked."""
LIE = "The notes describe 99 unheard-of giraffes from Vienna [1]."


Once = Callable[..., bool]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "model-facts.json"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    return file


@pytest.fixture
def once(verifier: Verifier, record: Path, file: Path) -> Once:
    """Probes a model once, and then remembers the verdict."""

    def verdict(model: FakeChatModel, mode: WritingMode = WritingMode.FREE, **other) -> bool:
        known = FileFacts(record)
        wanted = {"name": file_key(file), "known": known, **other}
        return passes_once(model, mode, verifier, **wanted)

    return verdict


def test_every_task_has_one_note_that_answers_it() -> None:
    for task in tasks():
        assert sum(task.answer in note for note in task.notes) == 1


def test_a_model_that_copies_what_was_asked_passes(verifier: Verifier) -> None:
    model = FakeChatModel(*RIGHT)
    assert passes(model, WritingMode.FREE, verifier)
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
def test_a_model_that_does_not(verifier: Verifier, replies: tuple[str, ...]) -> None:
    assert not passes(FakeChatModel(*replies), WritingMode.FREE, verifier)


def test_a_model_that_fails_two_still_passes(verifier: Verifier) -> None:
    model = FakeChatModel(RIGHT[0], LIE, *RIGHT[2:5], LIE)
    assert passes(model, WritingMode.FREE, verifier)


def test_a_model_is_tried_once(once: Once, record: Path) -> None:
    assert once(FakeChatModel(*RIGHT))
    assert once(FakeChatModel())
    assert [path.name for path in record.parent.iterdir()] == [record.name]


def test_a_record_that_cannot_be_kept_costs_only_another_trial(once: Once, file: Path) -> None:
    known = FileFacts(file / "cache" / "facts.json")
    assert once(FakeChatModel(*RIGHT), known=known)
    assert not once(FakeChatModel(*BESIDE), known=known)


def test_other_rules_ask_for_another_trial(once: Once, monkeypatch: pytest.MonkeyPatch) -> None:
    assert once(FakeChatModel(*RIGHT))
    monkeypatch.setattr(probing, "PROBE_VERSION", probing.PROBE_VERSION + 1)
    assert not once(FakeChatModel(*BESIDE))


def test_another_file_less_room_or_another_mode_takes_its_own(
    once: Once, record: Path, file: Path
) -> None:
    assert once(FakeChatModel(*RIGHT))
    assert not once(FakeChatModel(*BESIDE, context=2048))
    assert not once(FakeChatModel(*BESIDE), WritingMode.BRIEF)
    os.utime(file, (1, 1))
    assert not once(FakeChatModel(*BESIDE))
    assert len(json.loads(record.read_text("utf-8"))) == 4


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model.gguf": 3'])
def test_a_damaged_record_counts_as_none(once: Once, record: Path, text: str) -> None:
    record.parent.mkdir()
    record.write_text(text, "utf-8")
    assert once(FakeChatModel(*RIGHT))
    assert once(FakeChatModel())


def test_a_trial_reports_its_progress_and_one_that_is_stopped_leaves_no_verdict(
    once: Once, record: Path
) -> None:
    def stop(stage: str, done: int, total: int, unit: str) -> None:
        assert (stage, total, unit) == ("trying out how well the model writes", 6, "questions")
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once(FakeChatModel(*RIGHT), progress=stop)
    with pytest.raises(Cancelled):  # within a task
        once(FakeChatModel(*RIGHT), stopped=lambda: True)
    assert not record.exists()


def test_the_default_model_writes_with_its_adapter_only(
    verifier: Verifier, chat_model: LlamaCppChatModel, writing_model: LlamaCppChatModel
) -> None:
    assert not passes(chat_model, WritingMode.FREE, verifier)
    assert passes(writing_model, WritingMode.BRIEF, verifier)
