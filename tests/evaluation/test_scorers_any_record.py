"""Whatever comes of a question can be scored: no text stops a scorer, no share leaves 0 to 1."""

from hypothesis import given, settings
from hypothesis import strategies as st
from scorer_cases import TIDAL, ZEBRA, Sentence, answer

from assistant.evaluation.scorers import SCORERS, scores_of
from assistant.evaluation.types import AnsweredQuestion, Expected, SampleType
from assistant.types import Answer, Outcome, SentenceKind

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


@settings(max_examples=60, deadline=None)
@given(QUESTIONS)
def test_everything_can_be_scored(asked: AnsweredQuestion) -> None:
    scores = scores_of(asked)
    assert set(scores) <= set(SCORERS)
    for name, score in scores.items():
        assert score.why
        assert score.value is None or score.value >= 0
        assert score.value is None or score.value <= 1 or name in {"words", "written words"}
    assert scores == scores_of(asked)
