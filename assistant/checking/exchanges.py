"""Whether words were replaced by others, or have changed places with each other."""

import re
from collections.abc import Iterator
from itertools import combinations

from assistant.checking.claim import Claim, is_content
from assistant.checking.names import is_name
from assistant.checking.opposites import are_opposite, quantities
from assistant.checking.places import Text, are_swapped, surrounded
from assistant.checking.words import Word, sense_of

_COMPARING = re.compile(
    r"than|outperform\w*|underperform\w*|surpass\w*|exceed\w*|beat\w*|improv\w*|compared?|versus|vs"
    r"|over|superior|inferior|instead|rather|better|worse|trail\w*|replac\w*"
)

_PLAIN_STEMS = frozenset(
    map(
        sense_of,
        "use need give keep introduce call name reach come implement gain suggest build force "
        "serve reflect let make take run apply show find keep get set see say mean turn put bring "
        "choose combine evaluate need rely contain handle help start match about same other kind "
        "type way form given called used based main key new several".split(),
    )
)
"""Words so plain that another in their place says nothing else."""

_LEAST_AROUND = 3
"""Equal words before and after that make another word between them a replacement."""

_BEATEN = re.compile(
    r"than|outperform\w*|surpass\w*|exceed\w*|beat\w*|versus|vs|over|superior|unlike"
)

_FOR_SETTING = frozenset("on in for at by under".split())


def replaces(claim: Claim) -> bool:
    """Whether a new word stands exactly where the evidence has another."""
    return any(
        is_content(word)
        and not _is_known(word, claim)
        and any(surrounded(claim.said, at, source) >= _LEAST_AROUND for source in claim.sources)
        for at, word in enumerate(claim.said.words)
    )


def _is_known(word: Word, claim: Claim) -> bool:
    return claim.has(word) or bool(quantities(word.key)) or word.stem in _PLAIN_STEMS


def swaps(claim: Claim) -> bool:
    """Whether numbers, names, opposites or the sides of a comparison have changed places."""
    numbers = [at for at, word in enumerate(claim.said.words) if word.value is not None]
    names = [at for at, word in enumerate(claim.said.words) if is_name(word, claim)]
    pairs = [
        *combinations(numbers, 2),
        *combinations(names, 2),
        *_across_comparisons(claim),
        *_opposite_pairs(claim),
    ]
    return any(
        are_swapped(claim.said, pair, claim.sources)
        for pair in pairs
        if claim.said.words[pair[0]].stem != claim.said.words[pair[1]].stem
    )


def _opposite_pairs(claim: Claim) -> Iterator[tuple[int, int]]:
    words = claim.said.words
    for first, second in combinations(range(len(words)), 2):
        if are_opposite(words[first].key, words[second].key):
            yield first, second


def _across_comparisons(claim: Claim) -> Iterator[tuple[int, int]]:
    """Pairs of content words, one on each side of a comparison."""
    for at, word in enumerate(claim.said.words):
        if _COMPARING.fullmatch(word.key):
            left = [place for place in claim.content if place < at][-3:]
            right = [place for place in claim.content if place > at][:3]
            yield from ((one, other) for one in left for other in right)


def promotes(claim: Claim) -> bool:
    """Whether a name that the evidence has only as what another is compared with is the subject."""
    words = claim.said.words
    return any(
        is_name(word, claim)
        and not _is_beaten(claim.said, at)
        and not any(_BEATEN.fullmatch(before.key) for before in words[:at])
        and _is_only_beaten(claim, word)
        for at, word in enumerate(words)
    )


def _is_only_beaten(claim: Claim, word: Word) -> bool:
    places = [
        _is_beaten(source, place)
        for source in claim.sources
        for place in source.places.get(word.stem, ())
    ]
    return bool(places) and all(places)


def _is_beaten(text: Text, at: int) -> bool:
    """Whether the word there stands right after a comparison."""
    before = [word.key for word in text.words[max(0, at - 2) : at]]
    return any(map(_BEATEN.fullmatch, before)) and not _FOR_SETTING & set(before)
