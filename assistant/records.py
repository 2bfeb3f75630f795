"""Sentences that a paper's record supports: who wrote it, where it appeared."""

from dataclasses import dataclass

from assistant.types import Outcome
from retrieval.sentences import split_sentences
from retrieval.types import Paper


@dataclass(frozen=True, slots=True)
class MetadataSentence:
    """A sentence about a paper's record."""

    text: str
    paper: Paper


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """An answer from records."""

    sentences: tuple[MetadataSentence, ...] = ()
    outcome: Outcome = Outcome.ANSWERED
    note: str = ""
    """One sentence in place of others, where there are none."""
    papers: tuple[Paper, ...] = ()
    """The papers that it is about."""


def record_sentence(paper: Paper) -> str:
    """Who wrote a paper and where it appeared; empty if its record says neither."""
    title = f"“{paper.shown_title}”"
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    decision = f"as {_with_article(paper.decision)}" if paper.decision else ""
    place = f"at {appeared}" if paper.venue else f"in {appeared}" if appeared else ""
    where = " ".join(filter(None, (place, decision)))
    if paper.authors and where:
        return f"{title} is by {_listed(paper.authors)}; it appeared {where}."
    if paper.authors:
        return f"{title} is by {_listed(paper.authors)}."
    return f"{title} appeared {where}." if where else ""


def entry(paper: Paper) -> str:
    """A paper of a list: title, authors, where it appeared; without a full stop."""
    appeared = f"{paper.venue} {paper.year or ''}".strip()
    facts = ", ".join(filter(None, (appeared, paper.decision)))
    authors = f" by {_listed(paper.authors)}" if paper.authors else ""
    return f"“{paper.shown_title}”{authors}{f' ({facts})' if facts else ''}"


def opening(paper: Paper) -> str:
    """The first sentence of the abstract: what a citation of the record quotes."""
    sentences = split_sentences(paper.abstract)
    return sentences[0].text if sentences else paper.abstract


def _listed(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _with_article(decision: str) -> str:
    return f"{'an' if decision.startswith((*'aeiou', 'hono')) else 'a'} {decision}"
