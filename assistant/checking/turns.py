"""Whether words of quantity, direction and other opposites are those of the evidence."""

from collections.abc import Set

from assistant.checking.claim import Claim
from assistant.checking.opposites import STRICT_QUANTIFIERS, are_opposite, direction, quantities
from assistant.checking.places import best_fit, is_misplaced
from assistant.checking.words import Word


def quantifies_otherwise(claim: Claim) -> bool:
    """Whether `all` stands for `some`, `often` for `always`, or the like."""
    return any(
        _is_other_quantifier(claim, at)
        for at, word in enumerate(claim.said.words)
        if quantities(word.key) or STRICT_QUANTIFIERS.fullmatch(word.key)
    )


def _is_other_quantifier(claim: Claim, at: int) -> bool:
    word = claim.said.words[at]
    kinds = quantities(word.key)
    rivals = {other.stem for other in claim.known if _is_other_quantity(other, kinds)}
    if word.stem in claim.stems:
        return is_misplaced(claim.said, at, claim.sources, rivals)
    has_kind = any(kinds & quantities(other.key) for other in claim.known)
    if STRICT_QUANTIFIERS.fullmatch(word.key) and not has_kind:
        return True
    return any(_fits_well(claim, at, rival) for rival in rivals)


def _is_other_quantity(word: Word, kinds: frozenset[str]) -> bool:
    theirs = quantities(word.key)
    return bool(theirs) and not theirs & kinds


_NEXT_TO_ONE = 1.0
"""The fit of a word next to one that it stands next to in the evidence."""


def _fits_well(claim: Claim, at: int, rival: str) -> bool:
    return best_fit(claim.said, at, claim.sources, rival, frozenset((rival,))) >= _NEXT_TO_ONE


def points_otherwise(claim: Claim) -> bool:
    """Whether a word of direction, or another that has an opposite, is turned round."""
    words = claim.said.words
    return any(
        _is_turned(claim, at, word)
        for at, word in enumerate(words)
        if word.value is None and not (at + 1 < len(words) and words[at + 1].key == "free")
    )


def _is_turned(claim: Claim, at: int, word: Word) -> bool:
    """Whether the opposite of a word would fit better, or the evidence has the opposite alone."""
    sign = direction(word.key)
    own = {word.stem} & claim.stems
    rivals = {other.stem for other in claim.known if are_opposite(word.key, other.key)}
    if sign:
        own |= {other.stem for other in claim.known if direction(other.key) == sign}
    else:
        rivals -= claim.said.places.keys()  # those that are said, too, may only be swapped
    if not own:
        return bool(sign or rivals)
    return _fits(claim, at, rivals, own) > _fits(claim, at, own, rivals) + _TURNED_MARGIN


_TURNED_MARGIN = 0.2


def _fits(claim: Claim, at: int, stems: Set[str], others: Set[str]) -> float:
    """How well one of `stems` fits there at best."""
    without = frozenset((*stems, *others))
    return max(
        (best_fit(claim.said, at, claim.sources, stem, without) for stem in stems), default=-1.0
    )
