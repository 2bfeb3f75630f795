"""Scores of an answer's sentences: what is written and what holds.

Whether a written sentence follows from what it cites is judged before it is shown, by a model; a
score by the same model would say nothing new. What can be told exactly is told here.
"""

import re

from assistant.evaluation.scorers.facts import tells
from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, counted, quoted, share
from assistant.evaluation.types import Asked, Score
from assistant.generation.verification.guards import breaks
from assistant.types import Answer, AnswerSentence, Kind, Outcome
from retrieval.types import Paper

_AND_MORE = re.compile(r", and [\d,]+ more(?: that `.*` lists)?\.$", re.DOTALL)
"""What the last paper of a list ends with; it is not about that paper."""


def grounded(asked: Asked) -> Score | None:
    """Share of the sentences whose numbers, units and names all stand in what they cite.

    A sentence about a record is held against the whole record, a quotation against its quote. What
    the model writes may have names of the cited titles, but no numbers: those must be quoted.
    """
    answer = asked.answer
    if answer is None:
        return None
    if answer.outcome is not Outcome.ANSWERED or not answer.sentences:
        return NOTHING_ANSWERED
    holds = [_is_grounded(answer, each) for each in answer.sentences]
    failing = (
        quoted(each.text) for each, held in zip(answer.sentences, holds, strict=True) if not held
    )
    return share(holds, "sentence", "not in what they cite", failing)


def written(asked: Asked) -> Score | None:
    """1 if an answer from abstracts begins with a sentence that the model wrote, else 0."""
    answer = asked.answer
    if answer is None or _is_from_records(answer):
        return None
    if answer.outcome is not Outcome.ANSWERED or not answer.sentences:
        return NOTHING_ANSWERED
    begins = answer.sentences[0].kind is Kind.VERIFIED
    why = "begins with what the model wrote" if begins else "begins with a quotation"
    return Score(float(begins), why)


def written_words(asked: Asked) -> Score | None:
    """Words of what the model wrote, where it did."""
    said = _written_part(asked)
    if said is None:
        return None
    count = len(said.split())
    return Score(count, counted(count, "word"))


def written_facts(asked: Asked) -> Score | None:
    """1 if every expected fact is told in what the model wrote, else 0."""
    answer, facts = asked.answer, asked.expected.facts
    if answer is None or not facts or _is_from_records(answer):
        return None
    said = _written_part(asked) or ""
    told = [tells(said, forms) for forms in facts]
    missing = (" or ".join(forms) for forms, is_in in zip(facts, told, strict=True) if not is_in)
    score = share(told, "fact", "missing", missing)
    return Score(float(score.value == 1), score.why)


def _written_part(asked: Asked) -> str | None:
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED or _is_from_records(answer):
        return None
    texts = [each.text for each in answer.sentences if each.kind is Kind.VERIFIED]
    return " ".join(texts) or None


def _is_grounded(answer: Answer, sentence: AnswerSentence) -> bool:
    cited = [each for each in answer.citations if each.number in sentence.citations]
    quotes = [each.quote for each in cited]
    if sentence.text in quotes:
        return True
    if sentence.kind is Kind.QUOTED:
        return False
    if _is_from_records(answer):
        fields = [field for each in cited for field in _fields(each.paper)]
        return not breaks(_AND_MORE.split(sentence.text)[0], fields)
    return not breaks(sentence.text, quotes, " ".join(each.paper.title for each in cited))


def _is_from_records(answer: Answer) -> bool:
    """Whether records answered, not abstracts: no model wrote, and how sure it was is not said."""
    return answer.confidence is None and answer.tokens.completion == 0


def _fields(paper: Paper) -> list[str]:
    """A record as text that a sentence can be held against."""
    appeared = f"{paper.venue} {paper.year or ''} {paper.decision}"
    return [paper.shown_title, " and ".join(paper.authors), appeared]
