"""Scores of an answer's sentences against what each of them cites.

Sentence recall and precision are the citation recall and precision of ALCE (Gao et al. 2023,
"Enabling Large Language Models to Generate Text with Citations"), with `assistant.checking` in
place of a model of entailment. Its rules are stricter than most such models, and are the ones that
the answers were written under: these scores show what slips past the path from question to answer,
not what slips past the rules.

A sentence about a record stands on the paper's record, not on its abstract. On 300 random papers
of the seeds, the checker supports all such sentences by their own record (1,466 of 1,466), hardly
any by another paper's (1 of 1,466), nor once an author, the title, the venue, the year or the
decision is changed (2 of 1,470). That an author is left out it does not see.
"""

import re
from collections.abc import Sequence

from assistant.checking import is_supported
from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, NOTHING_CITED, quoted, share
from assistant.evaluation.types import Asked, Score
from assistant.types import Answer, AnswerSentence, Kind, Outcome
from retrieval.types import Paper

_AND_MORE = re.compile(r", and [\d,]+ more(?: that `.*` lists)?\.$", re.DOTALL)
"""What the last paper of a list ends with; it is not about that paper."""


def sentence_recall(asked: Asked) -> Score | None:
    """Share of the sentences that all they cite, taken together, supports."""
    answer = asked.answer
    if answer is None:
        return None
    if answer.outcome is not Outcome.ANSWERED or not answer.sentences:
        return NOTHING_ANSWERED
    holds = [_holds(answer, each, each.citations) for each in answer.sentences]
    failing = (
        quoted(each.text) for each, held in zip(answer.sentences, holds, strict=True) if not held
    )
    return share(holds, "sentence", "not supported", failing)


def sentence_precision(asked: Asked) -> Score | None:
    """Share of the citations that are needed where they stand.

    A citation is if its sentence is supported, and it supports that alone or the others do not
    without it.
    """
    answer = asked.answer
    if answer is None:
        return None
    if answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    places = [(sentence, number) for sentence in answer.sentences for number in sentence.citations]
    if not places:
        return NOTHING_CITED
    needs = [_needs(answer, sentence, number) for sentence, number in places]
    idle = (
        f"[{number}] of {quoted(sentence.text)}"
        for (sentence, number), needed in zip(places, needs, strict=True)
        if not needed
    )
    return share(needs, "citation", "not needed", idle)


def _needs(answer: Answer, sentence: AnswerSentence, number: int) -> bool:
    others = [other for other in sentence.citations if other != number]
    return _holds(answer, sentence, sentence.citations) and (
        _holds(answer, sentence, [number]) or not _holds(answer, sentence, others)
    )


def _holds(answer: Answer, sentence: AnswerSentence, numbers: Sequence[int]) -> bool:
    """Whether the citations of these numbers support a sentence together."""
    cited = [citation for citation in answer.citations if citation.number in numbers]
    quotes = [citation.quote for citation in cited]
    if sentence.text in quotes:
        return True
    if sentence.kind is Kind.QUOTED:
        return False
    if _is_from_records(answer):
        fields = [field for citation in cited for field in _fields(citation.paper)]
        return is_supported(_AND_MORE.split(sentence.text)[0], fields)
    return is_supported(sentence.text, quotes)


def _is_from_records(answer: Answer) -> bool:
    """Whether records answered, not abstracts: no model wrote, and how sure it was is not said."""
    return answer.confidence is None and answer.tokens.completion == 0


def _fields(paper: Paper) -> list[str]:
    """A record as text that a sentence can be held against."""
    appeared = f"appeared at {paper.venue} {paper.year or ''} {paper.decision}"
    return [paper.shown_title, " and ".join(paper.authors), appeared]
