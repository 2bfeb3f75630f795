"""The real app over a model that lies: what it writes is payloads.

    python tests/browser/lying_app.py serve --home HOME --port PORT

A question with the word UNCHECKED has its sentences let through as if they held, one with the
word SILENT is answered by "The notes do not say."; all others meet the real check.
"""

import sys
from collections.abc import Generator, Sequence

from payloads import ALL, FORMULAS

from assistant.cli.main import main
from assistant.generation.prompts import SILENT_REPLY
from assistant.generation.verification.support import Verifier
from assistant.models.chat import ChatModel, Messages, Stopped
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.assistant import Assistant
from assistant.pipeline.startup import open_verifier
from assistant.server.jobs import setup
from assistant.settings import AnswerSettings, Settings, WritingSettings
from assistant.types import Check, Evidence
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import silent

LIES = "\n".join(f"So {text} it is." for text in (*ALL, *FORMULAS.values()))
_ENDLESS = 1_000_000
_MANY = 10_000


class LyingChatModel(ChatModel):
    """Answers everything with payloads, a line each."""

    name = "<img src=x onerror=window.hit=1>"
    context = _ENDLESS
    gives_likelihoods = False
    slots = 1

    def __init__(self) -> None:
        self.asked = ""

    def count(self, messages: Messages) -> int:
        return sum(len(message["content"]) for message in messages)

    def write(
        self,
        messages: Messages,
        max_tokens: int,
        stopped: Stopped,
        grammar: str = "",
        sampling: Sampling = LIKELIEST,
    ) -> Generator[str, None, None]:
        self.asked = messages[-1]["content"]
        yield SILENT_REPLY if "SILENT" in self.asked else LIES

    def choose(
        self, messages: Messages, texts: Sequence[str], max_tokens: int, stopped: Stopped
    ) -> tuple[str, int]:
        return LIES, 1


class Lenient(Verifier):
    """Lets everything through where a question says so."""

    def __init__(self, real: Verifier, model: LyingChatModel) -> None:
        self._real = real
        self._asked = model

    def states(self, sentence: str) -> bool:
        return self._real.states(sentence)

    def leans(self, sentence: str) -> bool:
        return self._real.leans(sentence)

    def needed(
        self, claim: str, cited: Sequence[Evidence], *, is_excerpt: bool = False
    ) -> dict[int, Check]:
        if "UNCHECKED" in self._asked.asked:
            return dict.fromkeys(range(len(cited)), Check("unchecked"))
        return self._real.needed(claim, cited, is_excerpt=is_excerpt)


def serve() -> None:
    """Serve it until Ctrl-C."""
    model = LyingChatModel()
    verifier = Lenient(open_verifier(Settings(), silent), model)
    settings = AnswerSettings(
        least_confidence=-_ENDLESS,
        writing=WritingSettings(max_tokens=_MANY, most_sentences=_MANY, most_failures=_MANY),
    )

    def assistant(
        library: Library, _model: object, reader: Reader, *_: object, **_others: object
    ) -> Assistant:
        return Assistant(library, model, reader, verifier, settings)

    setup.open_chat_model = lambda *_: model
    setup.assistant_over = assistant
    sys.exit(main())


if __name__ == "__main__":
    serve()
