"""Whether the words of a sentence stand where they do in its evidence.

All words of a false sentence may occur in the evidence: `14 photographs from 58,000 countries`. So
a word's neighbours are compared with those that it has there, and with those of its rivals.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assistant.checking.opposites import direction
from assistant.checking.words import Word

_WINDOW = 6
"""Words before and after that count as neighbours."""
_OTHER_SIDE = 0.4
"""What a neighbour counts for that stands on the other side in the evidence."""
MARGIN = 0.45
"""By how much a rival must fit better: about one neighbour, two words away."""
_MOST_PLACES = 20
"""Places of one word that are compared: what says it more often only repeats itself."""
_GAP = 3
"""Words of the evidence that one word may replace."""
_LONGEST_RUN = 5
"""Words that are compared on each side of a replaced one."""
_LOOSE_WEIGHT = 0.4
"""What one of `_LOOSE` counts for among them."""
_LOOSE = frozenset("a an the and or of in on with for is are was were be as it its".split())


@dataclass(frozen=True)
class Text:
    """A sentence, or one of its evidence, ready to be compared."""

    words: Sequence[Word]
    _seen: dict[int, tuple[dict[str, float], dict[str, float]]] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each stem stands."""
        places: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            places.setdefault(word.stem, []).append(at)
        return places

    def near(self, at: int) -> tuple[dict[str, float], dict[str, float]]:
        """The stems before and after a word, each with how near it is."""
        if at not in self._seen:
            before = self.words[max(0, at - _WINDOW) : at][::-1]
            after = self.words[at + 1 : at + 1 + _WINDOW]
            self._seen[at] = _weighted(before), _weighted(after)
        return self._seen[at]


def _weighted(words: Iterable[Word]) -> dict[str, float]:
    weights: dict[str, float] = {}
    distance = 0
    for word in words:
        if word.key not in _LOOSE:
            distance += 1
            weights.setdefault(direction(word.key) or word.stem, 1 / distance)
    return weights


def fit(sentence: Text, at: int, source: Text, place: int, without: frozenset[str]) -> float:
    """How alike the neighbours of a word of `sentence` and of one of `source` are, 0 to about 4."""
    sides, there = sentence.near(at), source.near(place)
    total = 0.0
    for side, weights in enumerate(sides):
        for stem, weight in weights.items():
            if stem not in without:
                same = min(weight, there[side].get(stem, 0.0))
                other = min(weight, there[1 - side].get(stem, 0.0))
                total += max(same, _OTHER_SIDE * other)
    return total


def best_fit(
    sentence: Text, at: int, sources: Sequence[Text], stem: str, without: frozenset[str]
) -> float:
    """How well the word `stem` fits where the sentence has another, -1 if no source has it."""
    return max(
        (
            fit(sentence, at, source, place, without)
            for source in sources
            for place in source.places.get(stem, ())[:_MOST_PLACES]
        ),
        default=-1.0,
    )


def is_misplaced(
    sentence: Text, at: int, sources: Sequence[Text], rivals: Iterable[str], margin: float = MARGIN
) -> bool:
    """Whether one of `rivals` (stems) stands in the evidence where another word is said."""
    own = sentence.words[at].stem
    for rival in rivals:
        without = frozenset((own, rival))
        kept = best_fit(sentence, at, sources, own, without)
        if best_fit(sentence, at, sources, rival, without) > kept + margin:
            return True
    return False


def are_swapped(
    sentence: Text, pair: tuple[int, int], sources: Sequence[Text], margin: float = MARGIN
) -> bool:
    """Whether two words would fit the evidence better in each other's place."""
    first, second = (sentence.words[at].stem for at in pair)
    without = frozenset((first, second))

    def fits(stem: str, at: int) -> float:
        return max(0.0, best_fit(sentence, at, sources, stem, without))

    kept = fits(first, pair[0]) + fits(second, pair[1])
    return fits(second, pair[0]) + fits(first, pair[1]) > kept + margin


def surrounded(sentence: Text, at: int, source: Text) -> float:
    """How many words around a word of `sentence` stand around another one in `source`.

    Where both begin or end counts as two words. Of a sentence's last word only those before it
    are asked for: the evidence may go on.
    """
    left, right = _runs(sentence, at, source, -1), _runs(sentence, at, source, 1)
    both = (
        before + after
        for place, before in left.items()
        for other, after in right.items()
        if 1 < other - place <= _GAP + 1
    )
    alone = [*left.values()] if at + 1 == len(sentence.words) else []
    return max([0.0, *both, *alone])


def _runs(sentence: Text, at: int, source: Text, step: int) -> dict[int, float]:
    """How many words before (`step` -1) or after (1) a word are those around a place of `source`.

    By the place of the nearest.
    """
    words = sentence.words
    if not 0 <= at + step < len(words):
        return {-1 if step < 0 else len(source.words): 2}
    return {
        place: _run(sentence, at + step, source, place, step)
        for place in source.places.get(words[at + step].stem, ())
    }


def _run(sentence: Text, at: int, source: Text, place: int, step: int) -> float:
    length = 0.0
    for _ in range(_LONGEST_RUN):
        if not (0 <= at < len(sentence.words) and 0 <= place < len(source.words)):
            break
        if sentence.words[at].stem != source.words[place].stem:
            break
        length += _LOOSE_WEIGHT if sentence.words[at].key in _LOOSE else 1.0
        at, place = at + step, place + step
    return length
