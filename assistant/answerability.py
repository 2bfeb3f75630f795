"""Whether the abstract found for a question can answer it: what speaks for that, and against.

Similarity alone lets questions pass about things that the library has never heard of, as long as
they sound like its papers. So names count: an abstract that does not have a name of the question
says nothing about it. The weights were fitted by logistic regression, see
tests/benchmarks/answers.md; they are given in units of similarity.
"""

import re
from dataclasses import dataclass

from retrieval.lexical import LexicalIndex
from retrieval.nicknames import joined, names_in, stands_for
from retrieval.types import Paper, Passage

ABSENT_NAME = 0.27
"""What a name that the abstract does not have counts against it."""
UNKNOWN_NAME = 0.19
"""What it counts besides if no abstract of the library has it."""
UNKNOWN_WORDS = 0.30
"""What it counts if all words are unknown to the library; in proportion for a part of them."""
MOST_NAMES = 2
"""Names that count at most: beyond that the case is clear."""

_ALIKE = re.compile(r"-(?:like|style|based|type)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells whether a paper's abstract answers a question."""

    similarity: float
    """Cosine of the question and the paper's best passage."""
    absent_names: int
    """Names in the question that the paper does not have."""
    unknown_names: int
    """Those of them that no paper has."""
    unknown_words: float
    """Share of the question's words, by rarity, that no paper has; from 0 to 1."""

    @property
    def confidence(self) -> float:
        """How sure it is that the abstract answers, comparable between questions."""
        return (
            self.similarity
            - ABSENT_NAME * min(self.absent_names, MOST_NAMES)
            - UNKNOWN_NAME * min(self.unknown_names, MOST_NAMES)
            - UNKNOWN_WORDS * self.unknown_words
        )


def signs(question: str, topic: str, passage: Passage, index: LexicalIndex) -> Signs:
    """What speaks for and against an answer to `question` in the abstract of `passage`.

    Args:
        question: as it can be understood without the conversation.
        topic: its words that are not about records: authors and venues stand in no abstract.
        passage: the paper and its best passage.
        index: knows the words and names of the library.
    """
    about = set(topic.split())
    names = [name for name in names_in(question) if about.intersection((name, *name.split("'")))]
    text = _Text(passage.paper, index)
    absent = [name for name in names if not text.has(name)]
    unknown = [name for name in absent if not _is_known(name, index)]
    return Signs(passage.similarity, len(absent), len(unknown), _unknown_share(question, index))


class _Text:
    """A paper's words, to look names up in."""

    def __init__(self, paper: Paper, index: LexicalIndex) -> None:
        self._index = index
        self._whole = f"{paper.title} {paper.abstract}"
        self._joined = joined(self._whole)
        self._terms = set(index.terms(self._whole))

    def has(self, name: str) -> bool:
        """Whether the name stands there, in whichever spelling, or the words it is made from."""
        core = _core(name)
        terms = self._index.terms(core)
        return (
            joined(core) in self._joined
            or bool(terms and self._terms.issuperset(terms))
            or stands_for(core, self._whole)
        )


def _core(name: str) -> str:
    """`Hopfield` of `Hopfield-like`."""
    return _ALIKE.sub("", name)


def _is_known(name: str, index: LexicalIndex) -> bool:
    """Whether any paper has all words of the name, or the name as a whole."""
    core = _core(name)
    return bool(index.texts_with(core) or index.nicknamed(joined(core)))


def _unknown_share(question: str, index: LexicalIndex) -> float:
    weights = {term: index.rarity(term) for term in index.terms(question)}
    unknown = sum(weight for term, weight in weights.items() if not index.texts_with_term(term))
    return unknown / (sum(weights.values()) or 1.0)
