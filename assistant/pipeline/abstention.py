"""The probability that an abstract answers a question, its threshold, and reasons to abstain.

The probability is a logistic regression over the logits of the reader and the sentence reader, the
similarity, the names in the question that the paper lacks, and the words that no paper has. Its
weights come from `tests/benchmarks/training/fit_answerable.py`; see tests/benchmarks/reading.md.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from operator import mul
from pathlib import Path

import pydantic

from assistant.pipeline.follow_up import StandaloneQuestion
from retrieval.index.files import write_whole
from retrieval.index.lexical import LexicalIndex
from retrieval.search.reader import PaperRead
from retrieval.search.rerank import NOT_READ, ReadPassage
from retrieval.text.names import is_in_other_letters
from retrieval.text.titles import joined, names_in, stands_for
from retrieval.types import LibraryError, Paper

MOST_NAMES = 1
"""Absent names that count at most: with one the case is clear."""
USUAL_SIMILARITY = 0.42
"""Stands in for that of a follow-up, which says little; the weights are fitted with it."""
SMALL_LIBRARY = 200
"""Papers below which a library lacks even common words."""
FOREIGN_SHARE, FEW_WORDS = 0.4, 3
"""A question with more words, this share of them foreign, may be in another language."""
FILE = "abstention.json"
"""In a library's folder: its own calibration."""
DEFAULT_THRESHOLD = 0.2
"""For libraries without a calibration of their own; see tests/benchmarks/reading.md."""
VERSION = 7
"""Of the features and their weights: thresholds chosen with others do not count."""
_SUFFIX = re.compile(r"(?:-[a-z]+)+$")
"""Lower-case words behind a hyphen, no part of a name: `ImageNet-like`."""


@dataclass(frozen=True, slots=True)
class Features:
    """Features from which `probability` tells whether an abstract answers a question."""

    answerable: float
    """The reader's logit that it answers, learned with questions that no paper answers."""
    alone: float
    """The sentence reader's logit of its best sentence."""
    similarity: float
    """Cosine of the question and the paper's best passage."""
    absent_names: float
    """Names in the question that the paper lacks."""
    unknown: float
    """Share of the question's words that no paper has; see `LexicalIndex.unknown_share`."""


WEIGHTS = Features(answerable=0.5, alone=0.75, similarity=4.5, absent_names=-2.9, unknown=-2.36)
BIAS = -1.94


def probability(features: Features) -> float:
    """Probability that the abstract answers, in [0, 1]."""
    return logistic(astuple(features), astuple(WEIGHTS), BIAS)


def logistic(features: Sequence[float], weights: Sequence[float], bias: float) -> float:
    """The probability that a logistic regression gives, in [0, 1]."""
    return 1 / (1 + math.exp(-bias - sum(map(mul, features, weights))))


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """The names and words of a question that an abstract that answers it should have."""

    text: str
    """The question without the titles that stand for a paper of the conversation."""
    names: tuple[str, ...]
    known: frozenset[str]
    """Ids of the papers that it names or continues to ask about."""
    leans: bool = False
    """Whether only the conversation tells the paper; then similarity says little."""
    compares: bool = False
    """Whether papers that it names are compared or surveyed."""

    @classmethod
    def of(
        cls,
        standalone: StandaloneQuestion,
        named: Sequence[Paper],
        typed_names: str = "",
        *,
        is_wide: bool = False,
    ) -> "QuestionEntities":
        """The entities of a question.

        Args:
            standalone: the question in its conversation.
            named: the papers of the library that it names.
            typed_names: authors and venues that its filters use; abstracts do not have them.
            is_wide: whether it asks for an overview or a comparison.
        """
        taken = typed_names.casefold().split()
        text = standalone.question
        names = tuple(name for name in names_in(text) if name.casefold() not in taken)
        known = standalone.focus_papers or named
        leans = bool(standalone.focus_papers) and standalone.text != text
        ids = frozenset(paper.id for paper in known)
        return cls(text, names, ids, leans, is_wide and bool(named))

    def without_names(self, index: LexicalIndex) -> "QuestionEntities":
        """The same without its names, and without the words that no paper has among them."""
        text = self.text
        for name in self.unknown(index):
            text = text.replace(name, " ")
        return replace(self, text=text, names=())

    def among(self, read: Sequence[ReadPassage]) -> list[ReadPassage]:
        """Those of the papers read that are known to be meant, best first."""
        return [each for each in read if each.passage.paper.id in self.known]

    def unknown(self, index: LexicalIndex) -> list[str]:
        """The names in the question that no paper has."""
        return [name for name in self.names if not _is_known(name, index)]

    def is_foreign(self, index: LexicalIndex, count: Callable[[str], int]) -> bool:
        """Whether the question seems to be in another language than the library's texts.

        Words count that no paper has and that the embedder, whose tokens `count` gives, does not
        know whole. A small library lacks even common words: there, all must be unknown.
        """
        words = [word for word in re.findall(r"[^\W\d_]+", self.text.casefold()) if len(word) > 1]
        unknown = [word for word in words if not index.texts_with(word)]
        foreign = sum(count(word) > 1 for word in unknown)
        is_likely = len(words) > FEW_WORDS and foreign >= FOREIGN_SHARE * len(words)
        is_small = index.size < SMALL_LIBRARY
        return (is_likely and (unknown == words or not is_small)) or is_in_other_letters(self.text)

    def absent(self, papers: Sequence[Paper], index: LexicalIndex) -> list[str]:
        """The names in the question that none of `papers` has."""
        return [name for name in self.names if not any(_has(each, name, index) for each in papers)]

    def features(
        self, read: ReadPassage, index: LexicalIndex, beside: Sequence[Paper] = ()
    ) -> Features:
        """The features of a paper as it was read; it need not have the names of those `beside`.

        Of a question that names the paper, the words of its title count, too: the name itself may
        be spelled as no text has it.
        """
        paper = read.passage.paper
        absent = len(self.absent((paper, *beside), index))
        words = f"{self.text} {paper.title}" if paper.id in self.known else self.text
        return Features(
            answerable=read.read.answerable,
            alone=self._alone(read.read),
            similarity=USUAL_SIMILARITY if self.leans else read.passage.similarity,
            absent_names=min(absent, MOST_NAMES),
            unknown=index.unknown_share(words),
        )

    def _alone(self, read: PaperRead) -> float:
        """The feature `alone`; no one sentence compares papers, so none speaks against it."""
        if read.alone is None:
            return NOT_READ
        return max(read.alone, 0.0) if self.compares else read.alone


