"""Whether a sentence says something, about the paper, and in the evidence's words."""

import re
import unicodedata
from collections.abc import Sequence

from assistant.checking.claim import Claim, is_content
from assistant.checking.words import Word

LEAST_COMMON = 0.5
"""Share of a sentence's content words that its evidence must have."""

MOST_NOVEL = 3
"""Content words in a row that the evidence may lack: more of them are a clause of their own."""

LEAST_OF_CLAUSE = 0.4
"""The same share for each of its clauses."""

LEAST_WORDS = 2
"""Content words below which a sentence says nothing that could be checked."""

_LONGEST_WORD = 40

_ABOUT_THE_PROMPT = re.compile(
    r"\b(?:notes?|questions?|prompts?|instructions?|assistants?|you|your|my)\b",
    re.IGNORECASE,
)
"""A sentence about the prompt is none about the paper."""

_JOINTS = frozenset("and but or which that because while whereas where since so".split())
"""Words that begin another clause."""

LONGEST = 150
"""Words of the longest sentence that is checked; what a model writes beyond is a loop."""


def is_endless(claim: Claim) -> bool:
    """Whether the sentence is too long to be one."""
    return len(claim.said.words) > LONGEST


def says_nothing(claim: Claim) -> bool:
    """Whether there is too little in the sentence to be checked."""
    return len(claim.content) < LEAST_WORDS


def is_about_the_prompt(claim: Claim) -> bool:
    """Whether it speaks of notes, questions or persons that the evidence does not speak of."""
    return any(
        (word.text == "I" or _ABOUT_THE_PROMPT.fullmatch(word.key)) and word.key not in claim.keys
        for word in claim.said.words
    )


def has_odd_word(claim: Claim) -> bool:
    """A word in other letters, or one too long to be a word, that the evidence does not have."""
    return any(
        word.key not in claim.keys and (len(word.key) > _LONGEST_WORD or not _is_latin(word.key))
        for word in claim.said.words
    )


def _is_latin(word: str) -> bool:
    return all(
        sign.isascii() or unicodedata.combining(sign)
        for sign in unicodedata.normalize("NFKD", word)
    )


def common(claim: Claim) -> float:
    """Share of the content words that the evidence has."""
    words = [claim.said.words[at] for at in claim.content]
    return sum(claim.has(word) for word in words) / max(len(words), 1)


def is_elsewhere(claim: Claim) -> bool:
    """Whether the evidence has too few of its words, as a whole or in one of its clauses."""
    return (
        common(claim) < LEAST_COMMON
        or _longest_novel(claim) > MOST_NOVEL
        or any(_has_little(claim, clause) for clause in _clauses(claim))
    )


def _clauses(claim: Claim) -> list[list[Word]]:
    """The content words of each clause."""
    clauses: dict[tuple[int, int], list[Word]] = {}
    joints = 0
    for word in claim.said.words:
        joints += word.key in _JOINTS
        if is_content(word):
            clauses.setdefault((word.clause, joints), []).append(word)
    return list(clauses.values())


def _has_little(claim: Claim, clause: Sequence[Word]) -> bool:
    """Whether the evidence has too few words of a clause that is long enough to say something."""
    known = sum(claim.has(word) for word in clause)
    if len(clause) <= MOST_NOVEL:
        return len(clause) == MOST_NOVEL and not known
    return known < LEAST_OF_CLAUSE * len(clause)


def _longest_novel(claim: Claim) -> int:
    """How many content words in a row the evidence does not have."""
    longest = run = 0
    for at in claim.content:
        run = 0 if claim.has(claim.said.words[at]) else run + 1
        longest = max(longest, run)
    return longest
