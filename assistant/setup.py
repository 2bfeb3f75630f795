"""What must be there before the first question: models and papers, prepared in a thread."""

import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.models.hub import PREFIX
from assistant.models.store import DEFAULT
from assistant.pipeline.assistant import Assistant
from assistant.resources import resource_folder
from assistant.settings import Settings
from assistant.stages import Stage, Stages
from assistant.startup import assistant_over, open_chat_model, open_library, open_reader
from retrieval.errors import Cancelled, UserError
from retrieval.ingest import ingest
from retrieval.library import Library, make_home
from retrieval.llamacpp import check_model_file


@dataclass(slots=True)
class State:
    """A moment of the setup."""

    stages: tuple[Stage, ...] = ()
    error: str = ""
    """One sentence, once it has failed."""
    assistant: Assistant | None = None
    """Once everything is there."""
    papers: int = 0


class Setup:
    """Prepares an assistant in a thread of its own."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is started here."""
        self._settings = settings
        self._stop = threading.Event()
        self._changed = threading.Lock()
        self._stages = Stages()
        self._state = State()
        self._thread = threading.Thread(target=self._run, name="setup", daemon=True)

    def start(self) -> None:
        """Begin; see `state`."""
        self._thread.start()

    def stop(self) -> None:
        """Give up soon and wait for it; what is half done is completed by the next start."""
        self._stop.set()
        self._thread.join()

    @property
    def state(self) -> State:
        """How far it is."""
        with self._changed:
            return replace(self._state, stages=self._stages.now())

    def recount(self, papers: int) -> None:
        """There are so many papers now."""
        with self._changed:
            self._state.papers = papers

    def _run(self) -> None:
        try:
            assistant, papers = self._prepare()
        except UserError as error:
            print(f"assistant: {error}", file=sys.stderr, flush=True)
            self._fail(str(error))
        except Cancelled:
            self._fail("The setup was stopped.")
        except Exception:
            self._fail("Something unexpected went wrong; the terminal shows more.")
            raise
        else:
            with self._changed:
                self._state.assistant = assistant
                self._state.papers = papers

    def _prepare(self) -> tuple[Assistant, int]:
        library = open_library(self._settings, self._report)
        # After an interruption the store may not be able to count before it is mended.
        papers = 0 if library.was_interrupted else library.store.count()[0]
        if not papers:
            papers = ingest(library, _unfinished(library), progress=self._report).papers
        if papers:  # a library that was emptied can be filled again in the page
            library.ready_to_search()
        model = open_chat_model(self._settings, self._report)
        reader = open_reader(self._settings, self._report)
        assistant = assistant_over(
            library, model, reader, self._settings, self._report, stopped=self._stop.is_set
        )
        return assistant, papers

    def _report(self, stage: str, done: int, total: int, unit: str) -> None:
        if self._stop.is_set():
            raise Cancelled
        self._stages.report(stage, done, total, unit)

    def _fail(self, sentence: str) -> None:
        with self._changed:
            self._state.error = sentence


def check_given(settings: Settings) -> None:
    """Refuse what can be seen to be wrong before a page is shown.

    Raises:
        LibraryError: the library's folder cannot be made.
        ModelError: a model given by its path is missing, none, or too large.
    """
    make_home(settings.home)
    for spec in (settings.model, settings.embedder):
        if spec != DEFAULT and not spec.startswith(PREFIX):
            check_model_file(Path(spec).expanduser())


def _unfinished(library: Library) -> list[Path]:
    """What to read: the seeds into a new library, and again where they were interrupted.

    What a person has removed stays away, and a library that was emptied stays empty.
    """
    seeds = sorted(resource_folder("seeds").iterdir())
    begun = {source.file for stored in library.store.papers() for source in stored.paper.sources}
    wanted = bool(begun & {file.name for file in seeds}) if begun else not library.removed
    return [file for file in seeds if file.name not in library.removed] if wanted else []
