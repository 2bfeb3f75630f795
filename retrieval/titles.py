"""How like a title a query is: whole, in part, misspelled, with words left out."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from retrieval.names import folded

_WORD = re.compile(r"[^\W_]+")
TITLE_MATCH = 0.8
"""Least likeness of a query to a title that counts."""
_PART = 0.97
"""What a part of a title counts for, compared with the whole."""
_WORDS = 0.95
"""What the same words in another order count for."""
_SHORT_PART = 15
"""Characters below which a part must be spelled as it is: almost anything is like some title."""
_SAME_WORD = 0.75
"""Least likeness of a word to one that it misspells: one letter of four, two of eight."""


def plain_title(title: str) -> str:
    """A title, or a query, as titles are compared: folded, without marks between words."""
    return " ".join(_WORD.findall(folded(title)))


def whole_likeness(query: str, title: str) -> float:
    """How like the whole of `title` the query is, from 0 to 1; both plain."""
    return fuzz.ratio(query, title) / 100


def likeness(query: str, title: str) -> float:
    """How like `title` the query is, from 0 to 1; both plain.

    Whole titles compare whole; a query shorter than the title may be a part of it, or its words
    with others left out.
    """
    if not query or not title:
        return 0.0
    words = query.split()
    best = whole_likeness(query, title)
    if len(query) < len(title):
        best = max(best, _PART * _part_likeness(query, title))
    if len(words) > 1:
        best = max(best, _WORDS * fuzz.token_sort_ratio(query, title) / 100)
        best = max(best, _WORDS * _words_found(words, title.split()))
    return best


def _part_likeness(query: str, title: str) -> float:
    if f" {query} " in f" {title} ":
        return 1.0
    return fuzz.partial_ratio(query, title) / 100 if len(query) >= _SHORT_PART else 0.0


def _words_found(words: Sequence[str], title: Sequence[str]) -> float:
    """The share of the query's letters in words that the title has, misspelled ones too."""
    known = set(title)
    found = sum(len(word) * (1.0 if word in known else _closeness(word, title)) for word in words)
    return found / sum(map(len, words))


def _closeness(word: str, title: Sequence[str]) -> float:
    """How like a word of the title it is, if it may be that one misspelled."""
    nearest = process.extractOne(word, title, scorer=fuzz.ratio, score_cutoff=100 * _SAME_WORD)
    return nearest[1] / 100 if nearest else 0.0
