"""What can be told exactly: whether a claim's numbers, units and names stand in what it cites."""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set

from assistant.generation.verification.quantities import Quantity, plain, quantities

LONGEST = 150
"""Words of the longest claim that is checked; what a model writes beyond is a loop."""
_LONGEST_WORD = 40
_SHORTEST_ACRONYM = 3
_LONGEST_NAME = 5
"""Words that a name written as one may stand for, as in `Graph-Net` for `graph net`."""
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")


def breaks(claim: str, cited: Sequence[str], title: str = "") -> str:
    """The first guard that a claim breaks: `length`, `letters`, `number` or `name`; else empty.

    Args:
        claim: one sentence.
        cited: the sentences that it cites.
        title: of their paper; it may give names, but no numbers.
    """
    words = _WORD.findall(plain(claim))
    known = [plain(text) for text in (title, *cited)]
    if not words or len(words) > LONGEST:
        return "length"
    text = " ".join(known).casefold()
    if any(_is_odd(word) and word.casefold() not in text for word in words):
        return "letters"
    if not _has_numbers(claim, cited):
        return "number"
    return "" if _has_names(words, known) else "name"


def _is_odd(word: str) -> bool:
    """Whether a word is too long to be one, or in letters neither Latin nor Greek."""
    return len(word) > _LONGEST_WORD or not all(map(_is_familiar, word))


def _is_familiar(sign: str) -> bool:
    return sign.isascii() or unicodedata.name(sign, "").startswith(("LATIN", "GREEK", "MICRO"))


def _has_numbers(claim: str, cited: Sequence[str]) -> bool:
    """Whether every number in digits is cited, in the same unit where both name one.

    Numbers in words are left to the support model: one, both and double say many things.
    """
    known = [each for text in cited for each in quantities(text)]
    return all(
        any(_is_same(said, other) for other in known)
        for said in quantities(claim)
        if said.is_digits
    )


def _is_same(said: Quantity, known: Quantity) -> bool:
    return said.value == known.value and (said.unit == known.unit or not (said.unit and known.unit))


def _has_names(words: Sequence[str], known: Sequence[str]) -> bool:
    """Whether what is spelled like a name stands in `known`, in full or by its initials.

    The first word of a sentence is none unless it has digits or capitals inside.
    """
    joins = {join for text in known for join in _joins(text)}
    initials = ["".join(part[0] for part in _PART.findall(text.casefold())) for text in known]
    return all(
        _stands(word, joins) or _is_acronym_of(word, initials)
        for place, word in enumerate(words)
        if _is_name(word, is_first=place == 0)
    )


def _joins(text: str) -> Iterator[str]:
    """The letters of every word, and of words that stand side by side."""
    parts = _PART.findall(text.casefold())
    for start in range(len(parts)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(parts)) + 1):
            yield "".join(parts[start:end])


def _stands(word: str, joins: Set[str]) -> bool:
    """Whether a name is known; of `GPT-based` it is `GPT` that must be."""
    whole = _letters(word)
    if whole in joins or whole.removesuffix("s") in joins:
        return True
    parts = _PART.findall(word)
    named = [part for part in parts if not (part.isalpha() and part.islower())]
    return len(named) < len(parts) and all(_stands(part, joins) for part in named)


def _is_name(word: str, *, is_first: bool) -> bool:
    inside = word[1:]
    if any(sign.isupper() for sign in inside.replace("-", "")):
        return True
    if any(sign.isdigit() for sign in word):
        return any(sign.isalpha() for sign in word)
    return word[0].isupper() and not is_first and len(word) > 1


def _is_acronym_of(word: str, initials: Sequence[str]) -> bool:
    bare = word.removesuffix("s")
    if not bare.isupper() or len(bare) < _SHORTEST_ACRONYM:
        return False
    return any(bare.casefold() in each for each in initials)


def _letters(word: str) -> str:
    return re.sub(r"[\W_]", "", word.casefold())
