import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from simulated_run import (
    ASKED,
    IDS,
    ORDER,
    answer_from,
    failed,
    figures,
    refusal,
    rows,
    unchanged,
)

from assistant.evaluation.figures.compare import (
    Baseline,
    Change,
    Comparison,
    Verdict,
    check_baseline,
    compare,
    read_baseline,
)
from assistant.evaluation.figures.figures import LEAST_SAMPLES, Figures, SampleScores, write_figures
from assistant.evaluation.records.record import appending
from assistant.evaluation.scorers import VERSION
from assistant.evaluation.types import AnsweredQuestion, SampleType
from assistant.types import AnswerSentence, Outcome, SentenceKind
from retrieval.types import InputError

BASELINE = figures(rows())


def compared(before: Figures, now: Figures) -> Comparison:
    return compare(Baseline(Path("base"), before), now)


def scored(metric: str, *samples: Sequence[float | None] | None) -> Figures:
    """Figures of samples by their scores of a metric, a turn each; None: a sample that failed."""
    return replace(
        BASELINE,
        figures=(),
        samples={
            f"s{place}": SampleScores(
                type="single",
                failed=turns is None,
                scores=tuple({metric: score} for score in turns or ()),
            )
            for place, turns in enumerate(samples)
        },
    )


def ones(metric: str, *scores: float | None) -> Figures:
    """Figures of samples of a question each."""
    return scored(metric, *([score] for score in scores))


def change_of(before: Figures, now: Figures, metric: str) -> Change:
    comparison = compared(before, now)
    return next(change for change in comparison.changes if change.metric == metric)


def worse(now: Figures, before: Figures = BASELINE) -> set[str]:
    """What the gate stops."""
    return {change.metric for change in compared(before, now).worse}


def test_a_change_by_hand() -> None:
    before = ones("facts", *[1.0] * 10, *[0.0] * 10)
    now = ones("facts", *[0.0] * 8, *[1.0] * 4, *[0.0] * 8)
    change = change_of(before, now, "facts")
    assert (change.before, change.now, change.pairs, change.unpaired) == (0.5, 0.2, 20, 0)
    assert change.difference == pytest.approx(-0.3)
    # 8 lose, 2 gain, 10 keep: of a sample the variance is 10/20 - 0.3² = 0.41, so of the mean of
    # 20 the standard deviation is 0.143, and the normal interval -0.3 ± 0.28, in steps of 0.05.
    assert change.low == pytest.approx(-0.58, abs=0.05)
    assert change.high == pytest.approx(-0.02, abs=0.05)
    assert change.won == ("s10", "s11")
    assert change.lost == tuple(f"s{place}" for place in range(8))


def test_an_identical_run_passes() -> None:
    comparison = compared(BASELINE, figures(list(reversed(rows()))))
    assert comparison.worse == []
    assert comparison.left_out == 0
    assert comparison.gone == {}
    assert comparison.passes
    for change in comparison.changes:
        assert (change.low, change.difference, change.high) == (0.0, 0.0, 0.0)
        assert change.verdict is Verdict.SAME
        assert change.won == change.lost == ()


@pytest.mark.parametrize("samples", [1, 2, 5, LEAST_SAMPLES, 30])
def test_an_identical_run_of_few_samples_passes(samples: int) -> None:
    few = figures(rows(only=ORDER[:samples]), ORDER[:samples])
    assert worse(few, few) == set()


def test_a_change_in_one_of_thirty_samples_passes() -> None:
    before = ones("facts", *[1.0] * 30)
    now = ones("facts", 0.0, *[1.0] * 29)
    change = change_of(before, now, "facts")
    assert change.verdict is Verdict.SAME
    assert change.lost == ("s0",)
    assert change.high == 0.0
    assert worse(now, before) == set()


def test_a_change_in_most_of_thirty_samples_does_not() -> None:
    before = ones("facts", *[1.0] * 30)
    now = ones("facts", *[0.0] * 16, *[1.0] * 14)
    assert worse(now, before) == {"facts"}


def test_many_small_losses_are_seen_although_samples_differ_much() -> None:
    before = ones("mrr@10", *(place / 30 for place in range(30)))
    now = ones("mrr@10", *(max(0, place / 30 - 0.02) for place in range(30)))
    assert worse(now, before) == {"mrr@10"}


def test_wins_and_losses_of_one_size_are_chance() -> None:
    before = ones("facts", *[1.0, 0.0] * 15)
    now = ones("facts", *[0.0, 1.0] * 15)
    change = change_of(before, now, "facts")
    assert change.verdict is Verdict.SAME
    assert len(change.won) == len(change.lost) == 15


