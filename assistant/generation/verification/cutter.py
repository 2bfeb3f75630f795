"""Where a sentence of an abstract can be cut so that what is left says nothing else.

An encoder that was trained for this (`tests/benchmarks/training/train_cutter.py`) looks at every
word; see tests/benchmarks/checking.md.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assistant.answer_grammar import Cuts
from retrieval.search.encoder import CONTEXT, Encoder, Heads

STATEMENT = 0
"""Of the outputs for starts; the other is for phrases, which say too little by themselves."""
THRESHOLD = 0.0
"""Least logit of a place at which a sentence may be cut; see tests/benchmarks/checking.md."""


class Cutter:
    """The encoder in llama.cpp with its heads."""

    def __init__(self, path: Path, heads: Heads, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._encoder = Encoder(path, threads=threads)
        self._heads = heads

    def cuts(self, sentence: str) -> Cuts:
        """Where an excerpt may begin and stop; one that is too long to be read is left whole."""
        encoder, words = self._encoder, tuple(sentence.split())
        ids, first, last = [encoder.begin], [], []
        for word in words:
            first.append(len(ids))
            ids += encoder.tokens(word, CONTEXT)
            last.append(len(ids) - 1)
        if not words or len(ids) >= CONTEXT:
            return Cuts(words, frozenset(), frozenset())
        vectors = encoder.vectors([*ids, encoder.end])
        starts = self._heads.of("start", vectors[first])[:, STATEMENT]
        ends = self._heads.of("end", vectors[last])[:, 0]
        return Cuts(words, _places(starts), _places(ends))


def _places(logits: NDArray[np.float32]) -> frozenset[int]:
    return frozenset(np.flatnonzero(logits >= THRESHOLD).tolist())
