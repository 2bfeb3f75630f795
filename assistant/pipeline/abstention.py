"""Whether the abstracts found answer a question: one calibrated probability.

A logistic regression over what the reader says and over what the library's own index proves:
names of the question that the paper, or the whole library, does not have. The weights are fitted by
`tests/benchmarks/training/fit_reading.py`, see tests/benchmarks/reading.md.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from assistant.pipeline.follow_up import StandaloneQuestion
from retrieval.lexical import LexicalIndex
from retrieval.names import is_in_other_letters
from retrieval.nicknames import joined, names_in, stands_for
from retrieval.search.rerank import ReadPassage
from retrieval.types import Paper

MOST_NAMES = 2
"""Names that count at most: beyond that the case is clear."""
USUAL_SIMILARITY = 0.55
"""Of a question and the paper that answers it, in the middle; it stands for that of a follow-up."""
SMALL_LIBRARY = 200
"""Papers below which a library lacks common words, too."""
FOREIGN_SHARE, FEW_WORDS = 0.5, 4
"""A question of more words, of which this share is unknown, may be in another language."""
_ALIKE = re.compile(r"-(?:like|style|based|type)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Features:
    """What tells whether a paper's abstract answers a question."""

    answered: float
    """The reader's logit that it does."""
    similarity: float
    """Cosine of the question and the paper's best passage."""
    absent_names: float
    """Names in the question that the paper does not have."""


WEIGHTS = Features(answered=0.58, similarity=2.26, absent_names=-1.73)
BIAS = -1.2


def probability(features: Features) -> float:
    """How likely the abstract answers, in [0, 1]."""
    pairs = zip(astuple(features), astuple(WEIGHTS), strict=True)
    logit = BIAS + sum(value * weight for value, weight in pairs)
    return 1 / (1 + math.exp(-logit))


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """The names and words of a question, to be looked for in abstracts."""

    text: str
    """The question without the titles that stand for a paper of the conversation."""
    names: tuple[str, ...]
    known: frozenset[str]
    """Ids of the papers that it names or goes on about."""
    leans: bool = False
    """Whether only the conversation says which paper it is about: then it is near to no text."""

    @classmethod
    def of(
        cls, standalone: StandaloneQuestion, named: Sequence[Paper], typed_names: Sequence[str] = ()
    ) -> "QuestionEntities":
        """The entities of a question.

        Args:
            standalone: the question in its conversation.
            named: the papers of the library that it names.
            typed_names: words that its filters have taken: authors and venues, which stand in no
                abstract.
        """
        taken = {word.casefold() for name in typed_names for word in name.split()}
        text = standalone.question
        names = tuple(name for name in names_in(text) if name.casefold() not in taken)
        known = standalone.focus_papers or tuple(named)
        leans = bool(standalone.focus_papers) and standalone.text != text
        return cls(text, names, frozenset(paper.id for paper in known), leans)

    def among(self, read: Sequence[ReadPassage]) -> list[ReadPassage]:
        """Those of the papers read that the question is about, best first."""
        return [each for each in read if each.passage.paper.id in self.known]

    def unknown(self, index: LexicalIndex) -> list[str]:
        """The names in the question that no paper has."""
        return [name for name in self.names if not _is_known(name, index)]

    def is_foreign(self, index: LexicalIndex) -> bool:
        """Whether the question seems to be in another language than the library's texts.

        A small library lacks common words, too: there all of them must be unknown.
        """
        if is_in_other_letters(self.text):
            return True
        words = [word for word in re.findall(r"[^\W\d_]+", self.text.casefold()) if len(word) > 1]
        unknown = sum(not index.texts_with(word) for word in words)
        share = FOREIGN_SHARE if index.size >= SMALL_LIBRARY else 1.0
        return len(words) > FEW_WORDS and unknown >= share * len(words)

    def features(
        self, read: ReadPassage, index: LexicalIndex, beside: Sequence[Paper] = ()
    ) -> Features:
        """What speaks for and against an answer in one abstract.

        Args:
            read: the paper as it was read.
            index: knows the words and names of the library.
            beside: papers with which it is compared; their names need not be its own.
        """
        papers = (read.passage.paper, *beside)
        absent = [
            name for name in self.names if not any(_has(each, name, index) for each in papers)
        ]
        return Features(
            answered=read.read.answered,
            similarity=USUAL_SIMILARITY if self.leans else read.passage.similarity,
            absent_names=min(len(absent), MOST_NAMES),
        )


def _has(paper: Paper, name: str, index: LexicalIndex) -> bool:
    """Whether the name stands in the paper, in whichever spelling, or the words it is made from."""
    whole, core = f"{paper.title} {paper.abstract}", _ALIKE.sub("", name)
    terms = index.terms(core)
    return (
        joined(core) in joined(whole)
        or bool(terms and set(index.terms(whole)).issuperset(terms))
        or stands_for(core, whole)
    )


def _is_known(name: str, index: LexicalIndex) -> bool:
    """Whether any paper has all words of the name, or the name as a whole."""
    core = _ALIKE.sub("", name)
    return bool(index.texts_with(core) or index.nicknamed(joined(core)))
