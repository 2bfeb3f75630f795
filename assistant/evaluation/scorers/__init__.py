"""The scorers of an evaluation: small pure functions from an answered question to a score.

A scorer returns None if it does not apply, and a score without a value if it applies but has
nothing to measure. Scorers are frozen: a change of any value that they give needs a new `VERSION`,
and runs of different versions are not compared.
"""

from collections.abc import Callable, Mapping

from assistant.evaluation.scorers.abstention import abstention, false_abstention, false_answer
from assistant.evaluation.scorers.citations import citation_precision, citation_recall
from assistant.evaluation.scorers.determinism import same_again
from assistant.evaluation.scorers.evidence import evidence_recall
from assistant.evaluation.scorers.facts import all_facts, fact_recall, words
from assistant.evaluation.scorers.follow_ups import follow_up
from assistant.evaluation.scorers.quotes import quotes_verbatim
from assistant.evaluation.scorers.ranking import (
    mrr_at_10,
    ndcg_at_10,
    r_precision,
    recall_at_1,
    recall_at_5,
    recall_at_10,
    recall_at_100,
)
from assistant.evaluation.scorers.sentences import (
    grounded,
    written,
    written_facts,
    written_words,
)
from assistant.evaluation.types import AnsweredQuestion, Score

VERSION = "2"
"""Of all scorers together."""

Scorer = Callable[[AnsweredQuestion], Score | None]

SCORERS: Mapping[str, Scorer] = {
    "facts": all_facts,
    "fact recall": fact_recall,
    "words": words,
    "citation precision": citation_precision,
    "citation recall": citation_recall,
    "grounded": grounded,
    "written": written,
    "written words": written_words,
    "written facts": written_facts,
    "quotes verbatim": quotes_verbatim,
    "evidence recall": evidence_recall,
    "abstention": abstention,
    "false abstention": false_abstention,
    "false answer": false_answer,
    "follow-up": follow_up,
    "recall@1": recall_at_1,
    "recall@5": recall_at_5,
    "recall@10": recall_at_10,
    "recall@100": recall_at_100,
    "mrr@10": mrr_at_10,
    "ndcg@10": ndcg_at_10,
    "r-precision": r_precision,
    "same again": same_again,
}
"""The scorers by name of their metric."""


def scores_of(asked: AnsweredQuestion) -> dict[str, Score]:
    """Every score that applies, by its scorer's name."""
    scores = {name: scorer(asked) for name, scorer in SCORERS.items()}
    return {name: score for name, score in scores.items() if score is not None}
