"""The words of a query, and the few of them that only ask in any library."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.names import folded

MOST_WORDS = 200
"""Words of a query that are looked at."""
PAPERS = frozenset({"paper", "papers"})
PLACES = frozenset({"at", "in", "from", "of"})
"""What stands before a venue or a year."""
JOINERS = frozenset({"and", "or", "&"})
ASKING = (
    PAPERS
    | PLACES
    | JOINERS
    | frozenset(
        "a the an any all anything that this these those there here ones which what who when where "
        "is are was were do does did have has you your we me show list find give please on by for "
        "with about to but as not without authors author wrote written together "
        "published et al".split()
    )
)
"""Words that say what is wanted, not which paper."""

_WORD = re.compile(r"[^\W_](?:[\w.'’&+^$%/–-]*[\w%+])?|&")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query."""

    text: str
    """As typed, without a possessive's ending."""
    folded: str
    possessive: bool = False
    comma: bool = False
    """Whether a comma follows."""
    dot: bool = False
    """Whether a full stop follows."""
    quoted: bool = False
    """Whether an apostrophe stands before it, as in ICLR '22."""

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[:1].isupper()

    @property
    def asks(self) -> bool:
        """Whether it only says what is wanted."""
        return self.folded in ASKING


def words_of(query: str) -> list[Word]:
    """The words of `query` in order, the first `MOST_WORDS` of them."""
    words: list[Word] = []
    for found in _WORD.finditer(query):
        if len(words) == MOST_WORDS:
            break
        typed = found.group()
        plain = _POSSESSIVE.sub("", typed)
        behind = query[found.end() : found.end() + 2]
        words.append(
            Word(
                text=plain,
                folded=folded(plain),
                possessive=plain != typed or (behind[:1] in ("'", "’") and typed.endswith("s")),
                comma=behind.removeprefix(".").startswith(","),
                dot=behind.startswith("."),
                quoted=query[max(found.start() - 1, 0) : found.start()] in ("'", "’"),
            )
        )
    return words


def folded_words(words: Sequence[Word]) -> tuple[str, ...]:
    """The words as they are compared."""
    return tuple(word.folded for word in words)


def folded_at(words: Sequence[Word], at: int) -> str:
    """The word there as it is compared; empty if there is none."""
    return words[at].folded if 0 <= at < len(words) else ""
