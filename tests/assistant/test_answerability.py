import pytest
from fakes import PAPERS, passage

from assistant.answerability import SMALL_LIBRARY, Signs, Subject
from assistant.conversation import Resolved
from retrieval.library import Library
from retrieval.query.lookup import Lookup

ZEBRA, TIDAL, LICHEN, WHISPER = PAPERS


def subject(library: Library, question: str, **resolved) -> Subject:
    return Subject.of(Resolved(question, question, **resolved), Lookup.over(library))


def signs(library: Library, question: str, of=ZEBRA, **resolved) -> Signs:
    return subject(library, question, **resolved).signs(passage(of), library.lexical)


@pytest.mark.parametrize(
    ("question", "absent", "unknown"),
    [
        ("How many weights does ZebraPrune remove?", 0, 0),
        ("How many weights does zebraprune's method remove?", 0, 0),
        ("Does Zebra-Prune work on ImageNet?", 0, 0),
        ("Does ZebraPrune work on CIFAR-10?", 1, 1),
        ("Does ZebraPrune help LichenSet?", 1, 0),
        ("How does LionPrune work?", 1, 1),
        ("Does ImageNet-like data help?", 0, 0),
        ("What did Ada Miro find about LionPrune?", 1, 1),
        ("WHAT DOES LIONPRUNE DO", 0, 0),
        ("What is pruned?", 0, 0),
    ],
)
def test_names_that_the_abstract_lacks(
    library: Library, question: str, absent: int, unknown: int
) -> None:
    found = signs(library, question)
    assert (found.absent_names, found.unknown_names) == (absent, unknown)


def test_an_acronym_stands_for_the_words_that_it_is_made_from(library: Library) -> None:
    assert signs(library, "How large is the WER of a recogniser?", WHISPER).absent_names == 0
    assert signs(library, "How large is the WRE of a recogniser?", WHISPER).absent_names == 1


def test_unknown_words_count_by_their_rarity_and_the_size_of_the_library(library: Library) -> None:
    most = len(PAPERS) / (len(PAPERS) + SMALL_LIBRARY)
    assert signs(library, "Do vision models need retraining?").unknown_words == 0.0
    assert signs(library, "sourdough flour recipe").unknown_words == pytest.approx(most)
    assert 0 < signs(library, "vision models for sourdough").unknown_words < most


@pytest.mark.parametrize(
    ("question", "unstated"),
    [
        ("Under which license is ZebraPrune released?", True),
        ("How many parameters does ZebraPrune have?", True),
        ("What learning rate was used for ZebraPrune?", True),
        ("How many annotators did ZebraPrune need?", True),
        ("How many weights does ZebraPrune remove?", False),
        ("How many points of accuracy does ZebraPrune lose?", False),
        ("How many GPUs were used for ZebraPrune?", True),
        ("Which optimizer was used for ZebraPrune?", True),
        ("What is its licence fee in ZebraPrune?", True),
        ("What does ZebraPrune remove?", False),
        ("Why is ZebraPrune needed?", False),
    ],
)
def test_details_that_only_a_full_text_has(library: Library, question: str, unstated: bool) -> None:
    assert signs(library, question).unstated is unstated


def test_details_are_looked_for_in_the_paper_in_question_alone(library: Library) -> None:
    question = "How many parameters does it have?"
    assert not signs(library, question).unstated
    assert signs(library, question, about=(ZEBRA,)).unstated
    assert not signs(library, question, about=(TIDAL,)).unstated


def test_a_follow_up_is_judged_without_the_title_that_stands_for_the_paper(
    library: Library,
) -> None:
    resolved = Resolved("Does it work?", "Besides “LionPrune”: Does it work?", besides=(ZEBRA,))
    found = Subject.of(resolved, Lookup.over(library))
    assert (found.text, found.names, found.known) == ("Does it work?", (), frozenset())


def test_a_paper_is_known_by_the_name_of_its_method(library: Library) -> None:
    assert subject(library, "What does ZebraPrune lose?").is_on(ZEBRA)
    assert subject(library, "what does zebraprune lose").is_on(ZEBRA)
    assert not subject(library, "What does pruning lose?").is_on(ZEBRA)
    assert not subject(library, "What does LichenSet hold?").is_on(ZEBRA)


def test_papers_that_are_compared_need_not_have_the_names_of_each_other(library: Library) -> None:
    question = "What is the difference between ZebraPrune and LichenSet?"
    compared = subject(library, question)
    ranked = [passage(ZEBRA), passage(TIDAL), passage(LICHEN)]
    meant = compared.meant(ranked)
    assert [each.paper.id for each in meant] == ["zebra", "lichen"]
    alone = compared.signs(ranked[0], library.lexical)
    beside = compared.signs(ranked[0], library.lexical, [ZEBRA, LICHEN])
    assert (alone.absent_names, beside.absent_names) == (1, 0)


def test_a_second_paper_that_is_only_named_is_not_quoted(library: Library) -> None:
    named = subject(library, "Can ZebraPrune use the LichenSet photographs?")
    ranked = [passage(ZEBRA), passage(LICHEN)]
    assert [each.paper.id for each in named.meant(ranked)] == ["zebra"]


def test_a_paper_that_is_named_but_not_ranked_first_may_only_be_compared_with(
    library: Library,
) -> None:
    named = subject(library, "What is better than ZebraPrune?")
    assert named.meant([passage(TIDAL), passage(ZEBRA)]) == []
    assert [each.paper.id for each in named.meant([passage(ZEBRA), passage(TIDAL)])] == ["zebra"]


def test_a_generic_follow_up_is_not_held_against_its_title(library: Library) -> None:
    assert signs(library, "Does it need pruning?", about=(ZEBRA,)).titled
    assert not signs(library, "What is the main idea?", about=(ZEBRA,)).titled
    assert not signs(library, "Summarise it", about=(ZEBRA,)).titled


def test_every_sign_against_lowers_the_confidence() -> None:
    sure = Signs(0.6, 0, 0, 0.0)
    assert sure.confidence == pytest.approx(0.6)
    for worse in (
        Signs(0.5, 0, 0, 0.0),
        Signs(0.6, 1, 0, 0.0),
        Signs(0.6, 1, 1, 0.0),
        Signs(0.6, 0, 0, 0.5),
        Signs(0.6, 0, 0, 0.0, unstated=True),
        Signs(0.6, 0, 0, 0.0, titled=True),
    ):
        assert worse.confidence < sure.confidence
    assert Signs(0.6, 0, 0, 0.0, named=True).confidence == sure.confidence
    unstated = Signs(0.6, 0, 0, 0.0, unstated=True)
    assert Signs(0.6, 0, 0, 0.0, unstated=True, named=True).confidence < unstated.confidence
    assert Signs(0.6, 2, 0, 0.0).confidence == Signs(0.6, 9, 0, 0.0).confidence