def _has(paper: Paper, name: str, index: LexicalIndex) -> bool:
    """Whether the paper has the name in any spelling, or all words of it."""
    whole, core = f"{paper.title} {paper.abstract}", _SUFFIX.sub("", name)
    terms = index.terms(core)
    return (
        joined(core) in joined(whole)
        or bool(terms and set(index.terms(whole)).issuperset(terms))
        or stands_for(core, whole)
    )


def _is_known(name: str, index: LexicalIndex) -> bool:
    """Whether any paper has all words of the name, or is known by it."""
    core = _SUFFIX.sub("", name)
    return bool(index.texts_with(core) or index.nicknamed(joined(core)))


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the risk-coverage curve."""

    threshold: float
    coverage: float
    """Share of all questions that are answered at this threshold."""
    risk: float
    """Share of the answered questions that the library has no answer to."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a threshold on questions that it was not chosen by."""

    wrongly_refused: float
    """Share of the answerable questions below the threshold."""
    refused: float
    """Share of the unanswerable questions below it."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and how it was measured."""

    least_confidence: float
    """The threshold: questions with less confidence are not answered."""
    source: str
    """Where the questions come from."""
    answerable: int
    unanswerable: int
    promise: str
    """What the threshold promises, in words."""
    before: Rates
    """Rates of the threshold before, on the second half of the questions."""
    after: Rates
    """Rates of this one there."""
    auc: float
    """How often an answerable question has more confidence than an unanswerable one."""
    curve: tuple[Point, ...] = ()
    version: int = 1
    """The `VERSION` that it was made with; files of the first one do not name it."""

    @property
    def is_current(self) -> bool:
        """Whether its confidences are still those of this program."""
        return self.version == VERSION


_FORM = pydantic.TypeAdapter(Calibration)


def threshold(home: Path) -> float:
    """The least confidence with which the library in `home` answers.

    Raises:
        LibraryError: it has a calibration that cannot be read.
    """
    own = read_calibration(home)
    return own.least_confidence if own and own.is_current else DEFAULT_THRESHOLD


def read_calibration(home: Path) -> Calibration | None:
    """The calibration of the library in `home`; None if it has none of its own.

    Raises:
        LibraryError: it has one that cannot be read.
    """
    path = home / FILE
    try:
        return _FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, pydantic.ValidationError) as error:
        why = " ".join(str(error).split())[:200]
        raise LibraryError(
            f"{path} cannot be read ({why}); make it anew with `assistant calibrate`, or remove it."
        ) from error


def is_outdated(home: Path) -> bool:
    """Whether the library in `home` has a calibration that no longer counts."""
    try:
        own = read_calibration(home)
    except LibraryError:  # reported when a question needs it
        return False
    return own is not None and not own.is_current


def write_calibration(home: Path, calibration: Calibration) -> None:
    """Store a calibration with the library, whole or not at all.

    Raises:
        LibraryError: the folder cannot be written.
    """
    write_whole(home / FILE, _FORM.dump_json(calibration, indent=2).decode("utf-8"))
