"""Citation lookup over the real seeds, and the rules it goes by on papers one can count."""

from pathlib import Path

import pytest

from retrieval.lexical import LexicalIndex
from retrieval.lookup import Filters, Lookup, plain
from retrieval.merge import fold, paper_of
from retrieval.types import Paper, Record, Source

LEARNING_STRIDES = "Learning Strides in Convolutional Neural Networks"
WORTH_64 = "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers"
GLM = "GLM-130B: An Open Bilingual Pre-trained Model"


@pytest.fixture(scope="module")
def lookup(seed_records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Lookup:
    papers = [paper_of(record) for record in fold(seed_records)]
    index = LexicalIndex(tmp_path_factory.mktemp("lookup") / "lexical")
    index.rebuild(papers, "1")
    return Lookup(papers, index)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        (LEARNING_STRIDES, LEARNING_STRIDES),
        ("learning strides", LEARNING_STRIDES),
        ("lerning strydes in convolutional netwroks", LEARNING_STRIDES),
        ("DiffStride", LEARNING_STRIDES),
        ("Riad et al. strides", LEARNING_STRIDES),
        ("tiem series is worth 64 wrods", WORTH_64),
        ("PatchTST", WORTH_64),
        ("glm-130b", GLM),
        ("text to 3d using 2d difusion", "DreamFusion: Text-to-3D using 2D Diffusion"),
        ("git rebasin", "Git Re-Basin: Merging Models modulo Permutation Symmetries"),
    ],
)
def test_a_title_in_part_misspelled_or_by_nickname(lookup: Lookup, query: str, title: str) -> None:
    assert lookup.find(query, 3)[0].paper.title == title


# The counts are those of `grep -c NAME seeds/*`.
@pytest.mark.parametrize(
    ("query", "author", "count"),
    [
        ("papers by Tom Goldstein", "Tom Goldstein", 8),
        ("Tom Goldstein's papers", "Tom Goldstein", 8),
        ("tom goldstein", "Tom Goldstein", 8),
        ("what did Jonas Geiping write?", "Jonas Geiping", 5),
        ("Which papers did Percy Liang write", "Percy Liang", 2),
        ("Yoshua Bengoi", "Yoshua Bengio", 7),
        ("Jurgen Schmidhuber", "Jürgen Schmidhuber", 1),
        ("Schmidhuber et al", "Jürgen Schmidhuber", 1),
    ],
)
def test_all_papers_of_an_author(lookup: Lookup, query: str, author: str, count: int) -> None:
    matches = lookup.find(query, 100)
    assert len(matches) == count
    for match in matches:
        assert author in match.paper.authors
        assert f"author {author}" in match.why


def test_an_author_of_like_name_is_another(lookup: Lookup) -> None:
    matches = lookup.find("Sung Ju Hwang", 100)
    assert matches
    assert all("Sung Ju Hwang" in match.paper.authors for match in matches)


def test_authors_together(lookup: Lookup) -> None:
    matches = lookup.find("Tom Goldstein and Jonas Geiping", 100)
    assert len(matches) == 5
    for match in matches:
        assert {"Tom Goldstein", "Jonas Geiping"} <= set(match.paper.authors)


def test_other_words_only_order_the_papers_of_an_author(lookup: Lookup) -> None:
    matches = lookup.find("Neil Zeghidour strides", 100)
    assert matches[0].paper.title == LEARNING_STRIDES
    first, *others = lookup.find("Tom Goldstein canary in a coalmine", 100)
    assert first.paper.title.startswith("Canary in a Coalmine")
    assert len(others) == 7


