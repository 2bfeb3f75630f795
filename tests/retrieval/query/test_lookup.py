"""Citation lookup over the real seeds, and the rules it goes by on papers one can count."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_index import indexed, lookup_in, record

from retrieval.query.lookup import Listing, Lookup
from retrieval.query.syntax import ExplicitFilters

LEARNING_STRIDES = "Learning Strides in Convolutional Neural Networks"
WORTH_64 = "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers"
GLM = "GLM-130B: An Open Bilingual Pre-trained Model"
GIT = "Git Re-Basin: Merging Models modulo Permutation Symmetries"
ANALYTIC = (
    "AnalyticDPM: an Analytic Estimate of the Optimal Reverse Variance in Diffusion "
    "Probabilistic Models"
)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        (LEARNING_STRIDES, LEARNING_STRIDES),
        ("learning strides", LEARNING_STRIDES),
        ("lerning strydes in convolutional netwroks", LEARNING_STRIDES),
        ("DiffStride", LEARNING_STRIDES),
        ("diff stride", LEARNING_STRIDES),
        ("Riad et al. strides", LEARNING_STRIDES),
        ("tiem series is worth 64 wrods", WORTH_64),
        ("PatchTST", WORTH_64),
        ("patch-tst", WORTH_64),
        ("glm-130b", GLM),
        ("text to 3d using 2d difusion", "DreamFusion: Text-to-3D using 2D Diffusion"),
        ("git rebasin", GIT),
        ("gitrebasin", GIT),
        ("the Git Re Basin paper", GIT),
        ("Analytic-DPM", ANALYTIC),
        ("analyticdpm", ANALYTIC),
        ("ODAM explanations for detectors", "ODAM: Gradient-based Instance-Specific Visual "),
        ("was PatchTST an ICLR 2023 oral?", WORTH_64),
        ("who wrote Dual Algorithmic Reasoning?", "Dual Algorithmic Reasoning"),
    ],
)
def test_a_title_in_part_misspelled_or_by_nickname(
    seed_lookup: Lookup, query: str, title: str
) -> None:
    assert seed_lookup.find(query, 3).matches[0].paper.title.startswith(title)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (f"Which license does the code of “{LEARNING_STRIDES}” have?", {LEARNING_STRIDES}),
        (f"how many gpus did {LEARNING_STRIDES.lower()} need", {LEARNING_STRIDES}),
        (f"Compare “{LEARNING_STRIDES}” with {GLM}.", {LEARNING_STRIDES, GLM}),
        ("Can strides be learned in convolutional neural networks?", set()),
    ],
)
def test_papers_named_by_their_whole_title(
    seed_lookup: Lookup, question: str, titles: set[str]
) -> None:
    assert {paper.title for paper in seed_lookup.named(question)} == titles


@pytest.mark.parametrize(
    ("question", "starts"),
    [
        ("what is gptq", ["GPTQ: "]),
        ("Does DiffusER need an autoregressive model?", ["DiffusER: "]),  # "diffuse" is common
        ("git re-basin in a nutshell", ["Git Re-Basin: "]),
        ("What is a backdoor attack through training data?", []),
        ("Does chain-of-thought prompting help small models?", []),
        ("Are diffusion models better than GANs?", []),
    ],
)
def test_a_word_names_a_paper_only_if_hardly_any_other_has_it(
    seed_lookup: Lookup, question: str, starts: list[str]
) -> None:
    named = [paper.title for paper in seed_lookup.named(question)]
    assert len(named) == len(starts)
    assert all(map(str.startswith, named, starts))


def test_the_paper_that_gives_a_nickname_goes_before_those_that_have_it(
    seed_lookup: Lookup,
) -> None:
    first = seed_lookup.find("S4", 5).matches[0]
    assert "We propose the Structured State Space sequence model (S4)" in first.paper.abstract
    assert first.why == "introduces “S4”"


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
        ("Juergen Schmidhuber", "Jürgen Schmidhuber", 1),
        ("Schmidhuber et al", "Jürgen Schmidhuber", 1),
        ("T. Goldstein papers", "Tom Goldstein", 8),
        ("Goldstein, Tom", "Tom Goldstein", 8),
    ],
)
def test_all_papers_of_an_author(seed_lookup: Lookup, query: str, author: str, count: int) -> None:
    listing = seed_lookup.find(query, 100)
    assert len(listing.matches) == listing.total == count
    for match in listing.matches:
        assert author in match.paper.authors
        assert f"author {author}" in match.why


def test_an_author_of_like_name_is_another(seed_lookup: Lookup) -> None:
    matches = seed_lookup.find("Sung Ju Hwang", 100).matches
    assert matches
    assert all("Sung Ju Hwang" in match.paper.authors for match in matches)


@pytest.mark.parametrize(
    "query", ["Tom Goldstein and Jonas Geiping", "papers by Goldstein & Geiping written together"]
)
def test_authors_together(seed_lookup: Lookup, query: str) -> None:
    matches = seed_lookup.find(query, 100).matches
    assert len(matches) == 5
    for match in matches:
        assert {"Tom Goldstein", "Jonas Geiping"} <= set(match.paper.authors)


def test_other_words_order_the_papers_of_an_author(seed_lookup: Lookup) -> None:
    matches = seed_lookup.find("Neil Zeghidour strides", 100).matches
    assert matches[0].paper.title == LEARNING_STRIDES
    first, *others = seed_lookup.find("Tom Goldstein canary in a coalmine", 100).matches
    assert first.paper.title.startswith("Canary in a Coalmine")
    assert len(others) == 7


def test_a_topic_selects(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("Chulhee Yun, the papers on shuffling", 100)
    assert len(listing.matches) == 2
    assert all("huffling" in match.paper.title for match in listing.matches)
    listing = seed_lookup.find("ICLR 2022 outstanding papers on graph networks", 100)
    [match] = listing.matches
    assert match.paper.title.endswith("Graph Neural Networks")


@pytest.mark.parametrize(
    ("query", "expected", "count"),
    [
        ("outstanding papers of ICLR 2022", ("ICLR", 2022, "outstanding paper"), 7),
        ("honourable mentions", ("ICLR", 2022, "honorable mention"), 3),
        ("ICLR 2023 orals", ("ICLR", 2023, "oral"), 90),
        ("iclr'23 orals", ("ICLR", 2023, "oral"), 90),
        ("oral papers from 2023", ("ICLR", 2023, "oral"), 90),
        ("spotlights at ICLR 2023", ("ICLR", 2023, "spotlight"), 280),
    ],
)
def test_venue_year_and_decision(
    seed_lookup: Lookup, query: str, expected: tuple[str, int, str], count: int
) -> None:
    matches = seed_lookup.find(query, 1000).matches
    assert len(matches) == count
    for match in matches:
        paper = match.paper
        assert (paper.venue, paper.year, paper.decision) == expected
        assert f"decision {expected[2]}" in match.why


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (ExplicitFilters(decision="oral"), 94),
        (ExplicitFilters(decision="orals", year=2023), 90),
        (ExplicitFilters(year=2022), 14),
        (ExplicitFilters(venue="iclr", year=2022), 14),
        (ExplicitFilters(venue="iclr 2022"), 14),
        (ExplicitFilters(venue="ICLR'22", year=2022), 14),
        (ExplicitFilters(venue="ICLR 2022", year=2023), 0),
        (ExplicitFilters(decision="award"), 10),
        (ExplicitFilters(authors=("Goldstein and Geiping",)), 5),
        (ExplicitFilters(authors=("goldstein",)), 9),
        (ExplicitFilters(authors=("Tom Goldstein",)), 8),
        (ExplicitFilters(authors=("Tom Goldstein", "jonas geiping")), 5),
        (ExplicitFilters(authors=("Tom Golstein",)), 8),
        (ExplicitFilters(authors=("goldstein",), year=2022), 0),
        (ExplicitFilters(year=1999), 0),
    ],
)
def test_filters_alone(seed_lookup: Lookup, filters: ExplicitFilters, count: int) -> None:
    listing = seed_lookup.find("", 1000, filters)
    assert len(listing.matches) == count
    assert bool(listing.note) == (count == 0)


def test_a_filter_holds_for_what_the_query_finds(seed_lookup: Lookup) -> None:
    matches = seed_lookup.find("strides", 5, ExplicitFilters(year=2023)).matches
    assert matches
    for match in matches:
        assert match.paper.year == 2023
        assert match.paper.title != LEARNING_STRIDES


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("Ada Lovelace", "No paper of this library fits “Ada Lovelace”."),
        ("papers by Ada Lovelace", "No paper by Ada Lovelace in this library."),
        ("papers by Kaiming He", "No paper by Kaiming He in this library."),
        ("Kaiming He", "No paper of this library fits “Kaiming He”."),
        ("NeurIPS 2021 papers", "No paper at NeurIPS 2021 in this library."),
        ("ICLR 2019 orals", "No paper at ICLR 2019 with decision oral in this library."),
        (
            "papers by Tom Goldstein about cooking",
            "None of the 8 papers by Tom Goldstein is about “cooking”.",
        ),
        ("zzyzx", "No paper of this library fits “zzyzx”."),
        ("?!", "No paper of this library fits “?!”."),
        ("the of and", "No paper of this library fits “the of and”."),
    ],
)
def test_what_is_not_here_is_said(seed_lookup: Lookup, query: str, note: str) -> None:
    assert seed_lookup.find(query, 5) == Listing((), 0, note)


def test_a_close_name_is_offered(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("papers by Tim Goldstein", 5)
    assert listing.matches == ()
    assert listing.note == "No paper by Tim Goldstein in this library. Did you mean Tom Goldstein?"


def test_a_title_holds_against_a_wrong_author(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("broken neural scaling laws by Lovelace", 5)
    assert [match.paper.title for match in listing.matches] == ["Broken Neural Scaling Laws"]
    assert "Lovelace" in listing.note


def test_a_topic_that_titles_share_does_not_hold_against_a_missing_venue(
    seed_lookup: Lookup,
) -> None:
    listing = seed_lookup.find("papers from NeurIPS 2021 about diffusion", 5)
    assert listing == Listing((), 0, "No paper at NeurIPS 2021 in this library.")


def test_what_is_excluded_is_not_listed(seed_lookup: Lookup) -> None:
    every = {m.paper.id for m in seed_lookup.find("Tom Goldstein", 100).matches}
    alone = seed_lookup.find("papers by Tom Goldstein, not by Jonas Geiping", 100).matches
    assert len(alone) == 3
    assert {match.paper.id for match in alone} < every
    for query in ("iclr 2022 -venue:iclr", "strides not from ICLR 2022"):
        assert all(match.paper.year != 2022 for match in seed_lookup.find(query, 100).matches)


def test_papers_with_an_excluded_word_are_not_listed(seed_lookup: Lookup) -> None:
    with_video = seed_lookup.find("diffusion", 300).total
    listing = seed_lookup.find("diffusion -video", 300)
    assert 0 < listing.total < with_video
    for match in listing.matches:
        words = f"{match.paper.title} {match.paper.abstract}".lower().replace("-", " ").split()
        assert "video" not in words


def test_one_author_or_the_other(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("papers by Ben Poole or Neil Zeghidour", 100)
    both = ("Ben Poole", "Neil Zeghidour")
    counts = [seed_lookup.find(name, 100).total for name in both]
    assert listing.total == sum(counts)
    assert all({*both} & {*match.paper.authors} for match in listing.matches)


def test_explicit_terms_bind(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find('author:"Tom Goldstein" year:2023 canary', 100)
    assert listing.matches[0].paper.title.startswith("Canary in a Coalmine")
    assert all("Tom Goldstein" in match.paper.authors for match in listing.matches)
    note = "No paper by Lovelace in this library."
    assert seed_lookup.find("author:Lovelace broken neural scaling laws", 5).note == note
    assert seed_lookup.find("broken neural scaling laws year:1999", 5).matches == ()


def test_a_query_and_a_filter_that_disagree(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("ICLR 2022 orals", 5, ExplicitFilters(year=2023))
    assert listing.matches == ()
    assert "2023 and 2022" in listing.note


def test_no_more_than_the_limit(seed_lookup: Lookup) -> None:
    listing = seed_lookup.find("neural networks", 7)
    assert len(listing.matches) == 7
    assert listing.total > 7


def test_every_match_says_why(seed_lookup: Lookup) -> None:
    for query in ("diffusion models", "papers by Tom Goldstein", "ICLR 2022"):
        assert all(match.why for match in seed_lookup.find(query, 20).matches)


def test_an_empty_library(tmp_path: Path) -> None:
    lookup = lookup_in([], indexed([], tmp_path))
    assert lookup.find("anything by Ann Other at ICLR 2023", 5).matches == ()
    assert lookup.find("graph networks", 5).matches == ()


def test_records_of_papers_without_titles_or_words(tmp_path: Path) -> None:
    papers = [record("a", abstract="?!"), record("b", "X Æ A-12", title="!!!", abstract="…")]
    lookup = lookup_in(papers, indexed(papers, tmp_path))
    assert [match.paper.id for match in lookup.find("X Æ A-12", 5).matches] == ["b"]


@pytest.mark.parametrize(
    "query",
    [
        'title:"graph" AND -oral* (kernel OR',
        "*",
        "-",
        "author:[a TO z]",
        "\x00\x1b[31m",
        "граф нейронные сети",
        "拡散モデル",
        "🙂🙂",
        "by",
        "papers by",
        "et al",
        "x" * 100_000,
        "graph networks by " * 6_000,
    ],
    ids=lambda query: query[:20],
)
def test_any_query_is_only_words(seed_lookup: Lookup, query: str) -> None:
    listing = seed_lookup.find(query, 5)
    assert bool(listing.matches) != bool(listing.note)
    assert len(listing.note) < 300


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=120))
def test_no_text_fails(seed_lookup: Lookup, query: str) -> None:
    listing = seed_lookup.find(query, 5)
    assert listing.matches or listing.note


WORDS = st.sampled_from(
    "papers by and et al. Tom Goldstein's ICLR 2022 '22 orals or an oral Levine, Du Y. about on "
    "graph who wrote is was it the NeurIPS best paper & in from to since between van den not "
    'without author:du -author: year:>2021 year:-1 -survey venue:" last two years 2020-2022'.split()
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, max_size=9))
def test_no_order_of_asking_words_fails(seed_lookup: Lookup, words: list[str]) -> None:
    listing = seed_lookup.find(" ".join(words), 5)
    assert listing.matches or listing.note
