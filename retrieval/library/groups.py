"""Groups of a few papers on one topic: near vectors, named by terms that tell them from the rest.

Measured in tests/benchmarks/shapes.md.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from retrieval.library.library import Library
from retrieval.library.topics import Terms, Vectors, different, unit
from retrieval.types import Paper

_FEWEST = 5
"""Papers from which groups are sought."""
_ALIKE = 0.0
"""Least mean cosine of two groups that become one, once what all papers share is taken off."""
_CANDIDATES, _WORDS = 16, 2
"""Terms of a group that are embedded; terms that name it."""
_LEAST_FIT = 0.25
"""Least fit of a term, see `_name`."""


def grouped(library: Library, papers: Sequence[Paper], topic: str) -> list[tuple[str, list[Paper]]]:
    """The papers in groups with a name each, that of the first paper first.

    Papers that no group fits are in a last one without a name. All of them are if fewer than two
    groups separate, the best paper would come last, or most would. `papers` are best first and stay
    so in a group.
    """
    rows = library.store.vectors([f"{paper.id}:0" for paper in papers])
    named: dict[str, list[Paper]] = {}
    if len(rows) == len(papers) >= _FEWEST:
        vectors = unit(np.asarray([rows[f"{paper.id}:0"] for paper in papers], dtype=np.float32))
        vectors = unit(vectors - vectors.mean(axis=0))
        terms = Terms(library)
        having = [terms.of(paper) for paper in papers]
        for members in _linked(vectors):
            centre = unit(vectors[members].mean(axis=0, keepdims=True))[0]
            weights = _weights(library, having, members, topic)
            spelled = terms.spelled([papers[at] for at in members], weights.keys())
            text = " ".join(f"{papers[at].title}. {papers[at].abstract}" for at in members)
            name = _name(library, centre, weights, {k: _in(text, v) for k, v in spelled.items()})
            named.setdefault(name, []).extend(papers[at] for at in members)
    named.pop("", None)
    chosen = {paper.id for members in named.values() for paper in members}
    rest = [paper for paper in papers if paper.id not in chosen]
    if len(named) < 2 or papers[0] in rest or len(rest) > len(chosen):  # noqa: PLR2004 - as above
        return [("", list(papers))]
    return [*named.items(), *([("", rest)] if rest else [])]


def _linked(vectors: Vectors) -> list[list[int]]:
    """Places of near vectors: again and again the two groups most alike on average become one."""
    alike, groups = vectors @ vectors.T, [[at] for at in range(len(vectors))]
    while len(groups) > 1:
        mean, one, other = max(
            (float(alike[np.ix_(*pair)].mean()), *pair) for pair in combinations(groups, 2)
        )
        if mean <= _ALIKE:
            break
        groups = [each for each in groups if each not in (one, other)] + [sorted(one + other)]
    return sorted(groups)


def _weights(
    library: Library, having: Sequence[set[str]], members: Sequence[int], topic: str
) -> dict[str, float]:
    """The terms that all papers at `members` have and others lack, and how well they tell.

    `having` has the terms of every paper; those of the topic tell nothing.
    """
    index, known = library.lexical, set(library.lexical.terms(topic))
    count = Counter(term for at in members for term in having[at])
    overall = Counter(term for each in having for term in each)
    weights = {
        term: (own / len(members) - (overall[term] - own) / max(1, len(having) - len(members)))
        * min(map(index.rarity, term.split()))
        for term, own in count.items()
        if own == len(members) > 1 and not known.issuperset(term.split())
    }
    best = sorted(weights, key=lambda term: (-weights[term], term))[:_CANDIDATES]
    return {term: weights[term] for term in best if weights[term] > 0}


def _name(
    library: Library, centre: Vectors, weights: dict[str, float], spelled: dict[str, str]
) -> str:
    """The terms that fit a group best; empty if none fits, as for a paper alone.

    They are near its centre, too (Grootendorst 2020, "KeyBERT").
    """
    fits = {
        term: float(np.asarray(library.embedder.embed(spelled[term])) @ centre) * weight**0.5
        for term, weight in weights.items()
    }
    best = [term for term in sorted(fits, key=lambda t: -fits[t]) if fits[term] >= _LEAST_FIT]
    name = ", ".join(spelled[term] for term in different(best, _WORDS))
    return name[:1].upper() + name[1:]


def _in(text: str, term: str) -> str:
    """A term in lower case as a text writes it first: with its capitals and hyphen."""
    words = r"\W".join(map(re.escape, term.split()))
    found = re.search(rf"\b{words}\b", text, re.IGNORECASE)
    return found.group() if found else term
