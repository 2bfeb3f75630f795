"""What speaks for and against an answer, and how sure the assistant is then."""

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import pytest
from fakes import PAPERS, paper_read, passage
from hypothesis import given
from hypothesis import strategies as st

from assistant.pipeline.abstention import (
    BIAS,
    MOST_NAMES,
    WEIGHTS,
    Features,
    QuestionEntities,
    probability,
)
from assistant.pipeline.follow_up import StandaloneQuestion
from retrieval.library.library import Library
from retrieval.search.rerank import ReadPassage
from retrieval.types import Paper

ZEBRA, TIDAL, LICHEN, WHISPER = PAPERS
NONE = Features(*[0.0] * len(fields(Features)))
FOR = ("answerable", "alone", "similarity")
AGAINST = ("absent_names", "unknown")


def entities(question: str, named: Sequence[Paper] = (), **standalone) -> QuestionEntities:
    return QuestionEntities.of(StandaloneQuestion(question, question, **standalone), named)


def read(of: Paper) -> ReadPassage:
    return ReadPassage(passage(of), paper_read(of, -1.0, 2.0, answered=3.0))


def features(
    library: Library, question: str, of: Paper = ZEBRA, beside: Sequence[Paper] = ()
) -> Features:
    return entities(question).features(read(of), library.lexical, beside)


def test_the_names_of_all_features_are_for_or_against() -> None:
    assert {each.name for each in fields(Features)} == {*FOR, *AGAINST}


@pytest.mark.parametrize("name", FOR)
@given(low=st.floats(-9, 9), more=st.floats(0.1, 9))
def test_what_speaks_for_an_answer_never_lowers_it(name: str, low: float, more: float) -> None:
    below, above = (replace(NONE, **{name: value}) for value in (low, low + more))
    assert probability(below) <= probability(above)


@pytest.mark.parametrize("name", AGAINST)
@given(low=st.floats(0, 2), more=st.floats(0.1, 2))
def test_what_speaks_against_an_answer_never_raises_it(name: str, low: float, more: float) -> None:
    below, above = (replace(NONE, **{name: value}) for value in (low, low + more))
    assert probability(below) >= probability(above)


def test_the_reader_counts() -> None:
    assert probability(replace(NONE, answerable=5.0)) > probability(replace(NONE, answerable=-5.0))


def test_the_probability_by_hand() -> None:
    assert probability(NONE) == pytest.approx(1 / (1 + math.exp(-BIAS)))
    two = replace(NONE, answerable=2.0, absent_names=1.0)
    logit = BIAS + 2 * WEIGHTS.answerable + WEIGHTS.absent_names
    assert probability(two) == pytest.approx(1 / (1 + math.exp(-logit)))
    for far in (-100.0, 100.0):
        assert 0 <= probability(replace(NONE, answerable=far)) <= 1


def test_what_the_reader_says_is_taken_over(library: Library) -> None:
    found = features(library, "What is pruned?")
    assert (found.answerable, found.similarity) == (3.0, 0.9)


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("How many weights does ZebraPrune remove?", 0),
        ("How many weights does zebraprune's method remove?", 0),
        ("Does Zebra-Prune work on ImageNet?", 0),
        ("Does ZebraPrune work on CIFAR-10?", 1),
        ("Does ZebraPrune help LichenSet?", 1),
        ("How does LionPrune work?", 1),
        ("Does ImageNet-like data help?", 0),
        ("Do LionPrune, TigerPrune and LynxPrune help?", MOST_NAMES),
        ("WHAT DOES LIONPRUNE DO", 0),
        ("What is pruned?", 0),
    ],
)
def test_names_that_the_abstract_lacks(library: Library, question: str, absent: int) -> None:
    assert features(library, question).absent_names == absent


def test_an_acronym_stands_for_the_words_that_it_is_made_from(library: Library) -> None:
    assert features(library, "How large is the WER of a recogniser?", WHISPER).absent_names == 0
    assert features(library, "How large is the WRE of a recogniser?", WHISPER).absent_names == 1


def test_papers_that_are_compared_need_not_have_the_names_of_each_other(library: Library) -> None:
    question = "What is the difference between ZebraPrune and LichenSet?"
    assert features(library, question).absent_names == 1
    assert features(library, question, beside=[ZEBRA, LICHEN]).absent_names == 0


def test_words_that_no_paper_has(library: Library) -> None:
    assert (
        features(library, "What is pruned?").unknown < features(library, "What is fried?").unknown
    )
    known = entities("Is zebra prunning fried?", [ZEBRA]).features(read(ZEBRA), library.lexical)
    assert known.unknown < features(library, "Is zebra prunning fried?").unknown


def test_names_that_no_paper_has(library: Library) -> None:
    question = "Does LionPrune beat ZebraPrune on CIFAR-10?"
    assert entities(question).unknown(library.lexical) == ["LionPrune", "CIFAR-10"]


def test_names_that_filters_have_taken_stand_in_no_abstract() -> None:
    standalone = StandaloneQuestion("What did LeCun find about LionPrune?", "?")
    assert QuestionEntities.of(standalone, ()).names == ("LeCun", "LionPrune")
    assert QuestionEntities.of(standalone, (), "by Yann LeCun").names == ("LionPrune",)


def test_a_follow_up_is_judged_without_the_title_that_stands_for_the_paper() -> None:
    standalone = StandaloneQuestion(
        "Does it work?", "Besides “LionPrune”: Does it work?", excluded=(ZEBRA,)
    )
    found = QuestionEntities.of(standalone, ())
    assert (found.text, found.names, found.known) == ("Does it work?", (), frozenset())


def test_the_papers_that_a_question_is_about() -> None:
    ranked = [read(TIDAL), read(ZEBRA), read(LICHEN)]

    def about(**known) -> list[str]:
        return [each.passage.paper.id for each in entities("?", **known).among(ranked)]

    assert about() == []
    assert about(named=[LICHEN, ZEBRA]) == ["zebra", "lichen"]
    assert about(named=[LICHEN], focus_papers=(TIDAL,)) == ["tidal"]
    assert about(named=[WHISPER]) == []


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("Wie viele Gewichte entfernt das Verfahren aus großen Netzen?", True),
        ("¿Cuántos parámetros elimina este método de las redes?", True),
        ("このモデルは重みをどれだけ削除しますか", True),
        ("Сколько весов удаляет этот метод?", True),
        ("Do vision models need retraining?", False),
        ("sourdough flour recipe", False),
        ("", False),
    ],
)
def test_a_question_in_another_language(library: Library, question: str, foreign: bool) -> None:
    found = entities(question).is_foreign(library.lexical, library.embedder.count)
    assert found is foreign
