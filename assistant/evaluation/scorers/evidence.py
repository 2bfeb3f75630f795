"""Whether an answer stands on the sentences that it was expected to stand on."""

import unicodedata
from collections.abc import Iterable

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, quoted, share
from assistant.evaluation.types import Asked, Score
from assistant.types import Outcome
from retrieval.markup import clean


def evidence_recall(asked: Asked) -> Score | None:
    """Share of the expected sentences that a cited quote contains, or is a part of.

    Letters and digits alone are compared, once mark-up is out: an evaluation file may have a
    sentence as its page writes it, the library has it cleaned. So compared, all 193 expected
    sentences of the development questions stand in an abstract of the seeds; 176 do as they are
    written, and 186 by their letters and digits with the mark-up left in.
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
    """Letters and digits of `text` in lower case, its mark-up left out."""
    plain = unicodedata.normalize("NFKC", clean(text)).casefold()
    return "".join(sign for sign in plain if sign.isalnum())
