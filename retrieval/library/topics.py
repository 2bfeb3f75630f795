"""Topics of a library: clusters of its papers' vectors, with the words that are typical of each.

They are made once for each revision of the library, in a thread, and kept beside it.
"""

import math
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from retrieval.index.files import load_cached, save_cached
from retrieval.library.library import Library
from retrieval.types import Paper, UserError

_FILE = "topics.json"
_SAMPLE = 6000
"""Papers that are clustered; of a larger library every n-th."""
_PAPERS_A_TOPIC = 25
_MOST_TOPICS = 12
_ROUNDS = 25
_SEED = 7
_WORDS = 4
"""Terms that name a topic."""
_RAREST = 3
"""Papers of a topic that must have a term."""
_PAIR = 1.3
"""Weight of two words, which say more than one."""
_SEPARATION = 1.4
"""Power of the factor by which a term is more frequent in its topic than elsewhere."""
_WORD = re.compile(r"[^\W\d_]{3,}")

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Topic:
    """Papers that are about the same."""

    words: tuple[str, ...]
    """Its most typical terms, each one or two words."""
    papers: int
    """Number of its papers, estimated if the library is large."""
    x: float
    """Place on the map, from 0 to 1; near topics are alike."""
    y: float


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a library, largest first."""

    topics: tuple[Topic, ...] = ()
    sampled: int = 0
    """Papers that were clustered."""


_FORM = TypeAdapter(Topics)


class TopicMaps:
    """The topics of one library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._revision = ""
        self._topics: Topics | None = None
        self._thread: threading.Thread | None = None

    def topics(self) -> Topics | None:
        """The topics of the current library; None while they are computed in a thread."""
        revision = self._library.revision
        with self._lock:
            if self._topics is not None and self._revision == revision:
                return self._topics
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._compute, args=(revision,), name="topics", daemon=True
                )
                self._thread.start()
            return None

    def wait(self) -> Topics | None:
        """The topics, once they are computed."""
        self.topics()
        if self._thread:
            self._thread.join()
        return self._topics

    def _compute(self, revision: str) -> None:
        try:
            path = self._library.home / _FILE
            topics = load_cached(path, revision, _FORM)
            if topics is None:
                topics = topics_of(self._library)
                save_cached(path, revision, topics, _FORM)
        except UserError:  # the page says what is wrong with the library
            topics = Topics()
        with self._lock:
            self._revision, self._topics = revision, topics


