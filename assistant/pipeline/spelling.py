"""Corrects misspelled words of a question, so that they are searched for and not refused."""

from collections.abc import Callable, Sequence

from assistant.generation.prompts import question_messages
from assistant.models.chat import ChatModel
from retrieval.library.library import Library
from retrieval.query.spelling import respelled

LEAST_GAIN = 5.0
"""By how much the log-probability (natural) of a question must rise with a word corrected.

A word that is only missing here (`statins`, near `static`) makes a question likelier as it stands;
see tests/benchmarks/shapes.md.
"""
_CONTEXT = question_messages("An abstract of a paper.")


def corrected(
    question: str, library: Library, model: ChatModel, stopped: Callable[[], bool]
) -> str:
    """The question with its misspelled words corrected, or else as it is.

    A word gives way to the word of the library's texts that is spelled most like it, if that makes
    the question, with its other words corrected, much likelier in the eyes of the chat model.

    Raises:
        LibraryError: the library cannot be read.
        Cancelled: `stopped()` became true.
    """
    if not model.gives_likelihoods or not (proposed := respelled(question, library)):
        return question

    def likelihood(text: str) -> float:
        return float(sum(row.sum() for row in model.log_probabilities([_CONTEXT], text, stopped)))

    def spelled(words: Sequence[tuple[str, str]]) -> str:
        text = question
        for word, better in words:
            text = text.replace(word, better)
        return text

    best = likelihood(spelled(proposed))
    kept = [
        each
        for each in proposed
        if best - likelihood(spelled([other for other in proposed if other != each])) >= LEAST_GAIN
    ]
    return spelled(kept)
