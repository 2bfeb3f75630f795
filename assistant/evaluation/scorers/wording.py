"""The words that explanations share; what stands in them is as papers have it, escaped nowhere."""

from collections.abc import Iterable, Sequence

from assistant.evaluation.types import Score
from retrieval.types import first_words, nested

NOTHING_ANSWERED = Score(None, "nothing was answered")
"""Of a question that was refused, by a scorer of answers: refusals have scorers of their own."""
NOTHING_CITED = Score(None, "nothing is cited")


def share(found: Sequence[bool], noun: str, misses: str = "", missed: Iterable[str] = ()) -> Score:
    """The share that holds, and which do not.

    Args:
        found: of each whether it holds; at least one.
        noun: what each is called, in the singular.
        misses: what those that do not hold have in common.
        missed: those that do not hold.
    """
    named = "; ".join(missed)
    holding = f"{sum(found)} of {counted(len(found), noun)}"
    return Score(sum(found) / len(found), f"{holding}; {misses}: {named}" if named else holding)


def counted(number: int, noun: str) -> str:
    """So many of them: `1 word`, `1,643 words`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quoted(text: str) -> str:
    """The beginning of `text` in quotation marks."""
    return f"“{nested(first_words(text))}”"
