"""The threshold keeps what it promises; sentences stand for questions where there are none."""

import random
from dataclasses import replace

import pytest
from fakes import PAPERS, ZEBRA, FakeReader, paper
from hypothesis import given
from hypothesis import strategies as st

from assistant.pipeline.abstention import (
    DEFAULT_THRESHOLD,
    FILE,
    VERSION,
    Calibration,
    Rates,
    is_outdated,
    read_calibration,
    threshold,
    write_calibration,
)
from assistant.pipeline.calibration import (
    LEAST_QUESTIONS,
    MOST_ANSWERED,
    MOST_REFUSED,
    JudgedQuestion,
    at_even_distances,
    calibrated,
    judged_sentences,
)
from retrieval.library.library import Library
from retrieval.search.reader import Reader
from retrieval.types import InputError, LibraryError, silent

ANSWERABLE = [JudgedQuestion(0.5 + at / 100, answerable=True) for at in range(50)]
UNANSWERABLE = [JudgedQuestion(0.1 + at / 50, answerable=False) for at in range(25)]
"""From 0.50 to 0.99, and from 0.10 to 0.58."""
BOTH = [*ANSWERABLE, *UNANSWERABLE]


def made(
    judged: list[JudgedQuestion], *, by_people: bool = True, before: float = 0.5
) -> Calibration:
    return calibrated(judged, "made", before=before, by_people=by_people)


def judged(answerable: list[float], unanswerable: list[float]) -> list[JudgedQuestion]:
    return [
        *(JudgedQuestion(value, answerable=True) for value in answerable),
        *(JudgedQuestion(value, answerable=False) for value in unanswerable),
    ]


def test_of_questions_by_people_the_least_sure_answerable_ones_are_refused() -> None:
    """Of 25 answerable ones, 0.50, 0.52, …, 0.98, the ceil(26 x 0.95) = 25th from above."""
    found = made(BOTH)
    assert found.least_confidence == 0.5
    assert found.promise == "at most 5% of answerable questions are refused"
    # Of the others, from 0.51, none is below; of 0.12, 0.16, …, 0.56 all but 0.52 and 0.56.
    assert found.after == Rates(wrongly_refused=0.0, refused=round(10 / 12, 4))
    assert (found.answerable, found.unanswerable, found.source) == (50, 25, "made")


def test_of_sentences_the_surest_unanswerable_ones_are_answered() -> None:
    """Of 13 unanswerable ones, 0.10, 0.14, …, 0.58, the 13th of 14 from below, and just above."""
    found = made(BOTH, by_people=False)
    assert 0.58 < found.least_confidence < 0.5801
    assert found.promise == "at most 10% of unanswerable questions are answered"
    assert found.after == Rates(wrongly_refused=round(4 / 25, 4), refused=1.0)


