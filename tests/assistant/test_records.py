import pytest
from fakes import PAPERS, ZEBRA, paper

from assistant.records import entry, opening, record_sentence
from retrieval.types import Paper

ZEBRA_BY = "“Zebra Pruning for Vision Models” is by Ada Miro and Ben Okafor."
ZEBRA_AT = "“Zebra Pruning for Vision Models” appeared at ICML 2021 as an oral."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote it?", ZEBRA_BY),
        ("Who are the authors?", ZEBRA_BY),
        ("Name the authors of this paper.", ZEBRA_BY),
        ("Where was it published?", ZEBRA_AT),
        ("When did it appear?", ZEBRA_AT),
        ("Which year?", ZEBRA_AT),
        ("What year is this from?", ZEBRA_AT),
        ("Was it an oral or a poster?", ZEBRA_AT),
        (
            "Who wrote it and was it an oral?",
            "“Zebra Pruning for Vision Models” is by Ada Miro and Ben Okafor; "
            "it appeared at ICML 2021 as an oral.",
        ),
        ("What is its title?", "The title is “Zebra Pruning for Vision Models”."),
        ("Who are they?", ZEBRA_BY),
        ("who?", ZEBRA_BY),
        ("Did it win an award?", ZEBRA_AT),
        ("How many weights does it remove?", ""),
        ("Who is the target audience?", ""),
        ("Who are the people in the photographs?", ""),
        ("What is the method called?", ""),
        ("Where was it tested?", ""),
        ("Do the authors test on ImageNet?", ""),
        ("Does it need retraining?", ""),
        (
            "How do the authors of this paper explain that so few weights are needed on phones?",
            "",
        ),
    ],
)
def test_questions_about_the_record(question: str, expected: str) -> None:
    assert record_sentence(question, paper()) == expected


@pytest.mark.parametrize(
    ("venue", "year", "decision", "expected"),
    [
        ("ICLR", 2022, "", "appeared at ICLR 2022."),
        ("ICLR", None, "poster", "appeared at ICLR as a poster."),
        ("", None, "spotlight", "appeared as a spotlight."),
        ("ICLR", 2022, "outstanding paper", "appeared at ICLR 2022 as an outstanding paper."),
        ("ICLR", 2022, "honorable mention", "appeared at ICLR 2022 as an honorable mention."),
    ],
)
def test_where_a_paper_appeared(venue: str, year: int | None, decision: str, expected: str) -> None:
    where = record_sentence(
        "Where was it published?", paper(venue=venue, year=year, decision=decision)
    )
    assert where == f"“Zebra Pruning for Vision Models” {expected}"


@pytest.mark.parametrize("question", ["Who wrote it?", "Where was it published?", "Its title?"])
def test_what_the_record_lacks_is_not_answered(question: str) -> None:
    assert record_sentence(question, PAPERS[3]) == ""


@pytest.mark.parametrize(
    ("authors", "expected"),
    [(("A B",), "A B"), (("A B", "C D"), "A B and C D"), (("A", "B", "C"), "A, B and C")],
)
def test_all_authors_are_listed(authors: tuple[str, ...], expected: str) -> None:
    sentence = record_sentence("Who wrote it?", paper(authors=authors))
    assert sentence == f"“Zebra Pruning for Vision Models” is by {expected}."


def test_the_opening_is_the_first_sentence() -> None:
    assert opening(paper()) == "Large vision models are slow on phones."
    assert opening(paper(abstract="no full stop")) == "no full stop"
    assert opening(paper()) in ZEBRA


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (
            paper(),
            "“Zebra Pruning for Vision Models” by Ada Miro and Ben Okafor (ICML 2021, oral)",
        ),
        (paper(authors=(), decision=""), "“Zebra Pruning for Vision Models” (ICML 2021)"),
        (
            paper(title="", abstract="We show it.", authors=(), venue="", year=None),
            "“We show it.” (oral)",
        ),
    ],
)
def test_the_entry_of_a_list(of: Paper, expected: str) -> None:
    assert entry(of) == expected
