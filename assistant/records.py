"""Questions about a cited paper's record, answered from the record itself: who, where, when."""

import re

from retrieval.sentences import split_sentences
from retrieval.types import Paper

_AUTHORS = re.compile(
    r"\bwho (?:wrote|are|is|were|was)\b.*|\bauthors?\b|\bwrote (?:it|this)\b", re.I
)
_VENUE = re.compile(
    r"\b(?:venue|conference|where (?:was|is|did) (?:it|this|they|the paper)\b.*"
    r"(?:published|appear|presented|accepted)\w*|when (?:was|is|did) (?:it|this|the paper)\b.*"
    r"(?:published|appear|presented)\w*|(?:which|what) year|oral|spotlight|poster|award)\b",
    re.I,
)
_TITLE = re.compile(r"\b(?:title|called)\b", re.I)
_LONGEST = 9
"""Words of a question about a record; longer ones ask about the content."""


def record_sentence(question: str, paper: Paper) -> str:
    """The record's answer to a follow-up `question` about `paper`; empty if it has none."""
    if len(question.split()) > _LONGEST:
        return ""
    if _AUTHORS.search(question) and paper.authors:
        return f"“{paper.shown_title}” is by {_listed(paper.authors)}."
    if _VENUE.search(question) and (paper.venue or paper.decision):
        appeared = f"{paper.venue} {paper.year or ''}".strip()
        decision = f"as {_with_article(paper.decision)}" if paper.decision else ""
        facts = " ".join(filter(None, (f"at {appeared}" if appeared else "", decision)))
        return f"“{paper.shown_title}” appeared {facts}."
    if _TITLE.search(question) and paper.title:
        return f"The title is “{paper.title}”."
    return ""


def opening(paper: Paper) -> str:
    """The first sentence of the abstract: what a citation of the record quotes."""
    sentences = split_sentences(paper.abstract)
    return sentences[0].text if sentences else paper.abstract


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _with_article(decision: str) -> str:
    return f"{'an' if decision.startswith((*'aeiou', 'hono')) else 'a'} {decision}"
