"""Score of an answer's evidence against the expected sentences."""

import unicodedata
from collections.abc import Iterable

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, quoted, share
from assistant.evaluation.types import AnsweredQuestion, Score
from assistant.types import Outcome
from retrieval.text.markup import clean


def evidence_recall(asked: AnsweredQuestion) -> Score | None:
    """Share of the expected sentences that a cited quote contains, or is a part of.

    Only letters and digits are compared, without mark-up: a question file may quote a page, while
    the library has cleaned text. All 193 expected sentences of the development questions are then
    found in the seeds; 176 are as they are written, and 186 with the mark-up left in.
    """
    expected = asked.expected.evidence
    if asked.answer is None or not expected:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    quotes = [citation.quote for citation in asked.answer.citations]
    found = [is_cited(gold, quotes) for gold in expected]
    missing = (quoted(gold) for gold, is_found in zip(expected, found, strict=True) if not is_found)
    return share(found, "sentence", "not cited", missing)


def is_cited(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether a quote contains the sentence, or is a part of it."""
    return any(_overlap(_letters(sentence), _letters(quote)) for quote in quotes)


def _overlap(gold: str, quote: str) -> bool:
    return bool(gold and quote) and (gold in quote or quote in gold)


def _letters(text: str) -> str:
    """Letters and digits of `text` in lower case, without mark-up."""
    plain = unicodedata.normalize("NFKC", clean(text)).casefold()
    return "".join(sign for sign in plain if sign.isalnum())
