"""The real app, which gives the answers to a few questions from memory after the first time.

    python tests/remembering_app.py serve --home HOME --port PORT

Pages and clients of the API ask the same questions again and again to look at something else; each
is answered by the real models once. What has to take its time, or to be stopped, asks others.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence

from assistant.cli.main import main
from assistant.models.llama.decoding import LIKELIEST, Sampling
from assistant.pipeline.assistant import Assistant
from assistant.types import Event, Turn
from retrieval.types import Cancelled, never

QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
AUTHORS = "Who are the authors?"
COMPARED = "How does ModelAngelo compare with manual model building?"
SEVERAL = "Recent work on language model reasoning with chain of thought"
WEATHER = "What's the weather in Vienna tomorrow?"
REMEMBERED = {QUESTION, AUTHORS, COMPARED, SEVERAL, WEATHER}
STEP = 0.1
"""Seconds between two steps of an answer, so that each can be seen."""


def remember() -> None:
    """Let every assistant of this process remember its answers."""
    ask = Assistant.stream
    kept: dict[object, list[Event]] = {}

    def stream(
        self: Assistant,
        question: str,
        history: Sequence[Turn] = (),
        stopped: Callable[[], bool] = never,
        sampling: Sampling = LIKELIEST,
    ) -> Iterator[Event]:
        if question not in REMEMBERED or sampling != LIKELIEST:
            yield from ask(self, question, history, stopped, sampling)
            return
        asked = (question, *((turn.question, turn.answer.text) for turn in history))
        events: list[Event] = []
        for event in kept.get(asked) or ask(self, question, history, stopped, sampling):
            if asked in kept:
                time.sleep(STEP)
            if stopped():
                raise Cancelled
            events.append(event)
            yield event
        kept[asked] = events

    Assistant.stream = stream  # type: ignore[method-assign]


if __name__ == "__main__":
    remember()
    sys.exit(main())
