"""Wording of explanations; text from papers is not escaped here."""

from collections.abc import Iterable, Sequence

from assistant.evaluation.types import Score
from retrieval.types import first_words, nested

NOTHING_ANSWERED = Score(None, "nothing was answered")
"""The score of a refused question by a scorer of answers."""
NOTHING_CITED = Score(None, "nothing is cited")


def share(found: Sequence[bool], noun: str, misses: str = "", missed: Iterable[str] = ()) -> Score:
    """The share that holds, with a list of the others.

    Args:
        found: for each whether it holds; at least one.
        noun: their name, in the singular.
        misses: a description of those that do not hold.
        missed: the text of those that do not hold.
    """
    named = "; ".join(missed)
    holding = f"{sum(found)} of {counted(len(found), noun)}"
    return Score(sum(found) / len(found), f"{holding}; {misses}: {named}" if named else holding)


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 word`, `1,643 words`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quoted(text: str) -> str:
    """The beginning of `text` in quotation marks."""
    return f"“{nested(first_words(text))}”"
