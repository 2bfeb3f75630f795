"""Proposes the words of a library's texts for words of a query that no text has."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial

from rapidfuzz import process
from rapidfuzz.distance import OSA

from retrieval.library.library import Library

_SHORTEST = 5
"""Letters of the shortest word that is corrected."""
_LONG = 8
"""Letters from which a word may have two wrong letters."""
_STEMS = 3
"""Stems of texts that are tried for a word."""
_SAMPLE = 20
"""Papers from which the spelling of a stem is taken."""
_WORD = re.compile(r"[^\W\d_]+")


def respelled(query: str, library: Library) -> list[tuple[str, str]]:
    """Words of `query` that may be misspelled, each with the nearest word that texts have.

    A word with a capital inside is a name and stays; a first letter is hardly ever wrong.

    Raises:
        LibraryError: the library cannot be read.
    """
    proposed = []
    for word in dict.fromkeys(_WORD.findall(query)):
        is_name = word[1:] != word[1:].lower() or library.lexical.is_name_word(word.casefold())
        if len(word) < _SHORTEST or is_name or library.embedder.count(word) == 1:
            continue  # the embedder knows common words whole
        if (near := _nearest(word, library)) and near.lower() != word.lower():
            proposed.append((word, near))
    return proposed


def _nearest(word: str, library: Library) -> str:
    """The word of the titles and texts that is spelled most like `word`.

    Of several it is one with the same stem, or the commonest. Texts are indexed by stems, and the
    stem of a misspelled word may be unlike that of the right one (`infrence`, `inference`); titles
    have whole words.
    """
    index, typed, stem = library.lexical, word.lower(), library.lexical.stem(word)
    most = 2 if len(word) >= _LONG else 1
    stems = index.terms_starting(stem[:1]) if stem else {}
    words = dict(index.title_words_starting(typed[:1]))
    for each, _ in sorted(_near(stem, stems, most), key=lambda s: (s[1], -stems[s[0]]))[:_STEMS]:
        spellings = _spellings(each, library)
        if spelled := min(spellings, key=partial(OSA.distance, typed), default=""):
            words[spelled] = max(stems[each], words.get(spelled, 0))
    near = _near(typed, words, most)
    best, _ = min(
        near, key=lambda w: (w[1], index.stem(w[0]) != stem, -words[w[0]]), default=("", 0)
    )
    return best.capitalize() if word[0].isupper() else best


def _near(sought: str, known: Iterable[str], most: int) -> list[tuple[str, float]]:
    """Those of the known words with at most so many wrong letters, each with their number."""
    found = process.extract(sought, list(known), scorer=OSA.distance, score_cutoff=most, limit=None)
    return [(word, wrong) for word, wrong, _ in found]


def _spellings(stem: str, library: Library) -> list[str]:
    """The words of the texts that have this stem, the commonest first."""
    index = library.lexical
    ids = [id_ for id_, _ in index.covered(stem, _SAMPLE)]
    papers = [stored.paper for stored in library.store.stored_by_id(ids).values()]
    words = Counter(
        word.lower()
        for paper in papers
        for word in _WORD.findall(f"{paper.title} {paper.abstract}")
        if word[:1].lower() == stem[:1]
    )
    return [word for word, _ in words.most_common() if index.terms(word) == [stem]]
