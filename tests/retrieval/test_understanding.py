"""What queries say about records, in a small library and against content that sounds alike."""

import pytest
from small_index import indexed, record

from retrieval.filters import Filters
from retrieval.lexical import LexicalIndex
from retrieval.understanding import Understood, understand

PAPERS = (
    record("one", "Marc Anton Finzi", "Andrew Gordon Wilson", venue="ICLR", year=2023),
    record("two", "Yilun Du", "Sung Ju Hwang", venue="ICLR", year=2022, decision="oral"),
    record("three", "Hyung Ju Hwang", "Bo Han", venue="NeurIPS", year=2021, decision="poster"),
    record("four", "Bernhard Schölkopf", "Petar Veličković", decision="outstanding paper"),
    record("five", "Mingsheng Long", "Wei Wang", "Guy Van den Broeck", decision="spotlight"),
    record("six", "X.Y. Han", "Jong Chul Ye", year=2019, decision="honorable mention"),
    record("seven", "Percy S. Liang", venue="Nature", year=2020, decision="notable-top-5%"),
    record(
        "eight",
        venue="Proceedings of the 40th International Conference on Machine Learning",
        abstract="How long can oral cancer spotlight attention learn from nature in han style? "
        "We go by so long a poster design of 2021, or 2023.",
    ),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalIndex:
    return indexed(PAPERS, tmp_path_factory.mktemp("understanding"))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("papers by Yilun Du", ["du, yilun"]),
        ("yilun du", ["du, yilun"]),
        ("Du, Yilun", ["du, yilun"]),
        ("Du Yilun", ["du, yilun"]),
        ("Y. Du", ["du, yilun"]),
        ("YILUN DU's papers", ["du, yilun"]),
        ("S. J. Hwang", ["hwang, sung ju"]),
        ("SJ Hwang papers", ["hwang, sung ju"]),
        ("Sung-Ju Hwang", ["hwang, sung ju"]),
        ("Sungju Hwang", ["hwang, sung ju"]),
        ("Sung Hwang", ["hwang, sung ju"]),
        ("Hwang, S. J.", ["hwang, sung ju"]),
        ("Du et al., 2022", ["du, yilun"]),
        ("anything from Yilun Du?", ["du, yilun"]),
        ("Velickovic", ["velickovic, petar"]),
        ("Marc Finzi", ["finzi, marc anton"]),
        ("Andrew G. Wilson", ["wilson, andrew gordon"]),
        ("Percy Liang", ["liang, percy s"]),
        ("Percy Shuo Liang", ["liang, percy s"]),
        ("Bernhard Scholkopf", ["scholkopf, bernhard"]),
        ("papers by Schoelkopf", ["schoelkopf, bernhard"]),
        ("Petar Velickovich", ["velickovic, petar"]),
        ("papers by petar velickovic", ["velickovic, petar"]),
        ("Veličković et al.", ["velickovic, petar"]),
        ("Velickovitch et al.", ["velickovic, petar"]),
        ("Guy van den Broeck", ["broeck, guy van den"]),
        ("papers by Van den Broeck", ["broeck, guy van den"]),
        ("works by Long", ["long, mingsheng"]),
        ("Finzi's papers", ["finzi, marc anton"]),
        ("Du Y", ["du, yilun"]),
        ("papers by Hwang S. J.", ["hwang, sung ju"]),
        ("Y. L. Du", ["du, yilun"]),
        ("X. Y. Han", ["han, x y"]),
        ("XY Han", ["han, x y"]),
        ("Jongchul Ye", ["ye, jong chul"]),
        ("Jong-Chul Ye", ["ye, jong chul"]),
    ],
)
def test_a_name(index: LexicalIndex, query: str, names: list[str]) -> None:
    understood = understand(query, index)
    assert [each for who in understood.filters.authors for each in who] == names
    assert (understood.topic, understood.missing) == ("", ())
    assert understood.asks_for_papers


@pytest.mark.parametrize(
    "query", ["How does the paper by Finzi learn flows?", "papers by Finzi use flows"]
)
def test_a_surname_ends_where_words_in_lower_case_follow(index: LexicalIndex, query: str) -> None:
    understood = understand(query, index)
    assert understood.filters.authors == (("finzi, marc anton",),)
    assert understood.missing == ()


