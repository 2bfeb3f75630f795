"""One evaluation from its questions to its report, gone on with where it was interrupted."""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import filelock

from assistant.ablations import Ablations
from assistant.evaluation.asking import Asker
from assistant.evaluation.beir import read_beir
from assistant.evaluation.comparison import Comparison, check_baseline, compare, read_baseline
from assistant.evaluation.corpus import home_of_corpus, ingest_corpus, papers_of
from assistant.evaluation.figures import Figures, make_figures, write_figures
from assistant.evaluation.provenance import library_facts
from assistant.evaluation.question_set import QuestionSet, read_question_set
from assistant.evaluation.record import Asking, RunRecord, make_record, read_record, record_json
from assistant.evaluation.report import write_report
from assistant.evaluation.rows import read_rows
from assistant.evaluation.run_folder import FIGURES, RECORD, REPORT, SAMPLES
from assistant.evaluation.running import (
    Ask,
    chosen,
    kept_record,
    missing,
    remove_ended,
    run,
)
from assistant.evaluation.types import Row, Sample, SampleType
from assistant.evaluation.workers import rows_of_workers
from assistant.models import resolve_chat_model, resolve_embedder, resolve_encoder
from assistant.models.adapter import ADAPTER
from assistant.models.encoder_gguf import CUTTER, READER, SUPPORT
from assistant.settings import Settings, load_settings
from assistant.startup import open_assistant
from retrieval.errors import InputError, LibraryError
from retrieval.progress import Progress


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to be."""

    questions: Path
    """A JSONL file or a BEIR folder."""
    out: Path
    """The run's folder."""
    types: tuple[SampleType, ...] = ()
    """Empty: all."""
    limit: int | None = None
    """Samples at most, in proportion over the types."""
    workers: int = 1
    repeats: int = 0
    """How often each sample is asked again."""
    seed: int = 0
    """Of the intervals' draws."""
    ablations: Ablations = field(default_factory=Ablations)
    baseline: Path | None = None
    """The folder of the run to compare with."""
    sha256: str = ""
    """Of the questions that a replay asks again; empty: whatever they are."""
    replaces: bool = False
    """Whether a run in `out` that has ended gives way."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came of it."""

    figures: Figures
    comparison: Comparison | None
    notes: tuple[str, ...]
    """What is odd about the questions."""
    failures: Mapping[str, str]
    """Why samples failed, by their ids."""


def evaluate(wanted: Wanted, settings: Settings, progress: Progress) -> Evaluated:
    """Ask what has not been asked yet, and write figures and report.

    Everything that is given is checked before a model is loaded.

    Raises:
        InputError: questions, baseline or folder cannot be used.
        LibraryError: the library has no papers, cannot be read or written, or was changed.
        ModelError: a model cannot be had or loaded.
    """
    baseline = read_baseline(wanted.baseline) if wanted.baseline else None
    if wanted.questions.is_dir() and settings.home == home_of_corpus(wanted.questions, settings):
        # What is wrong with it is said before its corpus is read.
        _check_known(wanted, baseline, read_beir(wanted.questions).sha256)
        ingest_corpus(wanted.questions, settings, progress)
    questions = read_question_set(wanted.questions, papers_of(settings.home))
    samples = chosen(questions.samples, wanted.types, wanted.limit)
    ids = [sample.id for sample in samples]
    _check_known(wanted, baseline, questions.sha256, ids)
    with _alone_in(wanted.out):
        if wanted.replaces:
            remove_ended(wanted.out)
        record = _asked(wanted, questions, samples, settings, progress)
        by_id = {row.id: row for row in read_rows(wanted.out / SAMPLES)}
        rows = [by_id[id_] for id_ in ids]
        figures = make_figures(rows, ids, questions.sha256, wanted.seed)
        comparison = None
        if baseline:
            comparison = compare(baseline, figures, str(wanted.baseline), wanted.seed)
        write_figures(wanted.out / FIGURES, figures)
        write_report(wanted.out / REPORT, figures, rows, record_json(record), comparison)
    failures = {row.id: row.failed for row in rows if row.failed}
    return Evaluated(figures, comparison, questions.notes, failures)


