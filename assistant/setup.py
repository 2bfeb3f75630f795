"""What must be there before the first question: models and papers, prepared in a thread."""

import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from assistant.engine import Assistant
from assistant.models.hub import PREFIX
from assistant.models.store import DEFAULT
from assistant.resources import resource_folder
from assistant.settings import Settings
from assistant.startup import assistant_over, open_chat_model, open_library
from retrieval.errors import Cancelled, UserError
from retrieval.ingest import ingest
from retrieval.library import Library, make_home
from retrieval.llamacpp import check_model_file


@dataclass(slots=True)
class Stage:
    """A step of the setup and how far it is."""

    name: str
    done: int = 0
    total: int = 0
    """0 where it is not known."""
    unit: str = ""


@dataclass(slots=True)
class State:
    """A moment of the setup."""

    stages: list[Stage] = field(default_factory=list)
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
            stages = [Stage(s.name, s.done, s.total, s.unit) for s in self._state.stages]
            return State(stages, self._state.error, self._state.assistant, self._state.papers)

    def _run(self) -> None:
        try:
            assistant, papers = self._prepare()
        except UserError as error:
            print(f"assistant: {error}", file=sys.stderr, flush=True)
            self._fail(str(error))
        except Cancelled:
            self._fail("The setup was stopped.")
        except Exception as error:
            self._fail(f"Something unexpected went wrong ({error!r}); the terminal shows more.")
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
        library.ready_to_search()
        model = open_chat_model(self._settings, self._report)
        assistant = assistant_over(library, model, self._settings, self._report, self._stop.is_set)
        return assistant, papers

    def _report(self, stage: str, done: int, total: int, unit: str) -> None:
        if self._stop.is_set():
            raise Cancelled
        with self._changed:
            if not self._state.stages or self._state.stages[-1].name != stage:
                self._state.stages.append(Stage(stage))
            current = self._state.stages[-1]
            current.done, current.total, current.unit = done, total, unit

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
    """What to read: the seeds into an empty library, and again where they were interrupted."""
    seeds = resource_folder("seeds")
    begun = {source.file for stored in library.store.papers() for source in stored.paper.sources}
    return [seeds] if not begun or begun & {file.name for file in seeds.iterdir()} else []
