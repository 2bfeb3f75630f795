"""Scores of an answer's citations, by paper, against the right papers.

They apply if there are right papers. Refusals have no value here; `abstention` scores them.
"""

from assistant.evaluation.scorers.wording import NOTHING_ANSWERED, NOTHING_CITED, quoted, share
from assistant.evaluation.types import AnsweredQuestion, Score
from assistant.types import Outcome


def citation_precision(asked: AnsweredQuestion) -> Score | None:
    """Share of the citations that are of a right paper."""
    right = asked.expected.papers
    if asked.answer is None or not right:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    cited = [citation.paper for citation in asked.answer.citations]
    if not cited:
        return NOTHING_CITED
    others = dict.fromkeys(quoted(paper.shown_title) for paper in cited if paper.id not in right)
    return share([paper.id in right for paper in cited], "citation", "not expected", others)


def citation_recall(asked: AnsweredQuestion) -> Score | None:
    """Share of the right papers that are cited."""
    right = asked.expected.papers
    if asked.answer is None or not right:
        return None
    if asked.answer.outcome is not Outcome.ANSWERED:
        return NOTHING_ANSWERED
    cited = {citation.paper.id for citation in asked.answer.citations}
    return share([id_ in cited for id_ in right], "right paper")
