"""Groups of a few papers on one topic: near vectors, named by terms that tell them from the rest.

Measured in tests/benchmarks/shapes.md.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from retrieval.library.library import Library
from retrieval.library.topics import Terms, Vectors, different, unit
from retrieval.types import Paper

_FEWEST, _MOST_GROUPS = 5, 4
"""Papers from which groups are sought; groups at most."""
_LEAST_SEPARATION = 0.1
"""Least mean silhouette of groups."""
_CANDIDATES, _WORDS = 16, 2
"""Terms of a group that are embedded; terms that name it."""
_PAIR = 1.3
"""Weight of two words, which say more than one."""
_LEAST_FIT = 0.25
"""Least fit of a term, see `_named`."""


def grouped(library: Library, papers: Sequence[Paper], topic: str) -> list[tuple[str, list[Paper]]]:
    """The papers in groups with a name each, that of the first paper first.

    Papers that no group fits are in a last one without a name. If nothing separates the papers, all
    of them are; `papers` are best first and stay so in a group.
    """
    rows = library.store.vectors([f"{paper.id}:0" for paper in papers])
    if len(papers) < _FEWEST or len(rows) < len(papers):
        return [("", list(papers))]
    # What all papers share says nothing on how they differ.
    vectors = unit(np.asarray([rows[f"{paper.id}:0"] for paper in papers], dtype=np.float32))
    vectors = unit(vectors - vectors.mean(axis=0))
    tried = [_linked(vectors, count) for count in range(2, _MOST_GROUPS + 1)]
    labels = max(tried, key=lambda each: _separation(vectors, each))
    named: dict[str, list[Paper]] = {}
    if _separation(vectors, labels) >= _LEAST_SEPARATION:
        terms = _named(library, papers, vectors, labels, topic)
        for paper, label in zip(papers, labels.tolist(), strict=True):
            named.setdefault(terms[label], []).append(paper)
    rest = named.pop("", [])
    if len(named) < 2:  # noqa: PLR2004 - one group tells nothing apart
        return [("", list(papers))]
    return [*named.items(), *([("", rest)] if rest else [])]


def _linked(vectors: Vectors, count: int) -> NDArray[np.intp]:
    """The group of every vector: again and again the two groups most alike become one."""
    alike, groups = vectors @ vectors.T, [[at] for at in range(len(vectors))]
    while len(groups) > count:
        one, other = max(
            combinations(groups, 2), key=lambda pair: float(alike[np.ix_(*pair)].mean())
        )
        groups = [each for each in groups if each not in (one, other)] + [one + other]
    labels = np.zeros(len(vectors), dtype=np.intp)
    for label, members in enumerate(groups):
        labels[members] = label
    return labels


def _separation(vectors: Vectors, labels: NDArray[np.intp]) -> float:
    """The mean silhouette (Rousseeuw 1987); a paper alone in its group counts 0."""
    far = 1 - vectors @ vectors.T
    values = []
    for at, label in enumerate(labels):
        own = labels == label
        if own.sum() == 1:
            values.append(0.0)
            continue
        inside = far[at, own].sum() / (own.sum() - 1)
        outside = min(far[at, labels == each].mean() for each in set(labels.tolist()) - {label})
        values.append((outside - inside) / max(inside, outside))
    return float(np.mean(values))


def _named(
    library: Library,
    papers: Sequence[Paper],
    vectors: Vectors,
    labels: NDArray[np.intp],
    topic: str,
) -> dict[int, str]:
    """The name of each group: up to `_WORDS` terms that some of its papers share.

    Of those that are more frequent in the group and rare in the library, the ones near the centre
    of the group fit best (Grootendorst 2020, "KeyBERT"). A paper alone has no name.
    """
    terms, known = Terms(library), set(library.lexical.terms(topic))
    having = [terms.of(paper) for paper in papers]
    names = {}
    for label in dict.fromkeys(labels.tolist()):
        members = np.flatnonzero(labels == label).tolist()
        weights = {
            term: weight
            for term, weight in _weights(library, having, members).items()
            if not known.issuperset(term.split())
        }
        likely = sorted(weights, key=lambda term: (-weights[term], term))[:_CANDIDATES]
        spelled = terms.spelled([papers[at] for at in members], set(likely))
        centre = unit(vectors[members].mean(axis=0, keepdims=True))[0]
        fits = {
            term: float(np.asarray(library.embedder.embed(spelled[term])) @ centre)
            * weights[term] ** 0.5
            for term in likely
        }
        best = [term for term in sorted(fits, key=lambda t: -fits[t]) if fits[term] >= _LEAST_FIT]
        names[label] = ", ".join(spelled[term] for term in different(best, _WORDS)).capitalize()
    return names


def _weights(
    library: Library, having: Sequence[set[str]], members: Sequence[int]
) -> dict[str, float]:
    """How much each term tells the papers at `members` from the others; `having` has all terms."""
    count = Counter(term for at in members for term in having[at])
    overall = Counter(term for each in having for term in each)
    weights = {}
    for term, papers in count.items():
        elsewhere = (overall[term] - papers) / max(1, len(having) - len(members))
        rarity = min(library.lexical.rarity(word) for word in term.split())
        weight = (papers / len(members) - elsewhere) * rarity * (_PAIR if " " in term else 1.0)
        if papers > 1 and weight > 0:
            weights[term] = weight
    return weights
