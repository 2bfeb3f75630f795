"""Cuts excerpts out of a sentence of an abstract without changing what it says.

It also says whether a sentence can be understood without the one before it.

An encoder trained for this (`tests/benchmarks/training/train_cutter.py`) judges every word as a
first or last one; see tests/benchmarks/checking.md.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.embedder import CONTEXT, Encoder, Heads

STATEMENT, PHRASE = 0, 1
"""Indices of the `start` head's outputs; a phrase says too little by itself, but may be the number
that a question asks for."""
THRESHOLD = 1.0
"""Least logit of a place at which a sentence may be cut; see tests/benchmarks/checking.md."""
LEANING = -0.2
"""Least logit of a sentence that cannot be understood alone; see tests/benchmarks/shapes.md."""
LEAST_WORDS = 4
"""Words of the shortest excerpt."""
FIRST_WORDS = 2
"""Words in which an excerpt that begins with a number has it: `a 38% success rate`."""
KEPT = 256
"""Sentences whose cuts are kept: one is judged when it is chosen, cut, and shown to support."""
_PUNCTUATION = ".,;:"
_CLOSING = "\"'”’)]}"


@dataclass(frozen=True, slots=True)
class Cuts:
    """The words of a sentence, and where an excerpt may begin and end."""

    words: tuple[str, ...]
    starts: frozenset[int] = frozenset()
    """Places of words with which an excerpt may begin; none if it is too long to be read."""
    ends: frozenset[int] = frozenset()
    """Places of words with which it may end."""
    phrases: frozenset[int] = frozenset()
    """Places of words with which a phrase may begin."""
    is_order: bool = False
    """Whether it gives instructions; then it has no excerpts."""
    leans: bool = False
    """Whether it speaks of something that only a sentence before it names: `These paths are …`."""

    def excerpts(self) -> list[str]:
        """All excerpts, each as a sentence; none of an order or a question, which state nothing."""
        return self._beginning_at({0, *self.starts})

    def phrases_beginning(self, fits: Callable[[str], bool]) -> list[str]:
        """Excerpts whose first words fit; they may be phrases that answer only a question."""
        starts = {0, *self.starts, *self.phrases}
        return self._beginning_at(
            {at for at in starts if fits(" ".join(self.words[at : at + FIRST_WORDS]))}
        )

    def _beginning_at(self, starts: Set[int]) -> list[str]:
        is_question = self.words and self.words[-1].rstrip(_CLOSING).endswith("?")
        if self.is_order or is_question:
            return []
        places = product(sorted(starts), sorted({len(self.words) - 1, *self.ends}))
        long = [(first, last) for first, last in places if last - first + 1 >= LEAST_WORDS]
        return list(dict.fromkeys(self._excerpt(first, last) for first, last in long))

    def _excerpt(self, first: int, last: int) -> str:
        between = self.words[first + 1 : last]
        return " ".join([_capitalized(self.words[first]), *between, self._ending(last)])

    def _ending(self, at: int) -> str:
        """The word at place `at` as the last one of a sentence."""
        word = self.words[at]
        if at == len(self.words) - 1 and word.rstrip(_CLOSING).endswith((".", "!")):
            return word
        return f"{word.rstrip(_PUNCTUATION)}."


class Cutter:
    """The encoder in llama.cpp with its heads."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads
        self.cuts = lru_cache(maxsize=KEPT)(self._cuts)
        """Where an excerpt of a sentence may begin and end; see `Cuts`."""

    def _cuts(self, sentence: str) -> Cuts:
        words = tuple(sentence.split())
        ids, first, last = self._read(words)
        vectors = self.vectors(sentence)
        is_order = bool(self._heads.of("order", vectors[:1])[0, 0] > 0)
        leans = bool(self._heads.of("leaning", leaning_features(vectors))[0, 0] > LEANING)
        if is_order or len(ids) > CONTEXT:
            return Cuts(words, is_order=is_order, leans=leans)
        starts = self._heads.of("start", vectors[first])
        ends = self._heads.of("end", vectors[last])[:, 0]
        statements, phrases = _places(starts[:, STATEMENT]), _places(starts[:, PHRASE])
        return Cuts(words, statements, _places(ends), phrases, leans=leans)

    def vectors(self, sentence: str) -> NDArray[np.float32]:
        """The vectors of a sentence's tokens, of which the first is that of the whole."""
        return self._encoder.vectors(self._read(sentence.split())[0][:CONTEXT])

    def _read(self, words: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
        """The token ids of a sentence, and the places of each word's first and last token."""
        encoder = self._encoder
        ids, first, last = [encoder.begin], [], []
        for word in words:
            first.append(len(ids))
            ids += encoder.tokens(word, CONTEXT)
            last.append(len(ids) - 1)
        return [*ids, encoder.end], first, last


def leaning_features(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """What `leaning` is judged by, shape (1, 4 x dimensions), from the vectors of all tokens.

    Those of the whole sentence and of its first two tokens, and the mean of all.
    """
    first = vectors[[0, 1, min(2, len(vectors) - 1)]]
    return np.concatenate([first[0], vectors.mean(axis=0), *first[1:]])[None]


def _places(logits: NDArray[np.float32]) -> frozenset[int]:
    return frozenset(np.flatnonzero(logits >= THRESHOLD).tolist())


def _capitalized(word: str) -> str:
    """A word at the start of a sentence; names such as `iVoro`, `k-means` and `p53` are kept."""
    first, rest = word[0], word[1:]
    is_plain = not rest or (rest[0].isalpha() and rest == rest.lower())
    return f"{first.upper()}{rest}" if is_plain and len(first.upper()) == 1 else word
