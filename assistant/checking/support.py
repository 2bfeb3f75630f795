"""Whether a sentence that a model wrote is supported by the sentences it cites.

Conservative by design: what fails is not shown. A sentence's marks (numbers and units, names, words
of negation, direction, quantity and doubt) must stand in the evidence, and near the same words; the
rest of its words are compared more softly. See tests/benchmarks/checking.md.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, pairwise

from assistant.checking.opposites import (
    BOUNDS,
    HEDGES,
    NEGATION,
    STRICT_QUANTIFIERS,
    are_opposite,
    direction,
    quantities,
)
from assistant.checking.places import (
    Text,
    are_swapped,
    best_fit,
    is_misplaced,
    replacements,
)
from assistant.checking.words import Word, sense_of, words_of

LEAST_COMMON = 0.5
"""Share of a sentence's content words that its evidence must have."""
LEAST_WORDS = 2
"""Content words below which a sentence says nothing that could be checked."""
_LONGEST_WORD = 40

_FUNCTION = frozenset(
    "a an and are as at be been being but by can could did do does done for from had has have how "
    "if in into is it its itself of on or our ours so such than that the their theirs "
    "them then there these they this those to was we were what when where which while who whose "
    "why will with would also paper work authors author answer yes us s i.e e.g via per thus hence "
    "not no about up may might because".split()
)
_ABOUT_THE_PROMPT = re.compile(
    r"\b(?:notes?|questions?|prompts?|instructions?|assistants?|you|your|i|me|my)\b",
    re.IGNORECASE,
)
"""A sentence about the prompt is none about the paper."""
_COMPARING = re.compile(
    r"than|outperform\w*|underperform\w*|surpass\w*|exceed\w*|beat\w*|improv\w*|compared?|versus|vs"
    r"|over|superior|inferior|instead|rather|better|worse|trail\w*|replac\w*"
)
_COMMON_OPENING = re.compile(
    r"\w+(?:ly|ing|ed)|both|each|one|mainly|since|however|first|second|third|although|given|under"
    r"|during|here|all|some|many|most|despite|only|after|before|through|between|across|among"
)


class Claim:
    """A sentence beside its evidence."""

    def __init__(self, sentence: str, evidence: Sequence[str]) -> None:
        """Take both apart."""
        self.said = Text(words_of(sentence))
        self.sources = [Text(words_of(text)) for text in evidence]
        self.known = [word for source in self.sources for word in source.words]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The evidence's words in lower case, compounds also as one."""
        joined = (
            first.key + second.key
            for source in self.sources
            for first, second in pairwise(source.words)
        )
        return frozenset(word.key for word in self.known).union(joined)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The same without their inflection."""
        return frozenset(word.stem for word in self.known).union(map(sense_of, self.keys))

    @cached_property
    def initials(self) -> str:
        """The first letters of the evidence's words, for acronyms it does not spell."""
        return " ".join("".join(word.key[0] for word in source.words) for source in self.sources)

    @cached_property
    def signs(self) -> frozenset[str]:
        """The directions that the evidence names."""
        return frozenset(direction(key) for key in self.keys) - {""}

    @cached_property
    def content(self) -> list[int]:
        """Where the sentence has words that say something."""
        return [at for at, word in enumerate(self.said.words) if _is_content(word)]

    def has(self, word: Word) -> bool:
        """Whether the evidence has `word` in any inflection."""
        return word.stem in self.stems or word.key in self.keys or direction(word.key) in self.signs


