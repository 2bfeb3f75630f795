"""What stands beside an answer: how complete it is, and further questions on what it cites."""

from collections.abc import Sequence
from typing import Final

from assistant.types import Citation, Evidence
from retrieval.index.lexical import LexicalIndex
from retrieval.query.lookup import ON_TOPIC
from retrieval.search.rerank import ReadPassage
from retrieval.types import Filters, Paper

_SUGGESTED: Final = {
    "result": "What does {name} find?",
    "method": "How does {name} work?",
    "problem": "What problem does {name} address?",
}
"""Further questions on a paper by the role of the sentence that answers."""
_SURE_ROLE = 0.8
"""Least probability of the role of a sentence that answers a suggested question."""
MOST_SUGGESTIONS = 3
_NAME_WORDS, _SHORT_TITLE = 4, 70
"""Words of a name before a colon; characters of a title that stands for its paper."""


def coverage(
    shape: str,
    question: str,
    evidence: Sequence[Evidence],
    read: Sequence[ReadPassage],
    index: LexicalIndex,
    *,
    filters: Filters,
    absent: Sequence[str],
) -> str:
    """How complete an answer is, for the shapes that raise the question; else empty.

    Args:
        shape: see `shapes`.
        question: as it was searched for.
        evidence: what the answer quotes.
        read: the papers that were read.
        index: the library's.
        filters: those of the question.
        absent: the names in the question that no cited paper has.
    """
    if shape == "comparison" and absent:
        names = " or ".join(f"“{name}”" for name in absent)
        return f"No abstract cited here mentions {names}."
    if shape != "overview":
        return ""
    shown = {each.paper.id for each in evidence}
    found = index.covered(_topic(question, evidence, index), index.size, filters)
    on_topic = {id_ for id_, share in found if share >= ON_TOPIC}
    more = len(on_topic - shown)
    if not on_topic:
        whole = "Its words do not tell whether that is all: no abstract has most of them."
    elif more:
        have = "has" if more == 1 else "have"
        whole = (
            f"Perhaps not complete: {more:,} more of all {index.size:,} {have} most of its words."
        )
    else:
        whole = f"Complete by its words: no other of all {index.size:,} has most of them."
    return f"Shown: {len(shown)} of the {len(read)} abstracts read for the question. {whole}"


def _topic(question: str, evidence: Sequence[Evidence], index: LexicalIndex) -> str:
    """The words of a question that a shown paper has; `Give me an overview …` is not the topic."""
    texts = {each.paper.id: f"{each.paper.title} {each.paper.abstract}" for each in evidence}
    known = {term for text in texts.values() for term in index.terms(text)}
    words = [word for word in question.split() if not known.isdisjoint(index.terms(word))]
    return " ".join(words) or question


def suggestions(read: Sequence[ReadPassage], cited: Sequence[Citation]) -> tuple[str, ...]:
    """Further questions on the papers cited, each answered by a sentence that is not cited yet."""
    quotes = {each.quote for each in cited}
    papers = list(dict.fromkeys(each.paper.id for each in cited))
    asked: list[str] = []
    for each in sorted(read, key=lambda each: _place(each.passage.paper.id, papers)):
        name = _short_name(each.passage.paper)
        if each.passage.paper.id not in papers or not name:
            continue
        open_roles = (
            role
            for role in _SUGGESTED
            if any(
                sentence.role(role) >= _SURE_ROLE and sentence.sentence.text not in quotes
                for sentence in each.read.sentences
            )
        )
        asked += [_SUGGESTED[role].format(name=name) for role in list(open_roles)[:2]]
    return tuple(asked[:MOST_SUGGESTIONS])


def _short_name(paper: Paper) -> str:
    """The name before the colon of a paper's title, or a short title; empty if it has neither."""
    before, colon, _ = paper.title.partition(":")
    if colon and len(before.split()) <= _NAME_WORDS:
        return before
    return f"“{paper.title}”" if paper.title and len(paper.title) <= _SHORT_TITLE else ""


def _place(id_: str, ids: Sequence[str]) -> int:
    return ids.index(id_) if id_ in ids else len(ids)
