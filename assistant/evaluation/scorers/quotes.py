"""Score of an answer's quotes against the abstracts."""

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, NOTHING_CITED, quoted, share
from assistant.evaluation.types import AnsweredQuestion, Score
from assistant.types import Citation, Outcome


def quotes_verbatim(asked: AnsweredQuestion) -> Score | None:
    """Share of the quotes that are an exact part of the cited paper's abstract."""
    if asked.answer is None:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    citations = asked.answer.citations
    if not citations:
        return NOTHING_CITED
    exact = [_is_exact(each) for each in citations]
    changed = (quoted(each.quote) for each in citations if not _is_exact(each))
    return share(exact, "quote", "not in the abstract", changed)


def _is_exact(citation: Citation) -> bool:
    return bool(citation.quote) and citation.quote in citation.paper.abstract
