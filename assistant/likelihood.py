"""How likely the chat model finds a question about a paper: what reranking asks of it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assistant.chat_model import ChatModel
from assistant.prompting import question_messages
from retrieval.rerank import QuestionLikelihood


def question_likelihood(model: ChatModel) -> QuestionLikelihood | None:
    """The likelihood of questions under `model`, if it gives log-probabilities."""
    return ChatLikelihood(model) if model.gives_likelihoods else None


class ChatLikelihood:
    """The likelihood of a question as the chat model's reply to the wish for one."""

    def __init__(self, model: ChatModel) -> None:
        """Ask `model`, which gives log-probabilities."""
        self._model = model

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        """For each of `texts` the log-probability (natural) of every token of the question."""
        return self._model.log_probabilities(map(question_messages, texts), question, stopped)
