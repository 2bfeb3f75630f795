"""The reader: one encoder that reads a question together with an abstract, sentence by sentence.

A cross-encoder (Nogueira and Cho 2019, "Passage Re-ranking with BERT") with several heads on one
pass: whether the paper is what the question is about, whether its abstract answers it, and for
every sentence whether it belongs to the answer. The same encoder reads a message with the one
before it and says what kind of message it is. Trained in `tests/benchmarks/training`; runs in
llama.cpp, the heads in numpy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.embedder import CONTEXT, Encoder, Heads
from retrieval.text.splitting import Sentence, split_sentences
from retrieval.types import Cancelled, Paper

KINDS = tuple("content several record list by_authors greeting thanks ability count".split())
"""What a message asks for; the order of the `kind` head."""
FOCUSES = ("alone", "last", "earlier", "both")
"""What a message refers to; the order of the `focus` head."""
HEADS = ("relevance", "answered", "evidence", "kind", "focus", "claim")
QUESTION_TOKENS, TITLE_TOKENS = 96, 48


@dataclass(frozen=True, slots=True)
class SentenceRead:
    """A sentence of an abstract, and how likely it belongs to the answer."""

    sentence: Sentence
    evidence: float
    """Logit."""


@dataclass(frozen=True, slots=True)
class PaperRead:
    """The reader's result for a question and a paper."""

    relevance: float
    """Logit, comparable between the papers of one question only."""
    answered: float
    """Logit of "this abstract answers the question", comparable between questions."""
    sentences: tuple[SentenceRead, ...]
    """All sentences of the abstract, in its order."""
    tokens: int = 0
    """Tokens read, including the question's."""


@dataclass(frozen=True, slots=True)
class MessageRead:
    """The reader's result for a message in a conversation."""

    kinds: dict[str, float]
    """Probability of each of `KINDS`."""
    focuses: dict[str, float]
    """Probability of each of `FOCUSES`."""

    @property
    def kind(self) -> str:
        """The likeliest kind."""
        return max(self.kinds, key=lambda kind: self.kinds[kind])

    @property
    def focus(self) -> str:
        """The likeliest focus."""
        return max(self.focuses, key=lambda focus: self.focuses[focus])


class Reader:
    """The encoder in llama.cpp and its heads; thread-safe, one text at a time."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`; `ModelError` if it is not usable."""
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def read(
        self, question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        """Read each of `papers` together with `question`.

        An abstract longer than the context is read in windows of whole sentences; the highest
        logits of its windows count. Raises `Cancelled` once `stopped()` is true.
        """
        asked = self._encoder.tokens(question, QUESTION_TOKENS)
        for paper in papers:
            yield self._read(asked, paper, stopped)

    def message(self, message: str, previous: str = "") -> MessageRead:
        """Classify `message`, which follows the person's message `previous`."""
        vector = self.vector(message, previous)
        kinds, focuses = self._heads.of("kind", vector)[0], self._heads.of("focus", vector)[0]
        return MessageRead(_probabilities(kinds, KINDS), _probabilities(focuses, FOCUSES))

    def is_claim(self, text: str) -> bool:
        """Whether `text` states something, as `Aspirin lowers the risk of stroke.` does."""
        return bool(self._heads.of("claim", self.vector(text))[0, 0] > 0)

    def vector(self, message: str, previous: str = "") -> NDArray[np.float32]:
        """The vector of a message after the previous one, shape (1, dimensions)."""
        encoder = self._encoder
        tokens = [encoder.begin, *encoder.tokens(message, QUESTION_TOKENS), encoder.end]
        tokens += [*encoder.tokens(previous, QUESTION_TOKENS), encoder.end]
        return encoder.vectors(tokens)[:1]

    def _read(self, asked: Sequence[int], paper: Paper, stopped: Callable[[], bool]) -> PaperRead:
        encoder = self._encoder
        start = [encoder.begin, *asked, encoder.end]
        start += [*encoder.tokens(paper.title, TITLE_TOKENS), encoder.end]
        sentences = split_sentences(paper.abstract)
        tokens = [
            [*encoder.tokens(each.text, CONTEXT - len(start) - 1), encoder.end]
            for each in sentences
        ]
        relevance, answered, evidence, count = [], [], [], 0
        for window in windows([len(each) for each in tokens], CONTEXT - len(start)):
            if stopped():
                raise Cancelled
            ends = len(start) - 1 + np.cumsum([len(tokens[at]) for at in window], dtype=int)
            ids = [*start, *(token for at in window for token in tokens[at])]
            count += len(ids)
            vectors = encoder.vectors(ids)
            relevance.append(float(self._heads.of("relevance", vectors[:1])[0, 0]))
            answered.append(float(self._heads.of("answered", vectors[:1])[0, 0]))
            evidence += self._heads.of("evidence", vectors[ends])[:, 0].tolist()
        read = map(SentenceRead, sentences, evidence)
        return PaperRead(max(relevance), max(answered), tuple(read), count)


def _probabilities(logits: NDArray[np.float32], names: Sequence[str]) -> dict[str, float]:
    shares = np.exp(logits - logits.max())
    return dict(zip(names, (shares / shares.sum()).tolist(), strict=True))


def windows(lengths: Sequence[int], room: int) -> list[range]:
    """Consecutive sentences in windows of at most `room` tokens, at least one sentence each.

    >>> windows([4, 4, 4], 8)
    [range(0, 2), range(2, 3)]
    """
    found, start, used = [], 0, 0
    for at, length in enumerate(lengths):
        if at > start and used + length > room:
            found.append(range(start, at))
            start, used = at, 0
        used += length
    return [*found, range(start, len(lengths))]
