"""Whether a sentence takes a figure out of a list whose entries are paired by `respectively`.

Of `34% and 10% on ALFWORLD and WebShop, respectively` the neighbours of a number do not tell whose
it is; so such a list is said whole and in order, or not at all.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assistant.checking.claim import Claim, is_content
from assistant.checking.names import is_name
from assistant.checking.places import Text
from assistant.checking.words import Word

_PAIRING = "respectively"
_JOINING = frozenset("and or".split())


def takes_apart(claim: Claim) -> bool:
    """Whether it has a figure of such a list, and of no list with that figure all."""
    said = [word.stem for word in claim.said.words]
    pairs = any(word.key == _PAIRING for word in claim.said.words)
    listed, kept = set[str](), set[str]()
    for source in claim.sources:
        for figures, needed in _paired_lists(source, claim):
            listed |= figures
            kept |= figures if pairs and _in_order(needed, said) else set()
    return not (listed - kept).isdisjoint(said)


def _in_order(needed: Sequence[str], said: Sequence[str]) -> bool:
    rest = iter(said)
    return all(stem in rest for stem in needed)


def _paired_lists(source: Text, claim: Claim) -> Iterator[tuple[frozenset[str], list[str]]]:
    """Each list's figures, and all that must be said with them, as stems."""
    for words in _sentences(source):
        pairing = [at for at, word in enumerate(words) if word.key == _PAIRING]
        if pairing:
            for start, end in _lists(words):
                to = next((at for at in pairing if at >= end), 0)
                needed = _said_with(words, start, end, to, claim)
                yield frozenset(_figures(words[start:end])), [word.stem for word in needed]


def _said_with(words: Sequence[Word], start: int, end: int, to: int, claim: Claim) -> list[Word]:
    """What the figures from `start` to `end` are paired with, and they: it follows or precedes."""
    if any(is_content(word) for word in words[end:to]):
        return [word for word in words[start:to] if is_content(word)]
    figures = [word for word in words[start:end] if is_content(word)]
    before = [word for word in words[:start] if is_content(word) and word.key != _PAIRING]
    names = [word for word in before if is_name(word, claim)]
    return [*(names or before), *figures]


def _sentences(source: Text) -> Iterator[Sequence[Word]]:
    starts = [at for at, word in enumerate(source.words) if word.begins]
    for start, end in pairwise([*starts, len(source.words)]):
        yield source.words[start:end]


def _lists(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Where two or more numbers follow each other, but for `and`: start and end of each."""
    start, numbers = 0, 0
    for at, word in enumerate([*words, None]):
        if word and word.value is not None:
            start = start if numbers else at
            numbers += 1
        elif not (word and numbers and word.key in _JOINING):
            if numbers > 1:
                yield start, at
            numbers = 0


def _figures(words: Sequence[Word]) -> Iterator[str]:
    return (word.stem for word in words if word.value is not None)
