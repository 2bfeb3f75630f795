"""Whether a question itself names what its `it` or `they` stands for.

`What is mixup and does it help?` does; `How many layers are there and does it help?` may not.
"""

import re
from enum import Enum

from assistant.content_words import OF_ANY_PAPER, content_words, lacks, share

_CLAUSE = (
    r"what|which|who|whose|when|where|why|how|if|is|are|was|were|do|does|did|can|could|will|would"
    r"|should|may|might|must|has|have"
)
_BOUNDARY = re.compile(
    r"[,;:?!—–]|\.\s|\b(?:and|or|but|if|when|while|because|since|so|although|once|unless|until|after"
    r"|before)\b",
    re.IGNORECASE,
)
_BEGINS_CLAUSE = re.compile(rf"\b(?:{_CLAUSE})\b", re.IGNORECASE)
_DEFINES = re.compile(
    r"^\W*(?:(?:please|so|and|but)\W+)*(?:(?:what|who) (?:is|are|was|were)"
    r"|(?:explain|define|describe|introduce)(?: to)?(?: me)?|tell me(?: more| something)? about)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(r"^\W*(?:and |but |so )?(?:if|when|with|for|once|as)\b", re.IGNORECASE)
_IS_NEW = re.compile(
    r"\b(?:which|what|any|some|all|the) (?:\w+ )?(?:papers|works|articles|publications)\b"
    r"|\b(?:which|what) (?:paper|work|article|study)\b|^\W*who\b"
    r"|^\W*(?:compare|contrast)\b|\bdifference between\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"\b(?:the|its|their|his|her|this|that|these|those|your)\b(?! (?:papers|works|articles)\b)",
    re.IGNORECASE,
)
"""What stands before a thing that is taken as known."""
_IS_DONE = re.compile(
    r"^\W*(?:(?:and|but|so) )?(?:how |why |where )?(?:is|are|was|were) ", re.IGNORECASE
)
"""`How is noise handled` asks of a paper, `How does noise help` of noise."""
_MANY_SUBJECT = re.compile(
    r"\b(?:do|can|could|should|would|will|may|must)\s+"
    r"(?P<things>(?:(?!the\b|its\b|their\b|these\b|those\b)[\w-]+\s+){0,2}?[\w-]{3,}s)\b",
    re.IGNORECASE,
)
_THEY = re.compile(r"they|them|theirs?", re.IGNORECASE)
_OF_AUTHORS = re.compile(
    r"\W*(?:(?:own|proposed|new|main)\W+)?(?:analysis|approach|argument|authors?|claims?|code"
    r"|conclusions?|contributions?|data|datasets?|evaluation|experiments?|findings?|ideas?"
    r"|limitations?|methods?|models?|papers?|proofs?|results?|scheme|study|system|theory|work)\b",
    re.IGNORECASE,
)
_PARTICIPLE = re.compile(r"\w+(?:ed|en)", re.IGNORECASE)
_SAYS_LITTLE = frozenset(
    "approaches cool different fine good great hm interesting know models nice ok okay propose "
    "proposed proposes question right see study studies sure techniques thank thanks useful well "
    "whether wow yes".split()
)
_HALF = 0.5


class Antecedent(Enum):
    """Whether what a pronoun stands for is named before it in the same question."""

    NONE = "none"
    POSSIBLE = "possible"
    SURE = "sure"


def antecedent(question: str, pronoun: re.Match[str], text: str) -> Antecedent:
    """Whether `question` names what its pronoun stands for, and this is not in `text`.

    Args:
        question: as asked.
        pronoun: its first word that stands for something, found in it.
        text: of the paper that the pronoun stands for otherwise; what it has may be meant there.
    """
    before = question[: pronoun.start()]
    possessive = pronoun[0].casefold() == "their"
    if possessive and _OF_AUTHORS.match(question[pronoun.end() :]):
        return Antecedent.NONE
    earlier = _earlier_clause(before)
    if _THEY.fullmatch(pronoun[0]) and (earlier or possessive):
        many = _MANY_SUBJECT.search(before if possessive else earlier)
        if many and lacks(text, _topic(many["things"])):
            return Antecedent.SURE
    return _named_in(earlier, text) if earlier else Antecedent.NONE


def _earlier_clause(before: str) -> str:
    """What stands before the clause of the pronoun, if another clause does."""
    boundaries = list(_BOUNDARY.finditer(before))
    if not boundaries:
        return ""
    last = boundaries[-1]
    since = before[last.end() :]
    begins = _BEGINS_CLAUSE.search(f"{last[0]} {since}") or not content_words(since)
    return before[: last.start()] if begins else ""


def _named_in(earlier: str, text: str) -> Antecedent:
    """Whether an earlier clause names a thing that is not in `text`."""
    topic = _topic(earlier)
    if not lacks(text, topic):
        return Antecedent.NONE
    if _IS_NEW.search(earlier):
        return Antecedent.SURE
    if _KNOWN.search(earlier) or _SUPPOSES.search(earlier):
        return Antecedent.POSSIBLE
    if _DEFINES.search(earlier):
        is_done = len(topic) == 1 and _PARTICIPLE.fullmatch(topic[0])
        return Antecedent.POSSIBLE if is_done else Antecedent.SURE
    is_other = len(topic) > 1 and not share(topic, text) and not _IS_DONE.search(earlier)
    return Antecedent.SURE if is_other else Antecedent.POSSIBLE


def _topic(words: str) -> list[str]:
    """Those that name a thing."""
    return [
        word
        for word in content_words(words)
        if word.casefold() not in OF_ANY_PAPER and word.casefold() not in _SAYS_LITTLE
    ]
