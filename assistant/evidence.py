"""The sentences of the best papers that answer a question."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from assistant.statements import states
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
_INTRODUCES = re.compile(
    r"\b(?:we|this (?:paper|work|article)|here)\b.{0,40}?\b(?:propos|introduc|present|develop"
    r"|design|stud(?:y|ies)|call|build|provid|releas|describ|investigat|show that|prove)\w*",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:which|what|any|list|how do|are there)\b(?:\s+\w[\w-]*){0,4}?\s+"
    r"(?:papers|works|methods|approaches|techniques|studies|frameworks)\b|\bpapers\b|\bhere\W*$"
    r"|\b(?:compare|contrast|versus|vs|differences? between|in common"
    r"|each (?:one|of them|add|propose))\b|\bhow do\b.*\b(?:differ|resemble|compare)\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"\b(?:anything|something|everything|an overview|any (?:\w+ )?(?:work|research)|how many papers"
    r"|what(?:['’]s| is| are) new)\b|^\W*(?:[\w-]+\W+){0,1}[\w-]+\W*$",
    re.IGNORECASE,
)
"""What asks about a whole topic; bare words do, too."""
_WHAT_IT_IS = re.compile(
    r"^\W*(?:(?:can you )?(?:explain|summari[sz]e|describe|tell me about)|what(?: is|['’]?s| are))"
    r"\s+(?:(?:the|its|their) (?:main |key )?(?:idea|contribution|gist|point|summary)\b.*"
    r"|[\w-]+(?:\s[\w-]+)?)\W*$",
    re.IGNORECASE,
)
"""What asks what a paper does, not how well or by which means."""
_REFERS_BACK = re.compile(
    r"^(?:\W*(?:and|but|also|moreover|furthermore|in addition|additionally)\W+)?"
    r"(?:this|these|those|such|they|their|it|its|both|here|doing so|second|third"
    r"|the (?:former|latter|first|second))\b",
    re.IGNORECASE,
)
"""A sentence that begins so needs the one before it."""
DOUBT = 0.1
"""How far behind the best a paper may be ranked for the ranking to be in doubt."""
_STEM_LETTERS = 5
"""Words that begin with the same letters count as the same: a light stemmer, for matching only."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How much is chosen; see tests/benchmarks/answers.md."""

    words: int = 80
    """Budget of words for the sentences of the best paper."""
    words_before: int = 20
    """Words beyond the budget for sentences that a chosen one refers back to."""
    worth: float = 0.7
    """Share of its paper's best score that makes a sentence worth reading."""
    words_in_doubt: int = 40
    """Budget of words for the best paper where the ranking is in doubt, and the best sentence of
    the second one is added."""
    several: int = 5
    """Papers of which the best sentence is taken where a question asks for several."""
    reach: float = 0.85
    """How far behind the best these may be ranked."""
    lexical_weight: float = 0.5
    """Share of the words in common, against the cosine of the sentence vectors."""
    contribution: float = 0.1
    """Added for a sentence about what the paper does, not about the field."""
    introduction: float = 0.0
    """Added for a sentence that says what the paper proposes."""
    introduction_asked: float = 0.3
    """The same where several papers are asked for, or what one is about; how well it does, and so
    lateness, counts nothing then."""
    lateness: float = 0.1
    """Added for the last sentence, in proportion for those before: findings come late."""
    quantity: float = 0.2
    """Added for a sentence with a number where the question asks for one."""


def choose_evidence(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder,
    settings: EvidenceSettings | None = None,
    *,
    of: Sequence[Passage] = (),
) -> list[Evidence]:
    """The sentences that fit `question` best: paper by paper, each paper's in reading order.

    Args:
        question: without the titles that stand for a paper of the conversation.
        passages: the papers found, best first, at least one.
        embedder: compares sentences with the question.
        settings: see `EvidenceSettings`.
        of: those of the papers that the question is about, if it names them.
    """
    settings = settings or EvidenceSettings()
    of_several = asks_for_several(question) and len(of) != 1
    if of_several or _WHAT_IT_IS.search(question):
        settings = replace(settings, introduction=settings.introduction_asked, lateness=0.0)
    asked = _asked(question, passages, embedder)
    scored = partial(_scored, asked=asked, embedder=embedder, settings=settings)
    if of:
        budget = settings.words // len(of)
        return [
            sentence
            for passage in of
            for sentence in _of_paper(scored(passage.paper), budget, settings)
        ]
    if of_several:
        return [_best(scored(passage.paper)) for passage in _near(passages, settings)]
    sentences = scored(passages[0].paper)
    if not is_in_doubt(question, passages):
        return _of_paper(sentences, settings.words, settings)
    chosen = _within(sentences, settings.words_in_doubt, settings.worth)
    return [*chosen, _best(scored(passages[1].paper))]


def _of_paper(
    scored: Sequence[Evidence], budget: int, settings: EvidenceSettings
) -> list[Evidence]:
    chosen = _within(scored, budget, settings.worth)
    return _with_antecedents(chosen, scored, budget + settings.words_before)


def _near(passages: Sequence[Passage], settings: EvidenceSettings) -> list[Passage]:
    least = passages[0].score - settings.reach
    return [passage for passage in passages[: settings.several] if passage.score >= least]


def is_in_doubt(question: str, passages: Sequence[Passage]) -> bool:
    """Whether the second paper might as well be the first, where just one is asked for."""
    scores = [passage.score for passage in passages[:2]]
    return len(scores) > 1 and scores[0] - scores[1] < DOUBT and not asks_for_several(question)


def asks_for_several(question: str) -> bool:
    """Whether a question compares papers or asks what there is, so that one cannot answer it."""
    return bool(_SEVERAL.search(question)) or is_broad(question)


def is_broad(question: str) -> bool:
    """Whether a question is about a whole topic, of which no paper is the best."""
    return bool(_BROAD.search(question))


def _best(scored: Sequence[Evidence]) -> Evidence:
    return max(scored, key=lambda each: each.score)


def _within(scored: Sequence[Evidence], budget: int, worth: float) -> list[Evidence]:
    """The best sentences that are worth reading and fit the budget, in reading order."""
    least = worth * _best(scored).score
    chosen: list[Evidence] = []
    for sentence in sorted(scored, key=lambda each: -each.score):
        fits = not chosen or _words([*chosen, sentence]) <= budget
        if sentence.score >= least and fits:
            chosen.append(sentence)
    return sorted(chosen, key=lambda each: each.start)


def _with_antecedents(
    chosen: Sequence[Evidence], scored: Sequence[Evidence], budget: int
) -> list[Evidence]:
    """The chosen sentences, and those before them that they begin by referring to."""
    whole = list(chosen)
    left = budget - _words(chosen)
    for before, sentence in pairwise(scored):
        if sentence in chosen and before not in whole and _REFERS_BACK.search(sentence.text):
            length = _words([before])
            if length <= left:
                whole.append(before)
                left -= length
    return sorted(whole, key=lambda each: each.start)


def _words(sentences: Iterable[Evidence]) -> int:
    return sum(len(sentence.text.split()) for sentence in sentences)


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
    """The sentences of a paper that state something, with how well each fits the question."""
    sentences = split_sentences(paper.abstract)
    sentences = [each for each in sentences if states(each.text)] or sentences
    evidence = []
    for position, sentence in enumerate(sentences):
        score = _match(sentence.text, asked, embedder, settings.lexical_weight)
        score += settings.lateness * position / len(sentences)
        if _CONTRIBUTION.search(sentence.text):
            score += settings.contribution
        if _INTRODUCES.search(sentence.text):
            score += settings.introduction
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
