"""The words of a query in titles and abstracts: where they are, and the sentence with most of them.

Words match by their stem; a word that no text of the library has also matches a similar one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.index.lexical import LexicalIndex
from retrieval.text.names import WORD, folded
from retrieval.text.splitting import split_sentences
from retrieval.text.titles import whole_likeness

Span = tuple[int, int]

_LONGEST = 320
"""Characters of a sentence; a longer one begins shortly before the first word found."""
_BEFORE = 80
"""Characters kept before that word."""
_ALIKE = 0.75
"""Least likeness of a word and its misspelling."""
_SHORTEST = 4
"""Letters from which a word may be misspelled."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence of an abstract."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    """Where it has words of the query."""


class QueryWords:
    """The words of one query."""

    def __init__(self, query: str, index: LexicalIndex) -> None:
        """Analyse the words as the library's index does."""
        self._index = index
        self._weights: dict[str, float] = {}
        """How rare each stem of the query is."""
        self._misspelled: list[str] = []
        for word in WORD.findall(query):
            if (stem := index.stem(folded(word))) and stem not in self._weights:
                having = index.texts_with(word)
                self._weights[stem] = math.log(1 + index.size / (1 + having))
                if not having and len(stem) >= _SHORTEST:
                    self._misspelled.append(stem)

    @property
    def count(self) -> int:
        """Number of different stems."""
        return len(self._weights)

    def found_in(self, text: str) -> dict[str, str]:
        """The query's stems that `text` has, each with its first spelling there."""
        found: dict[str, str] = {}
        for stem, (start, end) in self._matches(text):
            found.setdefault(stem, text[start:end])
        return found

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where `text` has words of the query."""
        return tuple(span for _, span in self._matches(text))

    def excerpt(self, abstract: str) -> Excerpt:
        """The sentence with the rarest words of the query; the first one if none has any."""
        sentences = [each.text for each in split_sentences(abstract)] or [abstract]
        best = max(sentences, key=self._weight)
        spans = self.spans(best)
        cut = _cut(best, spans[0][0]) if spans and len(best) > _LONGEST else 0
        if not cut:
            return Excerpt(best, spans)
        return Excerpt(
            f"… {best[cut:]}", tuple((start - cut + 2, end - cut + 2) for start, end in spans)
        )

    def _weight(self, text: str) -> float:
        return sum(self._weights[stem] for stem in self.found_in(text))

    def _matches(self, text: str) -> Iterator[tuple[str, Span]]:
        for word in WORD.finditer(text) if self._weights else ():
            if stem := self._matched(word.group()):
                yield stem, word.span()

    def _matched(self, word: str) -> str:
        """The query's stem that a word matches; empty if none."""
        stem = self._index.stem(folded(word))
        if stem in self._weights or not self._misspelled or len(stem) < _SHORTEST:
            return stem if stem in self._weights else ""
        like = (each for each in self._misspelled if whole_likeness(each, stem) >= _ALIKE)
        return next(like, "")


def _cut(text: str, first: int) -> int:
    """Where to begin a long sentence whose first word found is at `first`; 0 at its beginning.

    A formula would be cut in two, so that a sentence with one is left whole.
    """
    if first <= 2 * _BEFORE or "$" in text or "\\(" in text:
        return 0
    return text.rfind(" ", 0, first - _BEFORE) + 1
