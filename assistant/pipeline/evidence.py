"""Retrieves candidate papers, and selects the sentences of the best ones that answer."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from assistant.generation.prompts import question_messages
from assistant.models.chat import ChatModel
from assistant.pipeline.follow_up import StandaloneQuestion
from assistant.types import Evidence
from retrieval.library.library import Library
from retrieval.search.reader import SentenceRead
from retrieval.search.rerank import ReadPassage
from retrieval.search.search import search
from retrieval.types import NO_FILTERS, Filters, Paper, Passage, SearchSettings

FOCUS_BONUS = 0.3
"""Added to the score of the paper that a follow-up is about; see
tests/benchmarks/conversation.md."""
WORDS = 80
"""Budget of words for the sentences of the papers that the question is about; see
tests/benchmarks/reading.md."""
_LEANING = 1.0
"""What a sentence that leans on the one before it counts less, in logits."""
_ANTECEDENT = 30
"""Words of a sentence that is shown for one that leans on it, beyond the budget."""
READER, ALONE = 0.2, 0.5
"""What the reader's logit of a sentence counts for, and the sentence reader's; see
tests/benchmarks/reading.md."""
GAP = 3.5
"""How far behind the best sentence of its paper a sentence may be, in logits."""


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

    There are at most `limit` and those of the conversation. Filters are ignored if the conversation
    tells the paper; without filters the papers with ids in `also` compete, too.

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
    focus = {paper.id for paper in standalone.focus_papers}
    favoured = [
        replace(passage, score=passage.score + FOCUS_BONUS * (passage.paper.id in focus))
        for passage in _without(found, standalone.excluded)
    ]
    return sorted(favoured, key=lambda passage: -passage.score)


def _without(passages: Sequence[Passage], excluded: Sequence[Paper]) -> list[Passage]:
    """The passages without those of excluded papers."""
    ids = {paper.id for paper in excluded}
    return [passage for passage in passages if passage.paper.id not in ids]


class ChatLikelihood:
    """The likelihood of a question as the chat model's reply when asked for one about a text."""

    def __init__(self, model: ChatModel) -> None:
        """`model` must give log-probabilities."""
        self._model = model
        self.tokens = 0
        """Tokens read so far: of papers, and of the question after each."""

    def of(
        self, question: str, texts: Sequence[str], stopped: Callable[[], bool]
    ) -> Iterator[NDArray[np.float32]]:
        """For each of `texts` the log-probability (natural) of every token of the question."""
        conversations = [question_messages(text) for text in texts]
        rows = self._model.log_probabilities(conversations, question, stopped)
        for conversation, row in zip(conversations, rows, strict=True):
            self.tokens += self._model.count(conversation) + len(row)
            yield row


def by_both_readers(read: ReadPassage) -> ReadPassage:
    """A paper whose sentences count by both readers' logits.

    Those that were not read alone count no more than those that were.
    """
    both = [
        None if each.alone is None else READER * each.evidence + ALONE * each.alone
        for each in read.read.sentences
    ]
    least = min((logit for logit in both if logit is not None), default=math.inf)
    sentences = tuple(
        replace(each, evidence=min(least, each.evidence) if logit is None else logit)
        for each, logit in zip(read.read.sentences, both, strict=True)
    )
    return replace(read, read=replace(read.read, sentences=sentences))


def choose_evidence(
    about: Sequence[ReadPassage],
    beside: Sequence[ReadPassage],
    states: Callable[[str], bool],
    *,
    fits: Callable[[SentenceRead], float] = attrgetter("evidence"),
    leans: Callable[[str], bool] = lambda _text: False,
    words: int = WORDS,
    gap: float = GAP,
) -> list[Evidence]:
    """The sentences that answer a question: paper by paper, each paper's in reading order.

    Args:
        about: the papers that the question is about; they share the budget of words.
        beside: further papers that answer; each adds its best sentence.
        states: whether a sentence states something. One that does not is chosen only if its paper
            has no other. Sentences are judged best first, and only as far as they are chosen.
        fits: how well a sentence fits into the answer, in logits.
        leans: whether a sentence cannot be understood without the one before it. One that does
            gives way to another that fits nearly as well; else the one before comes with it.
        words: see `WORDS`.
        gap: see `GAP`.
    """
    budget = words // max(1, len(about))
    shares = [*((each, budget) for each in about), *((each, 0) for each in beside)]
    return [
        sentence
        for read, share in shares
        for sentence in _chosen(read, states, fits, leans, words=share, gap=gap)
        or _chosen(read, lambda _text: True, fits, leans, words=share, gap=gap)
    ]


def _chosen(
    read: ReadPassage,
    states: Callable[[str], bool],
    fits: Callable[[SentenceRead], float],
    leans: Callable[[str], bool],
    *,
    words: int,
    gap: float,
) -> list[Evidence]:
    """A paper's best sentence, and others close to it that fit the budget, in reading order."""
    sentences = read.read.sentences
    scores = [fits(each) for each in sentences]
    near = max(scores, default=0.0) - _LEANING
    texts = [each.sentence.text for each in sentences]
    leaning = {at for at, text in enumerate(texts) if at and scores[at] >= near and leans(text)}
    scores = [score - _LEANING * (at in leaning) for at, score in enumerate(scores)]
    chosen: dict[int, Evidence] = {}

    def add(at: int, room: int, score: float) -> int:
        """Choose a sentence if there is room for it; returns its words, or 0."""
        length = len(texts[at].split())
        if at in chosen or length > room or not states(texts[at]):
            return 0
        sentence = sentences[at].sentence
        chosen[at] = Evidence(read.passage.paper, sentence.start, sentence.end, texts[at], score)
        return length

    best = -math.inf
    for at in sorted(range(len(texts)), key=lambda at: -scores[at]):
        if scores[at] < best - gap:
            break
        if length := add(at, words if chosen else sys.maxsize, scores[at]):
            best, words = max(best, scores[at]), words - length
            if at in leaning:
                words -= add(at - 1, max(words, _ANTECEDENT), scores[at] - _LEANING)
    return [chosen[at] for at in sorted(chosen)]