def _check_known(
    wanted: Wanted, baseline: Figures | None, sha256: str, ids: Collection[str] = ()
) -> None:
    """See that the questions are those of the run that is replayed, and of the baseline.

    Args:
        wanted: what the run is to be.
        baseline: its figures, if there is one.
        sha256: of the questions.
        ids: of the samples, once they are known.

    Raises:
        InputError: they are others.
    """
    if wanted.sha256 and wanted.sha256 != sha256:
        raise InputError(
            f"{wanted.questions} was changed after the run that is to be replayed; bring back what "
            "was asked, or evaluate it as a new run."
        )
    if baseline:
        check_baseline(baseline, sha256, str(wanted.baseline), ids)


def settings_for(questions: Path, flags: Mapping[str, object]) -> Settings:
    """The person's settings; where no library is named, a BEIR folder's corpus has one of its own.

    Raises:
        InputError: a setting does not fit.
    """
    settings = load_settings(dict(flags))
    if questions.is_dir() and "home" not in flags:
        return settings.model_copy(update={"home": home_of_corpus(questions, settings)})
    return settings


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Have a run's folder to oneself.

    Raises:
        InputError: it cannot be made, or another process has it.
    """
    lock = filelock.FileLock(folder / "lock", blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise InputError(
            f"Another process is running the evaluation in {folder}; wait, or give another --out."
        ) from error
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be written ({error.strerror}); choose another --out."
        ) from error
    with lock:
        yield


def _asked(
    wanted: Wanted,
    questions: QuestionSet,
    samples: Sequence[Sample],
    settings: Settings,
    progress: Progress,
) -> RunRecord:
    """The record of the run, once every sample has a row."""
    asking = Asking(
        file=str(wanted.questions.resolve()),
        sha256=questions.sha256,
        samples=len(samples),
        limit=wanted.limit,
        types=tuple(wanted.types),
        repeats=wanted.repeats,
        seed=wanted.seed,
        ablations=wanted.ablations,
    )
    files = {
        "chat": resolve_chat_model(settings.model, settings.cache, settings.threads, progress),
        "embedder": resolve_embedder(settings.embedder, settings.cache, progress),
        "reader": resolve_encoder(READER, settings.cache, progress),
        "support": resolve_encoder(SUPPORT, settings.cache, progress),
        "cutter": resolve_encoder(CUTTER, settings.cache, progress),
    }
    if settings.adapter and ADAPTER.is_file():  # without its file the model is asked without it
        files["writer"] = ADAPTER
    made = make_record(asking, settings, files, wanted.workers)
    record = kept_record(wanted.out, made)
    if missing(samples, wanted.out) or not record.times.ended:
        run(samples, wanted.out, record, _ways(wanted, settings, progress), progress)
        _check_unchanged(record, settings.home)
    return read_record(wanted.out / RECORD) or record


def _check_unchanged(record: RunRecord, home: Path) -> None:
    """See that all was asked of the same papers.

    Raises:
        LibraryError: another process added or removed some.
    """
    if library_facts(home) != record.library:
        raise LibraryError(
            f"The library in {home} was changed while its questions were asked, so that no figures "
            "can stand for it; ask again with another --out."
        )


def _ways(wanted: Wanted, settings: Settings, progress: Progress) -> Ask:
    """How samples are asked: in this process, or by workers."""
    if wanted.workers > 1:
        return partial(
            rows_of_workers,
            settings=settings,
            ablations=wanted.ablations,
            repeats=wanted.repeats,
            workers=wanted.workers,
        )

    def ask(samples: Sequence[Sample]) -> Generator[Row, None, None]:
        asker = Asker(open_assistant(settings, progress, wanted.ablations), wanted.repeats)
        yield from map(asker.row, samples)

    return ask
