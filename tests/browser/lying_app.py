"""The real app over a model that lies: what it writes is payloads.

    python tests/browser/lying_app.py serve --home HOME --port PORT

A question with the word UNCHECKED has its sentences let through as if they held, one with the
word SILENT is answered by "The notes do not say."; all others meet the real check.
"""

import sys
from collections.abc import Callable, Generator, Mapping, Sequence

from payloads import ALL, FORMULAS

from assistant import setup, writing
from assistant.answer_settings import AnswerSettings, WritingSettings
from assistant.checking import is_supported
from assistant.cli import main
from assistant.pipeline.assistant import Assistant
from assistant.prompting import SILENT_REPLY
from assistant.statements import states
from retrieval.library import Library
from retrieval.search.reader import Reader

LIES = "\n".join(f"So {text} it is." for text in (*ALL, *FORMULAS.values()))
_ENDLESS = 1_000_000
_MANY = 10_000


class LyingChatModel:
    """Answers everything with payloads, a line each."""

    name = "<img src=x onerror=window.hit=1>"
    context = _ENDLESS
    gives_likelihoods = False

    def __init__(self) -> None:
        self.asked = ""

    def count(self, messages: Sequence[Mapping[str, str]]) -> int:
        return sum(len(message["content"]) for message in messages)

    def write(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,  # noqa: ARG002 - what every model is told
        stopped: Callable[[], bool],  # noqa: ARG002
        grammar: str = "",  # noqa: ARG002
    ) -> Generator[str, None, None]:
        self.asked = messages[-1]["content"]
        yield SILENT_REPLY if "SILENT" in self.asked else LIES


def serve() -> None:
    """Serve it until Ctrl-C."""
    model = LyingChatModel()
    settings = AnswerSettings(
        least_confidence=-_ENDLESS,
        writing=WritingSettings(max_tokens=_MANY, most_sentences=_MANY, most_failures=_MANY),
    )

    def assistant(
        library: Library, _model: object, reader: Reader, *_: object, **_others: object
    ) -> Assistant:
        return Assistant(library, model, reader, settings)

    def is_checked() -> bool:
        return "UNCHECKED" not in model.asked

    setup.open_chat_model = lambda *_: model
    setup.assistant_over = assistant
    writing.is_supported = lambda *of: not is_checked() or is_supported(*of)
    writing.states = lambda text: not is_checked() or states(text)
    sys.exit(main())


if __name__ == "__main__":
    serve()
