"""Encoders in llama.cpp: the embedder (port and implementation), and encoders with linear heads."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders import llamacpp
from retrieval.types import ModelError

Vector = NDArray[np.float32]
"""The embedding of a text, shape (dimensions,)."""
CONTEXT = 512
"""Most tokens of an encoder's input."""


class Embedder(Protocol):
    """Turns text into unit vectors; the cosine of two is their dot product."""

    @property
    def name(self) -> str:
        """Identifies the vectors: two embedders with the same name are interchangeable."""

    def count(self, text: str) -> int:
        """Tokens of `text`, without the marks put around it."""

    def embed(self, text: str) -> Vector:
        """The unit vector of `text`, shape (dimensions,); tokens beyond `CONTEXT` are ignored."""


class LlamaCppEmbedder:
    """An embedding model in llama.cpp.

    It embeds one text at a time: a llama.cpp context is not thread-safe, and on two cores batches
    of several texts were 5 to 15 % slower (see tests/benchmarks/embedding.md).
    """

    def __init__(self, path: Path, *, threads: int) -> None:
        """Load the GGUF model at `path`; `ModelError` if it is no usable embedding model."""
        self._model = llamacpp.load(path, context=CONTEXT, threads=threads, embedding=True)
        self._lock = threading.Lock()
        header = llamacpp.metadata(self._model)
        self.name = header.get("general.name") or path.stem
        """The model's own name in its GGUF header."""
        if f"{header.get('general.architecture')}.pooling_type" not in header:
            raise ModelError(
                f"{path} gives one vector a token, not one a text; "
                "choose a GGUF model made for sentence embeddings."
            )

    def count(self, text: str) -> int:
        """Tokens of `text`, without the marks put around it."""
        return len(llamacpp.tokenize(self._model, text))

    def embed(self, text: str) -> Vector:
        """The unit vector of `text`, shape (dimensions,)."""
        with self._lock:
            vector = self._model.embed(text, normalize=True, truncate=True)
        return np.asarray(vector, dtype=np.float32)


class Heads:
    """The linear heads of an encoder."""

    def __init__(self, weights: dict[str, NDArray[np.float32]]) -> None:
        """Take for every head `NAME.weight`, shape (outputs, dimensions), and `NAME.bias`."""
        self._weights = weights

    def of(self, name: str, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits of head `name` for vectors of shape (n, dimensions); shape (n, outputs)."""
        logits = vectors @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return np.asarray(logits, dtype=np.float32)


class Encoder:
    """An encoder without pooling; thread-safe, one text at a time."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Load the GGUF encoder at `path`; `ModelError` if the file is not a usable encoder."""
        self._model = llamacpp.load(
            path, context=CONTEXT, threads=threads, embedding=True, pooling=False
        )
        self._lock = threading.Lock()
        marks = llamacpp.tokenize(self._model, "[CLS][SEP]", special=True)
        if len(marks) != 2:  # noqa: PLR2004
            raise ModelError(
                f"{path} has no marks [CLS] and [SEP]; remove that file so that it is made again."
            )
        self.begin, self.end = marks

    def tokens(self, text: str, most: int) -> list[int]:
        """The ids of the first tokens of `text`."""
        return llamacpp.tokenize(self._model, text)[:most]

    def vectors(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of tokens (ids, at most `CONTEXT`); shape (tokens, dimensions)."""
        with self._lock:
            return llamacpp.token_vectors(self._model, tokens)
