"""Processes that ask beside one another, each with models of its own."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from assistant.ablations import Ablations
from assistant.evaluation.asking import Asker
from assistant.evaluation.types import Row, Sample
from assistant.settings import Settings
from assistant.startup import open_assistant
from retrieval.errors import ModelError, UserError
from retrieval.progress import silent

_askers: list[Asker | UserError] = []
"""The one of this process, in a worker, or why there is none."""


def rows_of_workers(
    samples: Sequence[Sample],
    settings: Settings,
    ablations: Ablations,
    repeats: int,
    workers: int,
) -> Generator[Row, None, None]:
    """The rows of all samples, each as it is done, from so many processes.

    Args:
        samples: what is asked.
        settings: of the person; the threads are shared out among the workers.
        ablations: what is left out.
        repeats: how often each is asked again.
        workers: processes, at least 1.

    Raises:
        ModelError: a worker's process has died; the rows that came are all right.
        UserError: models or library cannot be opened.
    """
    share = settings.model_copy(update={"threads": max(1, settings.threads // workers)})
    pool = ProcessPoolExecutor(
        workers,
        # A forked copy of a process with threads and models of its own may hang.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_open,
        initargs=(share, ablations, repeats),
    )
    try:
        with _out_of_reach_of_ctrl_c():
            asked = [pool.submit(_row, sample) for sample in samples]
        for done in as_completed(asked):
            yield done.result()
    except BrokenProcessPool as error:
        raise ModelError(
            f"One of {workers} workers has died, mostly for want of memory; give the same command "
            "again with fewer --workers: what was asked is kept."
        ) from error
    finally:
        for process in multiprocessing.active_children():
            process.terminate()  # what is stopped leaves the processor at once
        pool.shutdown(cancel_futures=True)


@contextmanager
def _out_of_reach_of_ctrl_c() -> Iterator[None]:
    """Processes that are begun here never hear of Ctrl-C: it goes to this one, which ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _open(settings: Settings, ablations: Ablations, repeats: int) -> None:
    """Make this process a worker."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _askers.append(Asker(open_assistant(settings, silent, ablations), repeats))
    except UserError as error:  # an initializer that raises ends the pool without its reason
        _askers.append(error)


def _end_with_parent() -> None:
    """A killed parent cannot end its workers."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _row(sample: Sample) -> Row:
    asker = _askers[0]
    if isinstance(asker, UserError):
        raise asker
    return asker.row(sample)
