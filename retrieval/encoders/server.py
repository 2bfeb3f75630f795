"""The embedder on a server: llama.cpp's own, vLLM, Ollama or another OpenAI-compatible one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from retrieval.encoders.embedder import CONTEXT, Vector
from retrieval.encoders.model_server import ModelServer, shown_name
from retrieval.types import LibraryError

LEAST_COSINE: Final = 0.99
"""Least cosine of two vectors of one text by one model; types of numbers change it by 0.001."""
BYTES_PER_TOKEN: Final = 3
"""Fewer than the 4 of English text, so that an estimated length is rather too long."""
_MARKS: Final = 8
"""Tokens that a server may put around a text, if it cannot be asked."""
_COUNTED: Final = 4096
"""Texts whose length is kept: chunking counts a sentence several times."""
_TRIED: Final = "A text to see how long its vector is."


class ServerEmbedder:
    """An embedding model on a server; thread-safe."""

    def __init__(self, server: ModelServer, model: str = "", *, stands_for: str = "") -> None:
        """Try the server out.

        Args:
            server: the server.
            model: the model's name there; may be empty if there is only one.
            stands_for: the embedder that a library was made with, to be confirmed by `confirm`.

        Raises:
            ModelServerError: it cannot be reached, has no such model, or gives no vectors.
        """
        self._server = server
        self._model, _ = server.served_name(model)
        self._own_name = model or shown_name(self._model)
        self.name = stands_for or self._own_name
        """Identifies the vectors."""
        marked = server.try_post("/tokenize", {"content": _TRIED, "add_special": True}) or {}
        self._tokenizes = isinstance(marked.get("tokens"), list)
        self._room = CONTEXT - _MARKS
        if self._tokenizes:
            self._room = CONTEXT - len(marked["tokens"]) + len(self._tokens(_TRIED))
        self.count = lru_cache(_COUNTED)(self._count)
        """Tokens of a text, without the marks put around it; an estimate if the server has none."""
        self._dimensions = 0
        self._dimensions = len(self.embed(_TRIED))

    def embed(self, text: str) -> Vector:
        """The unit vector of `text`, shape (dimensions,); tokens beyond `CONTEXT` are ignored.

        Raises `ModelServerError` if the server gives none, or one of another length than before.
        """
        body = {"model": self._model, "input": self._shortened(text), "encoding_format": "float"}
        vector = self._server.understood(
            self._server.post("/v1/embeddings", body),
            lambda reply: np.asarray(reply["data"][0]["embedding"], dtype=np.float32),
        )
        length = float(np.linalg.norm(vector)) if vector.ndim == 1 else 0.0
        is_usable = np.isfinite(length) and length
        if not is_usable or self._dimensions not in {0, len(vector)}:
            raise self._server.nonsense(f"a vector of shape {vector.shape}")
        return np.asarray(vector / length, dtype=np.float32)

    def check(self) -> None:
        """Raise `ModelServerError` if the server does not answer."""
        self._server.get("/v1/models")

    def confirm(self, known: Sequence[tuple[str, Vector]]) -> None:
        """Check that this embedder is the one that it stands for, by vectors of that one.

        Raises `LibraryError` if this one's vectors of the same texts are others.
        """
        if not known and self.name != self._own_name:
            raise self._other("cannot be compared with it, as there are no papers yet")
        for text, vector in known:
            own = self.embed(text)
            if len(own) != len(vector):
                raise self._other(f"gives vectors of {len(own)} numbers, not of {len(vector)}")
            if (cosine := float(own @ vector / np.linalg.norm(vector))) < LEAST_COSINE:
                raise self._other(f"gives other vectors (cosine {cosine:.2f} instead of 1.00)")

    def _other(self, lacks: str) -> LibraryError:
        return LibraryError(
            f"The library was made with the embedder {self.name!r}; the model {self._own_name!r} "
            f"of the server {self._server.root} {lacks}: serve the former there, leave out "
            "--embedder-url, or use another --home."
        )

    def _count(self, text: str) -> int:
        if not self._tokenizes:
            return -(-len(text.encode()) // BYTES_PER_TOKEN)
        return len(self._tokens(text))

    def _tokens(self, text: str) -> list[int]:
        reply = self._server.post("/tokenize", {"content": text, "add_special": False})
        return self._server.understood(reply, lambda said: list(said["tokens"]))

    def _shortened(self, text: str) -> str:
        """The beginning of a text that the model can read: servers refuse longer ones."""
        most = self._room
        if len(text) <= most or self.count(text) <= most:  # no token is shorter than a character
            return text
        if not self._tokenizes:
            return text.encode()[: most * BYTES_PER_TOKEN].decode("utf-8", "ignore")
        head = self._server.post("/detokenize", {"tokens": self._tokens(text)[:most]})
        return str(head.get("content", text))
