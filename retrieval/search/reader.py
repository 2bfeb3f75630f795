"""The reader: one encoder that reads a question together with an abstract, sentence by sentence.

A cross-encoder (Nogueira and Cho 2019, "Passage Re-ranking with BERT") with several heads on one
pass: whether the paper is what the question is about, whether its abstract answers it, and for
every sentence whether it belongs to the answer. The same encoder reads a message with the one
before it and says what kind of message it is. Trained in `tests/benchmarks/training`; runs in
llama.cpp, the heads in numpy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.embedder import CONTEXT, Encoder, Heads
from retrieval.search.sentence_reader import QUESTION_TOKENS, TITLE_TOKENS, SentenceReader
from retrieval.text.splitting import Sentence, split_sentences, windows
from retrieval.types import Cancelled, Paper, never

KINDS = tuple("content several record list by_authors greeting thanks ability count".split())
"""What a message asks for; the order of the `kind` head."""
FOCUSES = ("alone", "last", "earlier", "both")
"""What a message refers to; the order of the `focus` head."""
SHAPES = (
    "definition",
    "number",
    "polar",
    "summary",
    "overview",
    "comparison",
    "limits",
    "similar",
    "other",
)
"""The form of answer that a question wants; the order of the `shape` head."""
ROLES = (
    "background",
    "definition",
    "problem",
    "aim",
    "method",
    "result",
    "limit",
    "resource",
    "comparison",
    "overview",
)
"""What a sentence does in its abstract, and for the question: it defines what is asked for, names
the limit, compares the two, stands for its paper in an overview. Several at once; the order of the
`role` head."""
HEADS = tuple("relevance answered answerable evidence kind focus claim shape role".split())
READ_ALONE, MOST_ALONE = 4, 16
"""Sentences of an abstract that the sentence reader reads, the likeliest ones; and of one that is
answered from."""


@dataclass(frozen=True, slots=True)
class SentenceRead:
    """A sentence of an abstract, and how likely it belongs to the answer."""

    sentence: Sentence
    evidence: float
    """Logit."""
    roles: tuple[float, ...] = (0.0,) * len(ROLES)
    """Probability of each of `ROLES`."""
    alone: float | None = None
    """Logit of the sentence reader that it answers; None if it was not read alone."""

    def role(self, name: str) -> float:
        """Probability that the sentence has this role."""
        return self.roles[ROLES.index(name)]


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
    answerable: float = 0.0
    """Like `answered`, learned with questions that no paper answers; abstention goes by it."""

    @property
    def alone(self) -> float | None:
        """Logit of the sentence reader for the sentence that answers best; None if not read."""
        return max((each.alone for each in self.sentences if each.alone is not None), default=None)


@dataclass(frozen=True, slots=True)
class CloseRead:
    """The reader's result for a paper, and the vectors that its heads judge by."""

    read: PaperRead
    whole: NDArray[np.float32]
    """Of question and abstract together, shape (dimensions,)."""
    sentences: NDArray[np.float32]
    """Of each sentence its end, the mean of its tokens and its first two tokens, shape (sentences,
    4 x dimensions)."""


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

    def __init__(
        self, path: Path, heads: Heads, sentence_reader: SentenceReader, *, threads: int
    ) -> None:
        """Load the GGUF encoder at `path`; `ModelError` if it is not usable."""
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads
        self._sentence_reader = sentence_reader

    def read(
        self, question: str, papers: Sequence[Paper], stopped: Callable[[], bool]
    ) -> Iterator[PaperRead]:
        """Read each of `papers` together with `question`.

        An abstract longer than the context is read in windows of whole sentences; the highest
        logits of its windows count. Raises `Cancelled` once `stopped()` is true.
        """
        asked = self._encoder.tokens(question, QUESTION_TOKENS)
        for paper in papers:
            yield self._read(asked, paper, stopped).read

    def read_alone(
        self,
        question: str,
        paper: Paper,
        read: PaperRead,
        stopped: Callable[[], bool],
        most: int = READ_ALONE,
    ) -> PaperRead:
        """What was read of `paper`, with its `most` likeliest sentences read one by one, too.

        The reader sees all sentences together, the sentence reader each by itself; both are right
        more often than one. Raises `Cancelled` once `stopped()` is true.
        """
        likeliest = sorted(read.sentences, key=lambda each: -each.evidence)[:most]
        logits = {}
        for each in likeliest:
            if each.alone is None:
                if stopped():
                    raise Cancelled
                text = each.sentence.text
                logits[each] = self._sentence_reader.logit(question, text, paper.title)
        sentences = (replace(e, alone=logits.get(e, e.alone)) for e in read.sentences)
        return replace(read, sentences=tuple(sentences))

    def answers_alone(self, question: str, sentence: str, title: str) -> float:
        """The sentence reader's logit that `sentence`, of a paper with this title, answers."""
        return self._sentence_reader.logit(question, sentence, title)

    def message(self, message: str, previous: str = "") -> MessageRead:
        """Classify `message`, which follows the person's message `previous`."""
        vector = self.vector(message, previous)
        kinds, focuses = self._heads.of("kind", vector)[0], self._heads.of("focus", vector)[0]
        return MessageRead(_probabilities(kinds, KINDS), _probabilities(focuses, FOCUSES))

    def shapes(self, message: str) -> dict[str, float]:
        """Probability of each of `SHAPES` for a message."""
        shapes = self._heads.of("shape", self.message_features(message))[0]
        return _probabilities(shapes, SHAPES)

    def is_claim(self, text: str) -> bool:
        """Whether `text` states something, as `Aspirin lowers the risk of stroke.` does."""
        return bool(self._heads.of("claim", self.vector(text))[0, 0] > 0)

    def vector(self, message: str, previous: str = "") -> NDArray[np.float32]:
        """The vector of a message after the previous one, shape (1, dimensions)."""
        encoder = self._encoder
        tokens = [encoder.begin, *encoder.tokens(message, QUESTION_TOKENS), encoder.end]
        tokens += [*encoder.tokens(previous, QUESTION_TOKENS), encoder.end]
        return encoder.vectors(tokens)[:1]

    def message_features(self, message: str) -> NDArray[np.float32]:
        """What the shape is judged by, shape (1, 4 x dimensions).

        The vectors of the message, of its first two tokens, and the mean of all tokens.
        """
        encoder = self._encoder
        tokens = [*encoder.tokens(message, QUESTION_TOKENS), encoder.end, encoder.end]
        vectors = encoder.vectors([encoder.begin, *tokens])
        return np.concatenate([vectors[0], vectors.mean(axis=0), vectors[1], vectors[2]])[None]

    def read_closely(
        self, question: str, paper: Paper, stopped: Callable[[], bool] = never
    ) -> "CloseRead":
        """Read `paper` with `question`, and keep what the heads judge by; raises as `read` does."""
        return self._read(self._encoder.tokens(question, QUESTION_TOKENS), paper, stopped)

    def _read(self, asked: Sequence[int], paper: Paper, stopped: Callable[[], bool]) -> "CloseRead":
        parts = list(self._windows(asked, paper, stopped))
        wholes = np.stack([each.vectors[0] for each in parts])
        relevance, answered, answerable = (
            self._heads.of(name, wholes)[:, 0] for name in ("relevance", "answered", "answerable")
        )
        features = [each.features() for each in parts]
        read = PaperRead(
            relevance=float(relevance.max()),
            answered=float(answered.max()),
            answerable=float(answerable.max()),
            sentences=tuple(
                sentence
                for window, rows in zip(parts, features, strict=True)
                for sentence in self._sentences(window, rows)
            ),
            tokens=sum(len(each.vectors) for each in parts),
        )
        return CloseRead(read, wholes[answerable.argmax()], np.concatenate(features))

    def _windows(
        self, asked: Sequence[int], paper: Paper, stopped: Callable[[], bool]
    ) -> Iterator["_Window"]:
        """Read an abstract in windows of whole sentences."""
        encoder = self._encoder
        start = [encoder.begin, *asked, encoder.end]
        start += [*encoder.tokens(paper.title, TITLE_TOKENS), encoder.end]
        sentences = split_sentences(paper.abstract)
        tokens = [
            [*encoder.tokens(each.text, CONTEXT - len(start) - 1), encoder.end]
            for each in sentences
        ]
        for window in windows([len(each) for each in tokens], CONTEXT - len(start)):
            if stopped():
                raise Cancelled
            ends = len(start) - 1 + np.cumsum([0, *(len(tokens[at]) for at in window)], dtype=int)
            ids = [*start, *(token for at in window for token in tokens[at])]
            yield _Window([sentences[at] for at in window], encoder.vectors(ids), ends)

    def _sentences(
        self, window: "_Window", features: NDArray[np.float32]
    ) -> Iterator[SentenceRead]:
        """The sentences of a window with the results of the heads."""
        evidence = self._heads.of("evidence", window.vectors[window.ends[1:]])[:, 0].tolist()
        logits = self._heads.of("role", features)
        roles = (1 / (1 + np.exp(-logits))).tolist()
        for sentence, logit, shares in zip(window.sentences, evidence, roles, strict=True):
            yield SentenceRead(sentence, logit, tuple(shares))


def _probabilities(logits: NDArray[np.float32], names: Sequence[str]) -> dict[str, float]:
    shares = np.exp(logits - logits.max())
    return dict(zip(names, (shares / shares.sum()).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Window:
    """Sentences of an abstract that were read together with the question."""

    sentences: list[Sentence]
    vectors: NDArray[np.float32]
    """Of all tokens; the first is that of the whole."""
    ends: NDArray[np.int_]
    """Places of the marks before the first sentence and at the end of each."""

    def features(self) -> NDArray[np.float32]:
        """See `CloseRead.sentences`."""
        rows = []
        for before, end in pairwise(self.ends.tolist()):
            first, second = before + 1, min(before + 2, end)
            mean = self.vectors[first : end + 1].mean(axis=0)
            parts = (self.vectors[end], mean, self.vectors[first], self.vectors[second])
            rows.append(np.concatenate(parts))
        return np.array(rows, dtype=np.float32)
