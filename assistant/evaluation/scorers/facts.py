"""Scores of an answer's content: its facts, and its number of words.

An answer states a fact if one of the fact's wordings occurs in the shown text, ignoring case;
titles that introduce a quotation count. A refusal states no fact.
"""

from collections.abc import Sequence

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, counted, share
from assistant.evaluation.types import AnsweredQuestion, Score
from assistant.types import Outcome


def all_facts(asked: AnsweredQuestion) -> Score | None:
    """1 if every expected fact is stated, else 0."""
    recall = fact_recall(asked)
    return Score(float(recall.value == 1), recall.why) if recall else None


def fact_recall(asked: AnsweredQuestion) -> Score | None:
    """Share of the expected facts that are stated."""
    facts = asked.expected.facts
    if asked.answer is None or not facts:
        return None
    is_answered = asked.answer.outcome is Outcome.ANSWERED
    return stated_share(asked.answer.text if is_answered else "", facts)


def words(asked: AnsweredQuestion) -> Score | None:
    """Words of the shown text, with citation numbers; refusals are not scored."""
    if asked.answer is None:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    count = len(asked.answer.text.split())
    return Score(count, counted(count, "word"))


def stated_share(text: str, facts: Sequence[Sequence[str]]) -> Score:
    """Share of the facts, each given by its wordings, that a text states."""
    stated = [states(text, wordings) for wordings in facts]
    missing = (" or ".join(each) for each, is_in in zip(facts, stated, strict=True) if not is_in)
    return share(stated, "fact", "missing", missing)


def states(text: str, wordings: Sequence[str]) -> bool:
    """Whether a text has a fact in one of its wordings."""
    folded = text.casefold()
    return any(each.casefold() in folded for each in wordings)