def topics_of(library: Library) -> Topics:
    """The topics of a library; none if it has too few papers.

    Raises:
        LibraryError: it cannot be read.
    """
    ids = sorted(library.lexical.ids)
    sample = ids[:: max(1, -(-len(ids) // _SAMPLE))]
    count = min(_MOST_TOPICS, len(sample) // _PAPERS_A_TOPIC)
    if count < 2:  # noqa: PLR2004 - one topic says nothing
        return Topics()
    rows = library.store.vectors([f"{id_}:0" for id_ in sample])
    sample = [id_ for id_ in sample if f"{id_}:0" in rows]
    vectors = unit(np.asarray([rows[f"{id_}:0"] for id_ in sample], dtype=np.float32))
    centres, labels = clustered(vectors, count)
    stored = library.store.stored_by_id(sample)
    papers = [stored[id_].paper for id_ in sample]
    words = typical_words(papers, labels, count, library)
    places = _places(centres)
    sizes = np.bincount(labels, minlength=count) * (len(ids) / len(sample))
    made = [
        Topic(words[at], round(float(sizes[at])), *places[at]) for at in range(count) if words[at]
    ]
    return Topics(tuple(sorted(made, key=lambda each: (-each.papers, each.words))), len(sample))


def clustered(vectors: Vectors, count: int) -> tuple[Vectors, NDArray[np.intp]]:
    """Spherical k-means (Dhillon and Modha 2001), seeded as k-means++ and the same every time.

    Args:
        vectors: unit vectors, of shape (papers, dimensions).
        count: number of clusters.

    Returns:
        Their centres, of shape (count, dimensions), and the cluster of every vector.
    """
    draw = np.random.default_rng(_SEED)
    chosen = [int(draw.integers(len(vectors)))]
    far = 1 - vectors @ vectors[chosen[0]]
    while len(chosen) < count:
        chances = np.clip(far, 0, None) ** 2
        total = float(chances.sum())
        even = np.full(len(vectors), 1 / len(vectors))
        chosen.append(int(draw.choice(len(vectors), p=chances / total if total else even)))
        far = np.minimum(far, 1 - vectors @ vectors[chosen[-1]])
    centres = vectors[chosen]
    labels = np.zeros(len(vectors), dtype=np.intp)
    for _ in range(_ROUNDS):
        labels = (vectors @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, vectors)
        moved = np.where(np.abs(sums).sum(axis=1, keepdims=True) > 0, unit(sums), centres)
        if np.allclose(moved, centres, atol=1e-5):
            break
        centres = moved
    return centres, labels


def typical_words(
    papers: Sequence[Paper], labels: NDArray[np.intp], count: int, library: Library
) -> list[tuple[str, ...]]:
    """The typical terms of each cluster, by class-based tf-idf (Grootendorst 2022, "BERTopic").

    The frequency of a term is the share of a cluster's papers that have it; it is weighed with how
    much higher that is than in all papers.
    """
    terms = Terms(library)
    having: list[Counter[str]] = [Counter() for _ in range(count)]
    for paper, label in zip(papers, labels, strict=True):
        having[label].update(terms.of(paper))
    overall: Counter[str] = sum(having, Counter())
    sizes = np.bincount(labels, minlength=count)

    def score(term: str, at: int) -> float:
        share = having[at][term] / sizes[at]
        lift = share / (overall[term] / len(papers))
        weight = _PAIR if " " in term else 1.0
        return weight * share * math.log(lift) ** _SEPARATION if lift > 1 else 0.0

    named: list[list[str]] = []
    for at in range(count):
        common = (term for term, papers_ in having[at].items() if papers_ >= _RAREST)
        ranked = sorted(common, key=lambda term: (-score(term, at), term))
        named.append(different(ranked, _WORDS))
    spelled = terms.spelled(papers, {term for each in named for term in each})
    return [tuple(spelled[term] for term in each) for each in named]


def different(ranked: Sequence[str], most: int) -> list[str]:
    """The first `most` terms of which no two share a word."""
    chosen: list[str] = []
    used: set[str] = set()
    for term in ranked:
        words = set(term.split())
        if not words & used:
            chosen.append(term)
            used |= words
        if len(chosen) == most:
            break
    return chosen


class Terms:
    """Stems of single words and of neighbouring ones."""

    def __init__(self, library: Library) -> None:
        self._index = library.lexical

    def of(self, paper: Paper) -> set[str]:
        """The terms of a paper's title and abstract."""
        return {term for term, _ in self._terms(paper)}

    def spelled(self, papers: Sequence[Paper], terms: Set[str]) -> dict[str, str]:
        """The most frequent spelling of each of `terms`."""
        found: dict[str, Counter[str]] = {term: Counter() for term in terms}
        for paper in papers:
            for term, spelling in self._terms(paper):
                if term in found:
                    found[term][spelling] += 1
        return {
            term: min(spellings, key=lambda each: (-spellings[each], each))
            for term, spellings in found.items()
        }

    def _terms(self, paper: Paper) -> Iterator[tuple[str, str]]:
        """Each word and each pair of words, as stems and as they are spelled."""
        before, spelled, end = "", "", -2
        for found in _WORD.finditer(f"{paper.title}. {paper.abstract}".lower()):
            word, stem = found.group(), self._index.stem(found.group())
            if stem:
                yield stem, word
                if before and found.start() == end + 1:
                    yield f"{before} {stem}", f"{spelled} {word}"
            before, spelled, end = stem, word, found.end()


def _places(centres: Vectors) -> list[tuple[float, float]]:
    """The centres on a plane, by their two principal components, from 0 to 1."""
    middle = centres - centres.mean(axis=0)
    left, sizes, _ = np.linalg.svd(middle, full_matrices=False)
    plane = (left * sizes)[:, :2]
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1, 1)
    low, high = plane.min(axis=0), plane.max(axis=0)
    scaled = (plane - low) / np.where(high > low, high - low, 1)
    return [(round(float(x), 4), round(float(y), 4)) for x, y in scaled]


def unit(rows: Vectors) -> Vectors:
    """The rows with length 1; zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
