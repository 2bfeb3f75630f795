"""Retrieves candidate papers, and selects the sentences of the best ones that answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.generation.verification.instructions import states
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.types import Evidence
from retrieval.library.library import Library
from retrieval.search.rerank import ReadPassage
from retrieval.search.search import search
from retrieval.search.settings import SearchSettings
from retrieval.types import NO_FILTERS, Filters, Paper, Passage

FOCUS_BONUS = 0.3
"""Added to the score of the paper that a follow-up is about; see
tests/benchmarks/conversation.md."""


def candidates(
    library: Library,
    standalone: StandaloneQuestion,
    limit: int,
    filters: Filters = NO_FILTERS,
    also: Sequence[str] = (),
    *,
    settings: SearchSettings | None = None,
) -> list[Passage]:
    """The papers found for a question, best first, and among them those cited before.

    Args:
        library: what is searched.
        standalone: the question in its conversation.
        limit: papers to find; the conversation may add others.
        filters: on authors, venue and year; ignored if the conversation tells the paper.
        also: ids of papers that compete as well.
        settings: how papers are found; see `SearchSettings`.

    Raises:
        LibraryError: the library has no papers or cannot be read.
    """
    if standalone.focus_papers:
        filters = NO_FILTERS
    if standalone.found and not filters:
        return _without(standalone.found, standalone.excluded)[:limit]
    own = [paper.id for paper in (*standalone.history_papers, *standalone.focus_papers)]
    also = [] if filters else [*also, *own]
    found = search(library, standalone.text, limit, settings, filters=filters, also=also)
    return _favoured(_without(found, standalone.excluded), standalone)


def _without(passages: Sequence[Passage], excluded: Sequence[Paper]) -> list[Passage]:
    """The passages without those of excluded papers."""
    ids = {paper.id for paper in excluded}
    return [passage for passage in passages if passage.paper.id not in ids]


def _favoured(passages: Sequence[Passage], standalone: StandaloneQuestion) -> list[Passage]:
    """The passages with a bonus for the papers that the question is about, best first."""
    focus = {paper.id for paper in standalone.focus_papers}
    scored = [
        replace(passage, score=passage.score + FOCUS_BONUS * (passage.paper.id in focus))
        for passage in passages
    ]
    return sorted(scored, key=lambda passage: -passage.score)


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How much is chosen; see tests/benchmarks/reading.md."""

    words: int = 80
    """Budget of words for the sentences of the papers that the question is about."""
    gap: float = 3.0
    """How far behind the best sentence of its paper a sentence may be, in logits."""


def choose_evidence(
    about: Sequence[ReadPassage],
    beside: Sequence[ReadPassage] = (),
    settings: EvidenceSettings | None = None,
) -> list[Evidence]:
    """The sentences that answer a question: paper by paper, each paper's in reading order.

    Args:
        about: the papers that the question is about; they share the budget of words.
        beside: further papers that answer; each adds its best sentence.
        settings: see `EvidenceSettings`.
    """
    settings = settings or EvidenceSettings()
    budget = settings.words // max(1, len(about))
    chosen = [one for each in about for one in _within(_scored(each), budget, settings.gap)]
    return [*chosen, *(_best(_scored(each)) for each in beside)]


def _scored(read: ReadPassage) -> list[Evidence]:
    """The sentences of a paper that state something, or else all, with the reader's logits."""
    sentences = read.read.sentences
    stating = [each for each in sentences if states(each.sentence.text)] or sentences
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
    """The best sentence, and others close to it that fit the budget, in reading order."""
    least = _best(scored).score - gap
    chosen: list[Evidence] = []
    for sentence in sorted(scored, key=lambda each: -each.score):
        fits = not chosen or _words([*chosen, sentence]) <= budget
        if sentence.score >= least and fits:
            chosen.append(sentence)
    return sorted(chosen, key=lambda each: each.start)


def _words(sentences: Iterable[Evidence]) -> int:
    return sum(len(sentence.text.split()) for sentence in sentences)
