import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from simulated_run import ORDER, failed, figures, refusal, rows

from assistant.evaluation.figures.compare import Baseline, Comparison, compare
from assistant.evaluation.figures.figures import CurvePoint, Figure, Figures, SampleScores, Spread
from assistant.evaluation.figures.tables import print_comparison, print_figures, summary_json
from assistant.evaluation.scorers import METRICS
from assistant.evaluation.types import AnsweredQuestion

WIDTH = 80


def refuses_all(asked: AnsweredQuestion) -> AnsweredQuestion:
    return asked if asked.answer is None else replace(asked, answer=refusal(asked.ranking))


RUN = figures([failed(row) if row.id == "S01" else row for row in rows()])
WORSE = compare(Baseline(Path("runs/[bold]old"), RUN), figures(rows(refuses_all)))
SAME = compare(Baseline(Path("runs/old"), RUN), RUN)

SMALL = Figures(
    questions_sha256="5e" * 32,
    scorers="1",
    seed=1,
    resamples=100,
    figures=(
        Figure("facts", "", 2 / 3, 0.5, 1.0, 3, 1),
        Figure("facts", "single", 2 / 3, 0.5, 1.0, 3, 1),
        Figure("words", "", 56.21, 40.0, 72.04, 1203, 0),
        Figure("citation recall", "", None, None, None, 0, 2),
        Figure("failed", "", 0.25, 0.0, 0.75, 4, 0),
        Figure("failed", "single", 0.25, 0.0, 0.75, 4, 0),
    ),
    outcomes={"answered": {"answered": 2, "abstract_silent": 0, "not_in_library": 1}},
    curves={"not right": (CurvePoint(0.5, 1.0, 0.25),)},
    areas={"not right": 0.123456789},
    seconds={"total": Spread(1.23456, 1.0, 3.0, 3.70368)},
    tokens={"read": Spread(300.0, 300.0, 300.0, 1200.0)},
    latencies=(1.0, 2.0),
    samples={
        "a": SampleScores("single", failed=False, scores=()),
        "b": SampleScores("single", failed=True, scores=()),
    },
)


