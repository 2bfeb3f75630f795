"""Every scorer against values worked out by hand, a reference library and odd records."""

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, Rprec, nDCG
from scorer_cases import CASES, COPIED, TIDAL, ZEBRA, Case, Sentence, answer, asked

from assistant.evaluation.scorers import FAILED, METRIC_OF, METRICS, counted, quoted, scores_of
from assistant.evaluation.types import AnsweredQuestion, Expected, SampleType, Score
from assistant.types import Answer, Outcome, SentenceKind

# The measures of rankings, by a reference library.
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.metric)
def test_a_case_worked_out_by_hand(case: Case) -> None:
    scorer = METRIC_OF[case.metric].scorer
    assert scorer
    assert scorer(case.asked) == case.score


def test_every_scorer_has_cases() -> None:
    assert {case.metric for case in CASES} == {each.name for each in METRICS} - {FAILED}


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


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (counted(0, "word"), "0 words"),
        (counted(1, "word"), "1 word"),
        (counted(1643, "paper"), "1,643 papers"),
        (quoted("A “b” c"), "“A ‘b’ c”"),
        (quoted("word " * 20), f"“{'word ' * 15}word …”"),
        (quoted("<b>&amp;"), "“<b>&amp;”"),
    ],
)
def test_how_explanations_are_worded(written: str, expected: str) -> None:
    assert written == expected


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


TEXT = st.text(max_size=30) | st.sampled_from(
    [ZEBRA.abstract, ZEBRA.abstract[:40], TIDAL.abstract, r"\$5\%\$", "“", "<b>", "[1]", "…", "ﬁ²"]
)
PAPERS = st.dictionaries(st.sampled_from("ztabc"), st.sampled_from([0.5, 1.0, 2.0]), max_size=4)
CITED = st.lists(st.tuples(st.sampled_from([ZEBRA, TIDAL]), TEXT), min_size=2, max_size=2)
NUMBERS = st.lists(st.integers(1, 2), max_size=2, unique=True).map(tuple)
SENTENCES = st.lists(st.tuples(TEXT, st.sampled_from(SentenceKind), NUMBERS), max_size=2)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    sentences: list[Sentence] = draw(SENTENCES)
    return answer(
        *sentences,
        cites=draw(CITED) if sentences else (),
        text=draw(TEXT),
        outcome=draw(st.sampled_from(Outcome)),
        confidence=draw(st.none() | st.floats(-1, 1)),
        completion=draw(st.integers(0, 1)),
    )


QUESTIONS = st.builds(
    AnsweredQuestion,
    type=st.sampled_from(SampleType),
    turn=st.integers(0, 2),
    expected=st.builds(
        Expected,
        papers=st.none() | PAPERS,
        outcome=st.none() | st.sampled_from(Outcome),
        facts=st.lists(st.lists(TEXT, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
        evidence=st.lists(TEXT, max_size=2).map(tuple),
    ),
    ranking=st.lists(st.sampled_from("ztabcdefghijklmn"), unique=True).map(tuple),
    answer=st.none() | answers(),
    again=st.lists(st.booleans(), max_size=3).map(tuple),
)


@settings(max_examples=60)
@given(QUESTIONS)
def test_everything_can_be_scored(asked: AnsweredQuestion) -> None:
    scores = scores_of(asked)
    for name, score in scores.items():
        assert score.why
        assert score.value is None or score.value >= 0
        assert score.value is None or score.value <= 1 or name in {"words", "written words"}
    assert scores == scores_of(asked)