@pytest.mark.parametrize(
    ("metric", "before", "now", "verdict"),
    [
        ("facts", 0.0, 1.0, Verdict.BETTER),
        ("facts", 1.0, 0.0, Verdict.WORSE),
        ("words", 50.0, 80.0, Verdict.WORSE),
        ("words", 80.0, 50.0, Verdict.BETTER),
        ("written words", 20.0, 30.0, Verdict.WORSE),
        ("false answer", 0.0, 1.0, Verdict.WORSE),
    ],
)
def test_more_is_not_always_better(
    metric: str, before: float, now: float, verdict: Verdict
) -> None:
    change = change_of(ones(metric, *[before] * 10), ones(metric, *[now] * 10), metric)
    assert change.verdict is verdict
    assert bool(change.won) == (verdict is Verdict.BETTER)
    assert bool(change.lost) == (verdict is Verdict.WORSE)


@pytest.mark.parametrize(("pairs", "verdict"), [(5, Verdict.SAME), (6, Verdict.WORSE)])
def test_too_few_samples_say_nothing(pairs: int, verdict: Verdict) -> None:
    before, now = ones("facts", *[1.0] * pairs), ones("facts", *[0.0] * pairs)
    change = change_of(before, now, "facts")
    assert change.verdict is verdict
    interval = None if verdict is Verdict.SAME else -1.0
    assert (change.difference, change.low, change.high) == (-1.0, interval, interval)


@pytest.mark.parametrize(
    ("samples", "lost", "verdict"),
    [  # with k lost, none of them is drawn in (1 - k / n) ** n of all resamples
        (7, 3, Verdict.WORSE),  # 0.020
        (30, 3, Verdict.SAME),  # 0.042
        (30, 4, Verdict.WORSE),  # 0.014
        (300, 3, Verdict.SAME),  # 0.049
        (300, 4, Verdict.WORSE),  # 0.018
    ],
)
def test_how_many_losses_without_a_win_are_beyond_an_interval(
    samples: int, lost: int, verdict: Verdict
) -> None:
    before = ones("facts", *[1.0] * samples)
    now = ones("facts", *[0.0] * lost, *[1.0] * (samples - lost))
    assert change_of(before, now, "facts").verdict is verdict


def test_noise_of_floating_point_is_no_change() -> None:
    before = ones("mrr@10", *[0.3] * 30)
    now = ones("mrr@10", *[0.1 + 0.2 - 1e-12] * 30)
    change = change_of(before, now, "mrr@10")
    assert change.verdict is Verdict.SAME
    assert change.lost == ()


def test_a_metric_that_is_no_headline_stops_nothing() -> None:
    before, now = ones("fact recall", *[1.0] * 30), ones("fact recall", *[0.0] * 30)
    assert change_of(before, now, "fact recall").verdict is Verdict.WORSE
    assert worse(now, before) == set()


def test_questions_are_paired_by_turn_where_both_runs_could_score_them() -> None:
    before = scored("facts", [1.0, 0.0], [1.0, None], [None])
    now = scored("facts", [0.0, None], [1.0, 0.0], [1.0])
    change = change_of(before, now, "facts")
    assert (change.before, change.now) == (1.0, 0.5)
    assert (change.pairs, change.unpaired) == (2, 3)
    assert change.lost == ("s0",)


def test_samples_of_one_run_only_are_counted_apart() -> None:
    before = ones("facts", *[1.0] * 8)
    samples = dict(list(before.samples.items())[2:])
    now = replace(before, samples={"other": before.samples["s0"], **samples})
    comparison = compared(before, now)
    assert comparison.left_out == 3
    assert {change.pairs for change in comparison.changes} == {6}


def test_a_conversation_stays_together() -> None:
    # One long conversation of eight loses every turn; the rest is as it was.
    before = scored("facts", [1.0] * 40, *[[1.0]] * 7)
    now = scored("facts", [0.0] * 40, *[[1.0]] * 7)
    change = change_of(before, now, "facts")
    assert change.difference < -0.8
    assert change.verdict is Verdict.SAME
    assert change.high == 0.0


# The gate.


@pytest.mark.parametrize("count", [1, 8])
def test_a_sample_that_fails_now_counts_against_the_run(count: int) -> None:
    bad = set(ORDER[:count])
    now = figures([failed(each) if each.id in bad else each for each in rows()])
    assert worse(now) == {"failed"}
    change = change_of(BASELINE, now, "failed")
    assert set(change.lost) == bad
    assert change.pairs == len(ORDER)


