"""Whether a chat model writes well enough to be asked for answers: examined once, then known.

A small model's sentences mostly fail the check, and where they hold they often leave out what was
asked. Quoting is better then, and faster. What decides is not the model's name or size but how it
answers made-up questions whose answers are known.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.chat_model import ChatModel
from assistant.making import Page, answer_text
from assistant.pipeline.assistant import never
from assistant.prompting import answer_messages
from assistant.types import Evidence
from assistant.writing import Writer
from retrieval.errors import LibraryError
from retrieval.files import write_whole
from retrieval.progress import Progress, silent
from retrieval.types import Paper


@dataclass(frozen=True, slots=True)
class Task:
    """A question with its evidence."""

    question: str
    notes: tuple[str, ...]
    answer: str
    """What a right answer says in these words."""


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
"""Of `TASKS`; see tests/benchmarks/answers.md."""
EXAM_VERSION = 1
"""To be raised with any change that may move a verdict and that the record's key cannot see: of
the checker, of the grammar that answers keep to, of how they are written, or of `LEAST_PASSED`.
Models are then examined again."""


def passes(
    model: ChatModel, progress: Progress = silent, stopped: Callable[[], bool] = never
) -> bool:
    """Whether the model answers most tasks with sentences that hold and say what was asked.

    Raises:
        Cancelled: `stopped()` became true.
    """
    passed = 0
    for done, task in enumerate(TASKS):
        progress("trying out how well the model writes", done, len(TASKS), "questions")
        passed += _passes(model, task, stopped)
        if passed >= LEAST_PASSED or passed + len(TASKS) - done - 1 < LEAST_PASSED:
            break
    return passed >= LEAST_PASSED


def passes_once(
    model: ChatModel,
    path: Path,
    record: Path,
    progress: Progress = silent,
    stopped: Callable[[], bool] = never,
) -> bool:
    """What `passes` said of the model file at `path`, asked only if `record` does not know.

    Args:
        model: the model.
        path: its file; the same name, size, time and context mean the same model.
        record: a JSON file of what is known of models; replaced if it is not readable. Where it
            cannot be written, the model is examined again next time.
        progress: told of the exam; the default model takes two seconds a task on one slow core.
        stopped: looked at during the exam; a large model takes minutes.

    Raises:
        Cancelled: `stopped()` became true; nothing is recorded.
    """
    known = _known(record)
    key = _key(path, model.context)
    if key not in known:
        known[key] = passes(model, progress, stopped)
        with suppress(OSError, LibraryError):
            record.parent.mkdir(parents=True, exist_ok=True)
            write_whole(record, json.dumps(known, indent=1))
    return known[key]


def _passes(model: ChatModel, task: Task, stopped: Callable[[], bool]) -> bool:
    page = Page(_evidence(task))
    writer = Writer(model)
    for _ in writer.fill(page, task.question, stopped):
        if writer.failed:
            return False
    said = answer_text(page.sentences, page.citations)
    return bool(writer.held and not writer.failed and task.answer in said)


def _evidence(task: Task) -> list[Evidence]:
    abstract = " ".join(task.notes)
    paper = Paper(
        id="exam", title="", authors=(), venue="", year=None, decision="", abstract=abstract,
        sources=(), id_is_given=True,
    )  # fmt: skip
    starts = [abstract.index(note) for note in task.notes]
    return [
        Evidence(paper, start, start + len(note), note, 1.0)
        for start, note in zip(starts, task.notes, strict=True)
    ]


def _known(record: Path) -> dict[str, bool]:
    try:
        known = json.loads(record.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: bool(value) for key, value in known.items()} if isinstance(known, dict) else {}


def _key(path: Path, context: int) -> str:
    """The model file, all that the exam asks of it, and what room it has, less when it thinks."""
    stat = path.stat()
    asked = [asdict(task) for task in TASKS]
    prompt = [dict(message) for message in answer_messages("?", [], [])]
    file = [stat.st_size, stat.st_mtime_ns]
    exam = json.dumps([EXAM_VERSION, asked, prompt, context, *file]).encode()
    return f"{path.name} {hashlib.sha256(exam).hexdigest()[:16]}"
