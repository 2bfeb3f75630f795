"""What of a prompt fits into the model's context: one rule for everything that wants room."""

from collections.abc import Callable, Sequence

from assistant.chat_model import ChatModel
from assistant.prompting import Message
from retrieval.errors import InputError

Prompt = Callable[[int, int], Sequence[Message]]
"""The prompt with the last so many turns of the conversation and the first so many sentences."""


def fitted(
    model: ChatModel, prompt: Prompt, turns: int, sentences: int, answer: int
) -> tuple[int, int]:
    """How many turns and sentences of evidence fit beside the question and the answer.

    The oldest turns go first, then the last evidence; the instructions, the question and one
    sentence must fit.

    Args:
        model: counts the tokens.
        prompt: makes the prompt to count.
        turns: turns there are.
        sentences: sentences of evidence there are, at least one.
        answer: tokens that the model may write.

    Raises:
        InputError: not even one sentence fits.
    """
    sizes = [(count, sentences) for count in range(turns, 0, -1)]
    sizes += [(0, count) for count in range(sentences, 0, -1)]
    for size in sizes:
        if model.count(prompt(*size)) + answer <= model.context:
            return size
    raise InputError(
        f"The question does not fit into the model's context of {model.context:,} tokens; "
        "ask a shorter one or raise --context."
    )
