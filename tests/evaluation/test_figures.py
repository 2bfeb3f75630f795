from pathlib import Path

import pytest
from simulated_run import ORDER, SHA, figures, rows

from assistant.evaluation.figures.figures import (
    Figure,
    Spread,
    make_figures,
    read_figures,
    write_figures,
)
from assistant.evaluation.types import Expected, Reply, Row, SampleType, Score
from assistant.types import Outcome
from retrieval.types import InputError

ROWS = rows()
FIGURES = figures(ROWS)


def row(
    id_: str,
    *turns: dict[str, float | None],
    type_: SampleType = SampleType.SINGLE,
    error: str = "",
) -> Row:
    """A sample with the scores of its turns."""
    replies = tuple(
        Reply(
            question=f"{id_}?",
            expected=Expected(papers={"p": 1.0}),
            scores={name: Score(value, "") for name, value in scores.items()},
            seconds=2.0,
        )
        for scores in turns
    )
    return Row(id=id_, type=type_, replies=replies, titles={}, failed=error)


def answer(
    outcome: Outcome = Outcome.ANSWERED, confidence: float | None = 0.5, total: float = 4.0
) -> dict[str, object]:
    return {
        "outcome": outcome.value,
        "confidence": confidence,
        "timings": {"retrieval": 1.5, "rerank": 1.0, "first_token": 2.0, "total": total},
        "tokens": {"prompt": 100, "completion": 10, "rerank": 1000},
    }


def test_a_mean_is_over_all_turns_and_unscored_ones_are_counted_apart() -> None:
    made = make_figures(
        [
            row("a", {"facts": 1.0}),
            row("b", {"facts": 0.0, "words": 8.0}, {"facts": 0.0}, type_=SampleType.CHAT),
            row("c", {"facts": None}),
        ],
        SHA,
        seed=1,
    )
    facts = made.of("facts")
    assert facts
    assert facts == Figure("facts", "", pytest.approx(1 / 3), None, None, scored=3, unscored=1)
    assert made.of("facts", "chat") == Figure("facts", "chat", 0.0, None, None, 2, 0)
    assert made.of("facts", "single") == Figure("facts", "single", 1.0, None, None, 1, 1)
    assert made.of("words") == Figure("words", "", 8.0, None, None, 1, 0)
    assert made.of("words", "single") is None
    assert made.of("mrr@10") is None


def test_an_interval_is_of_samples_and_of_no_fewer_than_six() -> None:
    right = [row(f"r{number}", {"facts": 1.0}) for number in range(4)]
    wrong = row("w", {"facts": 0.0}, {"facts": 0.0}, {"facts": 0.0}, type_=SampleType.CHAT)
    few = make_figures([wrong, *right], SHA, seed=1)
    assert few.of("facts") == Figure("facts", "", pytest.approx(4 / 7), None, None, 7, 0)
    right.append(row("r4", {"facts": 1.0}))
    made = make_figures([wrong, *right], SHA, seed=1)
    # How often the long conversation is drawn is Binomial(6, 1/6): never in 33 % of the draws, four
    # times or more in 0.87 %, three times or more in 6 %. Three times: 3 of 3 + 9 questions right.
    assert made.of("facts") == Figure("facts", "", pytest.approx(5 / 8), 3 / 12, 1.0, 8, 0)


def test_a_metric_that_could_be_scored_nowhere_has_no_value() -> None:
    made = make_figures([row("a", {"citation recall": None})], SHA, seed=1)
    assert made.of("citation recall") == Figure("citation recall", "", None, None, None, 0, 1)


def test_a_sample_that_failed_counts_as_failed_and_as_nothing_else() -> None:
    made = make_figures(
        [row("a", {"facts": 1.0}), row("b", {}, error="out of memory")], SHA, seed=1
    )
    broken = made.of("failed")
    assert broken
    assert (broken.value, broken.scored, broken.unscored) == (0.5, 2, 0)
    facts = made.of("facts")
    assert facts
    assert (facts.value, facts.scored, facts.unscored) == (1.0, 1, 0)
    assert made.latencies == (2.0,)
    assert made.seconds["search"].total == 2.0
    assert made.samples["b"].failed


def test_samples_keep_the_order_of_the_questions_and_their_scores_by_turn() -> None:
    made = make_figures([row("b", {"facts": 1.0}, {"facts": None}, {}), row("a", {})], SHA, seed=1)
    assert list(made.samples) == ["b", "a"]
    assert made.samples["b"].scores == ({"facts": 1.0}, {"facts": None}, {})
    assert made.samples["b"].of("facts") == {0: 1.0, 1: None}


