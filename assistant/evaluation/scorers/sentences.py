"""Scores of an answer's sentences: which are grounded, and what the model wrote.

A model checks whether a written sentence follows from its citations before the sentence is shown; a
score by the same model would add nothing. These scores measure what can be measured exactly.
"""

import re

from assistant.evaluation.scorers.facts import stated_share
from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, counted, quoted, share
from assistant.evaluation.types import AnsweredQuestion, Score
from assistant.generation.verification.guards import breaks
from assistant.types import Answer, AnswerSentence, Outcome, SentenceKind
from retrieval.types import Paper

_AND_MORE = re.compile(r", and [\d,]+ more(?: that `.*` lists)?\.$", re.DOTALL)
"""The end of a list's last sentence, which is not about the cited paper."""


def grounded(asked: AnsweredQuestion) -> Score | None:
    """Share of the sentences whose numbers, units and names all occur in what they cite.

    A sentence about a record is compared with the whole record, a quotation with its quote. A
    sentence by the model may take names, but no numbers, from the cited titles.
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


def written(asked: AnsweredQuestion) -> Score | None:
    """1 if an answer from abstracts begins with a sentence by the model, else 0."""
    answer = asked.answer
    if answer is None or _is_from_records(answer):
        return None
    if answer.outcome is not Outcome.ANSWERED or not answer.sentences:
        return NOTHING_ANSWERED
    begins = answer.sentences[0].kind is SentenceKind.VERIFIED
    why = "begins with what the model wrote" if begins else "begins with a quotation"
    return Score(float(begins), why)


def written_words(asked: AnsweredQuestion) -> Score | None:
    """Number of words that the model wrote, if any."""
    said = _written_part(asked)
    if said is None:
        return None
    count = len(said.split())
    return Score(count, counted(count, "word"))


def written_facts(asked: AnsweredQuestion) -> Score | None:
    """1 if the sentences by the model state every expected fact, else 0."""
    answer, facts = asked.answer, asked.expected.facts
    if answer is None or not facts or _is_from_records(answer):
        return None
    score = stated_share(_written_part(asked) or "", facts)
    return Score(float(score.value == 1), score.why)


def _written_part(asked: AnsweredQuestion) -> str | None:
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED or _is_from_records(answer):
        return None
    texts = [each.text for each in answer.sentences if each.kind is SentenceKind.VERIFIED]
    return " ".join(texts) or None


def _is_grounded(answer: Answer, sentence: AnswerSentence) -> bool:
    cited = [each for each in answer.citations if each.number in sentence.citations]
    quotes = [each.quote for each in cited]
    if sentence.text in quotes:
        return True
    if sentence.kind is SentenceKind.QUOTED:
        return False
    if _is_from_records(answer):
        fields = [field for each in cited for field in _fields(each.paper)]
        return not breaks(_AND_MORE.split(sentence.text)[0], fields)
    return not breaks(sentence.text, quotes, " ".join(each.paper.title for each in cited))


def _is_from_records(answer: Answer) -> bool:
    """Whether the answer comes from records: it has no confidence, and no model wrote."""
    return answer.confidence is None and answer.tokens.completion == 0


def _fields(paper: Paper) -> list[str]:
    """A record as texts that a sentence can be compared with."""
    appeared = f"{paper.venue} {paper.year or ''} {paper.decision}"
    return [paper.shown_title, " and ".join(paper.authors), appeared]
