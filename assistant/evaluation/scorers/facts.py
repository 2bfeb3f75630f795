"""Scores of what an answer says: its facts, and in how many words.

A fact is told by any of its alternatives, in whatever case, anywhere in what is shown: titles that
lead in a quotation count, as for whoever reads them. What a refusal says tells no fact.
"""

from collections.abc import Sequence

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, counted, share
from assistant.evaluation.types import Asked, Score
from assistant.types import Outcome


def all_facts(asked: Asked) -> Score | None:
    """1 if every expected fact is told, else 0."""
    told = fact_recall(asked)
    return Score(float(told.value == 1), told.why) if told else None


def fact_recall(asked: Asked) -> Score | None:
    """Share of the expected facts that are told."""
    facts = asked.expected.facts
    if asked.answer is None or not facts:
        return None
    is_answered = asked.answer.outcome is Outcome.ANSWERED
    told = [is_answered and tells(asked.answer.text, forms) for forms in facts]
    missing = (" or ".join(forms) for forms, is_in in zip(facts, told, strict=True) if not is_in)
    return share(told, "fact", "missing", missing)


def words(asked: Asked) -> Score | None:
    """Words of what is shown, citation numbers among them; a refusal's are not counted."""
    if asked.answer is None:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    count = len(asked.answer.text.split())
    return Score(count, counted(count, "word"))


def tells(shown: str, alternatives: Sequence[str]) -> bool:
    """Whether a text has a fact in one of its wordings."""
    text = shown.casefold()
    return any(each.casefold() in text for each in alternatives)
