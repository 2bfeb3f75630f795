"""Copies of a paper into one."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.merge import combine, fingerprint, fold, letters, paper_of, record_of, same_paper
from retrieval.types import Record, Source

WORDS = ("gradient", "kernel", "policy", "graph", "token", "prior", "bound", "sample", "latent")


def abstract_of(seed: int, words: int = 60) -> str:
    """A text that no other seed gives."""
    chosen = random.Random(seed)  # noqa: S311 - repeatable, not secret
    return " ".join(f"{chosen.choice(WORDS)}{chosen.randrange(1000)}" for _ in range(words)) + "."


def record(abstract: str, line: int = 1, file: str = "a.txt", **fields: object) -> Record:
    """A record read from a line of a file."""
    return replace(Record(abstract=abstract, sources=(Source(file, line),)), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kept"),
    [("Cross-Entropy!", "crossentropy"), ("Schrödinger's", "schrodingers"), (" $O(n)$ ", "on")],
)
def test_letters_are_all_that_is_compared(text: str, kept: str) -> None:
    assert letters(text) == kept


def test_a_copy_that_is_cut_off_is_the_same_paper() -> None:
    whole = abstract_of(1)
    assert same_paper(letters(whole), letters(whole[:250] + " …"))


def test_a_copy_that_lost_its_hyphens_is_the_same_paper() -> None:
    whole = "A cross-entropy loss of a two-layer net " + abstract_of(2)
    assert same_paper(letters(whole), letters(whole.replace("-", "")))


def test_short_abstracts_must_be_equal() -> None:
    assert same_paper(letters("We prove a bound."), letters("We prove a bound"))
    assert not same_paper(letters("We prove a bound."), letters("We prove a bound for graphs."))


def test_different_papers_stay_apart() -> None:
    assert len(fold([record(abstract_of(seed)) for seed in range(30)])) == 30


def test_a_union_keeps_the_fuller_text_and_every_field() -> None:
    whole = abstract_of(3)
    award = record(whole[:250] + " …", 4, "awards.txt", decision="outstanding paper", year=2022)
    talk = record(whole, 9, "talks.txt", title="A title", authors=("Ann Lee",), venue="ICLR")
    (merged,) = fold([award, talk])
    assert merged.abstract == whole
    assert (merged.title, merged.authors, merged.venue) == ("A title", ("Ann Lee",), "ICLR")
    assert (merged.decision, merged.year) == ("outstanding paper", 2022)
    assert merged.sources == (Source("awards.txt", 4), Source("talks.txt", 9))


def test_an_uncut_text_is_fuller_than_a_longer_one_that_breaks_off() -> None:
    whole = abstract_of(4, words=50)
    longer = whole + " " + abstract_of(5, words=5).rstrip(".") + " …"
    assert combine(record(longer), record(whole)).abstract == whole


def test_papers_with_different_given_ids_are_never_one() -> None:
    text = abstract_of(6)
    folded = fold([record(text, given_id="a"), record(text, given_id="b")])
    assert [each.given_id for each in folded] == ["a", "b"]


def test_records_of_one_given_id_are_one_paper() -> None:
    folded = fold([record(abstract_of(7), given_id="a"), record(abstract_of(8), given_id="a")])
    assert len(folded) == 1


def test_a_record_without_an_id_joins_one_that_has_it() -> None:
    text = abstract_of(9)
    (merged,) = fold([record(text), record(text, 2, given_id="x7")])
    assert paper_of(merged).id == "x7"
    assert paper_of(merged).id_is_given


@given(st.permutations(range(8)), st.integers(170, 300))
def test_the_order_of_the_files_does_not_matter(order: list[int], cut: int) -> None:
    whole = [record(abstract_of(seed), seed, title=f"Paper {seed}") for seed in range(5)]
    copies = [record(whole[seed].abstract[:cut], seed + 10, "copies.txt") for seed in range(3)]
    records = [*whole, *copies]
    folded = fold(records[position] for position in order)
    assert len(folded) == 5
    assert {(each.title, each.abstract) for each in folded} == {
        (each.title, each.abstract) for each in whole
    }


@given(st.lists(st.text(max_size=40), max_size=12))
def test_folding_what_is_folded_changes_nothing(texts: list[str]) -> None:
    once = fold(record(text, line) for line, text in enumerate(texts))
    assert fold(once) == once


@given(st.text(max_size=500))
def test_a_paper_and_its_record_are_the_same(text: str) -> None:
    paper = paper_of(record(text, title="T", year=2023, url="u", doi="d"))
    assert paper_of(record_of(paper)) == paper


@given(st.text(max_size=600))
def test_every_abstract_has_a_sketch(text: str) -> None:
    assert 1 <= len(fingerprint(text).sketch) <= 9


def test_the_seeds_are_1643_papers(seed_records: list[Record]) -> None:
    papers = [paper_of(each) for each in fold(seed_records)]
    assert (len(seed_records), len(papers)) == (1646, 1643)
    assert len({paper.id for paper in papers}) == 1643
    assert sum(paper.venue == "ICLR" and paper.year == 2022 for paper in papers) == 14


def test_ids_of_the_seeds_do_not_depend_on_their_order(seed_records: list[Record]) -> None:
    shuffled = random.Random(0).sample(seed_records, len(seed_records))  # noqa: S311
    ids = {paper_of(each).id for each in fold(seed_records)}
    assert {paper_of(each).id for each in fold(shuffled)} == ids
