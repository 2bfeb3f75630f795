"""BM25 against a slow, readable twin, and the index as something derived."""

import math
from pathlib import Path

import pytest

from retrieval.lexical import LexicalIndex
from retrieval.merge import paper_of
from retrieval.types import Paper, Record, Source

TEXTS = {
    "a": "graph kernels for graph classification",
    "b": "kernels of graph networks and of other networks, in a longer text",
    "c": "policy gradients with baselines",
    "d": "Schrödinger bridges and naïve baselines",
}
K1, B = 1.2, 0.75


def paper(id_: str, abstract: str) -> Paper:
    """An untitled paper with a given id."""
    return paper_of(Record(abstract=abstract, given_id=id_, sources=(Source("x", 1),)))


@pytest.fixture
def index(tmp_path: Path) -> LexicalIndex:
    """An index over `TEXTS`."""
    made = LexicalIndex(tmp_path / "lexical")
    made.rebuild([paper(id_, text) for id_, text in TEXTS.items()], "r1")
    return made


def bm25(query: list[str], documents: dict[str, list[str]]) -> dict[str, float]:
    """Robertson and Zaragoza (2009), with Lucene's idf; words are stems already."""
    mean = sum(map(len, documents.values())) / len(documents)
    scores = dict.fromkeys(documents, 0.0)
    for word in query:
        having = sum(word in words for words in documents.values())
        idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for id_, words in documents.items():
            frequency = words.count(word)
            norm = K1 * (1 - B + B * len(words) / mean)
            scores[id_] += idf * frequency * (K1 + 1) / (frequency + norm)
    return {id_: score for id_, score in scores.items() if score}


def test_scores_are_those_of_the_readable_twin(index: LexicalIndex) -> None:
    # The same texts, stemmed and without stop words by hand.
    stems = {
        "a": "graph kernel graph classif".split(),
        "b": "kernel graph network other network longer text".split(),
        "c": "polici gradient baselin".split(),
        "d": "schroding bridg naiv baselin".split(),
    }
    expected = bm25(["graph", "kernel"], stems)
    found = dict(index.search("graph kernels", 10))
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("classifying graphs", "a"),  # stemmed
        ("NETWORKS", "b"),  # case
        ("Schrodinger", "d"),  # accents
        ("naive", "d"),
        ("gradient", "c"),
    ],
)
def test_forms_of_a_word_find_it(index: LexicalIndex, query: str, first: str) -> None:
    assert index.search(query, 1)[0][0] == first


@pytest.mark.parametrize("query", ["", "   ", "the of and", "?!", "unheardof"])
def test_a_query_without_a_known_word_finds_nothing(index: LexicalIndex, query: str) -> None:
    assert index.search(query, 5) == []


def test_query_syntax_is_only_words(index: LexicalIndex) -> None:
    assert index.search('title:"x" AND (graph* OR -kernels)', 5)[0][0] == "a"


def test_the_revision_tells_what_the_index_was_built_from(
    index: LexicalIndex, tmp_path: Path
) -> None:
    assert index.revision == "r1"
    index.rebuild([paper("e", "something else")], "r2")
    again = LexicalIndex(tmp_path / "lexical")
    assert again.revision == "r2"
    assert [id_ for id_, _ in again.search("something graph", 5)] == ["e"]


def test_an_index_that_was_never_built_has_no_revision(tmp_path: Path) -> None:
    assert LexicalIndex(tmp_path / "nothing").revision == ""
