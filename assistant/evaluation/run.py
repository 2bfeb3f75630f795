"""One evaluation run, from its questions to figures and report; an interrupted run is resumed."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.evaluation.asking import Runner
from assistant.evaluation.figures.compare import (
    Baseline,
    Comparison,
    check_baseline,
    compare,
    read_baseline,
)
from assistant.evaluation.figures.figures import Figures, make_figures, write_figures
from assistant.evaluation.questions.beir import home_of_corpus, ingest_corpus, read_beir
from assistant.evaluation.questions.question_set import papers_of, read_question_set
from assistant.evaluation.records.provenance import library_facts, make_record, model_files
from assistant.evaluation.records.record import (
    FIGURES,
    RECORD,
    REPORT,
    SAMPLES,
    Asking,
    RunRecord,
    appending,
    kept_record,
    locked,
    read_record,
    read_rows,
    remove_ended,
    timed,
    write_record,
)
from assistant.evaluation.report.page import write_report
from assistant.evaluation.types import Row, Sample, SampleType
from assistant.pipeline.startup import open_assistant
from assistant.settings import Settings, load_settings
from retrieval.types import InputError, LibraryError, Progress

Ask = Callable[[Sequence[Sample]], Generator[Row, None, None]]
"""Asks samples and gives their rows, each as soon as it is scored."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run."""

    figures: Figures
    comparison: Comparison | None
    notes: tuple[str, ...]
    """What is odd about the questions."""
    failures: Mapping[str, str]
    """Why samples failed, by their ids."""


def evaluate(
    asking: Asking,
    out: Path,
    settings: Settings,
    progress: Progress,
    *,
    compare_with: Path | None = None,
    replaces: bool = False,
) -> RunResult:
    """Ask the samples that have no row yet, and write figures and report.

    All input is checked before a model is loaded.

    Args:
        asking: what is asked; in a replay with the hash of the questions that were asked before.
        out: the run's folder.
        settings: of the person.
        progress: called after every sample.
        compare_with: the baseline's folder, if there is one.
        replaces: whether an ended run in `out` is replaced.

    Raises:
        InputError: questions, baseline or folder cannot be used.
        LibraryError: the library has no papers, cannot be read or written, or was changed.
        ModelError: a model is not available or cannot be loaded.
    """
    path = Path(asking.file)
    baseline = read_baseline(compare_with) if compare_with else None
    if path.is_dir() and settings.home == home_of_corpus(path, settings):
        # Errors in the folder are reported before its corpus is ingested.
        _check_questions(asking, baseline, read_beir(path).sha256)
        ingest_corpus(path, settings, progress)
    questions = read_question_set(path, papers_of(settings))
    samples = chosen(questions.samples, asking.types, asking.limit)
    ids = [sample.id for sample in samples]
    _check_questions(asking, baseline, questions.sha256, ids)
    asking = replace(
        asking, file=str(path.resolve()), sha256=questions.sha256, samples=len(samples)
    )
    with locked(out):
        if replaces:
            remove_ended(out)
        record = _complete(out, asking, samples, settings, progress)
        by_id = {row.id: row for row in read_rows(out / SAMPLES)}
        rows = [by_id[id_] for id_ in ids]
        figures = make_figures(rows, questions.sha256, asking.seed)
        comparison = compare(baseline, figures) if baseline else None
        write_figures(out / FIGURES, figures)
        write_report(out / REPORT, figures, rows, record, comparison)
    failures = {row.id: row.failed for row in rows if row.failed}
    return RunResult(figures, comparison, questions.notes, failures)


def settings_for(questions: Path, flags: Mapping[str, object]) -> Settings:
    """The person's settings; unless a library is named, a BEIR folder's corpus has its own."""
    settings = load_settings(dict(flags))
    if questions.is_dir() and not {"home", "chroma"} & flags.keys():
        return settings.model_copy(
            update={"home": home_of_corpus(questions, settings), "chroma": ""}
        )
    return settings


def chosen(
    samples: Sequence[Sample], types: Sequence[str], limit: int | None
) -> tuple[Sample, ...]:
    """The samples of some types (empty: all), at most `limit`; raises InputError if there are none.

    A limit takes samples of every type in proportion, evenly spread over those of the type.
    """
    of_types = [sample for sample in samples if not types or sample.type in types]
    if not of_types:
        here = ", ".join(sorted({sample.type for sample in samples}))
        raise InputError(f"No question is of the types asked for; the file has {here}.")
    if limit is None or limit >= len(of_types):
        return tuple(of_types)
    groups = {type_: [each for each in of_types if each.type == type_] for type_ in SampleType}
    shares = sorted(
        ((at + 0.5) / len(group), type_)
        for type_, group in groups.items()
        for at in range(len(group))
    )
    counts = Counter(type_ for _, type_ in shares[:limit])
    taken = {
        groups[type_][at * len(groups[type_]) // count].id
        for type_, count in counts.items()
        for at in range(count)
    }
    return tuple(sample for sample in of_types if sample.id in taken)


def run(
    samples: Sequence[Sample], folder: Path, record: RunRecord, ask: Ask, progress: Progress
) -> None:
    """Ask those of all samples that have no row in `folder` yet, and keep the record there."""
    known = {row.id for row in read_rows(folder / SAMPLES)}
    left = [sample for sample in samples if sample.id not in known]
    if not left:
        if not record.times.ended:  # stopped between its last row and its end
            write_record(folder / RECORD, timed(record, 0.0, ended=True))
        return
    write_record(folder / RECORD, timed(record, 0.0, ended=False))
    done = len(samples) - len(left)
    start = time.monotonic()
    progress("asking", done, len(samples), "samples")
    try:
        with appending(folder / SAMPLES) as append, closing(ask(left)) as rows:
            for row in rows:
                append(row)
                done += 1
                progress("asking", done, len(samples), "samples")
    finally:
        seconds = time.monotonic() - start
        write_record(folder / RECORD, timed(record, seconds, ended=done == len(samples)))


def _check_questions(
    asking: Asking, baseline: Baseline | None, sha256: str, ids: Collection[str] = ()
) -> None:
    """Check that the questions are those of the replayed run, and of the baseline."""
    if asking.sha256 not in ("", sha256):
        raise InputError(
            f"{asking.file} was changed after the run that is to be replayed; bring back "
            "what was asked, or evaluate it as a new run."
        )
    if baseline:
        check_baseline(baseline, sha256, ids)


def _complete(
    out: Path, asking: Asking, samples: Sequence[Sample], settings: Settings, progress: Progress
) -> RunRecord:
    """Give every sample a row; returns the record of the ended run."""
    files = model_files(settings, progress)

    def ask(left: Sequence[Sample]) -> Generator[Row, None, None]:
        assistant = open_assistant(settings, progress, asking.ablations)
        yield from map(Runner(assistant, asking.repeats).row, left)

    record = kept_record(out, make_record(asking, settings, files))
    run(samples, out, record, ask, progress)
    if library_facts(settings) != record.library:
        raise LibraryError(
            f"The library in {settings.home} was changed while its questions were asked, so that "
            "no figures can stand for it; ask again with another --out."
        )
    return read_record(out / RECORD) or record
