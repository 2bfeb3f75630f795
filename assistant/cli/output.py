"""Terminal output: progress on stderr, answers and tables as text wrapped to the terminal."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from assistant.generation.rendering import TERMINAL, parts_of_answer, reference, write
from assistant.models import ModelDescription
from assistant.pipeline.abstention import Calibration
from assistant.types import Answer, Event, PartialAnswer
from retrieval.formats.writers import authors_line, where
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.query.lookup import Match
from retrieval.types import IngestReport, Paper, Passage, Progress, nested

_BYTES_IN_MEGABYTE = 1_000_000
_ESTIMATED_OVER_SECONDS = 600.0
"""Period from which the remaining time is estimated: several answers of a slow model."""
_NARROWEST, _WIDEST = 20, 100
"""Columns of text in a terminal; longer lines are hard to read."""
_MARKER = re.compile(r" *(\d+\. |(\[\d+\])+ |“)?")
"""What begins a line; those that it is wrapped into are indented by its width."""
_STYLES = {
    **dict.fromkeys(("written", "abstained"), "bold"),
    **dict.fromkeys(
        ("understood", "evidence", "coverage", "closest", "references", "suggestions", "searched"),
        "dim",
    ),
}
"""Styles of an answer's parts."""


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A `Progress` that draws one bar per stage on stderr; nothing before the first report."""
    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=_ESTIMATED_OVER_SECONDS,
    )
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int, unit: str) -> None:
        """Move the stage's bar; with an unknown total (0) it only pulses."""
        if unit == "B":
            done, total, unit = done // _BYTES_IN_MEGABYTE, total // _BYTES_IN_MEGABYTE, "MB"
        if stage not in tasks:
            bars.start()
            tasks[stage] = bars.add_task(stage, total=total or None, unit=unit)
        bars.update(tasks[stage], completed=done, total=total or None)

    try:
        yield report
    finally:
        if tasks:  # bars that were never drawn would still end with an empty line
            bars.stop()


def print_text(console: Console, text: str | Text) -> None:
    """Print `text`; a terminal gets it wrapped between words, a pipe in whole lines."""
    for line in (Text(text) if isinstance(text, str) else text).split("\n", allow_blank=True):
        bare = _MARKER.sub("", line.plain, count=1)
        marker, rest = line.divide([len(line) - len(bare)])
        if not console.is_terminal or " " not in bare:
            console.print(line, soft_wrap=True)
            continue
        width = max(_NARROWEST, min(console.width, _WIDEST) - marker.cell_len)
        for row in rest.wrap(console, width):
            row.rstrip()
            console.print(marker + row, soft_wrap=True)
            marker = Text(" " * marker.cell_len)


def print_answer(console: Console, question: str, events: Iterable[Event]) -> Answer:
    """Print the answer to `question` part by part as its events arrive, and return it."""
    shown, printed, places = PartialAnswer(question), 0, count(1)
    for event in events:
        parts = list(parts_of_answer(shown.add(event)))
        for part in parts[printed:]:
            line = write(part, TERMINAL)
            if part.kind == "close paper":
                line = f"  {next(places)}. {line.strip()}"
            print_text(console, Text(line, style=_STYLES.get(part.kind, "")))
        printed = len(parts)
    assert shown.answer is not None  # noqa: S101 - a stream of events ends with Completed
    return shown.answer


def print_paper(console: Console, paper: Paper, quotes: Mapping[int, str]) -> None:
    """Print a paper, with the sentences of its abstract that `quotes` cites by number marked."""
    print_text(console, Text(paper.shown_title, style="bold"))
    for fact in filter(None, (", ".join(paper.authors), where(paper), paper.url)):
        print_text(console, fact)
    text, end = Text("\n"), 0
    for at, number, quote in sorted((paper.abstract.find(q), n, q) for n, q in quotes.items() if q):
        if at >= end:
            text.append(paper.abstract[end:at])
            text.append(f"“{nested(quote)}” [{number}]", style="bold")
            end = at + len(quote)
    print_text(console, text.append(paper.abstract[end:]))


def passages_lines(passages: Sequence[Passage]) -> Iterable[str]:
    """Ranked papers, each with its best passage."""
    for rank, passage in enumerate(passages, start=1):
        yield f"{rank}. {reference(passage.paper)} (score {passage.score:.3f})"
        yield f"   {passage.chunk.text}\n"


def matches_table(matches: Sequence[Match]) -> Table:
    """Papers that were looked up, with the reason of each match."""
    table = Table("paper", "why", box=SIMPLE, pad_edge=False, show_lines=True)
    for match in matches:
        paper = match.paper
        facts = filter(None, (authors_line(paper.authors), where(paper)))
        cell = Text(paper.shown_title, style="bold").append("\n".join(["", *facts]), "not bold")
        table.add_row(cell, Text(match.why))
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
    left = f"{stayed}; {removal.papers:,} papers are left ({removal.seconds:.1f} s)"
    if not removal.completed:
        return f"{removal.removed:,} papers of {removal.source} removed{left}"
    return (
        f"The removal of {removal.source} had been interrupted and is now complete: "
        f"{removal.removed:,} papers were still to be removed{left}"
    )


def health_lines(health: Health) -> Iterable[str]:
    """The findings of a check of the library."""
    yield f"{health.papers:,} papers in {health.chunks:,} chunks"
    if health.recovered:
        yield health.recovered
    yield from health.findings or ("The library is whole.",)