@pytest.mark.parametrize(
    ("query", "expected", "count"),
    [
        ("outstanding papers of ICLR 2022", ("ICLR", 2022, "outstanding paper"), 7),
        ("honourable mentions", ("ICLR", 2022, "honorable mention"), 3),
        ("ICLR 2023 orals", ("ICLR", 2023, "oral"), 90),
        ("spotlights at ICLR 2023", ("ICLR", 2023, "spotlight"), 280),
    ],
)
def test_venue_year_and_decision(
    lookup: Lookup, query: str, expected: tuple[str, int, str], count: int
) -> None:
    matches = lookup.find(query, 1000)
    assert len(matches) == count
    for match in matches:
        paper = match.paper
        assert (paper.venue, paper.year, paper.decision) == expected
        assert f"decision {expected[2]}" in match.why


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (Filters(decision="oral"), 94),
        (Filters(decision="orals", year=2023), 90),
        (Filters(year=2022), 14),
        (Filters(venue="iclr", year=2022), 14),
        (Filters(authors=("goldstein",)), 9),
        (Filters(authors=("Tom Goldstein",)), 8),
        (Filters(authors=("Tom Goldstein", "jonas geiping")), 5),
        (Filters(authors=("Tom Golstein",)), 8),
        (Filters(authors=("goldstein",), year=2022), 0),
        (Filters(year=1999), 0),
    ],
)
def test_filters_alone(lookup: Lookup, filters: Filters, count: int) -> None:
    assert len(lookup.find("", 1000, filters)) == count


def test_a_filter_holds_for_what_the_query_finds(lookup: Lookup) -> None:
    assert lookup.find("strides", 5, Filters(year=2023)) != []
    for match in lookup.find("strides", 5, Filters(year=2023)):
        assert match.paper.year == 2023
        assert match.paper.title != LEARNING_STRIDES


@pytest.mark.parametrize("query", ["Ada Lovelace", "zzyzx", "?!", "Kaiming He"])
def test_what_is_not_here(lookup: Lookup, query: str) -> None:
    assert lookup.find(query, 5) == []


def test_no_more_than_the_limit(lookup: Lookup) -> None:
    assert len(lookup.find("neural networks", 7)) == 7


def test_every_match_says_why(lookup: Lookup) -> None:
    for query in ("diffusion models", "papers by Tom Goldstein", "ICLR 2022"):
        assert all(match.why for match in lookup.find(query, 20))


@pytest.mark.parametrize(
    ("query", "expected", "rest"),
    [
        ("papers by Tom Goldstein", Filters(authors=("Tom Goldstein",)), ""),
        ("ICLR 2023 orals about proteins", Filters((), "ICLR", 2023, "oral"), "proteins"),
        ("DiffStride", Filters(), "diffstride"),
        ("oral or poster", Filters(), ""),
        ("2022 or 2023", Filters(), ""),
    ],
)
def test_what_a_query_says(lookup: Lookup, query: str, expected: Filters, rest: str) -> None:
    assert lookup.understand(query) == (expected, rest)


class NoText:
    """A text search that finds nothing."""

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        assert query
        assert limit >= 0
        return []


def small(id_: str, *authors: str) -> Paper:
    return Paper(id_, id_, authors, "", None, "", "An abstract.", (Source("a", 1),))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Marc Finzi", ["one"]),
        ("Marc Anton Finzi", ["one"]),
        ("Wei Wang", ["two"]),
        ("Wang et al", ["two"]),
        ("Hwang et al", ["three"]),
        ("Wong et al", ["four"]),
    ],
)
def test_names(query: str, found: list[str]) -> None:
    papers = (
        small("one", "Marc Anton Finzi"),
        small("two", "Wei Wang"),
        small("three", "Mina Hwang", "Wei Zhang"),
        small("four", "A. Wong"),
    )
    assert [match.paper.id for match in Lookup(papers, NoText()).find(query, 9)] == found


def test_an_empty_library(tmp_path: Path) -> None:
    assert tmp_path.exists()
    assert Lookup([], NoText()).find("anything by Ann Other at ICLR 2023", 5) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Schölkopf", "scholkopf"),
        ("ŁUKASZ  Kaiser\n", "lukasz kaiser"),
        ("O’Brien", "o'brien"),
        ("ﬁne", "fine"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected
