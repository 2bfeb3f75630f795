import pytest
from fakes import PAPERS, ZEBRA, paper
from hypothesis import given
from hypothesis import strategies as st

from assistant.calibration import (
    DEFAULT,
    FILE,
    LEAST_QUESTIONS,
    MOST_REFUSED,
    Judged,
    calibrated,
    read_calibration,
    write_calibration,
)
from assistant.pseudo_questions import at_even_distances, judged_sentences
from retrieval.errors import InputError, LibraryError
from retrieval.library import Library
from retrieval.progress import silent

ANSWERABLE = [Judged(0.5 + at / 100, answerable=True) for at in range(50)]
UNANSWERABLE = [Judged(0.1 + at / 50, answerable=False) for at in range(25)]


def test_as_many_are_refused_as_may_be() -> None:
    found = calibrated([*ANSWERABLE, *UNANSWERABLE], "questions.jsonl")
    assert found.least_confidence == 0.54  # four of fifty are below: 0.50 to 0.53
    assert found.wrongly_refused == 0.08 <= MOST_REFUSED
    assert found.refused == 0.88  # 0.10, 0.12, … 0.52
    assert (found.answerable, found.unanswerable, found.source) == (50, 25, "questions.jsonl")


def test_the_curve_runs_from_all_questions_to_the_surest() -> None:
    curve = calibrated([*ANSWERABLE, *UNANSWERABLE], "made").curve
    assert (curve[0].coverage, curve[0].risk) == (1.0, round(25 / 75, 4))
    assert [point.coverage for point in curve] == sorted(
        (point.coverage for point in curve), reverse=True
    )
    assert curve[-1].risk == 0.0


def test_kinds_that_lie_apart_are_told_apart_wholly() -> None:
    low = [Judged(0.01 * at, answerable=False) for at in range(30)]
    assert calibrated([*ANSWERABLE, *low], "made").auc == 1.0
    assert calibrated([*ANSWERABLE, *low], "made").refused == 1.0


@given(
    st.lists(st.floats(-1, 1), min_size=LEAST_QUESTIONS, max_size=60),
    st.lists(st.floats(-1, 1), min_size=LEAST_QUESTIONS, max_size=60),
)
def test_never_more_answerable_questions_are_refused_than_may_be(
    answerable: list[float], unanswerable: list[float]
) -> None:
    judged = [Judged(value, answerable=True) for value in answerable]
    judged += [Judged(value, answerable=False) for value in unanswerable]
    found = calibrated(judged, "made")
    assert found.wrongly_refused <= MOST_REFUSED
    assert 0 <= found.auc <= 1
    assert all(0 <= point.risk <= 1 and 0 < point.coverage <= 1 for point in found.curve)


@pytest.mark.parametrize("judged", [[], ANSWERABLE, [*ANSWERABLE, *UNANSWERABLE[:19]]])
def test_too_few_questions(judged: list[Judged]) -> None:
    with pytest.raises(InputError, match="too few to calibrate with; at least 20 of each"):
        calibrated(judged, "questions.jsonl")


def test_it_is_stored_with_the_library(tmp_path) -> None:
    assert read_calibration(tmp_path) == DEFAULT
    found = calibrated([*ANSWERABLE, *UNANSWERABLE], "questions.jsonl")
    write_calibration(tmp_path, found)
    assert read_calibration(tmp_path) == found
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"least_confidence": "high"}', '{"source": 1}'])
def test_a_damaged_file_is_named(tmp_path, text: str) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(LibraryError, match=r"calibration\.json cannot be read .*calibrate"):
        read_calibration(tmp_path)


def test_sentences_stand_for_questions(library: Library) -> None:
    told: list[tuple[str, int, int, str]] = []
    judged = list(judged_sentences(library, 10, lambda *step: told.append(step)))
    # Of the four abstracts one has four sentences, the others are too short to lose one.
    assert [each.answerable for each in judged] == [True, False]
    own, others = judged
    assert own.confidence > others.confidence
    assert told == [("calibrating", 1, 1, "papers")]
    assert list(judged_sentences(library, 10, silent)) == judged
    assert len(PAPERS) == 4


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
