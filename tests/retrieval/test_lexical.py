"""BM25 against a slow, readable twin, and the index as something derived."""

import math
from pathlib import Path

import pytest
from small_index import indexed, record

from retrieval.formats.merge import paper_of
from retrieval.index.lexical import LexicalIndex
from retrieval.index.lexical_fields import pieces
from retrieval.types import Filters, LibraryError, Paper, Record, Source

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
    expected = bm25(
        pieces(["graph", "kernel"]), {id_: pieces(words) for id_, words in stems.items()}
    )
    found = dict(index.search("graph kernels", 10))
    assert found == pytest.approx(expected, rel=1e-3)


def test_a_repeated_word_counts_each_time(index: LexicalIndex) -> None:
    once = dict(index.search("graph longer", 10))
    twice = dict(index.search("graph longer graph", 10))
    assert twice["a"] == pytest.approx(2 * once["a"])
    assert twice["b"] < 2 * once["b"]


@pytest.mark.parametrize(
    ("stems", "expected"),
    [
        (["diffus"], ["_diff", "diffu", "iffus", "ffus_"]),
        (["gan"], ["_gan_"]),
        (["go", "s"], ["_go_", "_s_"]),
        ([], []),
    ],
)
def test_pieces_overlap_and_mark_the_ends_of_words(stems: list[str], expected: list[str]) -> None:
    assert pieces(stems) == expected


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("classifying graphs", "a"),  # stemmed
        ("classifier", "a"),  # stemmed otherwise, with pieces in common
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


def test_an_index_of_another_version_has_to_be_built(index: LexicalIndex, tmp_path: Path) -> None:
    stamp = tmp_path / "lexical" / "revision"
    stamp.write_text("1 r1", "utf-8")
    again = LexicalIndex(tmp_path / "lexical")
    assert again.revision == ""
    with pytest.raises(LibraryError, match="cannot be read"):
        again.search("graph", 5)
    index.rebuild([paper("e", "graph")], "r2")
    assert again.search("graph", 5)[0][0] == "e"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    """An index whose papers differ in their records."""
    papers = [
        record("a", "Ann Lee", abstract="graph kernels", venue="X", year=2021, decision="oral"),
        record("b", "Ann Lee", "Bo Ek", abstract="graph", venue="X", year=2023, decision="poster"),
        record("c", "Anna Lee", abstract="kernels", venue="Y", year=2022, decision="oral"),
        record("d", abstract="graph nets (GraphNet)"),
    ]
    return indexed(papers, tmp_path_factory.mktemp("records"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), ["b", "c", "a", "d"]),
        (Filters(authors=(("lee, ann",),)), ["b", "a"]),
        (Filters(authors=(("lee, ann", "lee, anna"),)), ["b", "c", "a"]),
        (Filters(authors=(("lee, ann",), ("ek, bo",))), ["b"]),
        (Filters(authors=(("lee, an",),)), []),
        (Filters(venues=("X",)), ["b", "a"]),
        (Filters(venues=("X", "Y"), decisions=("oral",)), ["c", "a"]),
        (Filters(years=(2021, 2022)), ["c", "a"]),
        (Filters(venues=("X",), years=(2022,)), []),
        (Filters(excluded=(Filters(venues=("X",), years=(2021,)),)), ["b", "c", "d"]),
        (Filters(excluded=(Filters(years=(2021,)), Filters(years=(2022,)))), ["b", "d"]),
        (Filters(venues=("X",), excluded=(Filters(authors=(("ek, bo",),)),)), ["a"]),
        (Filters(excluded_words=("kernel",)), ["b", "d"]),
        (Filters(excluded_words=("graph kernels",)), ["b", "c", "d"]),
        (Filters(excluded_words=("the", "nets")), ["b", "c", "a"]),
    ],
)
def test_papers_that_pass_filters(
    records: LexicalIndex, filters: Filters, expected: list[str]
) -> None:
    """The latest first."""
    assert records.matching(filters, 10) == expected


def test_filters_change_no_score(records: LexicalIndex) -> None:
    scores = dict(records.search("graph kernels", 10))
    filtered = dict(records.search("graph kernels", 10, Filters(venues=("X",))))
    assert filtered == {id_: pytest.approx(scores[id_]) for id_ in ("a", "b")}


def test_the_share_of_a_topic_that_a_text_has(records: LexicalIndex) -> None:
    # Three of four texts have `graph`, two `kernel`: idf 0.357 and 0.693.
    graph, kernel = math.log(1 + 1.5 / 3.5), math.log(1 + 2.5 / 2.5)
    assert dict(records.covered("graph kernels", 10)) == {
        "a": pytest.approx(1.0),
        "b": pytest.approx(graph / (graph + kernel)),
        "c": pytest.approx(kernel / (graph + kernel)),
        "d": pytest.approx(graph / (graph + kernel)),
    }
    assert dict(records.covered("kernells", 10)).keys() == {"a", "c"}
    assert records.covered("the of", 10) == []


def test_titles_with_words_like_those_asked_for(tmp_path: Path) -> None:
    papers = [
        record("a", title="Learning Strides"),
        record("b", title="Lasting Slides"),
        record("c", title="Git Re-Basin: Merging"),
    ]
    titles = indexed(papers, tmp_path / "titles")
    assert [card.id for card in titles.titled(["strydes"], [], 5)] == ["a"]
    assert [card.id for card in titles.titled(["rebasin"], ["gitrebasin"], 5)] == ["c"]
    assert titles.titled([], [], 5) == []


def test_what_is_known_of_names_and_values(records: LexicalIndex) -> None:
    assert records.names_starting("lee, ") == ["lee, ann", "lee, anna"]
    assert records.values("decision") == ["oral", "poster"]
    assert records.values("year") == ["2021", "2022", "2023"]
    assert records.is_name_word("ek")
    assert not records.is_name_word("e")
    assert "lee, anna" in records.names_like("lee, annna")
    assert records.names_with_word_like("eck") == ["ek, bo", "lee, ann"]
    assert (records.texts_with("graph"), records.texts_with("the"), records.size) == (3, 4, 4)
