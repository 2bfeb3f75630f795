"""Copies of a paper into one."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.formats.merge import (
    combine,
    fingerprint,
    fold,
    letters,
    paper_of,
    record_of,
    same_paper,
)
from retrieval.types import Paper, Publication, Record, Source

WORDS = (
    "stochastic gradient descent converges quickly because the noise of its sampled directions "
    "averages out over many small steps while every large step would amplify the variance that "
    "a single batch of examples brings into the estimated slope of our loss"
)
"""253 characters, 212 letters."""


def record(abstract: str = WORDS, line: int = 1, file: str = "f", **fields: Any) -> Record:
    return Record(abstract=abstract, sources=(Source(file, line),), **fields)


def grouping(records: Sequence[Record]) -> set[frozenset[Source]]:
    """Which records became one paper, told by where they were read."""
    return {frozenset(folded.sources) for folded in records}


# --- what counts as the same abstract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cross-Entropy, 2nd!", "crossentropy2nd"),
        ("ÉTUDE naïve", "etudenaive"),
        ("Straße $x_1$", "strassex1"),
        ("日本 ﬁne", "日本fine"),
        ("\ud83d…—", ""),
    ],
)
def test_letters_and_digits_alone_are_compared(text: str, expected: str) -> None:
    assert letters(text) == expected


@pytest.mark.parametrize(
    "copy",
    [
        WORDS,
        WORDS.upper() + "!",
        WORDS[:200] + " …",
        WORDS[:145],
        WORDS.replace(" ", "-"),
        WORDS.replace("gradient descent", "gradientdescent"),
        WORDS.replace("because ", ""),
        "In short: " + WORDS,
    ],
)
def test_a_cut_or_slightly_changed_copy_is_the_same_paper(copy: str) -> None:
    assert len(fold([record(), record(copy, 2)])) == 1
    assert len(fold([record(copy, 2), record()])) == 1


@pytest.mark.parametrize(
    "other",
    [
        WORDS[130:],
        " ".join(reversed(WORDS.split())),
        WORDS[:100] + " but here the text goes on about frogs and toads in ponds and on the land",
    ],
)
def test_a_text_that_goes_another_way_is_another_paper(other: str) -> None:
    assert len(fold([record(), record(other, 2)])) == 2


@pytest.mark.parametrize("cut", range(145, 245, 5))
def test_a_copy_is_found_wherever_it_was_cut(seed_records: list[Record], cut: int) -> None:
    for whole in seed_records[::40]:
        short = replace(whole, abstract=whole.abstract[:cut], sources=(Source("cut", 1),))
        if len(letters(short.abstract)) >= 120:
            assert len(fold([whole, short])) == 1, whole.abstract


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("a" * 119, "a" * 119, True),
        ("a" * 119, "a" * 120, False),
        ("a" * 120, "a" * 121, True),
        ("", "", False),
        ("", "a" * 200, False),
    ],
)
def test_short_abstracts_must_be_equal(left: str, right: str, same: bool) -> None:
    assert same_paper(left, right) is same
    assert same_paper(right, left) is same


def test_similar_means_92_of_100_letters() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(200))
    # Indel similarity: one changed letter of 200 costs two of 400, so 16 changed leave 92 %.
    assert same_paper(text, "x" * 16 + text[16:])
    assert not same_paper(text, "x" * 17 + text[17:])


# --- what a merged paper keeps


def test_the_fuller_text_and_every_field_are_kept() -> None:
    first = Record(abstract="Cut off …", sources=(Source("b", 2),), title="T", venue="ICLR")
    second = Record(
        abstract="Cut off no more.",
        sources=(Source("a", 9), Source("b", 1)),
        title="Other",
        authors=("Ann",),
        year=2020,
        decision="oral",
        url="u",
        doi="d",
        given_id="i",
    )
    assert combine(first, second) == Record(
        abstract="Cut off no more.",
        sources=(Source("a", 9), Source("b", 1), Source("b", 2)),
        title="T",
        authors=("Ann",),
        venue="ICLR",
        year=2020,
        decision="oral",
        url="u",
        doi="d",
        given_id="i",
    )


@pytest.mark.parametrize(
    ("fuller", "poorer"),
    [
        ("one two three", "one two"),
        ("one two", "one two three …"),
        ("one two", "one two three..."),
        ("cross-entropy loss", "crossentropy loss"),
    ],
)
def test_a_whole_text_beats_a_cut_one_then_more_words_win(fuller: str, poorer: str) -> None:
    assert combine(record(fuller), record(poorer)).abstract == fuller
    assert combine(record(poorer), record(fuller)).abstract == fuller


def test_every_place_of_a_paper_is_remembered_in_order() -> None:
    (paper,) = fold([record(line=7), record(line=3), record(file="a", line=9), record(line=7)])
    assert paper.sources == (Source("a", 9), Source("f", 3), Source("f", 7))


# --- ids


def test_different_ids_of_one_file_part_papers_that_only_a_text_joins() -> None:
    records = [record(given_id="a"), record(line=2), record(line=3, given_id="b")]
    folded = fold(records)
    assert [each.given_id for each in folded] == ["a", "b"]
    assert len(folded[0].sources) == 2
    assert len(fold([records[0], record(file="other", given_id="b")])) == 1


LONG_TITLE = "Stochastic gradient descent and its noise"
NUMBERED = {"given_id": "1", "title": "Editorial"}
YEARLY = {
    "title": LONG_TITLE,
    "authors": ("Xiang Gao",),
    "publication": Publication(kind="article-journal"),
}
BY_GAO = {"title": LONG_TITLE, "authors": ("Xiang Gao",)}
IN_ARXIV, AGAIN_IN_ARXIV = (
    Publication(kind="article", arxiv=f"2001.0000{number}") for number in (1, 2)
)
OTHER = "Frogs and toads live in ponds. " * 8


@pytest.mark.parametrize(
    ("left", "right", "papers"),
    [
        # an equal id and nothing else
        ({"given_id": "1", "title": LONG_TITLE}, {"given_id": "1", "title": "Toads"}, 2),
        ({"given_id": "1"}, {"given_id": "1"}, 2),
        ({"given_id": "1", "title": "Toads"}, {"given_id": "1", "title": "Toads"}, 2),
        ({**NUMBERED, "authors": ("Xiang Gao",)}, {**NUMBERED, "authors": ("Yu Li",)}, 2),
        ({**NUMBERED, "authors": ("Xiang Gao",)}, {**NUMBERED, "authors": ("X. Gao",)}, 1),
        # an equal DOI, however it is written, and whatever the ids
        ({"given_id": "1", "doi": "10.1234/AB"}, {"given_id": "2", "doi": "10.1234/ab"}, 1),
        ({"doi": "10.1234/ab", "title": LONG_TITLE}, {"doi": "10.1234/ab", "title": "Toads"}, 2),
        # title and an author
        (
            {"title": LONG_TITLE, "authors": ("Xiang Gao", "Yu Li")},
            {"title": LONG_TITLE.upper(), "authors": ("X. Gao",)},
            1,
        ),
        (
            {"title": LONG_TITLE, "authors": ("Xiang Gao",)},
            {"title": LONG_TITLE, "authors": ("Yu Li",)},
            2,
        ),
        ({"title": LONG_TITLE, "authors": ("Xiang Gao",)}, {"title": LONG_TITLE}, 2),
        # a report of every year, and a preprint with its journal's paper
        ({**YEARLY, "doi": "10.1234/1"}, {**YEARLY, "doi": "10.1234/2"}, 2),
        ({**YEARLY, "doi": "10.1234/1"}, {**YEARLY, "publication": Publication()}, 1),
        (
            {**YEARLY, "doi": "10.1234/1"},
            {**YEARLY, "doi": "10.1101/2", "publication": Publication(kind="article")},
            1,
        ),
        ({**YEARLY, "year": 2020}, {**YEARLY, "year": 2021}, 2),
        ({**BY_GAO, "year": 2020}, {**BY_GAO, "year": 2021}, 2),
        ({**BY_GAO, "year": 2020}, BY_GAO, 1),
        ({**NUMBERED, **BY_GAO, "year": 2020}, {**NUMBERED, **BY_GAO, "year": 2021}, 2),
        # surveys of one title, whose authors share a common surname or are in arXiv twice
        (
            {**BY_GAO, "authors": ("Xiang Gao", "Yu Li", "Ann Wang")},
            {**BY_GAO, "authors": ("Yi Gao", "Bo Chen", "Jo Xu")},
            2,
        ),
        ({**BY_GAO, "publication": IN_ARXIV}, {**BY_GAO, "publication": AGAIN_IN_ARXIV}, 2),
        ({**BY_GAO, "publication": IN_ARXIV}, BY_GAO, 1),
        (
            {"title": "Editorial", "authors": ("Xiang Gao",)},
            {"title": "Editorial", "authors": ("Xiang Gao",)},
            2,
        ),
    ],
)
def test_records_with_different_abstracts_are_one_paper_if_a_sign_says_so(
    left: dict[str, Any], right: dict[str, Any], papers: int
) -> None:
    records = [record(**left), record(OTHER, 2, "other", **right)]
    assert len(fold(records)) == len(fold(reversed(records))) == papers


def test_a_preprint_in_arxiv_is_found_by_its_identifier() -> None:
    in_arxiv = record(publication=Publication(kind="article", arxiv="2301.00001"))
    other = record(OTHER, 2, "other", doi="10.48550/arXiv.2301.00001")
    assert len(fold([in_arxiv, other])) == 1


@pytest.mark.parametrize("text", ["A correction has been published.", WORDS])
def test_equal_abstracts_of_different_papers_do_not_join_them(text: str) -> None:
    left = record(text, title="Correction to: Frogs", doi="10.1234/a")
    right = record(text, 2, "other", title="Erratum on steel bridges", doi="10.1234/b")
    assert len(fold([left, right])) == 2


def test_the_published_form_of_a_preprint_and_the_full_names_win() -> None:
    preprint = record(
        title=LONG_TITLE,
        authors=("X. Gao",),
        venue="arXiv",
        year=2020,
        publication=Publication(kind="article", arxiv="2001.00001"),
    )
    published = record(
        line=2,
        title=LONG_TITLE,
        authors=("Xiang Gao",),
        venue="Journal of Noise",
        year=2021,
        publication=Publication(kind="article-journal", volume="3", surnames=("Gao",)),
    )
    (paper,) = fold([preprint, published])
    assert (paper.authors, paper.venue, paper.year) == (("Xiang Gao",), "Journal of Noise", 2021)
    assert paper.publication == Publication(
        kind="article-journal", volume="3", arxiv="2001.00001", surnames=("Gao",)
    )


def test_a_full_journal_name_wins_over_its_abbreviation() -> None:
    names = [{"venue": "J. Informetr."}, {"venue": "Journal of Informetrics"}]
    for left, right in (names, names[::-1]):
        (paper,) = fold([record(**left), record(line=2, **right)])
        assert paper.venue == "Journal of Informetrics"


def test_a_journal_is_no_abbreviation_of_another() -> None:
    (paper,) = fold([record(venue="Nature"), record(line=2, venue="Nature Medicine")])
    assert paper.venue == "Nature"


def test_thousands_of_records_that_share_a_text_an_id_or_a_title_take_seconds() -> None:
    for fields in ({"given_id": "1"}, {"title": "Editorial"}, {}):
        records = [
            record(f"{WORDS} {number}", number, **{"given_id": str(number), **fields})
            for number in range(3_000)
        ]
        assert fold(records)


def test_a_generated_id_is_six_words_and_a_hash() -> None:
    paper = paper_of(record(title="Étude: One, Two-Three & Four of Five Six!"))
    assert paper.id.startswith("etude-one-two-three-four-of-")
    assert len(paper.id.rsplit("-", 1)[1]) == 8
    assert not paper.id_is_given


def test_a_generated_id_of_an_untitled_paper_comes_from_its_abstract() -> None:
    assert paper_of(record()).id.startswith(
        "stochastic-gradient-descent-converges-quickly-because-"
    )


def test_a_generated_id_survives_the_end_and_the_punctuation_of_an_abstract() -> None:
    assert paper_of(record(WORDS[:150] + " …")).id == paper_of(record(WORDS.upper())).id


def test_papers_of_one_title_have_different_ids() -> None:
    assert paper_of(record("One.", title="Reply")).id != paper_of(record("Two.", title="Reply")).id


def test_a_paper_without_latin_letters_has_an_id() -> None:
    assert len(paper_of(record("日本語の要約。", title="深層学習")).id) == 8


def test_a_paper_goes_through_a_record_unchanged() -> None:
    place, published = (Source("f", 1),), Publication(kind="book", keywords=("a",))
    paper = Paper("x", "T", ("A",), "V", 2000, "oral", "Text.", place, "u", "d", True, published)
    assert paper_of(record_of(paper)) == paper


# --- order


COPIES = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from(["whole", "cut", "hyphens", "shout"])),
    min_size=1,
    max_size=24,
)


@given(copies=COPIES, seed=st.randoms(use_true_random=False))
def test_neither_grouping_nor_text_depends_on_the_order(
    seed_records: list[Record], copies: list[tuple[int, str]], seed: object
) -> None:
    records = [
        record(_copy(seed_records[number * 50].abstract, how), line)
        for line, (number, how) in enumerate(copies)
    ]
    shuffled = list(records)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = fold(records), fold(shuffled)
    assert len(one) == len({number for number, _ in copies})
    assert grouping(one) == grouping(other)
    assert {each.abstract for each in one} == {each.abstract for each in other}


def _copy(abstract: str, how: str) -> str:
    match how:
        case "cut":
            return abstract[: len(abstract) // 2] + " …"
        case "hyphens":
            return abstract.replace("-", "")
        case "shout":
            return abstract.upper()
        case _:
            return abstract


@given(st.permutations([record(WORDS[:150] + "…", 1), record(line=2), record(WORDS[:190], 3)]))
def test_the_union_of_copies_is_the_same_in_any_order(records: list[Record]) -> None:
    (paper,) = fold(records)
    assert paper == replace(record(), sources=tuple(Source("f", line) for line in (1, 2, 3)))


@given(st.lists(st.text(max_size=40), max_size=12))
def test_folding_what_is_folded_changes_nothing(texts: list[str]) -> None:
    once = fold(record(text, line) for line, text in enumerate(texts))
    assert fold(once) == once


# --- the seeds


def test_ids_of_the_seeds_do_not_depend_on_their_order(seed_records: list[Record]) -> None:
    shuffled = random.Random(0).sample(seed_records, len(seed_records))  # noqa: S311 - repeatable
    ids = {paper_of(each).id for each in fold(seed_records)}
    assert {paper_of(each).id for each in fold(shuffled)} == ids


def test_the_seeds_are_1643_papers(seed_records: list[Record]) -> None:
    folded = fold(seed_records)
    assert (len(seed_records), len(folded)) == (1646, 1643)
    assert sum(each.year == 2022 for each in folded) == 14
    ids = [paper_of(each).id for each in folded]
    assert len(set(ids)) == 1643


def test_papers_on_two_pages_of_the_seeds_keep_title_award_and_full_text(
    seed_records: list[Record],
) -> None:
    twice = [each for each in fold(seed_records) if len({s.file for s in each.sources}) == 2]
    assert len(twice) == 3
    for paper in twice:
        assert paper.title
        assert paper.authors
        assert paper.decision == "outstanding paper"
        assert not paper.abstract.endswith("…")


def test_no_two_papers_of_the_seeds_are_nearly_the_same(seed_records: list[Record]) -> None:
    marks = [fingerprint(each.abstract) for each in fold(seed_records)]
    by_hash: dict[int, list[int]] = {}
    for number, mark in enumerate(marks):
        for value in mark.sketch:
            by_hash.setdefault(value, []).append(number)
    for numbers in by_hash.values():
        for left, right in combinations(numbers, 2):
            assert not same_paper(marks[left].letters, marks[right].letters)
