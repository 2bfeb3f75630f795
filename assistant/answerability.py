"""Whether the abstract found for a question can answer it: what speaks for that, and against.

Similarity alone lets questions pass about things that the library has never heard of, as long as
they sound like its papers. So names count: an abstract that does not have a name of the question
says nothing about it. The weights are in units of similarity. Those of absent names and unknown
words were fitted by logistic regression, the others set by what they did on the development
questions, see tests/benchmarks/answers.md.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.content_words import is_in_other_letters
from assistant.conversation import Resolved
from assistant.evidence import asks_for_several
from retrieval.lexical import LexicalIndex
from retrieval.nicknames import joined, names_in, stands_for
from retrieval.query.lookup import Lookup
from retrieval.sentences import split_sentences
from retrieval.types import Paper, Passage

ABSENT_NAME = 0.27
"""What a name that the abstract does not have counts against it."""
UNKNOWN_NAME = 0.4
"""What it counts besides if no abstract of the library has it."""
UNKNOWN_WORDS = 0.30
"""What it counts if all words are unknown to the library; in proportion for a part of them."""
SMALL_LIBRARY = 200
"""Papers in a library where an unknown word says half as much as in a very large one."""
MOST_NAMES = 2
"""Names that count at most: beyond that the case is clear."""
UNSTATED = 0.35
"""What it counts if the question asks for a detail that only a full text would give."""
TITLED = 0.3
"""What it counts that a follow-up is searched for with the title of its paper: that makes any
question near to it. See tests/benchmarks/conversation.md."""
UNSTATED_THOUGH_NAMED = 0.5
"""What it counts besides an unstated detail if the question has the paper's whole title: that makes
it near to the abstract whatever is asked."""
IN_DOUBT = 0.2
"""What it counts if two papers fit as well: then neither need be the right one."""

_FEW_WORDS = 3
"""Words of a question up to which its language cannot be told."""
_ENGLISH = frozenset(
    "a an and are as at be by can did do does for from how in is it my near not of on or please "
    "than that the these this to what when where which who why with you".split()
)
_DETAILS = frozenset(
    "annotator appendix batch budget carbon client cloud code cost cpu day decay dollar download "
    "dropout electricity email energy epoch fee figure framework funding gpu grant hardware hour "
    "hyperparameter institution layer licence license link machine memory minute month optimizer "
    "page parameter participant price rate repository runtime section seed size subject table tpu "
    "university url version volunteer warmup week worker".split()
)
"""What full texts state and abstracts mostly do not."""
_AUXILIARY = (
    "are can could cost costs did do does had has have is may might must should take takes took "
    "was were will would"
)
_ASKED_FOR = re.compile(
    r"\b(?:what|which|whose|how (?:many|much))\s+(?P<before>(?:[\w-]+\s+){1,4}?)"
    rf"(?=(?:{'|'.join(_AUXILIARY.split())})\b)"
    r"|\bwhat (?:is|are|was|were) (?:its|their|the)(?P<after>(?:\s+[\w-]+){1,3})",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"\bhow many\s+((?:(?!(?:{'|'.join(_AUXILIARY.split())})\b)[\w-]+\W+){{1,3}})", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\b(?!\dD\b)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half"
    r"|hundreds?|thousands?|millions?|billions?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")
_GENERIC = frozenset(
    "contribution contributions conclusion conclusions datasets dataset describe explain findings "
    "gist idea ideas it its key limitation limitations main method point results result summarise "
    "summarize summary that their them they this".split()
)
"""Words that any paper may be asked about in."""
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
    """Share of the topic, by the rarity of its words, that no paper has; from 0 to 1, and less the
    smaller the library is."""
    unstated: bool = False
    """Whether a detail is asked of a known paper that its abstract does not state."""
    titled: bool = False
    """Whether the question goes on about the paper, so that its title was searched for, too."""
    named: bool = False
    """Whether the question has the paper's whole title."""

    @property
    def confidence(self) -> float:
        """How sure it is that the abstract answers, comparable between questions."""
        return (
            self.similarity
            - ABSENT_NAME * min(self.absent_names, MOST_NAMES)
            - UNKNOWN_NAME * min(self.unknown_names, MOST_NAMES)
            - UNKNOWN_WORDS * self.unknown_words
            - UNSTATED * self.unstated
            - UNSTATED_THOUGH_NAMED * (self.unstated and self.named)
            - TITLED * self.titled
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about, to be looked for in abstracts."""

    text: str
    """The question without the titles that stand for a paper of the conversation."""
    topic: str
    """Its words that neither only ask nor name authors and venues, which stand in no abstract."""
    names: tuple[str, ...]
    """Names in the topic."""
    known: frozenset[str]
    """Ids of the papers that it names or goes on about."""
    goes_on: bool = False
    """Whether it goes on about these papers of the conversation."""

    @classmethod
    def of(cls, resolved: Resolved, lookup: Lookup) -> "Subject":
        """The subject of a question in its conversation."""
        has_title = resolved.about or resolved.besides
        text = resolved.question if has_title else resolved.standalone
        topic = lookup.parse(text, lookup=True).topic
        about = set(topic.split())
        known = resolved.about or (() if resolved.besides else lookup.named(text))
        return cls(
            text,
            topic,
            tuple(name for name in names_in(text) if name in about),
            frozenset(paper.id for paper in known),
            goes_on=bool(resolved.about),
        )

    def is_on(self, paper: Paper) -> bool:
        """Whether the question is about this very paper."""
        return paper.id in self.known

    def among(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those of the passages whose papers the question is about."""
        return [passage for passage in passages if self.is_on(passage.paper)]

    def meant(self, ranked: Sequence[Passage]) -> list[Passage]:
        """Those of its papers that it asks about, and about no others.

        A paper that it names but that is not ranked first may only be mentioned, as may a second
        one unless the question compares.
        """
        on = self.among(ranked)
        if self.goes_on or (len(on) > 1 and asks_for_several(self.text)):
            return on
        return [passage for passage in ranked[:1] if self.is_on(passage.paper)]

    def unknown(self, index: LexicalIndex) -> list[str]:
        """The names in the question that no paper has."""
        return [name for name in self.names if not _is_known(name, index)]

    def is_foreign(self, index: LexicalIndex) -> bool:
        """Whether the question seems to be in another language than the library's texts.

        Either its letters are others, or it has no little words of English and a third of its words
        are unknown.
        """
        if is_in_other_letters(self.text):
            return True
        words = [word.casefold() for word in self.text.split()]
        unknown = sum(not index.texts_with(word) for word in words)
        return (
            len(words) > _FEW_WORDS
            and not _ENGLISH.intersection(words)
            and unknown * 3 >= len(words)
        )

    def signs(self, passage: Passage, index: LexicalIndex, beside: Sequence[Paper] = ()) -> Signs:
        """What speaks for and against an answer in the abstract of `passage`.

        Args:
            passage: the paper and its best passage.
            index: knows the words and names of the library.
            beside: papers with which it is compared; their names need not be its own.
        """
        text = _Text(passage.paper, index)
        texts = [text, *(_Text(paper, index) for paper in beside)]
        absent = [name for name in self.names if not any(each.has(name) for each in texts)]
        unknown = set(absent).intersection(self.unknown(index))
        return Signs(
            similarity=passage.similarity,
            absent_names=len(absent),
            unknown_names=len(unknown),
            unknown_words=_unknown_share(self.topic, index),
            unstated=self.is_on(passage.paper) and text.leaves_out(self.text),
            named=_has_title(self.text, passage.paper),
            titled=self.goes_on and not _GENERIC.issuperset(self.topic.casefold().split()),
        )


def _has_title(question: str, paper: Paper) -> bool:
    return bool(paper.title) and joined(paper.title) in joined(question)


class _Text:
    """A paper's words, to look names up in."""

    def __init__(self, paper: Paper, index: LexicalIndex) -> None:
        self._index = index
        self._paper = paper
        self._whole = f"{paper.title} {paper.abstract}"
        self._joined = joined(self._whole)
        self._singulars = _singulars(self._whole)
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

    def leaves_out(self, question: str) -> bool:
        """Whether a detail is asked for that is not stated, or a number of what is not counted."""
        for found in _ASKED_FOR.finditer(question):
            asked = _singulars(found["before"] or found["after"])
            if (_DETAILS & asked) - self._singulars:
                return True
        counted = _COUNTED.search(question)
        if not counted:
            return False
        return not self._counts(set(self._index.terms(counted[1])))

    def _counts(self, things: set[str]) -> bool:
        """Whether a sentence has a number and any of `things`."""
        return any(
            _NUMBER.search(sentence.text) and things.intersection(self._index.terms(sentence.text))
            for sentence in split_sentences(self._paper.abstract)
        )


def _singulars(text: str) -> set[str]:
    """The words in small letters, without a plural's `s`."""
    return {word.removesuffix("s") for word in _WORD.findall(text.casefold())}


def _core(name: str) -> str:
    """`Hopfield` of `Hopfield-like`."""
    return _ALIKE.sub("", name)


def _is_known(name: str, index: LexicalIndex) -> bool:
    """Whether any paper has all words of the name, or the name as a whole."""
    core = _core(name)
    return bool(index.texts_with(core) or index.nicknamed(joined(core)))


def _unknown_share(topic: str, index: LexicalIndex) -> float:
    """The share of unknown words, less in a small library: there common words are unknown, too."""
    weights = {term: index.rarity(term) for term in index.terms(topic)}
    unknown = sum(weight for term, weight in weights.items() if not index.texts_with_term(term))
    size = index.size
    return unknown / (sum(weights.values()) or 1.0) * size / (size + SMALL_LIBRARY)
