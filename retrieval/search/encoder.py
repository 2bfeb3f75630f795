"""An encoder in llama.cpp with linear heads in numpy: the reader and its likes."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import llamacpp
from retrieval.errors import ModelError

CONTEXT = 512
"""Tokens of an input."""


class Heads:
    """The linear heads on top of an encoder."""

    def __init__(self, weights: dict[str, NDArray[np.float32]]) -> None:
        """Take `NAME.weight`, shape (outputs, dimensions), and `NAME.bias` of every head."""
        self._weights = weights

    def of(self, name: str, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits of head `name` for vectors of shape (n, dimensions); shape (n, outputs)."""
        logits = vectors @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return np.asarray(logits, dtype=np.float32)


class Encoder:
    """Reads one text at a time across threads."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Load the GGUF encoder at `path`.

        Raises:
            ModelError: the file is no usable encoder.
        """
        self._model = llamacpp.load(
            path, context=CONTEXT, threads=threads, embedding=True, pooling=False
        )
        self._vectors = llamacpp.TokenVectors(self._model)
        self._lock = threading.Lock()
        marks = llamacpp.tokenize(self._model, "[CLS][SEP]", add_bos=False, special=True)
        if len(marks) != 2:  # noqa: PLR2004
            raise ModelError(
                f"{path} has no marks [CLS] and [SEP]; remove that file so that it is made again."
            )
        self.begin, self.end = marks

    def tokens(self, text: str, most: int) -> list[int]:
        """The ids of the first tokens of `text`."""
        return llamacpp.tokenize(self._model, text, add_bos=False, special=False)[:most]

    def vectors(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of tokens (ids, at most `CONTEXT`); shape (tokens, dimensions)."""
        with self._lock:
            return self._vectors.of(tokens)
