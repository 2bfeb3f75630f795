"""The sentences of the best papers that answer a question."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistant.types import Evidence
from retrieval.embedder import Embedder, Vector
from retrieval.sentences import split_sentences
from retrieval.types import Paper, Passage

_WORD = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_CONTRIBUTION = re.compile(r"\b(?:we|our|this (?:paper|work)|in this)\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\bhow (?:much|many|far|fast|large|big|long|often|accurate|high|well)\b|\bby what\b"
    r"|\bwhat (?:score|accuracy|percentage|rate|fraction|share|speed-?up|gains?|number)\b",
    re.IGNORECASE,
)
_STEM_LETTERS = 5
"""Words that begin with the same letters count as the same: a light stemmer, for matching only."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How much is chosen; see tests/benchmarks/answers.md."""

    papers: int = 3
    """Papers whose sentences are compared with the question."""
    from_best: int = 3
    """Sentences taken of the best paper."""
    from_others: int = 1
    """Sentences taken of each other paper that fits nearly as well."""
    nearly: float = 0.9
    """Share of the best paper's score that makes another paper worth citing."""
    lexical_weight: float = 0.5
    """Share of the words in common, against the cosine of the sentence vectors."""
    contribution: float = 0.1
    """Added for a sentence about what the paper does, not about the field."""
    lateness: float = 0.1
    """Added for the last sentence, in proportion for those before: findings come late."""
    quantity: float = 0.2
    """Added for a sentence with a number where the question asks for one."""


def choose_evidence(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder,
    settings: EvidenceSettings | None = None,
) -> list[Evidence]:
    """The sentences that fit `question` best: paper by paper, each paper's in reading order."""
    settings = settings or EvidenceSettings()
    best = passages[: settings.papers]
    close = [passage for passage in best if passage.score >= settings.nearly * best[0].score]
    asked = _asked(question, passages, embedder)
    chosen: list[Evidence] = []
    for rank, passage in enumerate(close):
        scored = _scored(passage.paper, asked, embedder, settings)
        count = settings.from_others if rank else settings.from_best
        top = sorted(scored, key=lambda each: -each.score)[:count]
        chosen += sorted(top, key=lambda each: each.start)
    return chosen


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, ready to be compared with sentences."""

    vector: Vector
    weights: Mapping[str, float]
    """Rarity of each of its stems among the papers found; rarer words say more."""
    quantity: bool
    """Whether it asks for a number."""


def _asked(question: str, passages: Sequence[Passage], embedder: Embedder) -> _Asked:
    rarity = _rarity(passage.paper.abstract for passage in passages)
    weights = {stem: rarity.get(stem, 1.0) for stem in stems(question)}
    return _Asked(embedder.embed(question), weights, bool(_QUANTITY.search(question)))


def _scored(
    paper: Paper, asked: _Asked, embedder: Embedder, settings: EvidenceSettings
) -> list[Evidence]:
    """The sentences of a paper with how well each fits the question."""
    sentences = split_sentences(paper.abstract)
    evidence = []
    for position, sentence in enumerate(sentences):
        score = _match(sentence.text, asked, embedder, settings.lexical_weight)
        score += settings.lateness * position / len(sentences)
        if _CONTRIBUTION.search(sentence.text):
            score += settings.contribution
        if asked.quantity and _DIGIT.search(sentence.text):
            score += settings.quantity
        evidence.append(Evidence(paper, sentence.start, sentence.end, sentence.text, score))
    return evidence


def _match(sentence: str, asked: _Asked, embedder: Embedder, lexical_weight: float) -> float:
    common = asked.weights.keys() & set(stems(sentence))
    total = sum(asked.weights.values()) or 1.0
    lexical = sum(asked.weights[stem] for stem in common) / total
    cosine = float(embedder.embed(sentence) @ asked.vector)
    return lexical_weight * lexical + (1 - lexical_weight) * cosine


def stems(text: str) -> list[str]:
    """The words of `text` in lower case, long ones cut to their beginning."""
    return [word[:_STEM_LETTERS] for word in _WORD.findall(text.casefold())]


def _rarity(texts: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of the stems among the papers found."""
    sets = [set(stems(text)) for text in texts]
    counts: dict[str, int] = {}
    for each in sets:
        for stem in each:
            counts[stem] = counts.get(stem, 0) + 1
    return {stem: math.log(1 + len(sets) / count) for stem, count in counts.items()}
