"""Whether the evidence has a sentence's numbers: values, units, bounds and what they count."""

from collections.abc import Iterable

from assistant.checking.claim import Claim
from assistant.checking.opposites import BOUNDS
from assistant.checking.places import Text, is_misplaced
from assistant.checking.words import Word


def has_other_number(claim: Claim) -> bool:
    """Whether it has a number that the evidence does not have, or in another unit."""
    return any(
        not any(_same_number(word, other, claim.known) for other in claim.known)
        for word in claim.said.words
        if word.value is not None and not (word.begins and word.key == "one")
    )


def _same_number(said: Word, known: Word, others: Iterable[Word]) -> bool:
    if said.value != known.value:
        return False
    if said.unit == known.unit or not said.unit:
        return True
    return not known.unit and any(said.unit in (other.unit, other.key) for other in others)


def is_unbounded(claim: Claim) -> bool:
    """Whether `up to`, `over` or `about` before a number is lost or is another."""
    return any(
        _is_bounded_otherwise(claim, at)
        for at, word in enumerate(claim.said.words)
        if word.value is not None and word.key not in ("zero", "one")
    )


def _is_bounded_otherwise(claim: Claim, at: int) -> bool:
    said = _bounds(claim.said, at)
    anywhere = frozenset[str]().union(*map(_all_bounds, claim.sources))
    if said - {"about"} - anywhere:
        return True
    known = [
        _bounds(source, place)
        for source in claim.sources
        for place in source.places.get(claim.said.words[at].stem, ())
    ]
    # An exact number may be called one that is about so much; not the other way round.
    return bool(known) and all(bounds and not bounds & said for bounds in known)


_BOUND_WINDOW = 2


def _bounds(text: Text, at: int) -> frozenset[str]:
    """How the number there is bounded."""
    before = text.words[max(0, at - _BOUND_WINDOW) : at]
    return frozenset(
        kind for kind, words in BOUNDS.items() if any(words.fullmatch(word.key) for word in before)
    )


def _all_bounds(text: Text) -> frozenset[str]:
    return frozenset(
        kind
        for kind, words in BOUNDS.items()
        if any(words.fullmatch(word.key) for word in text.words)
    )


def has_other_place(claim: Claim) -> bool:
    """Whether a number of the evidence that is not in the sentence would fit better."""
    said = {word.stem for word in claim.said.words}
    numbers = {word.stem for word in claim.known if word.value is not None} - said
    return any(
        is_misplaced(claim.said, at, claim.sources, numbers - _listed_with(claim, word))
        for at, word in enumerate(claim.said.words)
        if word.value is not None
    )


def _listed_with(claim: Claim, word: Word) -> set[str]:
    """The numbers in one list with a number, whose neighbours are its own: `76% and 68.5%`."""
    listed = set()
    for source in claim.sources:
        for at in source.places.get(word.stem, ()):
            for step in (-1, 1):
                other = at + step
                if 0 <= other < len(source.words) and source.words[other].key in ("and", "or"):
                    other += step
                if 0 <= other < len(source.words):
                    listed.add(source.words[other].stem)
    return listed
