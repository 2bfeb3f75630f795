"""An embedder that can be computed by hand: each word of a text counts one in a place of its own.

Two texts without a word in common have cosine 0 (but for words that share a place), a text and
itself 1, and "red car" and "red bike" 1/2.
"""

import re
import zlib

import numpy as np

from retrieval.encoders.embedder import Vector

DIMENSIONS = 256
_WORD = re.compile(r"\w+")


class WordEmbedder:
    """Words, without case, into `DIMENSIONS` places; it remembers what it was asked."""

    def __init__(self, name: str = "words") -> None:
        self._name = name
        self.embedded: list[str] = []
        """Every text that was embedded, in order."""

    @property
    def name(self) -> str:
        return self._name

    def count(self, text: str) -> int:
        return len(text.split())

    def embed(self, text: str) -> Vector:
        self.embedded.append(text)
        vector = np.zeros(DIMENSIONS, dtype=np.float32)
        for word in _WORD.findall(text.casefold()) or [""]:
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
