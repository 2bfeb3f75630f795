"""Whether the evidence has a sentence's names, spelled in one way or another."""

import re

from assistant.checking.claim import FUNCTION, Claim
from assistant.checking.words import Word

_COMMON_OPENING = re.compile(
    r"\w+(?:ly|ing|ed|tion|sion|ity|ment|ness|ance|ence|ism|[^s]s)|both|each|one|mainly|since|however|first|second|third|although|given|under"
    r"|during|here|all|some|many|most|despite|only|after|before|through|between|across|among"
)

_VERB = re.compile(r"\w+[^s]s|is|was|has|had|can|does|did|will|may|\w+ed")
"""What follows a name at the beginning of a sentence; `Adult mice` begins with none."""


def has_other_name(claim: Claim) -> bool:
    """Whether it has a name that the evidence does not have."""
    return any(
        is_name(word, claim) and not _is_known_name(claim, at)
        for at, word in enumerate(claim.said.words)
    )


def _is_known_name(claim: Claim, at: int) -> bool:
    """Whether the evidence has a name, in one word or two, in full or by its initials."""
    word = claim.said.words[at]
    singular = word.key.removesuffix("s")
    if claim.keys & {word.key, singular, f"{word.key}s"}:
        return True
    if word.text[1:] == word.text[1:].casefold() and claim.has(word):
        return True
    if word.text.removesuffix("s").isupper():
        return singular in claim.initials
    return _is_joined(claim, at) or _is_abbreviated(claim, at)


def _is_joined(claim: Claim, at: int) -> bool:
    """Whether the evidence writes a word and its neighbour as one."""
    words = claim.said.words
    pairs = (words[max(0, start) : start + 2] for start in (at - 1, at))
    return any("".join(word.key for word in pair) in claim.keys for pair in pairs)


_SHORTEST_ACRONYM = 3


def _is_abbreviated(claim: Claim, at: int) -> bool:
    """Whether the evidence has the initials of the capitalized words around."""
    words = claim.said.words
    start, end = at, at + 1
    while start and words[start - 1].text[0].isupper():
        start -= 1
    while end < len(words) and words[end].text[0].isupper():
        end += 1
    initials = "".join(word.key[0] for word in words[start:end])
    return len(initials) >= _SHORTEST_ACRONYM and initials in claim.keys


def is_name(word: Word, claim: Claim) -> bool:
    """Whether a word is spelled like a name, and not only because it begins the sentence."""
    if word.value is not None or word.key == word.text or word.key in FUNCTION:
        return False
    only_first = word.text[1:] == word.text[1:].casefold() and word.text.isalpha()
    if not (word.begins and only_first):
        return True
    following = claim.said.words[1:2]
    return (
        not claim.has(word)
        and not _COMMON_OPENING.fullmatch(word.key)
        and any(_VERB.fullmatch(next_word.key) for next_word in following)
    )
