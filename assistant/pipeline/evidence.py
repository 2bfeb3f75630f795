"""The sentences of the best papers that answer a question, as the reader sees them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from assistant.statements import states
from assistant.types import Evidence
from retrieval.search.reader import SentenceRead
from retrieval.search.rerank import ReadPassage

Terms = Callable[[str], Sequence[str]]
"""The indexed words of a text."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How much is chosen; see tests/benchmarks/reading.md."""

    words: int = 70
    """Budget of words for the sentences of one paper."""
    gap: float = 5.0
    """How far behind the paper's best a sentence may be, in logits."""
    several: int = 5
    """Papers of which the best sentence is taken where a question asks for several."""
    reach: float = 0.5
    """How far behind the best these may be ranked."""
    overlap: float = 2.0
    """What it counts that a sentence has all words of the question, in logits."""


def choose_evidence(
    question: str,
    read: Sequence[ReadPassage],
    terms: Terms,
    settings: EvidenceSettings | None = None,
    *,
    several: bool,
    of: Sequence[ReadPassage] = (),
    beside: Sequence[ReadPassage] = (),
) -> list[Evidence]:
    """The sentences that answer `question`: paper by paper, each paper's in reading order.

    Args:
        question: without the titles that stand for a paper of the conversation.
        read: the papers read, best first, at least one.
        terms: what a word counts as, so that `learned` matches `learning`.
        settings: see `EvidenceSettings`.
        several: whether the question is about several papers.
        of: those of the papers that the question is about, if it names them.
        beside: those of the papers behind the best one that answer as well.
    """
    settings = settings or EvidenceSettings()
    asked = set(terms(question))

    def scored(each: ReadPassage) -> list[Evidence]:
        return _scored(each, asked, terms, settings)

    if len(of) > 1:
        budget = settings.words // len(of)
        return [one for each in of for one in _within(scored(each), budget, settings.gap)]
    if several and not of:
        least = read[0].passage.score - settings.reach
        near = [each for each in read[: settings.several] if each.passage.score >= least]
        return [_best(scored(each)) for each in near]
    chosen = _within(scored((of or read)[0]), settings.words, settings.gap)
    return chosen if of else [*chosen, *(_best(scored(each)) for each in beside)]


def _scored(
    read: ReadPassage, asked: set[str], terms: Terms, settings: EvidenceSettings
) -> list[Evidence]:
    """The sentences of a paper that state something, with how well each answers."""
    every = read.read.sentences
    stating = [each for each in every if states(each.sentence.text)] or list(every)
    shared = [asked.intersection(terms(each.sentence.text)) for each in stating]
    weights = _rarity(shared, asked)
    total = math.fsum(weights.values()) or 1.0

    def scored(each: SentenceRead, common: set[str]) -> Evidence:
        share = math.fsum(weights[term] for term in common) / total
        score = each.evidence + settings.overlap * share
        place = each.sentence
        return Evidence(read.passage.paper, place.start, place.end, place.text, score)

    return [scored(each, common) for each, common in zip(stating, shared, strict=True)]


def _rarity(sentences: Sequence[set[str]], asked: set[str]) -> dict[str, float]:
    """What each word of the question says: more, the fewer sentences of the paper have it."""
    return {
        term: math.log(1 + len(sentences) / max(1, sum(term in each for each in sentences)))
        for term in asked
    }


def _best(scored: Sequence[Evidence]) -> Evidence:
    return max(scored, key=lambda each: each.score)


def _within(scored: Sequence[Evidence], budget: int, gap: float) -> list[Evidence]:
    """The best sentence, and others near to it that fit the budget, in reading order."""
    least = _best(scored).score - gap
    chosen: list[Evidence] = []
    for sentence in sorted(scored, key=lambda each: -each.score):
        fits = not chosen or _words([*chosen, sentence]) <= budget
        if sentence.score >= least and fits:
            chosen.append(sentence)
    return sorted(chosen, key=lambda each: each.start)


def _words(sentences: Iterable[Evidence]) -> int:
    return sum(len(sentence.text.split()) for sentence in sentences)
