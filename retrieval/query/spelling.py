"""Proposes the words of a library's texts for words of a query that no text has."""

import re
from collections import Counter
from functools import partial

from rapidfuzz import process
from rapidfuzz.distance import OSA

from retrieval.library.library import Library

_SHORTEST = 5
"""Letters of the shortest word that is corrected."""
_LONG = 8
"""Letters from which a word may have two wrong letters."""
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
    """The word of the texts that is spelled most like `word`, the commonest of several."""
    index = library.lexical
    stem = index.stem(word)
    known = index.terms_starting(stem[:1]) if stem else {}
    most = 2 if len(word) >= _LONG else 1
    near = process.extract(stem, list(known), scorer=OSA.distance, score_cutoff=most, limit=None)
    if not near:
        return ""
    best, *_ = min(near, key=lambda each: (each[1], -known[each[0]]))
    distance = partial(OSA.distance, word.lower())
    spelled = min(_spellings(best, library), key=distance, default="")
    if not spelled or distance(spelled) > most:
        return ""
    return spelled.capitalize() if word[0].isupper() else spelled


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
