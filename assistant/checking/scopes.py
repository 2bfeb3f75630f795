"""Whether negations and hedges are about what they are about in the evidence."""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from itertools import pairwise

from assistant.checking.claim import Claim, is_content
from assistant.checking.opposites import HEDGES, NEGATION
from assistant.checking.places import Text
from assistant.checking.words import Word

_Test = Callable[[Text, int], bool]

_SCOPE = 3
"""Content words that a mark may be about."""

_Scope = tuple[bool, frozenset[str]]
"""Whether a mark is about what follows it, and the stems of that."""

_LIGHT = re.compile(r"any|requiring|needing|using|having|additional|extra")
"""`without requiring any labels` is about the labels."""


def negates_otherwise(claim: Claim) -> bool:
    """Whether it denies what the evidence does not deny, or the other way round."""
    return _adds(claim, _is_negation) or _drops(claim, _is_negation)


def drops_hedge(claim: Claim) -> bool:
    """Whether it says flatly what the evidence says with doubt or of some only."""
    return _drops(claim, _is_hedge)


def _is_negation(text: Text, at: int) -> bool:
    words = text.words
    if not NEGATION.fullmatch(words[at].key):
        return False
    following = words[at + 1].key if at + 1 < len(words) else ""
    if words[at].key == "nor":
        return not any(word.key == "neither" for word in words[:at])
    return not (words[at].key == "not" and following in ("only", "just", "merely"))


def _is_hedge(text: Text, at: int) -> bool:
    return bool(HEDGES.fullmatch(text.words[at].key))


def _adds(claim: Claim, is_mark: _Test) -> bool:
    """Whether the sentence has such a mark where the evidence has none about the same words."""
    scopes = [
        _scope(source, place, is_mark)
        for source in claim.sources
        for place in range(len(source.words))
        if is_mark(source, place)
    ]
    for at in range(len(claim.said.words)):
        if is_mark(claim.said, at):
            match = _matching(_head(claim, at, is_mark), scopes)
            if match is None:
                return True
            scopes.remove(match)
    return False


def _matching(head: tuple[bool, str], scopes: Sequence[_Scope]) -> _Scope | None:
    follows, stem = head
    return next(
        (each for each in scopes if not stem or (each[0] == follows and stem in each[1])), None
    )


def _head(claim: Claim, at: int, is_mark: _Test) -> tuple[bool, str]:
    """The word nearest to a mark, after it or before, that the evidence has; empty if none."""
    follows, words = _about(claim.said, at, is_mark)
    return follows, next((word.stem for word in words if claim.has(word)), "")


def _scope(text: Text, at: int, is_mark: _Test) -> _Scope:
    """The stems of what a mark of the evidence may be about."""
    follows, words = _about(text, at, is_mark)
    return follows, frozenset(word.stem for word in words)


def _about(text: Text, at: int, is_mark: _Test) -> tuple[bool, list[Word]]:
    """The content words that a mark may be about: those after it, or before it if none are."""
    before = _preceding(text, at, is_mark)
    if text.words[at].key == "free":  # `training-free` is `without training`
        return True, before[:1]
    clause = text.words[at].clause
    after = [word for word in _following(text, at, is_mark) if word.clause == clause]
    return bool(after), (after or before)[:_SCOPE]


def _following(text: Text, at: int, is_mark: _Test) -> list[Word]:
    return _unmarked_content(text, range(at + 1, len(text.words)), is_mark)


def _preceding(text: Text, at: int, is_mark: _Test) -> list[Word]:
    return _unmarked_content(text, range(at - 1, -1, -1), is_mark)


def _unmarked_content(text: Text, places: Iterable[int], is_mark: _Test) -> list[Word]:
    return [
        text.words[place]
        for place in places
        if _is_weighty(text.words[place]) and not is_mark(text, place)
    ]


def _is_weighty(word: Word) -> bool:
    return is_content(word) and not _LIGHT.fullmatch(word.key)


def _drops(claim: Claim, is_mark: _Test) -> bool:
    """Whether the sentence says without the mark what the evidence says only with it."""
    known = [_Plain(source, is_mark) for source in claim.sources]
    said = _Plain(claim.said, is_mark)
    joined = said.joined.difference(*(plain.joined for plain in known))
    clear = said.clear.difference(*(plain.clear for plain in known))
    return any(
        _is_bare(source, at, is_mark, joined, clear)
        for source in claim.sources
        for at, word in enumerate(source.words)
        if is_mark(source, at) and not (is_mark is _is_hedge and word.stem in said.marks)
    )


_Pairs = Set[tuple[str, ...]]


def _is_bare(text: Text, at: int, is_mark: _Test, joined: _Pairs, clear: _Pairs) -> bool:
    """Whether the words around a mark of the evidence are said without any."""
    before = [word.stem for word in _preceding(text, at, is_mark)[:3]][::-1]
    after = [word.stem for word in _following(text, at, is_mark)[:2]]
    if (*before[-1:], *after[:1]) in joined or tuple(after) in clear:
        return True
    return _ends_clause(text, at) and len(before) > 1 and _chain(before) <= clear


def _chain(stems: Sequence[str]) -> set[tuple[str, ...]]:
    return set(pairwise(stems))


def _ends_clause(text: Text, at: int) -> bool:
    """Whether only the rest of a phrase such as `in some cases` follows in the clause."""
    clause = text.words[at].clause
    after = [word for word in text.words[at + 1 :] if word.clause == clause]
    return not any(is_content(word) and word.key != "cases" for word in after)


class _Plain:
    """Pairs of content words next to each other that no mark touches."""

    def __init__(self, text: Text, is_mark: _Test) -> None:
        marked = [at for at in range(len(text.words)) if is_mark(text, at)]
        content = [
            at for at, word in enumerate(text.words) if _is_weighty(word) and at not in marked
        ]
        self.marks = {text.words[at].stem for at in marked}
        """The marks themselves: a hedge that has moved is not dropped."""
        self.joined: set[tuple[str, ...]] = set()
        """With no mark between the two."""
        self.clear: set[tuple[str, ...]] = set()
        """With none close before or behind either."""
        for first, second in pairwise(content):
            pair = text.words[first].stem, text.words[second].stem
            if not any(first < at < second for at in marked):
                self.joined.add(pair)
            if not any(first - 3 <= at <= second + 3 for at in marked):
                self.clear.add(pair)
