"""Every scorer against values worked out by hand, and the table of all scorers."""

from importlib import import_module

import pytest
from scorer_cases import CASES, COPIED, Case, asked

from assistant.evaluation.metrics import FAILED, METRICS
from assistant.evaluation.scorers import SCORERS, scores_of
from assistant.evaluation.types import SampleType, Score


@pytest.mark.parametrize(
    ("module", "case"),
    [
        pytest.param(module, case, id=f"{module.rpartition('.')[2]}-{case.function}-{number}")
        for module, rows in CASES.items()
        for number, case in enumerate(rows)
    ],
)
def test_a_case_worked_out_by_hand(module: str, case: Case) -> None:
    assert case.passes(import_module(module))


def test_every_metric_has_its_scorer() -> None:
    assert list(SCORERS) == [metric.score for metric in METRICS if metric.score != FAILED]


def test_every_scorer_has_cases() -> None:
    tried = {(module, case.function) for module, rows in CASES.items() for case in rows}
    assert {(each.__module__, each.__name__) for each in SCORERS.values()} <= tried


def test_only_scores_that_apply_are_given() -> None:
    papers_alone = asked(None, {"a": 1.0}, type_=SampleType.LOOKUP, ranking="xa")
    assert list(scores_of(papers_alone)) == [
        *("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10", "r-precision"),
    ]
    assert scores_of(asked(COPIED)) == {
        "words": Score(10, "10 words"),
        "grounded": Score(1.0, "1 of 1 sentence"),
        "written": Score(0.0, "begins with a quotation"),
        "quotes verbatim": Score(1.0, "1 of 1 quote"),
    }
