"""Scores of rankings against a reference library, and against papers found by no one."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Rprec, nDCG
from scorer_cases import asked

from assistant.evaluation.scorers import scores_of
from assistant.evaluation.types import SampleType

MEASURES = {
    "recall@1": R @ 1,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "mrr@10": RR @ 10,
    "ndcg@10": nDCG @ 10,
    "r-precision": Rprec,
}
IDS = [chr(0x4E00 + at) for at in range(130)]


@given(
    ranking=st.permutations(IDS),
    found=st.integers(0, len(IDS)),
    gains=st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1, max_size=20),
)
def test_scores_of_rankings_equal_those_of_a_reference_library(
    ranking: list[str], found: int, gains: dict[str, int]
) -> None:
    run = {id_: float(-place) for place, id_ in enumerate(ranking[:found])}
    expected = ir_measures.calc_aggregate(MEASURES.values(), {"q": gains}, {"q": run})
    of = asked(
        papers={id_: float(gain) for id_, gain in gains.items()},
        type_=SampleType.RETRIEVAL,
        ranking="".join(run),
    )
    scores = {name: score.value for name, score in scores_of(of).items()}
    assert scores == pytest.approx({name: expected[each] for name, each in MEASURES.items()})
