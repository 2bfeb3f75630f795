"""Search over a small library, by each retriever."""

from collections.abc import Callable

import pytest

from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.rerank import ranking
from retrieval.search.search import reciprocal_rank_fusion, search
from retrieval.types import Filters, LibraryError, Retriever, SearchSettings

PAPERS = (
    {
        "id": "strides",
        "title": "Strides",
        "abstract": "Nets learn strides. They crop in Fourier.",
        "year": 2021,
    },
    {
        "id": "cars",
        "title": "Cars",
        "abstract": "Red cars drive on roads. Roads are long there.",
        "year": 2022,
    },
    {
        "id": "naive",
        "abstract": "A naïve baseline of Schrödinger wins. It is quite simple.",
        "year": 2022,
    },
)


@pytest.fixture
def library(open_library: Callable[..., Library], jsonl: Callable[..., object]) -> Library:
    """Three papers, some in several chunks."""
    made = open_library(tokens=5)
    ingest(made, [jsonl(*PAPERS)])  # type: ignore[list-item]
    return made


def test_each_paper_comes_once_with_its_best_passage(library: Library) -> None:
    passages = search(library, "crop in Fourier", 10)
    ids = [passage.paper.id for passage in passages]
    assert ids[0] == "strides"
    assert len(ids) == len(set(ids)) == 3
    assert passages[0].chunk.text == "They crop in Fourier."
    assert passages[0].score == pytest.approx(1.0)


def test_passages_are_exact_places_of_their_abstracts(library: Library) -> None:
    for passage in search(library, "roads", 10):
        chunk = passage.chunk
        assert passage.paper.abstract[chunk.start : chunk.end] == chunk.text


def test_scores_fall_and_the_limit_holds(library: Library) -> None:
    scores = [passage.score for passage in search(library, "red roads", 2)]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


def test_papers_asked_for_are_ranked_beyond_the_limit(library: Library) -> None:
    found = search(library, "crop in Fourier", 1, also=["naive", "strides", "unknown"])
    assert [passage.paper.id for passage in found] == ["strides", "naive"]
    assert found[0].score > found[1].score


def test_papers_asked_for_may_be_found_by_words_too(library: Library) -> None:
    settings = SearchSettings(dense_depth=1)  # the rest is reached by its words alone
    found = search(library, "Schrödinger roads strides", 3, settings, also=["naive", "cars"])
    assert {passage.paper.id for passage in found} == {"strides", "cars", "naive"}


def test_accents_do_not_matter(library: Library) -> None:
    assert search(library, "naive Schrodinger", 1)[0].paper.id == "naive"


def test_an_empty_library_says_how_to_fill_it(open_library: Callable[..., Library]) -> None:
    with pytest.raises(LibraryError, match="assistant ingest"):
        search(open_library(), "anything", 3)


def scores(library: Library, query: str, retriever: Retriever) -> dict[str, float]:
    found = search(library, query, 10, SearchSettings(retriever=retriever))
    return {passage.paper.id: passage.score for passage in found}


def test_words_alone(library: Library) -> None:
    found = scores(library, "the roads of a stride", Retriever.BM25)
    of_words = dict(library.lexical.search("the roads of a stride", 10))
    best = max(of_words.values())
    assert of_words.keys() == {"cars", "strides"}
    assert found == pytest.approx({id_: score / best for id_, score in of_words.items()})
    assert scores(library, "there are on", Retriever.BM25) == {}


def test_meaning_alone(library: Library) -> None:
    # Two of the five words of "Cars. Roads are long there."
    found = search(library, "long roads", 10, SearchSettings(retriever=Retriever.DENSE))
    assert found[0].similarity == pytest.approx(2 / (2 * 5) ** 0.5)
    assert scores(library, "long roads", Retriever.DENSE) == {"cars": 1, "naive": 0, "strides": 0}
    # To this embedder only the same words are alike, those that only join others, too.
    assert next(iter(scores(library, "there stride", Retriever.DENSE))) == "cars"
    assert scores(library, "there stride", Retriever.BM25) == {"strides": 1.0}


def test_ranks_alone(library: Library) -> None:
    # By meaning cars, naive, strides; by words strides alone.
    found = scores(library, "there stride", Retriever.RRF)
    assert list(found) == ["strides", "cars", "naive"]
    best = 1 / 63 + 1 / 61
    expected = {"strides": 1.0, "cars": 1 / 61 / best, "naive": 1 / 62 / best}
    assert found == pytest.approx(expected)


