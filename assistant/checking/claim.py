"""A sentence beside its evidence, both taken apart."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from assistant.checking.opposites import direction
from assistant.checking.places import Text
from assistant.checking.words import Word, sense_of, words_of

FUNCTION = frozenset(
    "a an and are as at be been being but by can could did do does done for from had has have how "
    "if in into is it its itself of on or our ours so such than that the their theirs "
    "them then there these they this those to was we were what when where which while who whose "
    "why will with would also paper work authors author answer yes us s i.e e.g via per thus hence "
    "not no about up may might because".split()
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
        return [at for at, word in enumerate(self.said.words) if is_content(word)]

    def has(self, word: Word) -> bool:
        """Whether the evidence has `word` in any inflection."""
        return word.stem in self.stems or word.key in self.keys or direction(word.key) in self.signs


def is_content(word: Word) -> bool:
    """Whether a word says something: function words do not."""
    return word.key not in FUNCTION
