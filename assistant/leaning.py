"""Whether a question goes on about the paper that was cited last.

The limits were chosen on follow-ups and on single questions after an unrelated turn; see
tests/benchmarks/conversation.md.
"""

import re
from collections.abc import Callable

from assistant.antecedents import Antecedent, antecedent
from assistant.content_words import EMPTY, OF_ANY_PAPER, WORD, content_words, lacks, share, telling
from assistant.references import NAMED_AFTER, PAPER, TAKES_UP, reference_in

_PAPERS = re.compile(r"\b(?:papers|works|articles|publications)\b", re.IGNORECASE)
_AUTHORS = re.compile(r"they|them|their|theirs|the authors?", re.IGNORECASE)
_ONE_OF_MANY = re.compile(r"\ban? [\w-]+", re.IGNORECASE)
_OWN_PAPER = re.compile(rf"\b(?:an?|any|some|the) (?:\w+ )?{PAPER}{NAMED_AFTER}", re.IGNORECASE)
_OF = re.compile(
    r"\b(?:ideas?|limit(?:ation)?s?|results?|findings|contributions?|summary) (?:of|behind|on)"
    r" (?!(?:the|its|their|this|that|these|those|all|it|them)\b)(?P<thing>\w.*)",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"\W*[\w-]+\W*")
_DEFINES = re.compile(r"^\W*what (?:is|are) (?:an? )?[\w-]+\W*$", re.IGNORECASE)
_GOES_ON = re.compile(rf"\bthe\b(?! same\b)|{TAKES_UP.pattern}", re.IGNORECASE)
"""A thing taken as known, or a beginning that takes up what was said."""

_FEW, _SOME, _MANY = 3, 5, 6
"""Content words of a question: of the shortest, without and with a reference."""
_MOSTLY, _HALF = 0.6, 0.5
"""Shares of its content words that the paper's text has."""
_FAR, _FARTHER, _NEARER = 0.35, 0.45, 0.3
"""How much nearer another paper may be, in cosine, before the question is about that one."""


def leans(question: str, text: str, lead: Callable[[], float]) -> bool:
    """Whether `question` goes on about a paper.

    Args:
        question: as asked.
        text: the paper's title and abstract.
        lead: how much nearer to the question another paper is than this one, in cosine; asked
            only where the words leave a doubt.
    """
    words = content_words(question)
    if OF_ANY_PAPER.issuperset(word.casefold() for word in words):
        return True
    reference = reference_in(question)
    if not reference:
        return _goes_on(question, text, lead)
    before = question[: reference.start()]
    named = _strangers(before, text) and not _AUTHORS.fullmatch(reference[0])
    own = antecedent(question, reference, text)
    if named or own is Antecedent.SURE or len(content_words(before)) >= _SOME:
        return False  # what it refers to stands before it
    if len(words) <= _FEW:
        return own is Antecedent.NONE or lead() < _NEARER
    is_short = len(words) <= _MANY or share(words, text) >= _MOSTLY
    return is_short and lead() < (_FAR if own is Antecedent.NONE else _NEARER)


def _goes_on(question: str, text: str, lead: Callable[[], float]) -> bool:
    """Whether a question without a word that refers is about the paper all the same."""
    words = content_words(question)
    had = share(words, text)
    if len(words) > _SOME or _is_of_its_own(question, text, had):
        return False
    if _strangers(question, text):
        return len(words) == 1 and bool(TAKES_UP.search(question)) and lead() < _FAR
    if had >= _HALF or (len(words) == 1 and not _ONE_WORD.fullmatch(question)):
        own = telling(words)
        return lead() < (_FARTHER if own and share(own, text) >= _HALF else _NEARER)
    return bool(_GOES_ON.search(question) or len(words) == 1) and lead() < _NEARER


def _is_of_its_own(question: str, text: str, had: float) -> bool:
    """Whether it asks for papers, or what something is that `text` does not have."""
    if _PAPERS.search(question) or _OWN_PAPER.search(question):
        return True
    if of := _OF.search(question):
        return lacks(text, content_words(of["thing"]))
    return had < _HALF and bool(_DEFINES.search(question))


def _strangers(question: str, text: str) -> bool:
    """Whether the question has a name, or what is spelled like one, that the text lacks.

    What is only one of many, `an A100`, names no topic.
    """
    folded = text.casefold()
    question = _ONE_OF_MANY.sub("", question)
    return any(
        (any(letter.isupper() for letter in word[1:]) or (at and word[0].isupper()))
        and word.casefold() not in EMPTY
        and word.casefold().removesuffix("'s").removesuffix("’s") not in folded
        for at, word in enumerate(WORD.findall(question))
    )
