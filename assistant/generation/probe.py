"""Capability probe: tests once how well a chat model writes, and remembers the result.

A model that answers made-up questions well, as a whole and with citation marks, is asked for whole
answers. The default model does not; with its adapter it is asked for one sentence a paper, if these
are supported. With any other model the answers are quotations: that is faster, and better than
sentences that mostly fail verification. The model's name and size do not matter.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from assistant.generation.answer_builder import DraftAnswer
from assistant.generation.prompts import answer_messages, brief_messages
from assistant.generation.verification.support import Verifier
from assistant.generation.writer import Writer
from assistant.models.chat import ChatModel
from assistant.models.gguf.trained import (
    ADAPTER,
    CUTTER,
    SUPPORT,
    FileFacts,
    weights_hash,
)
from assistant.settings import WritingMode, WritingSettings
from assistant.types import Evidence, SentenceKind
from retrieval.types import Paper, Progress, never, silent


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its evidence."""

    question: str
    notes: list[str]
    answer: str
    """A right answer contains these words."""


LEAST_PASSED = 4
"""Tasks that a model must pass; see tests/benchmarks/answers.md."""
PROBE_VERSION = 4
"""To be raised with any change that may move a verdict but is no part of the verdict's key: of
verification, of the grammar, of the writer, or of `LEAST_PASSED`. Models are then probed again."""


@cache
def tasks() -> list[Task]:
    """The made-up questions."""
    text = Path(__file__).with_name("probe_tasks.json").read_text("utf-8")
    return [Task(**fields) for fields in json.loads(text)]


def passes_once(
    model: ChatModel,
    mode: WritingMode,
    verifier: Verifier,
    *,
    name: str,
    known: FileFacts,
    progress: Progress = silent,
    stopped: Callable[[], bool] = never,
) -> bool:
    """The verdict of `passes` on the model `name`, remembered in `known`.

    The same name, such as `file_key`, and the same context mean the same model.

    Raises:
        Cancelled: `stopped()` became true; nothing is recorded.
    """
    key = _key(name, model.context, mode)
    verdict = known.get(key)
    if verdict is None:
        verdict = passes(model, mode, verifier, progress, stopped)
        known.keep(key, verdict)
    return bool(verdict)


def passes(
    model: ChatModel,
    mode: WritingMode,
    verifier: Verifier,
    progress: Progress = silent,
    stopped: Callable[[], bool] = never,
) -> bool:
    """Whether the model answers most tasks with supported sentences that contain the answer.

    The model must have its adapter if `mode` needs it. On one slow core the default model takes a
    second a task; a large model takes minutes.

    Raises:
        Cancelled: `stopped()` became true.
    """
    passed, failed, total = 0, 0, len(tasks())
    while passed < LEAST_PASSED <= total - failed:
        done = passed + failed
        progress("trying out how well the model writes", done, total, "questions")
        writer = Writer(model, verifier, WritingSettings(mode=mode))
        solved = _solves(writer, tasks()[done], stopped)
        passed, failed = passed + solved, failed + (not solved)
    return passed >= LEAST_PASSED


def _solves(writer: Writer, task: Task, stopped: Callable[[], bool]) -> bool:
    draft = DraftAnswer(_evidence(task))
    for _ in writer.generate(draft, task.question, stopped):
        if writer.failed:
            return False
    written = [each.text for each in draft.sentences if each.kind is SentenceKind.VERIFIED]
    copied = [draft.evidence[note - 1].text for note in draft.copied]
    return task.answer in " ".join([*written, *copied])


def _evidence(task: Task) -> list[Evidence]:
    abstract = " ".join(task.notes)
    paper = Paper(
        id="probe", title="", authors=(), venue="", year=None, decision="", abstract=abstract,
        sources=(),
    )  # fmt: skip
    starts = ((abstract.index(note), note) for note in task.notes)
    return [
        Evidence(paper, start, start + len(note), note, float(task.answer in note))
        for start, note in starts
    ]


def _key(name: str, context: int, mode: WritingMode) -> str:
    """The key of a verdict: model, context, tasks, prompts, and weights of the verifier."""
    evidence = _evidence(tasks()[0])
    prompt = [*answer_messages("?", evidence[:1], ["k"]), *brief_messages("?", "Title", ["Note."])]
    weights = [weights_hash(SUPPORT), weights_hash(CUTTER)]
    if mode is WritingMode.BRIEF:
        weights.append(hashlib.sha256(ADAPTER.read_bytes()).hexdigest())
    asked = [asdict(task) for task in tasks()]
    probe = json.dumps([asked, *map(dict, prompt), weights, context, PROBE_VERSION])
    digest = hashlib.sha256(probe.encode()).hexdigest()[:16]
    return f"{name} writes {mode.value} {digest}"
