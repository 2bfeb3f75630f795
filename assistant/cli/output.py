"""Terminal output: progress on stderr, answers and tables as text."""

from collections.abc import Iterable, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from assistant.models import ModelDescription
from assistant.pipeline.calibration import Calibration
from assistant.types import (
    AnswerSentence,
    Completed,
    Event,
    Outcome,
    Retrieved,
    SentenceKind,
    SentenceVerified,
    by_paper,
)
from retrieval.formats.writers import authors_line, where
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Paper, Passage

_BYTES_IN_MEGABYTE = 1_000_000
_ESTIMATED_OVER_SECONDS = 600.0
"""Period from which the remaining time is estimated: several answers of a slow model."""


class ProgressBars:
    """A `Progress` that draws one bar per stage on stderr."""

    def __init__(self) -> None:
        """Draws nothing before the first report of progress."""
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            speed_estimate_period=_ESTIMATED_OVER_SECONDS,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "ProgressBars":
        """Returns itself; leaving ends the bars."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop drawing."""
        if self._tasks:  # bars that were never drawn would still end with an empty line
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """Move the stage's bar; with an unknown total (0) it only pulses."""
        if unit == "B":
            done, total, unit = done // _BYTES_IN_MEGABYTE, total // _BYTES_IN_MEGABYTE, "MB"
        if stage not in self._tasks:
            self._bars.start()
            self._tasks[stage] = self._bars.add_task(stage, total=total or None, unit=unit)
        self._bars.update(self._tasks[stage], completed=done, total=total or None)


class AnswerPrinter:
    """Prints an answer sentence by sentence, then its references."""

    def __init__(self, console: Console) -> None:
        """Print to `console`."""
        self._console = console
        self._paper_of: dict[int, Paper] = {}
        self._led_in = ""
        self._is_written = False

    def show(self, event: Event, question: str) -> None:
        """Print what the event adds."""
        if isinstance(event, Retrieved):
            if event.standalone_question != question:
                self._line(f"({event.standalone_question})", "dim")
        elif isinstance(event, SentenceVerified):
            for citation in event.citations:
                self._paper_of[citation.number] = citation.paper
            self._sentence(event.sentence)
        elif isinstance(event, Completed):
            self._finish(event)

    def _sentence(self, sentence: AnswerSentence) -> None:
        marks = "".join(f"[{number}]" for number in sentence.citations)
        if sentence.kind is SentenceKind.QUOTED:
            if self._is_written:
                self._line("\nEvidence", "bold")
                self._is_written = False
            paper = self._paper_of[sentence.citations[0]]
            if paper.id != self._led_in:
                self._line(f"From “{paper.shown_title}”:", "bold")
            self._led_in = paper.id
            self._line(f"  “{sentence.text}” {marks}")
        else:
            self._led_in, self._is_written = "", True
            self._line(f"{sentence.text} {marks}")

    def _finish(self, event: Completed) -> None:
        answer = event.answer
        if answer.outcome is not Outcome.ANSWERED:
            self._line(answer.text)
            if answer.passages:
                self._line("\nClosest papers:", "bold")
            for passage in answer.passages[:3]:
                self._line(f"  {reference(passage.paper)}")
        else:
            self._line("\nReferences", "bold")
            for group in by_paper(answer.citations):
                numbers = "".join(f"[{citation.number}]" for citation in group)
                self._line(f"  {numbers} {reference(group[0].paper)}")

    def _line(self, text: str, style: str = "") -> None:
        # Lines are wrapped for a terminal only; a pipe gets whole lines.
        self._console.print(Text(text, style=style), soft_wrap=not self._console.is_terminal)


def reference(paper: Paper) -> str:
    """A paper in one line: authors, title, venue and year."""
    parts = [
        part for part in (authors_line(paper.authors), paper.shown_title, where(paper)) if part
    ]
    ended = [part if part.endswith((".", "?", "!")) else f"{part}." for part in parts[:-1]]
    return " ".join([*ended, *parts[-1:]])


def passages_lines(passages: Sequence[Passage]) -> Iterable[str]:
    """Ranked papers, each with its best passage."""
    for rank, passage in enumerate(passages, start=1):
        yield f"{rank}. {reference(passage.paper)} (score {passage.score:.3f})"
        yield f"   {passage.chunk.text}\n"


def matches_table(matches: Sequence[Match]) -> Table:
    """Papers that were looked up, with the reason of each match."""
    table = Table("title", "authors", "where", "why", show_lines=True)
    for match in matches:
        paper = match.paper
        cells = (paper.shown_title, authors_line(paper.authors), where(paper), match.why)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def models_lines(models: Iterable[ModelDescription]) -> Iterable[str]:
    """The models on this machine, two lines each: description and path."""
    for model in models:
        size = f"{model.size_bytes / _BYTES_IN_MEGABYTE:.0f} MB" if model.size_bytes else ""
        facts = (model.name, model.quantization, size, model.licence)
        use = "in use" if model.in_use else "not in use"
        yield f"{model.role}, {use}: {', '.join(filter(None, facts))}"
        yield f"  {model.path}" if model.present else f"  not here: {model.remedy}"


def calibration_lines(calibration: Calibration) -> Iterable[str]:
    """The results of a calibration, with its risk-coverage curve."""
    yield (
        f"Questions are answered from a confidence of {calibration.least_confidence:.3f} on, "
        f"measured on {calibration.source}: {calibration.promise}."
    )
    yield (
        f"On the half of {calibration.unanswerable} unanswerable and {calibration.answerable} "
        f"answerable questions that it was not chosen by (AUC {calibration.auc:.2f}):"
    )
    for name, rates in (("before", calibration.before), ("now", calibration.after)):
        yield (
            f"  {name}: {rates.refused:.0%} of the unanswerable are refused, "
            f"{rates.wrongly_refused:.0%} of the answerable"
        )
    yield "confidence  answered  of these without an answer"
    for point in calibration.curve:
        yield f"{point.threshold:10.3f} {point.coverage:9.0%} {point.risk:9.0%}"


def ingest_lines(report: IngestReport) -> Iterable[str]:
    """A summary of an ingest, after the skipped records."""
    for skipped in report.skipped:
        yield f"skipped {skipped.source}, line {skipped.line}: {skipped.reason}"
    for note in report.notes:
        yield f"note on {note.source}, line {note.line}: {note.reason}"
    yield (
        f"{report.papers:,} papers in {report.chunks:,} chunks: {report.added:,} added, "
        f"{report.updated:,} updated, {report.unchanged:,} unchanged; {report.merged:,} records "
        f"were copies of another ({report.seconds:.1f} s)"
    )


def removal_line(removal: Removal) -> str:
    """A summary of a removal."""
    stayed = f", {removal.kept:,} stay with other sources" if removal.kept else ""
    if removal.completed:
        return (
            f"The removal of {removal.source} had been interrupted and is now complete: "
            f"{removal.removed:,} papers were still to be removed{stayed}; "
            f"{removal.papers:,} papers are left ({removal.seconds:.1f} s)"
        )
    return (
        f"{removal.removed:,} papers of {removal.source} removed{stayed}; "
        f"{removal.papers:,} papers are left ({removal.seconds:.1f} s)"
    )


def health_lines(health: Health) -> Iterable[str]:
    """The findings of a check of the library."""
    yield f"{health.papers:,} papers in {health.chunks:,} chunks"
    yield from health.findings or ("The library is whole.",)