def printed(shown: Figures | Comparison) -> str:
    console = Console(file=io.StringIO(), width=WIDTH)
    if isinstance(shown, Figures):
        print_figures(console, shown)
    else:
        print_comparison(console, shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def cells(text: str, first: str) -> list[str]:
    """The words of the line that begins so."""
    return next(line for line in text.splitlines() if line.startswith(first)).split()


@pytest.mark.parametrize("shown", [RUN, WORSE])
def test_everything_fits_a_terminal_of_eighty_columns_uncut(shown: Figures | Comparison) -> None:
    text = printed(shown)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text  # what rich writes where it cuts a cell


def test_headline_figures_have_intervals_and_counts() -> None:
    text = printed(SMALL)
    assert " ".join(cells(text, "facts")) == "facts 0.667 0.500 to 1.000 3 1 answers with all facts"
    assert cells(text, "words ↓")[2:7] == ["56.2", "40.0", "to", "72.0", "1,203"]


def test_of_few_samples_no_interval_is_told() -> None:
    few = (Figure("facts", "", 1.0, None, None, 5, 0),)
    assert cells(printed(replace(SMALL, figures=few)), "facts")[1:4] == ["1.000", "too", "few"]
    before = figures(rows(only=ORDER[:5]), ORDER[:5])
    now = figures(rows(refuses_all, ORDER[:5]), ORDER[:5])
    text = printed(compare(Baseline(Path("runs/old"), before), now))
    assert cells(text, "false abstention ↓")[-3:] == ["too", "few", "5"]
    assert "Fewer than 6 samples in common: too few to say what is worse." in text
    assert "Scored in the baseline only: words, citation precision" in text
    assert "Headline metrics without a score" not in text
    assert "Fewer" not in printed(SAME)


def test_a_metric_without_a_value_is_shown_without_one() -> None:
    assert cells(printed(SMALL), "citation recall")[2:6] == ["–", "–", "0", "2"]


def test_every_headline_metric_of_a_run_is_shown_with_what_it_says() -> None:
    headlines = printed(RUN).split("By type")[0].splitlines()
    shown = [metric for metric in METRICS if metric.headline and RUN.of(metric.name)]
    for metric, line in zip(shown, headlines[-len(shown) - 1 :], strict=False):
        assert line.startswith(metric.name)
        assert line.rstrip().endswith(metric.label)  # on one line


def test_words_are_counted_and_other_figures_are_shares() -> None:
    counts = (
        Figure("written words", "", 17.26, 15.0, 19.51, 40, 0),
        Figure("written", "", 0.25, 0.0, 0.5, 40, 9),
    )
    text = printed(replace(SMALL, figures=counts))
    assert cells(text, "written words ↓")[3:8] == ["17.3", "15.0", "to", "19.5", "40"]
    assert (
        " ".join(cells(text, "written "))
        == "written 0.250 0.000 to 0.500 40 9 answers written first"
    )


def test_what_is_no_headline_is_shown_by_type_alone() -> None:
    headlines, by_type = printed(RUN).split("By type")
    assert "fact recall" not in headlines
    assert cells(by_type, "fact recall")[2] == "0.844"


def test_of_one_type_what_is_no_headline_stands_by_itself() -> None:
    only = [id_ for id_ in ORDER if id_[0] == "S"]
    text = printed(figures(rows(only=only), only))
    assert "By type" not in text
    headlines, others = text.split("Other figures")
    assert "fact recall" not in headlines
    assert " ".join(cells(others, "fact recall")).endswith("30 0 facts in the answer")
    assert "Other figures" not in printed(SMALL)


def test_metrics_that_do_not_apply_have_no_line() -> None:
    assert "mrr@10" not in printed(SMALL)


def test_types_outcomes_and_speed_are_shown() -> None:
    text = printed(RUN)
    types = cells(text.split("By type")[1], "metric ")
    assert types == ["metric", "all", "single", "lookup", "unanswerable", "chat"]
    assert cells(text, "either refusal") == ["either", "refusal", "4", "0", "18"]
    assert cells(printed(SMALL), "total, seconds") == [
        *("total,", "seconds", "1.235", "1.000", "3.000", "3.704")
    ]
    assert cells(printed(SMALL), "tokens read")[-1] == "1,200"


def test_a_comparison_shows_both_runs_the_interval_and_the_verdict() -> None:
    text = printed(WORSE)
    line = cells(text, "false abstention ↓")
    assert line[3:6] == ["0.044", "1.000", "+0.956"]
    assert line[-1] == "worse"
    assert cells(text, "mrr@10")[-1].isdigit()  # pairs, and no verdict


def test_a_comparison_names_what_was_won_and_lost_and_what_is_gone() -> None:
    words = " ".join(printed(WORSE).split())
    assert "false answer: won U00, U07, C00, C07; lost none" in words
    assert re.search(r"facts: won none; lost (S\d\d, ){11}S\d\d and \d+ more", words)
    assert "failed: won S01; lost none" in words
    assert "Scored in the baseline only" not in words
    assert "Worse beyond the interval: facts, abstention, false abstention, follow-up." in words
    assert words.endswith(
        "Headline metrics without a score now: words, citation precision, citation recall, "
        "grounded, written, quotes verbatim, evidence recall."
    )


def test_the_name_of_a_folder_is_no_mark_up() -> None:
    assert "Since runs/[bold]old" in printed(WORSE)


def test_nothing_changed_is_said_in_a_sentence() -> None:
    text = printed(SAME)
    assert "won" not in text
    assert text.rstrip().endswith("No headline metric is worse beyond its interval.")


def test_a_run_of_beir_queries_has_no_empty_tables() -> None:
    text = printed(replace(SMALL, outcomes={}, tokens={}))
    assert "right" not in text.replace("right papers", "")


def test_the_line_of_json_is_as_described() -> None:
    summary = summary_json(SMALL, None, Path("runs/new"), gate=True)
    assert summary == {
        "out": str(Path("runs/new")),
        "samples": 2,
        "failed": 1,
        "metrics": {
            "facts": {"value": 0.6667, "low": 0.5, "high": 1.0, "scored": 3, "unscored": 1},
            "words": {"value": 56.21, "low": 40.0, "high": 72.04, "scored": 1203, "unscored": 0},
            "citation recall": {
                "value": None,
                "low": None,
                "high": None,
                "scored": 0,
                "unscored": 2,
            },
            "failed": {"value": 0.25, "low": 0.0, "high": 0.75, "scored": 4, "unscored": 0},
        },
        "by_type": {
            "single": {
                "facts": {"value": 0.6667, "low": 0.5, "high": 1.0, "scored": 3, "unscored": 1},
                "failed": {"value": 0.25, "low": 0.0, "high": 0.75, "scored": 4, "unscored": 0},
            }
        },
        "outcomes": {"answered": {"answered": 2, "abstract_silent": 0, "not_in_library": 1}},
        "areas": {"not right": 0.1235},
        "seconds": {"total": {"mean": 1.2346, "median": 1.0, "p95": 3.0, "total": 3.7037}},
        "tokens": {"read": {"mean": 300.0, "median": 300.0, "p95": 300.0, "total": 1200.0}},
        "comparison": None,
        "gate": None,
    }


@pytest.mark.parametrize(("comparison", "gate"), [(SAME, "passed"), (WORSE, "failed")])
def test_the_line_of_json_has_the_comparison_and_the_gate(
    comparison: Comparison, gate: str
) -> None:
    summary = summary_json(RUN, comparison, Path("runs/new"), gate=True)
    assert summary["gate"] == gate
    assert summary["samples"] == len(ORDER)
    told = summary["comparison"]
    assert told["worse"] == [change.metric for change in comparison.worse]
    assert set(told["changes"]) == {change.metric for change in comparison.changes}
    assert told["changes"]["mrr@10"]["difference"] == 0.0


def test_the_gate_is_told_of_where_it_was_asked_for() -> None:
    assert summary_json(RUN, WORSE, Path("runs/new"), gate=False)["gate"] is None