@pytest.mark.parametrize("samples", [1, 3, 60])
def test_a_run_in_which_everything_fails_never_passes(samples: int) -> None:
    only = ORDER[:samples]
    now = figures([failed(each) for each in rows(only=only)], only)
    assert worse(now) == {"failed"}


def broken_ranker(asked: AnsweredQuestion) -> AnsweredQuestion:
    """Papers in random order, and the answer from the first of them."""
    ranking = tuple(random.Random(asked.turn).sample(IDS, 10))  # noqa: S311
    answered = asked.answer and asked.answer.outcome is Outcome.ANSWERED
    return replace(
        asked, ranking=ranking, answer=answer_from(ranking) if answered else asked.answer
    )


INVENTED = "This finding was confirmed by 17 hospitals in Norway and won an award in 1987."


def chatty(asked: AnsweredQuestion) -> AnsweredQuestion:
    """Answers three times as long, with sentences that nothing supports."""
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED:
        return asked
    more = AnswerSentence(INVENTED, SentenceKind.VERIFIED, (1,))
    text = f"{answer.text} {INVENTED} [1] {INVENTED} [1]"
    return replace(
        asked, answer=replace(answer, text=text, sentences=(*answer.sentences, more, more))
    )


def refuses_all(asked: AnsweredQuestion) -> AnsweredQuestion:
    return asked if asked.answer is None else replace(asked, answer=refusal(asked.ranking))


def refuses_what_is_wrong(asked: AnsweredQuestion) -> AnsweredQuestion:
    """Bad answers become ones that cannot be scored."""
    is_bad = asked.expected.papers and asked.ranking[0] not in asked.expected.papers
    return refuses_all(asked) if is_bad else asked


def answers_all(asked: AnsweredQuestion) -> AnsweredQuestion:
    is_refused = asked.answer and asked.answer.outcome is not Outcome.ANSWERED
    return replace(asked, answer=answer_from(asked.ranking)) if is_refused else asked


def forgets(asked: AnsweredQuestion) -> AnsweredQuestion:
    """Follow-ups are answered as if nothing had been said before."""
    return broken_ranker(asked) if asked.turn else asked


def cites_nothing(asked: AnsweredQuestion) -> AnsweredQuestion:
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED:
        return asked
    bare = tuple(AnswerSentence(each.text, SentenceKind.VERIFIED, ()) for each in answer.sentences)
    return replace(asked, answer=replace(answer, sentences=bare, citations=()))


def misquotes(asked: AnsweredQuestion) -> AnsweredQuestion:
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED:
        return asked
    wrong = tuple(
        replace(each, quote=each.quote.replace("lowers", "raises")) for each in answer.citations
    )
    return replace(asked, answer=replace(answer, citations=wrong))


def wavers(asked: AnsweredQuestion) -> AnsweredQuestion:
    return replace(asked, again=(False,) if asked.again else ())


@pytest.mark.parametrize(
    ("change", "metrics"),
    [
        (broken_ranker, {"facts", "citation precision", "citation recall", "evidence recall"}),
        (broken_ranker, {"recall@10", "mrr@10", "ndcg@10"}),
        (chatty, {"words", "grounded"}),
        (refuses_all, {"facts", "abstention", "false abstention", "follow-up"}),
        (refuses_what_is_wrong, {"false abstention"}),
        (answers_all, {"abstention", "false answer"}),
        (forgets, {"follow-up"}),
        (cites_nothing, {"citation recall", "grounded", "evidence recall"}),
        (misquotes, {"quotes verbatim", "grounded"}),
        (wavers, {"same again"}),
    ],
)
def test_a_planted_regression_fails_the_gate(
    change: Callable[[AnsweredQuestion], AnsweredQuestion], metrics: set[str]
) -> None:
    assert metrics <= worse(figures(rows(change)))


@pytest.mark.parametrize("change", [broken_ranker, chatty, refuses_all, answers_all])
def test_a_planted_regression_fails_the_gate_of_thirty_samples(
    change: Callable[[AnsweredQuestion], AnsweredQuestion],
) -> None:
    few = (*ORDER[::5], *(id_ for id_ in ORDER if id_[0] in "UC"))[:30]
    assert worse(figures(rows(change, few), few), figures(rows(unchanged, few), few))


def writes(asked: AnsweredQuestion) -> AnsweredQuestion:
    """Answers that begin with their quotation in other words."""
    answer = asked.answer
    if answer is None or answer.outcome is not Outcome.ANSWERED:
        return asked
    told = answer.citations[0].quote.replace("lowers the error", "makes the error lower")
    own = AnswerSentence(told, SentenceKind.VERIFIED, (1,))
    return replace(asked, answer=replace(answer, sentences=(own, *answer.sentences)))