@pytest.mark.parametrize(
    "query", ["Finzi ICLR 2023", "Finzi ICLR", "finzi iclr 2023", "ICLR 2023 Finzi", "finzi 2023"]
)
def test_a_surname_beside_a_venue_or_a_year(index: LexicalIndex, query: str) -> None:
    understood = understand(query, index)
    assert understood.filters.authors == (("finzi, marc anton",),)
    assert understood.topic == ""


def test_a_surname_alone_means_all_who_have_it(index: LexicalIndex) -> None:
    [who] = understand("papers by Hwang", index).filters.authors
    assert set(who) == {"hwang, sung ju", "hwang, hyung ju"}


@pytest.mark.parametrize(
    "query",
    [
        "What have Marc Finzi and Andrew Gordon Wilson written together?",
        "Finzi and Wilson written together",
        "papers by Finzi & Wilson",
        "papers by Finzi with Wilson",
        "Which papers did Finzi and Wilson co-author?",
        "papers by Finzi, Wilson",
        "Finzi M., Wilson A.",
        "Finzi, M., Wilson, A.",
        "Finzi and Wilson",
        "Finzi & Wilson 2023",
        "Finzi, Wilson",
    ],
)
def test_authors_together(index: LexicalIndex, query: str) -> None:
    understood = understand(query, index)
    assert understood.filters.authors == (("finzi, marc anton",), ("wilson, andrew gordon",))
    assert understood.asks_for_papers


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("ICLR 2022", Filters(venues=("ICLR",), years=(2022,))),
        ("iclr22", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR'22", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR '22 papers", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR-2022", Filters(venues=("ICLR",), years=(2022,))),
        ("2022 ICLR papers", Filters(venues=("ICLR",), years=(2022,))),
        ("papers at NIPS", Filters(venues=("NeurIPS",))),
        ("papers in Nature", Filters(venues=("Nature",))),
        ("ICML papers", Filters(venues=(PAPERS[7].venue,))),
        ("papers from 2022", Filters(years=(2022,))),
        ("published in 2022", Filters(years=(2022,))),
        ("papers from 2021 or 2022", Filters(years=(2021, 2022))),
        ("2022 orals", Filters(years=(2022,), decisions=("oral",))),
        ("orals", Filters(decisions=("oral",))),
        ("orals and spotlights", Filters(decisions=("oral", "spotlight"))),
        ("oral presentations", Filters(decisions=("oral",))),
        ("show all papers of 2022 that were oral", Filters(years=(2022,), decisions=("oral",))),
        ("which papers are spotlights?", Filters(decisions=("spotlight",))),
        ("give me every oral from 2022", Filters(years=(2022,), decisions=("oral",))),
        ("outstanding papers", Filters(decisions=("outstanding paper",))),
        ("honourable mentions", Filters(decisions=("honorable mention",))),
        ("notable top 5% papers", Filters(decisions=("notable-top-5%",))),
        ("award winners", Filters(decisions=("honorable mention", "outstanding paper"))),
        (
            "ICLR 2022 award papers",
            Filters(
                venues=("ICLR",),
                years=(2022,),
                decisions=("honorable mention", "outstanding paper"),
            ),
        ),
        (
            "which papers won an award in 2019?",
            Filters(years=(2019,), decisions=("honorable mention", "outstanding paper")),
        ),
        ("outstanding paper awards", Filters(decisions=("outstanding paper",))),
        ("best paper award", Filters(decisions=("outstanding paper",))),
        ("best papers", Filters(decisions=("outstanding paper",))),
        ("papers since 2022", Filters(years=(2022, 2023))),
        ("papers after 2021", Filters(years=(2022, 2023))),
        ("papers before 2021", Filters(years=(2019, 2020))),
        ("papers from 2019 to 2021", Filters(years=(2019, 2020, 2021))),
        ("papers between 2020 and 2022", Filters(years=(2020, 2021, 2022))),
        ("papers since 2030", Filters(years=(2030,))),
        (
            "award-winning papers",
            Filters(decisions=("honorable mention", "outstanding paper")),
        ),
    ],
)
def test_venue_year_and_decision(index: LexicalIndex, query: str, filters: Filters) -> None:
    understood = understand(query, index)
    assert (understood.filters, understood.topic) == (filters, "")


