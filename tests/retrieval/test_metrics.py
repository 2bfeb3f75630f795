"""Measures by hand, and against a reference library on random rankings."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Rprec, nDCG

from retrieval.search.metrics import ndcg, recall, reciprocal_rank

IDS = [f"p{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected_recall", "expected_rank"),
    [
        (["a", "b", "c"], {"a"}, 1.0, 1.0),
        (["b", "a", "c"], {"a", "c"}, 0.5, 0.5),
        (["b", "c", "a"], {"a"}, 0.0, 0.0),
        ([], {"a"}, 0.0, 0.0),
    ],
)
def test_recall_and_reciprocal_rank_by_hand(
    ranking: list[str], relevant: set[str], expected_recall: float, expected_rank: float
) -> None:
    assert recall(ranking, relevant, 2) == expected_recall
    assert reciprocal_rank(ranking, relevant, 2) == expected_rank


def test_ndcg_by_hand() -> None:
    # Gains 2 and 1 in places 2 and 1: (1/log2(2) + 2/log2(3)) / (2/log2(2) + 1/log2(3)).
    assert ndcg(["b", "a"], {"a": 2, "b": 1}, 10) == pytest.approx(0.859719)


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        (["a", "b", "c"], {"a"}, 1.0),
        (["b", "a", "c"], {"a"}, 0.0),
        (["b", "a", "c"], {"a", "c"}, 0.5),
        (["a"], {"a", "b", "c", "d"}, 0.25),
        ([], {"a"}, 0.0),
    ],
)
def test_recall_among_as_many_as_are_relevant(
    ranking: list[str], relevant: set[str], expected: float
) -> None:
    assert recall(ranking, relevant, len(relevant)) == expected


@given(
    ranking=st.permutations(IDS).map(lambda ids: ids[:20]),
    gains=st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1),
    depth=st.sampled_from([1, 5, 10]),
)
def test_measures_equal_those_of_a_reference_library(
    ranking: list[str], gains: dict[str, int], depth: int
) -> None:
    scores = {id_: float(-place) for place, id_ in enumerate(ranking)}
    measured = ir_measures.calc_aggregate(
        [R @ depth, RR @ depth, nDCG @ depth, Rprec], {"q": gains}, {"q": scores}
    )
    assert recall(ranking, gains, depth) == pytest.approx(measured[R @ depth])
    assert reciprocal_rank(ranking, gains, depth) == pytest.approx(measured[RR @ depth])
    assert ndcg(ranking, gains, depth) == pytest.approx(measured[nDCG @ depth])
    assert recall(ranking, gains, len(gains)) == pytest.approx(measured[Rprec])
