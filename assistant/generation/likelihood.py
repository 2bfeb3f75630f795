"""The likelihood of a question about a paper under the chat model, for reranking."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assistant.generation.prompts import question_messages
from assistant.models.chat import ChatModel


def question_likelihood(model: ChatModel) -> "ChatLikelihood | None":
    """The likelihood of questions under `model`, if it gives log-probabilities."""
    return ChatLikelihood(model) if model.gives_likelihoods else None


class ChatLikelihood:
    """The likelihood of a question as the chat model's reply when asked for one about a text."""

    def __init__(self, model: ChatModel) -> None:
        """`model` must give log-probabilities."""
        self._model = model
        self.tokens = 0
        """Tokens read so far: of papers, and of the question after each."""

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        """For each of `texts` the log-probability (natural) of every token of the question."""
        conversations = [question_messages(text) for text in texts]
        rows = self._model.log_probabilities(conversations, question, stopped)
        for conversation, row in zip(conversations, rows, strict=True):
            self.tokens += self._model.count(conversation) + len(row)
            yield row
