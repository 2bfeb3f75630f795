"""The setup job: loads models and papers in a thread before the first question."""

import threading
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.models.download.hub import PREFIX
from assistant.models.store import DEFAULT
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import assistant_over, open_chat_model, open_library, open_reader
from assistant.server.jobs.board import Stage
from assistant.server.jobs.library import UNEXPECTED, ProgressTracker, printed
from assistant.settings import Settings, resource_folder
from retrieval.encoders.llamacpp import check_model_file
from retrieval.index.place import make_home
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.types import Cancelled, UserError


@dataclass(slots=True)
class SetupState:
    """The progress of the setup, or how it ended."""

    stages: tuple[Stage, ...] = ()
    error: str = ""
    """One sentence if it failed."""
    assistant: Assistant | None = None
    """None until everything is loaded."""
    papers: int = 0
    is_reading: bool = False
    """Whether papers are still being read; those read already can be searched."""


class Setup:
    """Prepares an assistant in a thread of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._progress = ProgressTracker()
        self._state = SetupState()
        self._thread = threading.Thread(target=self._run, name="setup", daemon=True)

    def start(self) -> None:
        """Start the thread; see `state`."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for it; the next start completes an interrupted ingest."""
        self._progress.stop.set()
        self._thread.join()

    @property
    def state(self) -> SetupState:
        """A snapshot of the state."""
        with self._lock:
            return replace(self._state, stages=self._progress.stages)

    def recount(self, papers: int) -> None:
        """Update the number of papers."""
        with self._lock:
            self._state.papers = papers

    def _run(self) -> None:
        error = UNEXPECTED
        try:
            ended = self._prepare()
            error = ""
        except UserError as raised:
            error = printed(raised)
        except Cancelled:
            error = "The setup was stopped."
        finally:
            with self._lock:
                if error:  # papers that were read before can still be asked about
                    ended = replace(self._state, error=error, is_reading=False)
                self._state = ended

    def _prepare(self) -> SetupState:
        settings, report = self._settings, self._progress.report_or_stop
        library = open_library(settings, report, make=True)
        # After an interruption the store may not be able to count before it is mended.
        papers = 0 if library.was_interrupted else library.store.count()[0]
        if papers:
            library.ready_to_search()
        model, reader = open_chat_model(settings, report), open_reader(settings, report)
        stopped = self._progress.stop.is_set
        assistant = assistant_over(library, model, reader, settings, report, stopped=stopped)
        if not papers:
            papers = self._read_seeds(library, assistant)
        return SetupState(assistant=assistant, papers=papers)

    def _read_seeds(self, library: Library, assistant: Assistant) -> int:
        """Read the seeds; the assistant can be used once the first papers are there."""

        def searchable() -> None:
            papers = library.store.count()[0]
            with self._lock:
                self._state = SetupState(assistant=assistant, papers=papers, is_reading=True)

        files, report = _seeds_to_read(library), self._progress.report_or_stop
        papers = ingest(library, files, progress=report, searchable=searchable).papers
        if papers:  # a library that was emptied can be filled again in the page
            library.ready_to_search()
        return papers


def check_paths(settings: Settings) -> None:
    """Check the home folder and model files before anything is loaded.

    Raises:
        LibraryError: the library's folder cannot be made.
        ModelError: a model given by its path is missing, not a model, or too large.
    """
    make_home(settings.home)
    local = [(settings.model, settings.model_url), (settings.embedder, settings.embedder_url)]
    for spec in [spec for spec, url in local if not url]:
        if spec != DEFAULT and not spec.startswith(PREFIX):
            check_model_file(Path(spec).expanduser())


def _seeds_to_read(library: Library) -> list[Path]:
    """Seed files still to read: into a new library, or after an interruption.

    Files that a person removed are not read again, and an emptied library stays empty.
    """
    seeds = sorted(resource_folder("seeds").iterdir())
    read = {source.file for stored in library.store.papers() for source in stored.paper.sources}
    wanted = bool(read & {file.name for file in seeds}) if read else not library.removed
    return [file for file in seeds if file.name not in library.removed] if wanted else []