def test_stages_are_told_apart() -> None:
    asked = [
        Row(
            id=f"q{number}",
            type=SampleType.SINGLE,
            replies=(Reply("?", Expected(papers={"p": 1.0}), answer=answer(total=total)),),
            titles={},
        )
        for number, total in enumerate((2.5, 3.5, 4.5, 9.5))
    ]
    made = make_figures(asked, SHA, seed=1)
    assert made.seconds["retrieval"] == Spread(0.5, 0.5, 0.5, 2.0)
    assert made.seconds["rerank"] == Spread(1.0, 1.0, 1.0, 4.0)
    assert made.seconds["writing"] == Spread(
        mean=3.5, median=2.5, p95=pytest.approx(7.25), total=14.0
    )  # of 1, 2, 3, 8: 85 hundredths of the way from 3 to 8
    assert made.seconds["first sentence"].mean == 2.0
    assert made.seconds["total"].total == 20.0
    assert made.tokens == {
        "read in reranking": Spread(1000, 1000, 1000, 4000),
        "read in writing": Spread(100, 100, 100, 400),
        "written": Spread(10, 10, 10, 40),
    }


def test_outcomes_and_curves() -> None:
    right, nothing = Expected(papers={"p": 1.0}), Expected(papers={})
    silent = Expected(papers={"p": 1.0}, outcome=Outcome.ABSTRACT_SILENT)
    asked = [
        (right, answer(Outcome.ANSWERED, 0.9)),
        (right, answer(Outcome.NOT_IN_LIBRARY, 0.2)),
        (nothing, answer(Outcome.ANSWERED, 0.6)),
        (nothing, answer(Outcome.NOT_IN_LIBRARY, 0.1)),
        (silent, answer(Outcome.ABSTRACT_SILENT, None)),
    ]
    made = make_figures(
        [
            Row(str(place), SampleType.SINGLE, (Reply("?", expected, answer=given),), {})
            for place, (expected, given) in enumerate(asked)
        ],
        SHA,
        seed=1,
    )
    assert made.outcomes == {
        "answered": {"answered": 1, "abstract_silent": 0, "not_in_library": 1},
        "abstract_silent": {"answered": 0, "abstract_silent": 1, "not_in_library": 0},
        "either refusal": {"answered": 1, "abstract_silent": 0, "not_in_library": 1},
    }
    curve = made.curves["no abstract answers"]
    assert [(each.confidence, each.coverage) for each in curve] == [
        (0.9, 0.25),
        (0.6, 0.5),
        (0.2, 0.75),
        (0.1, 1.0),
    ]
    assert [each.risk for each in curve] == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4])
    assert made.areas["no abstract answers"] == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)


def test_what_counts_as_wrong_decides_which_questions_count() -> None:
    right, nothing, unknown = (Expected(papers=papers) for papers in ({"p": 1.0}, {}, None))
    refused = Outcome.NOT_IN_LIBRARY
    asked = [
        (right, answer(confidence=0.9), 1.0),
        (right, answer(confidence=0.8), 0.0),
        (nothing, answer(confidence=0.7), None),
        (right, answer(confidence=0.6), None),
        (unknown, answer(confidence=0.5), 1.0),
        (right, answer(refused, 0.1), 0.0),
        (nothing, answer(refused, 0.0), None),
    ]
    replies = tuple(
        Reply("?", expected, (), given, {} if facts is None else {"facts": Score(facts, "")})
        for expected, given, facts in asked
    )
    curves = make_figures([Row("a", SampleType.CHAT, replies, {})], SHA, seed=1).curves
    risks = {wrong: [(each.confidence, each.risk) for each in of] for wrong, of in curves.items()}
    assert risks == {
        "no abstract answers": [
            *((0.9, 0), (0.8, 0), (0.7, 1 / 3), (0.6, 1 / 4), (0.1, 1 / 5), (0.0, 2 / 6)),
        ],
        "not right": [(0.9, 0), (0.8, 1 / 2), (0.7, 2 / 3), (0.5, 2 / 4)],
    }


def test_a_run_of_no_samples_has_no_figures() -> None:
    made = make_figures([], SHA, seed=1)
    assert made.figures == ()
    assert made.seconds == {}
    assert made.curves == {}


def test_figures_on_disk_are_those_in_memory(tmp_path: Path) -> None:
    write_figures(tmp_path / "figures.json", FIGURES)
    assert read_figures(tmp_path / "figures.json") == FIGURES
    assert list(read_figures(tmp_path / "figures.json").samples) == list(ORDER)


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    write_figures(tmp_path / "one", FIGURES)
    write_figures(tmp_path / "other", figures(list(reversed(ROWS))))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no figures"),
        ("{", "has no figures"),
        ("[]", "has no figures"),
        ('{"questions_sha256": 5}', "questions_sha256"),
        ("\x00\xff", "has no figures"),
    ],
)
def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "figures.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=told) as error:
        read_figures(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_figures(tmp_path / "figures.json")
