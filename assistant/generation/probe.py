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
from pathlib import Path

from assistant.generation.answer_builder import DraftAnswer
from assistant.generation.prompts import answer_messages, brief_messages
from assistant.generation.verification.support import Verifier
from assistant.generation.writer import Writer
from assistant.models.chat import ChatModel
from assistant.models.gguf.adapter import ADAPTER
from assistant.models.gguf.encoders import CUTTER, SUPPORT, weights_hash
from assistant.models.gguf.header import FileFacts, file_key
from assistant.settings import WritingMode, WritingSettings
from assistant.types import Evidence
from retrieval.types import Paper, Progress, never, silent


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its evidence."""

    question: str
    notes: tuple[str, ...]
    answer: str
    """A right answer contains these words."""


TASKS = (
    Task(
        "By how much did reading gauges from photographs cut the work of the people checking them?",
        (
            "Water utilities still send staff to read thousands of analogue gauges every month, "
            "which is slow and prone to mistakes.",
            "We train a two-stage detector on photographs of 3,200 gauges and propose a loss that "
            "penalises readings by their angle instead of their value.",
            "In a field trial at four utilities, the hours spent on manual checks fell by 38% "
            "while the mean error stayed below two percent of full scale.",
        ),
        "38%",
    ),
    Task(
        "What keeps the planner from visiting the same corridor again and again?",
        (
            "Robots that explore buildings without a map tend to return to places that they have "
            "already seen.",
            "Our planner, Meander, therefore stores a decaying trace of its path and subtracts it "
            "from the expected gain of each frontier.",
            "On 60 floor plans, Meander covers the same area as the strongest baseline in three "
            "quarters of the time.",
        ),
        "trace",
    ),
    Task(
        "Does adding more layers help the forecasting model?",
        (
            "Deep networks for forecasting the load of power grids have grown from two to forty "
            "layers within a few years.",
            "Comparing eleven depths under equal training budgets, we find that accuracy does not "
            "improve beyond six layers on any of the nine grids.",
            "We release code, data splits and all trained networks to make such comparisons "
            "easier.",
        ),
        "six",
    ),
    Task(
        "Which animals were recorded, and for how long?",
        (
            "Bioacoustic models are usually trained on recordings of birds, for which large "
            "archives exist.",
            "We present Chirrup, a corpus of 410 hours of recordings of crickets and katydids from "
            "five countries, labelled by species and temperature.",
            "A convolutional baseline recognises 83 of the 97 species with a precision above 0.9.",
        ),
        "crickets",
    ),
    Task(
        "How does the method choose which examples a person should label next?",
        (
            "Labelling medical images is expensive, so that active learning is attractive, yet its "
            "gains often vanish in practice.",
            "The key idea of our approach is to rank unlabelled scans by how much two networks "
            "trained on different halves of the labels disagree about them.",
            "With 500 labels it reaches the accuracy that random sampling reaches with 1,400.",
        ),
        "disagree",
    ),
    Task(
        "Where does the compiler lose speed against hand-written kernels?",
        (
            "Compilers for tensor programs promise portable speed, but are seldom compared with "
            "kernels written by experts on equal terms.",
            "We port 46 kernels to three compilers and measure them on two processors.",
            "The compilers match the experts on dense matrix products and fall behind by up to "
            "2.7 times on sparse convolutions, where they fail to reuse loaded tiles.",
        ),
        "sparse convolutions",
    ),
)
LEAST_PASSED = 4
"""Tasks of `TASKS` that a model must pass; see tests/benchmarks/answers.md."""
PROBE_VERSION = 4
"""To be raised with any change that may move a verdict but is no part of the verdict's key: of
verification, of the grammar, of the writer, or of `LEAST_PASSED`. Models are then probed again."""


def passes_once(
    model: ChatModel,
    mode: WritingMode,
    verifier: Verifier,
    *,
    file: Path,
    known: FileFacts,
    progress: Progress = silent,
    stopped: Callable[[], bool] = never,
) -> bool:
    """The verdict of `passes` on the model in `file`, remembered in `known`.

    The same file name, size, time and context mean the same model.

    Raises:
        Cancelled: `stopped()` became true; nothing is recorded.
    """
    key = _key(file, model.context, mode)
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

    Args:
        model: with its adapter, if `mode` needs it.
        mode: how it is asked.
        verifier: judges the sentences.
        progress: called before each task; the default model takes a second a task on one slow
            core.
        stopped: checked meanwhile; a large model takes minutes.

    Raises:
        Cancelled: `stopped()` became true.
    """
    passed = 0
    for done, task in enumerate(TASKS):
        progress("trying out how well the model writes", done, len(TASKS), "questions")
        writer = Writer(model, verifier, WritingSettings(mode=mode))
        passed += _solves(writer, task, stopped)
        if passed >= LEAST_PASSED or passed + len(TASKS) - done - 1 < LEAST_PASSED:
            break
    return passed >= LEAST_PASSED


def _solves(writer: Writer, task: Task, stopped: Callable[[], bool]) -> bool:
    draft = DraftAnswer(_evidence(task))
    for _ in writer.write(draft, task.question, stopped):
        if writer.failed:
            return False
    copied = (draft.evidence[note - 1].text for note in draft.copied)
    said = " ".join([*(each.text for each in draft.sentences), *copied])
    return not writer.failed and task.answer in said


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


def _key(file: Path, context: int, mode: WritingMode) -> str:
    """The key of a verdict: model file, context, tasks, prompts, and weights of the verifier."""
    tasks = [asdict(task) for task in TASKS]
    evidence = _evidence(TASKS[0])
    prompt = [*answer_messages("?", evidence[:1], ["k"]), *brief_messages("?", "Title", ["Note."])]
    weights = [weights_hash(SUPPORT), weights_hash(CUTTER)]
    if mode is WritingMode.BRIEF:
        weights.append(hashlib.sha256(ADAPTER.read_bytes()).hexdigest())
    probe = [tasks, [dict(message) for message in prompt], weights, context, PROBE_VERSION]
    digest = hashlib.sha256(json.dumps(probe).encode()).hexdigest()[:16]
    return f"{file_key(file)} writes {mode.value} {digest}"
