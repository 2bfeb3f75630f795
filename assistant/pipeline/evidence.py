"""The sentences of the best papers that answer a question, as the reader sees them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.statements import states
from assistant.types import Evidence
from retrieval.search.rerank import ReadPassage


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How much is chosen; see tests/benchmarks/reading.md."""

    words: int = 80
    """Budget of words for the sentences of the papers that the question is about."""
    gap: float = 3.0
    """How far behind its paper's best a sentence may be, in logits."""


def choose_evidence(
    about: Sequence[ReadPassage],
    beside: Sequence[ReadPassage] = (),
    settings: EvidenceSettings | None = None,
) -> list[Evidence]:
    """The sentences that answer a question: paper by paper, each paper's in reading order.

    Args:
        about: the papers that the question is about; they share the budget of words.
        beside: further papers that answer, of which each gives its best sentence.
        settings: see `EvidenceSettings`.
    """
    settings = settings or EvidenceSettings()
    budget = settings.words // max(1, len(about))
    chosen = [one for each in about for one in _within(_scored(each), budget, settings.gap)]
    return [*chosen, *(_best(_scored(each)) for each in beside)]


def _scored(read: ReadPassage) -> list[Evidence]:
    """The sentences of a paper that state something, with the reader's logits."""
    every = read.read.sentences
    stating = [each for each in every if states(each.sentence.text)] or list(every)
    return [
        Evidence(
            read.passage.paper,
            each.sentence.start,
            each.sentence.end,
            each.sentence.text,
            each.evidence,
        )
        for each in stating
    ]


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