def test_a_run_that_writes_no_more_fails_the_gate() -> None:
    before = figures(rows(writes))
    assert worse(BASELINE, before) == {"written", "written facts"}
    better = {change.metric: change for change in compared(BASELINE, before).changes}
    assert better["written"].verdict is better["written facts"].verdict is Verdict.BETTER
    assert better["grounded"].verdict is Verdict.SAME
    assert (better["grounded"].before, better["grounded"].now) == (1.0, 1.0)
    assert compared(before, BASELINE).gone == {"written words": better["written"].pairs}


def test_metrics_that_a_run_can_score_nowhere_are_named() -> None:
    comparison = compared(BASELINE, figures(rows(refuses_all)))
    assert "citation precision" in comparison.gone
    assert "facts" not in comparison.gone
    assert "words" not in {change.metric for change in comparison.changes}
    answered = [id_ for id_, sample in BASELINE.samples.items() if any(sample.of("words").values())]
    assert comparison.gone["words"] == len(answered)


@pytest.mark.parametrize(
    ("metric", "samples", "vanished"),
    [("same again", 6, True), ("same again", 5, False), ("fact recall", 30, False)],
)
@pytest.mark.parametrize("unscored", [True, False])
def test_the_gate_stops_what_is_measured_no_more(
    metric: str, samples: int, *, vanished: bool, unscored: bool
) -> None:
    before = ones(metric, *[1.0] * samples, *[None] * 4)
    now = ones(metric if unscored else "words", *[None] * (samples + 4))
    comparison = compared(before, now)
    assert comparison.gone == {metric: samples}
    assert comparison.vanished == ([metric] if vanished else [])
    assert comparison.passes is not vanished
    assert comparison.worse == []


def test_what_samples_of_the_baseline_alone_could_score_is_not_missed() -> None:
    before = scored("follow-up", [], [], *([None, 1.0] for _ in range(8)))
    now = replace(before, samples=dict(list(before.samples.items())[:2]))
    assert compared(before, now).passes


def test_a_run_that_mends_a_regression_passes() -> None:
    before, now = figures(rows(broken_ranker)), figures(rows())
    comparison = compared(before, now)
    assert comparison.worse == []
    assert "mrr@10" in {c.metric for c in comparison.changes if c.verdict is Verdict.BETTER}


# Baselines.


def test_a_baseline_of_other_questions_cannot_be_compared() -> None:
    other = replace(BASELINE, questions_sha256="00" * 32)
    with pytest.raises(InputError, match="baseline base is of another question set"):
        compared(other, BASELINE)


def test_a_baseline_of_other_scorers_cannot_be_compared() -> None:
    other = replace(BASELINE, scorers="0")
    with pytest.raises(InputError, match=f"scored by scorers 0, and these are {VERSION}"):
        compared(other, BASELINE)


def test_a_baseline_without_a_sample_of_the_run_cannot_be_compared() -> None:
    only = [id_ for id_ in ORDER if ASKED[id_][0].type is SampleType.LOOKUP]
    with pytest.raises(InputError, match="no sample in common"):
        compared(figures(rows(only=only), only), figures(rows(only=ORDER[:3]), ORDER[:3]))


def test_what_can_be_compared_is_known_before_anything_is_asked() -> None:
    baseline = Baseline(Path("old/run"), BASELINE)
    check_baseline(baseline, BASELINE.questions_sha256, ["none", ORDER[0]])
    check_baseline(baseline, BASELINE.questions_sha256)
    with pytest.raises(InputError, match="baseline old/run is of another question set"):
        check_baseline(baseline, "00")


def test_a_baseline_is_read_from_its_figures_alone(tmp_path: Path) -> None:
    write_figures(tmp_path / "figures.json", BASELINE)
    assert read_baseline(tmp_path) == Baseline(tmp_path, BASELINE)


def test_no_folder_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        read_baseline(tmp_path / "nothing")


def test_a_folder_without_a_run_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no evaluation run"):
        read_baseline(tmp_path)


def test_a_run_that_did_not_end_is_no_baseline(tmp_path: Path) -> None:
    with appending(tmp_path / "samples.jsonl") as append:
        append(rows()[0])
    with pytest.raises(InputError, match="did not end"):
        read_baseline(tmp_path)


def test_a_damaged_baseline_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "figures.json").write_text('{"seed": 1')
    with pytest.raises(InputError, match="has no figures of an evaluation run"):
        read_baseline(tmp_path)