def test_ranks_of_all_candidates(library: Library) -> None:
    query = "Schrödinger roads strides crop"
    cosines = search(library, query, 10, SearchSettings(retriever=Retriever.DENSE))
    fused = reciprocal_rank_fusion(
        {passage.paper.id: passage.similarity for passage in cosines},
        dict(library.lexical.search(query, 10)),
    )
    assert scores(library, query, Retriever.RRF) == pytest.approx(fused)


@pytest.mark.parametrize("retriever", Retriever)
def test_whatever_ranks_them_passages_are_the_best_chunks(
    library: Library, retriever: Retriever
) -> None:
    settings = SearchSettings(retriever=retriever)
    found = search(library, "crop in Fourier, roads", 10, settings)
    assert [passage.score for passage in found] == sorted(
        (passage.score for passage in found), reverse=True
    )
    assert all(0 <= passage.score <= 1 for passage in found)
    by_id = {passage.paper.id: passage for passage in found}
    hybrid = {each.paper.id: each for each in search(library, "crop in Fourier, roads", 10)}
    assert by_id.keys() >= {"strides", "cars"}
    for id_, passage in by_id.items():
        assert passage.chunk == hybrid[id_].chunk
        assert passage.similarity == pytest.approx(hybrid[id_].similarity)
    assert len(search(library, "crop in Fourier, roads", 1, settings)) == 1


@pytest.mark.parametrize("retriever", Retriever)
def test_whatever_ranks_them_papers_asked_for_are_among_them(
    library: Library, retriever: Retriever
) -> None:
    settings = SearchSettings(retriever=retriever)
    found = search(library, "crop in Fourier", 1, settings, also=["naive", "strides", "unknown"])
    assert [passage.paper.id for passage in found] == ["strides", "naive"]
    assert found[0].score > found[1].score


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize("retriever", Retriever)
def test_whatever_ranks_them_they_pass_the_filters(
    library: Library, retriever: Retriever, few: int
) -> None:
    settings = SearchSettings(retriever=retriever, few=few)
    only = Filters(years=(2022,))
    found = search(library, "roads and strides", 10, settings, filters=only)
    assert [passage.paper.id for passage in found][:1] == ["cars"]
    assert "strides" not in {passage.paper.id for passage in found}
    nowhere = Filters(years=(1900,))
    assert search(library, "roads and strides", 10, settings, filters=nowhere) == []


@pytest.mark.parametrize("retriever", Retriever)
def test_whatever_ranks_them_filters_bind_papers_asked_for_where_few_pass(
    library: Library, retriever: Retriever
) -> None:
    only = Filters(years=(2022,))

    def found(few: int) -> set[str]:
        settings = SearchSettings(retriever=retriever, few=few)
        passages = search(library, "roads", 1, settings, filters=only, also=["strides", "naive"])
        return {passage.paper.id for passage in passages}

    assert found(few=2) == {"cars", "naive"}
    assert found(few=1) == {"cars", "naive", "strides"}


@pytest.mark.parametrize("retriever", [Retriever.HYBRID, Retriever.RRF, Retriever.DENSE])
@pytest.mark.parametrize("filters", [Filters(), Filters(years=(2021, 2022))])
def test_as_many_papers_are_found_as_are_asked_for(
    library: Library, retriever: Retriever, filters: Filters
) -> None:
    settings = SearchSettings(retriever, dense_depth=1, filtered_depth=1, lexical_depth=0, few=0)
    for limit in (1, 2, 3):
        assert len(search(library, "there stride", limit, settings, filters=filters)) == limit
    assert len(search(library, "there stride", 100, settings, filters=filters)) == 3


def test_words_alone_make_a_candidate(library: Library) -> None:
    def best(lexical_depth: int) -> str:
        settings = SearchSettings(dense_depth=1, dense_weight=0.1, lexical_depth=lexical_depth)
        return search(library, "there stride", 1, settings)[0].paper.id

    assert (best(0), best(1)) == ("cars", "strides")


def test_a_ranking_by_another_retriever(library: Library) -> None:
    def ids(retriever: Retriever) -> list[str]:
        settings = SearchSettings(retriever=retriever)
        found = ranking(library, "there stride", 10, None, lambda: False, settings=settings)
        return [passage.paper.id for passage in found.passages]

    assert ids(Retriever.BM25) == ["strides"]
    assert ids(Retriever.DENSE) == ["cars", "naive", "strides"]
