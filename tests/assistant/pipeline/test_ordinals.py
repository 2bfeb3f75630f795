"""Which place a message names, and which words say so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.pipeline.intent import place_in


@pytest.mark.parametrize(
    ("message", "words", "rank"),
    [
        ("What does the second one show?", "the second one", "1"),
        ("Who wrote the 1st paper?", "the 1st paper", "0"),
        ("and the third?", "the third", "2"),
        ("The tenth study, why?", "The tenth study", "9"),
        ("Is the latter better?", "the latter", "latter"),
        ("How does that former paper work?", "that former paper", "former"),
        ("the last one, who is it by", "the last one", "last"),
        ("What did your previous paper find?", "your previous paper", "previous"),
        ("And the other one?", "the other one", "other"),
    ],
)
def test_a_place_by_words(message: str, words: str, rank: str) -> None:
    place = place_in(message)
    assert place is not None
    assert message[place.start : place.end] == words
    assert (place.rank, place.by_mark) == (rank, False)


@pytest.mark.parametrize(
    ("message", "words", "rank"),
    [
        ("How large is [2]?", "[2]", "2"),
        ("What does paper 3 say?", "paper 3", "3"),
        ("see reference #12, why?", "reference #12", "12"),
        ("the first one, or [3]?", "[3]", "3"),
    ],
)
def test_a_place_by_the_number_of_a_citation(message: str, words: str, rank: str) -> None:
    place = place_in(message)
    assert place is not None
    assert message[place.start : place.end] == words
    assert (place.rank, place.by_mark) == (rank, True)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Does it need retraining?",
        "Who is its first author?",
        "Is it the first work to prune phones?",
        "Is it the second paper in this field?",
        "Is it better than the previous work?",
        "the second of these, why?",
        "a first paper",
        "In which year, 2021?",
        "[x] and [123]",
    ],
)
def test_no_place(message: str) -> None:
    assert place_in(message) is None


@pytest.mark.parametrize(
    "message",
    [
        "what is the first one about?",
        "Explain the first paper in detail",
        "Who wrote the first paper in the list?",
    ],
)
def test_a_place_whatever_follows(message: str) -> None:
    place = place_in(message)
    assert place is not None
    assert place.rank == "0"


@given(st.text(alphabet="the first paper [1]second one latter#", max_size=60))
def test_a_place_is_part_of_the_message(message: str) -> None:
    place = place_in(message)
    assert place is None or 0 <= place.start < place.end <= len(message)