def is_supported(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether `evidence` supports `sentence`, as far as its words can tell."""
    return not refusal(sentence, evidence)


def refusal(sentence: str, evidence: Sequence[str]) -> str:
    """Why `evidence` does not support `sentence`: the first rule it breaks, empty if none."""
    claim = Claim(sentence, evidence)
    return next((name for name, breaks in _RULES.items() if breaks(claim)), "")


def closest(sentence: str, evidence: Sequence[str]) -> int:
    """Index of the evidence that shares most words with `sentence`."""
    return max(range(len(evidence)), key=lambda at: _common(Claim(sentence, [evidence[at]])))


def _is_content(word: Word) -> bool:
    return word.key not in _FUNCTION


def _says_nothing(claim: Claim) -> bool:
    return len(claim.content) < LEAST_WORDS


def _is_about_the_prompt(claim: Claim) -> bool:
    words = (word.key for word in claim.said.words)
    return any(_ABOUT_THE_PROMPT.fullmatch(key) and key not in claim.keys for key in words)


def _has_odd_word(claim: Claim) -> bool:
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


def _common(claim: Claim) -> float:
    """Share of the content words that the evidence has."""
    words = [claim.said.words[at] for at in claim.content]
    return sum(claim.has(word) for word in words) / max(len(words), 1)


def _is_elsewhere(claim: Claim) -> bool:
    return _common(claim) < LEAST_COMMON


# Numbers


def _has_other_number(claim: Claim) -> bool:
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


def _is_unbounded(claim: Claim) -> bool:
    """Whether `up to`, `over` or `about` before a number is lost or is another."""
    for at, word in enumerate(claim.said.words):
        if word.value is None or word.key in ("zero", "one"):
            continue
        said = _bounds(claim.said, at)
        known = [
            _bounds(source, place)
            for source in claim.sources
            for place in source.places.get(word.stem, ())
        ]
        anywhere = frozenset[str]().union(*(_all_bounds(source) for source in claim.sources))
        if said - {"about"} - anywhere:
            return True
        if known and not said and all(known):
            return True
        if known and said and not any(not each or each & said for each in known):
            return True
    return False


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


def _has_other_place(claim: Claim) -> bool:
    """Whether a number of the evidence that is not in the sentence would fit better."""
    said = {word.stem for word in claim.said.words}
    numbers = {word.stem for word in claim.known if word.value is not None} - said
    return any(
        is_misplaced(claim.said, at, claim.sources, numbers)
        for at, word in enumerate(claim.said.words)
        if word.value is not None
    )


# Names


def _has_other_name(claim: Claim) -> bool:
    return any(
        not _is_known_name(word, claim) for word in claim.said.words if _is_name(word, claim)
    )


def _is_known_name(word: Word, claim: Claim) -> bool:
    singular = word.key.removesuffix("s")
    if claim.keys & {word.key, singular, f"{word.key}s"}:
        return True
    if word.text[1:] == word.text[1:].casefold():
        return claim.has(word)
    return word.text.removesuffix("s").isupper() and singular in claim.initials


def _is_name(word: Word, claim: Claim) -> bool:
    """Whether a word is spelled like a name, and not only because it begins the sentence."""
    if word.value is not None or word.key == word.text or word.key in _FUNCTION:
        return False
    only_first = word.text[1:] == word.text[1:].casefold() and word.text.isalpha()
    if word.begins and only_first:
        return not claim.has(word) and not _COMMON_OPENING.fullmatch(word.key)
    return True


# Negation, hedges, quantity


def _negates_otherwise(claim: Claim) -> bool:
    return _adds(claim, _is_negation) or _drops(claim, _is_negation)


def _drops_hedge(claim: Claim) -> bool:
    return _drops(claim, _is_hedge)


def _is_negation(text: Text, at: int) -> bool:
    words = text.words
    if not NEGATION.fullmatch(words[at].key):
        return False
    following = words[at + 1].key if at + 1 < len(words) else ""
    return not (words[at].key == "not" and following in ("only", "just", "merely"))


def _is_hedge(text: Text, at: int) -> bool:
    return bool(HEDGES.fullmatch(text.words[at].key))


_Test = Callable[[Text, int], bool]


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


_SCOPE = 3
"""Content words that a mark may be about."""


def _matching(head: str, scopes: Sequence[frozenset[str]]) -> frozenset[str] | None:
    return next((scope for scope in scopes if not head or head in scope), None)


def _head(claim: Claim, at: int, is_mark: _Test) -> str:
    """The word nearest to a mark, after it or before, that the evidence has; empty if none."""
    return next((word.stem for word in _about(claim.said, at, is_mark) if claim.has(word)), "")


def _scope(text: Text, at: int, is_mark: _Test) -> frozenset[str]:
    """The stems of what a mark of the evidence may be about."""
    return frozenset(word.stem for word in _about(text, at, is_mark))


def _about(text: Text, at: int, is_mark: _Test) -> list[Word]:
    """The content words that a mark may be about: those after it, or before it if none are."""
    before = _preceding(text, at, is_mark)
    if text.words[at].key == "free":
        return before[:1]
    clause = text.words[at].clause
    after = [word for word in _following(text, at, is_mark) if word.clause == clause]
    return (after or before)[:_SCOPE]


def _following(text: Text, at: int, is_mark: _Test) -> list[Word]:
    return _unmarked_content(text, range(at + 1, len(text.words)), is_mark)


def _preceding(text: Text, at: int, is_mark: _Test) -> list[Word]:
    return _unmarked_content(text, range(at - 1, -1, -1), is_mark)


def _unmarked_content(text: Text, places: Iterable[int], is_mark: _Test) -> list[Word]:
    return [
        text.words[place]
        for place in places
        if _is_content(text.words[place])
        and not is_mark(text, place)
        and not _LIGHT.fullmatch(text.words[place].key)
    ]


_LIGHT = re.compile(r"any|requiring|needing|using|having|additional|extra")
"""`without requiring any labels` is about the labels."""


def _drops(claim: Claim, is_mark: _Test) -> bool:
    """Whether the sentence says without the mark what the evidence says only with it."""
    known = [_Plain(source, is_mark) for source in claim.sources]
    between = _Plain(claim.said, is_mark).joined.difference(*(plain.joined for plain in known))
    clear = _Plain(claim.said, is_mark).clear.difference(*(plain.clear for plain in known))
    for source in claim.sources:
        for at in range(len(source.words)):
            if is_mark(source, at):
                before = [word.stem for word in _preceding(source, at, is_mark)[:3]][::-1]
                after = [word.stem for word in _following(source, at, is_mark)[:2]]
                if (*before[-1:], *after[:1]) in between or tuple(after) in clear:
                    return True
                if _ends_clause(source, at) and _chain(before) and _chain(before) <= clear:
                    return True
    return False


def _chain(stems: Sequence[str]) -> set[tuple[str, ...]]:
    return set(pairwise(stems))


def _ends_clause(text: Text, at: int) -> bool:
    """Whether only the rest of a phrase such as `in some cases` follows in the clause."""
    clause = text.words[at].clause
    after = [word for word in text.words[at + 1 :] if word.clause == clause]
    return not any(_is_content(word) and word.key != "cases" for word in after)


class _Plain:
    """Pairs of content words next to each other that no mark touches."""

    def __init__(self, text: Text, is_mark: _Test) -> None:
        marked = [at for at in range(len(text.words)) if is_mark(text, at)]
        content = [
            at for at, word in enumerate(text.words) if _is_content(word) and at not in marked
        ]
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


def _quantifies_otherwise(claim: Claim) -> bool:
    """Whether `all` stands for `some`, `often` for `always`, or the like."""
    for at, word in enumerate(claim.said.words):
        kinds = quantities(word.key)
        if not kinds and not STRICT_QUANTIFIERS.fullmatch(word.key):
            continue
        if word.stem in claim.stems:
            rivals = {other.stem for other in claim.known if _is_other_quantity(other, kinds)}
            if is_misplaced(claim.said, at, claim.sources, rivals):
                return True
            continue
        if STRICT_QUANTIFIERS.fullmatch(word.key) and not any(
            kinds & quantities(other.key) for other in claim.known
        ):
            return True
        rivals = {other.stem for other in claim.known if _is_other_quantity(other, kinds)}
        if any(_fits_well(claim, at, rival) for rival in rivals):
            return True
    return False


def _is_other_quantity(word: Word, kinds: frozenset[str]) -> bool:
    theirs = quantities(word.key)
    return bool(theirs) and not theirs & kinds


def _fits_well(claim: Claim, at: int, rival: str) -> bool:
    return best_fit(claim.said, at, claim.sources, rival, frozenset((rival,))) >= 1.0


# Direction and other opposites


def _points_otherwise(claim: Claim) -> bool:
    words = claim.said.words
    return any(
        _is_turned(claim, at, word)
        for at, word in enumerate(words)
        if word.value is None and not (at + 1 < len(words) and words[at + 1].key == "free")
    )


def _is_turned(claim: Claim, at: int, word: Word) -> bool:
    rivals = {other.stem for other in claim.known if are_opposite(word.key, other.key)}
    sign = direction(word.key)
    own = {word.stem} if word.stem in claim.stems else set[str]()
    if sign:
        own |= {other.stem for other in claim.known if direction(other.key) == sign}
    if sign and not own:
        return True
    if not rivals:
        return False
    if not own:
        return True
    without = frozenset(rivals | own)
    ours = max(best_fit(claim.said, at, claim.sources, stem, without) for stem in own)
    theirs = max(best_fit(claim.said, at, claim.sources, stem, without) for stem in rivals)
    return theirs > ours + 0.2


# Substitutions and swaps


_LEAST_AROUND = 3
"""Equal words before and after that make another word between them a replacement."""


def _replaces(claim: Claim) -> bool:
    """Whether a new word stands exactly where the evidence has another."""
    for source in claim.sources:
        for new, old, around in replacements(claim.said.words, source.words):
            novel = [word for word in new if _is_content(word) and not _is_known(word, claim)]
            gone = [word for word in old if _is_content(word)]
            if novel and gone and around >= _LEAST_AROUND:
                return True
    return False


def _is_known(word: Word, claim: Claim) -> bool:
    return claim.has(word) or bool(quantities(word.key))


def _swaps(claim: Claim) -> bool:
    numbers = [at for at, word in enumerate(claim.said.words) if word.value is not None]
    names = [at for at, word in enumerate(claim.said.words) if _is_name(word, claim)]
    pairs = [*combinations(numbers, 2), *combinations(names, 2), *_across_comparisons(claim)]
    return any(
        are_swapped(claim.said, pair, claim.sources)
        for pair in pairs
        if claim.said.words[pair[0]].stem != claim.said.words[pair[1]].stem
    )


_BEATEN = re.compile(
    r"than|outperform\w*|surpass\w*|exceed\w*|beat\w*|versus|vs|over|superior|unlike"
)
_FOR_SETTING = frozenset("on in for at by under".split())


def _promotes(claim: Claim) -> bool:
    """Whether a name that the evidence has only as what another is compared with is the subject."""
    words = claim.said.words
    return any(
        _is_name(word, claim)
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


def _across_comparisons(claim: Claim) -> Iterator[tuple[int, int]]:
    """Pairs of content words, one on each side of a comparison."""
    for at, word in enumerate(claim.said.words):
        if _COMPARING.fullmatch(word.key):
            left = [place for place in claim.content if place < at][-3:]
            right = [place for place in claim.content if place > at][:3]
            yield from ((one, other) for one in left for other in right)


_RULES: dict[str, Callable[[Claim], bool]] = {
    "nothing said": _says_nothing,
    "prompt": _is_about_the_prompt,
    "odd word": _has_odd_word,
    "content": _is_elsewhere,
    "number": _has_other_number,
    "bound": _is_unbounded,
    "number's place": _has_other_place,
    "name": _has_other_name,
    "negation": _negates_otherwise,
    "hedge": _drops_hedge,
    "quantity": _quantifies_otherwise,
    "direction": _points_otherwise,
    "replaced": _replaces,
    "swapped": _swaps,
    "compared": _promotes,
}
"""What a sentence must not do, in the order in which it is asked."""
