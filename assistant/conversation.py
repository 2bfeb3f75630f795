"""A follow-up question as one that stands by itself."""

import re
from collections.abc import Sequence

from assistant.types import Turn
from retrieval.types import Paper

_REFERS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|ones?|both|former"
    r"|latter|(?:the|this|that) (?:paper|authors?|method|approach|model|work|study|dataset"
    r"|results?|benchmark|framework|algorithm)|same)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^\s*(?:(?:and|but|so|also|what about|how about|which of)\b|(?:why|who)\b(?:\W+\w+){0,5}\W*$)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\b(?:another|other|others|else|instead|similar|rather than)\b", re.IGNORECASE)
_CONTENT_WORD = re.compile(r"\w{4,}")
_FEW_WORDS = 4
_ANTECEDENT_WORDS = 5
"""Content words before a word like *it*, from which on it stands for something among them."""


def standalone_question(question: str, history: Sequence[Turn]) -> str:
    """`question`, with the paper or question it refers to named when it leans on the last turn."""
    if not history or not _leans(question):
        return question
    last = history[-1].answer
    if _OTHER.search(question) or not last.citations:
        return f"{last.standalone_question} {question}"
    return f"About “{last.citations[0].paper.shown_title}”: {question}"


def refers(question: str) -> bool:
    """Whether `question` has a word that stands for something said before."""
    return bool(_REFERS.search(question))


def cited_papers(history: Sequence[Turn]) -> list[Paper]:
    """The papers that the last answer cited, in its order."""
    if not history:
        return []
    cited = {citation.paper.id: citation.paper for citation in history[-1].answer.citations}
    return list(cited.values())


def _leans(question: str) -> bool:
    if _CONTINUES.match(question) or len(question.split()) <= _FEW_WORDS:
        return True
    referring = _REFERS.search(question)
    if not referring:
        return False
    before = _CONTENT_WORD.findall(question, 0, referring.start())
    return len(before) < _ANTECEDENT_WORDS
