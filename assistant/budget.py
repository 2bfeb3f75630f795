"""What of a prompt fits into the model's context: the one rule for everything that wants room.

The conversation has no share: a question goes to the model as it can be understood by itself, and
earlier turns beside it measured no better; see tests/benchmarks/answers.md.
"""

from collections.abc import Callable, Sequence

from assistant.chat_model import ChatModel
from assistant.prompting import Message
from retrieval.errors import InputError

Prompt = Callable[[int], Sequence[Message]]
"""The prompt with the first so many sentences of evidence."""


def fitting(model: ChatModel, prompt: Prompt, sentences: int, answer: int) -> int:
    """How many sentences of evidence fit beside instructions, question and answer.

    The last evidence goes first; one sentence must fit.

    Args:
        model: counts the tokens.
        prompt: makes the prompt to count.
        sentences: sentences of evidence there are, at least one.
        answer: tokens that the model may write.

    Raises:
        InputError: not even one sentence fits.
    """
    for count in range(sentences, 0, -1):
        if model.count(prompt(count)) + answer <= model.context:
            return count
    raise InputError(
        f"The question does not fit into the model's context of {model.context:,} tokens; "
        "ask a shorter one or raise --context."
    )