@pytest.mark.parametrize(
    "query",
    [
        "oral cancer",
        "does every oral cancer patient need it?",
        "which of the lesions are oral?",
        "spotlight attention",
        "poster design",
        "papers about poster design",
        "How long do agents learn?",
        "so long",
        "What can oral history teach in nature?",
        "2022 or 2023",
        "ImageNet 2012 accuracy",
        "How many of 2021 steps?",
        "Is X an oral, a spotlight or a poster?",
        "What is Wei Wang initialization?",
        "What is Wei Wang's initialization?",
        "How does the conjecture of Du et al. (2022) explain energies?",
        "data that both Long and Wang agents scale",
        "han style",
        "Long short-term memory",
        "Newton's method papers",
        "images generated by long diffusion",
        "papers on energy not by Yilun Du",
        "papers not by Finzi",
        "DiffStride",
    ],
)
def test_nothing_is_filtered_on_a_weak_guess(index: LexicalIndex, query: str) -> None:
    understood = understand(query, index)
    assert not understood.filters
    assert understood.missing == ()
    assert not understood.asks_for_papers


@pytest.mark.parametrize(
    ("query", "topic", "selects", "asks"),
    [
        ("ICLR 2022 orals about proteins", "proteins", True, True),
        ("papers by Yilun Du on energy models", "energy models", True, True),
        ("offline planning papers by Yilun Du", "offline planning", False, True),
        ("Yilun Du planning", "planning", False, False),
        ("What does Yilun Du's paper on planning say about rewards?", "", True, False),
        ("which ICLR 2022 orals on proteins use symmetry and how accurate are they?", "", 1, 0),
        ("How do papers by Yilun Du train energy models?", "", True, False),
        ("Summarize Yilun Du's papers on planning", "", False, False),
        ("What has Yilun Du written about planning?", "planning", True, True),
        ("How many papers by Yilun Du are there?", "", False, True),
        ("Who is Yilun Du?", "", False, True),
        ("What is ICLR 2022?", "", False, False),
    ],
)
def test_topics_and_what_is_asked(
    index: LexicalIndex, query: str, topic: str, selects: bool, asks: bool
) -> None:
    understood = understand(query, index)
    assert understood.filters
    assert understood.asks_for_papers == bool(asks)
    if topic or not understood.topic:
        assert (understood.topic, understood.selects) == (topic, selects)


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("papers by Ada Lovelace", ["by Ada Lovelace"]),
        ("papers by ada lovelace", ["by ada lovelace"]),
        ("Lovelace et al.", ["by Lovelace"]),
        ("papers by Yilun Du and Ada Lovelace", ["by Ada Lovelace"]),
        ("papers by Ada Lovelace at ICLR 2022", ["by Ada Lovelace"]),
        ("CVPR 2020 papers", ["at CVPR 2020"]),
        ("oral papers from CVPR", ["at CVPR"]),
    ],
)
def test_what_is_named_but_missing(index: LexicalIndex, query: str, missing: list[str]) -> None:
    understood = understand(query, index)
    assert [each.said for each in understood.missing] == missing
    assert understood.asks_for_papers


def test_a_question_about_a_record_supposes(index: LexicalIndex) -> None:
    understood = understand("the S4 paper, was it an ICLR 2022 award?", index)
    assert not understood.filters
    assert understood.hints == Filters(venues=("ICLR",), years=(2022,))
    assert understood.topic == "S4"


def test_where_people_look_papers_up_a_full_name_is_enough(index: LexicalIndex) -> None:
    query = "What is Wei Wang initialization?"
    assert understand(query, index, names_alone=True).filters.authors == (("wang, wei",),)


def test_an_empty_query(index: LexicalIndex) -> None:
    assert understand("", index) == Understood(Filters())
