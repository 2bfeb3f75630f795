"""Text to vectors: the `Embedder` port, and the one that runs a GGUF model in llama.cpp."""

import threading
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval import llamacpp
from retrieval.errors import ModelError

Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors; the cosine of two is their dot product."""

    @property
    def name(self) -> str:
        """What identifies the model's vectors: two embedders of one name are interchangeable."""

    @property
    def limit(self) -> int:
        """Tokens of one text that are read; what lies beyond is not."""

    def count(self, text: str) -> int:
        """Tokens of `text`, without the marks put around it."""

    def embed(self, text: str) -> Vector:
        """The unit vector of `text`, shape (dimensions,)."""


class LlamaCppEmbedder:
    """An embedding model in llama.cpp.

    One text a batch on all threads: measured on two cores, batches that mix texts are 5 to 15 %
    slower (see tests/benchmarks/embedding.md). One text at a time across threads: a llama.cpp
    context is not thread-safe.
    """

    _MARKS = 2
    """Tokens put around a text: its beginning and its end."""

    def __init__(self, path: Path, *, threads: int, context: int = 512) -> None:
        """Load the GGUF model at `path`.

        Raises:
            ModelError: the file is no usable embedding model.
        """
        self._model = llamacpp.load(path, context=context, threads=threads, embedding=True)
        self._lock = threading.Lock()
        header = llamacpp.metadata(self._model)
        self._name = header.get("general.name") or path.stem
        if f"{header.get('general.architecture')}.pooling_type" not in header:
            raise ModelError(
                f"{path} gives one vector a token, not one a text; "
                "choose a GGUF model made for sentence embeddings."
            )
        self._limit = min(context, int(llamacpp.context_trained(self._model))) - self._MARKS

    @property
    def name(self) -> str:
        """The model's own name in its GGUF header."""
        return self._name

    @property
    def limit(self) -> int:
        """Tokens of one text that are read."""
        return self._limit

    def count(self, text: str) -> int:
        """Tokens of `text`, without the marks put around it."""
        return len(llamacpp.tokenize(self._model, text, add_bos=False, special=False))

    def embed(self, text: str) -> Vector:
        """The unit vector of `text`, shape (dimensions,)."""
        with self._lock:
            return llamacpp.sentence_vector(self._model, text)