def test_with_more_questions_fewer_are_given_up() -> None:
    """Of 100, 0.00, 0.01, …: ceil(101 x 0.95) = 96 from above, ceil(101 x 0.9) = 91 from below."""
    values = [at // 2 / 100 for at in range(200)]
    assert made(judged(values, values)).least_confidence == 0.04
    least = made(judged(values, values), by_people=False).least_confidence
    assert 0.9 < least < 0.9001


def test_what_the_threshold_before_did_is_told_of_the_same_questions() -> None:
    found = made(BOTH, before=0.7)
    assert found.before == Rates(wrongly_refused=0.4, refused=1.0)  # 0.51, 0.53, …, 0.69 of 25
    assert made(BOTH, before=0.5).before == made(BOTH).after


def test_the_questions_it_is_chosen_by_are_not_those_it_is_reported_on() -> None:
    odd = [
        JudgedQuestion(0.0, each.answerable) if at % 2 else each
        for at, each in enumerate(ANSWERABLE)
    ]
    found = made([*odd, *UNANSWERABLE])
    assert found.least_confidence == made(BOTH).least_confidence
    assert found.after.wrongly_refused == 1.0


@pytest.mark.parametrize("by_people", [True, False])
def test_the_promise_is_kept_on_the_average(by_people: bool) -> None:
    """Over many samples of one kind, as a conformal quantile promises."""
    drawn = random.Random(7)  # noqa: S311 - a sample, no secret
    shares = []
    for _ in range(300):
        answerable = [drawn.gauss(1, 1) for _ in range(80)]
        unanswerable = [drawn.gauss(-1, 1) for _ in range(80)]
        after = made(judged(answerable, unanswerable), by_people=by_people).after
        shares.append(after.wrongly_refused if by_people else 1 - after.refused)
    mean = sum(shares) / len(shares)
    promised = MOST_REFUSED if by_people else MOST_ANSWERED
    assert promised / 2 < mean < promised + 0.01


def test_the_promise_is_kept_with_the_least_questions() -> None:
    drawn = random.Random(7)  # noqa: S311 - a sample, no secret
    shares = []
    for _ in range(2000):
        values = [drawn.random() for _ in range(LEAST_QUESTIONS)]
        shares.append(made(judged(values, values)).after.wrongly_refused)
    # Ten to choose by cannot promise 5 %: with eleven, one is the least.
    assert "at most 10% of" in made(judged(values, values)).promise
    assert sum(shares) / len(shares) < 0.10 + 0.01


def test_the_curve_runs_from_all_questions_to_the_surest() -> None:
    curve = made(BOTH).curve
    assert (curve[0].coverage, curve[0].risk) == (1.0, round(25 / 75, 4))
    assert [point.coverage for point in curve] == sorted(
        (point.coverage for point in curve), reverse=True
    )
    assert curve[-1].risk == 0.0


def test_kinds_that_lie_apart_are_told_apart_wholly() -> None:
    found = made([*ANSWERABLE, *(JudgedQuestion(0.01 * at, answerable=False) for at in range(30))])
    assert (found.auc, found.after.refused) == (1.0, 1.0)
    same = [0.5] * LEAST_QUESTIONS
    assert made(judged(same, same)).auc == 0.0


@given(
    st.lists(st.floats(0, 1), min_size=LEAST_QUESTIONS, max_size=60),
    st.lists(st.floats(0, 1), min_size=LEAST_QUESTIONS, max_size=60),
    st.booleans(),
)
def test_any_questions_give_rates(
    answerable: list[float], unanswerable: list[float], by_people: bool
) -> None:
    found = made(judged(answerable, unanswerable), by_people=by_people)
    shares = (found.auc, found.after.refused, found.after.wrongly_refused)
    assert all(0 <= share <= 1 for share in shares)
    assert all(0 <= point.risk <= 1 and 0 < point.coverage <= 1 for point in found.curve)
    chosen_by = answerable[::2] if by_people else unanswerable[::2]
    assert min(chosen_by) <= found.least_confidence <= 1.0


@pytest.mark.parametrize("few", [[], ANSWERABLE, [*ANSWERABLE, *UNANSWERABLE[:19]]])
def test_too_few_questions(few: list[JudgedQuestion]) -> None:
    with pytest.raises(InputError, match="too few to calibrate with; at least 20 of each"):
        made(few)


def test_it_is_stored_with_the_library(tmp_path) -> None:
    assert read_calibration(tmp_path) is None
    assert threshold(tmp_path) == DEFAULT_THRESHOLD
    found = made(BOTH, by_people=False)
    write_calibration(tmp_path, found)
    assert read_calibration(tmp_path) == found
    assert threshold(tmp_path) == found.least_confidence
    assert [path.name for path in tmp_path.iterdir()] == [FILE] == ["abstention.json"]


def test_one_that_was_made_with_other_weights_does_not_count(tmp_path) -> None:
    found = replace(made(BOTH), least_confidence=0.7, version=VERSION - 1)
    write_calibration(tmp_path, found)
    assert is_outdated(tmp_path)
    assert threshold(tmp_path) == DEFAULT_THRESHOLD
    write_calibration(tmp_path, replace(found, version=VERSION))
    assert not is_outdated(tmp_path)
    assert threshold(tmp_path) == 0.7


@pytest.mark.parametrize("text", ["", "{", "[]", '{"least_confidence": "high"}', '{"source": 1}'])
def test_a_damaged_file_is_named(tmp_path, text: str) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    for reads in (read_calibration, threshold):
        with pytest.raises(LibraryError, match=r"abstention\.json cannot be read .*calibrate"):
            reads(tmp_path)


def test_sentences_stand_for_questions(library: Library, reader: Reader) -> None:
    told: list[tuple[str, int, int, str]] = []

    def tell(*step) -> None:
        told.append(step)

    found = list(judged_sentences(library, reader, 10, tell))
    # Of the four abstracts one has four sentences, the others are too short to lose one.
    assert [each.answerable for each in found] == [True, False]
    assert all(0 <= each.confidence <= 1 for each in found)
    assert told == [("calibrating", 1, 1, "papers")]
    assert list(judged_sentences(library, reader, 10, silent)) == found
    assert len(PAPERS) == 4


def test_its_own_paper_answers_a_sentence_and_without_it_none(library: Library) -> None:
    fake = FakeReader({"zebra": "removes"})
    own, others = judged_sentences(library, fake, 10, silent)
    assert own.confidence > DEFAULT_THRESHOLD > others.confidence
    assert fake.papers.count("zebra") == 1


@pytest.mark.parametrize(
    ("most", "taken"),
    [(3, "adg"), (4, "acfh"), (7, "abcefhi"), (10, "abcdefghij"), (99, "abcdefghij"), (0, "")],
)
def test_papers_are_taken_over_the_whole_library(most: int, taken: str) -> None:
    papers = [paper(id_) for id_ in "jihgfedcba"]
    assert "".join(each.id for each in at_even_distances(papers, most)) == taken


def test_a_short_abstract_gives_way_to_the_next() -> None:
    papers = [paper(id_, abstract=ZEBRA if id_ in "bcfj" else "Short.") for id_ in "abcdefghij"]
    assert [each.id for each in at_even_distances(papers, 3)] == ["b", "f", "j"]
    assert [each.id for each in at_even_distances(papers, 5)] == ["b", "c", "f", "j"]
