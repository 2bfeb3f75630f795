"""What queries say about records, in a small library and against content that sounds alike."""

from datetime import date

import pytest
from small_index import indexed, record

from retrieval.index.lexical import LexicalIndex
from retrieval.query.metadata import ParsedQuery, parse_query
from retrieval.types import NO_FILTERS, Filters

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
    return indexed(PAPERS, tmp_path_factory.mktemp("query"))


def parsed(query: str, index: LexicalIndex, *, lookup: bool = True) -> ParsedQuery:
    return parse_query(query, index, lookup=lookup, today=date(2024, 5, 1))


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
        ("papers by Long", ["long, mingsheng"]),
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
    found = parsed(query, index)
    assert [each for who in found.filters.authors for each in who] == names
    assert (found.topic, found.unmatched) == ("", ())


@pytest.mark.parametrize(
    "query", ["Finzi ICLR 2023", "Finzi ICLR", "finzi iclr 2023", "ICLR 2023 Finzi", "finzi 2023"]
)
def test_a_surname_beside_a_venue_or_a_year(index: LexicalIndex, query: str) -> None:
    found = parsed(query, index)
    assert found.filters.authors == (("finzi, marc anton",),)
    assert found.topic == ""


def test_a_surname_alone_means_all_who_have_it(index: LexicalIndex) -> None:
    [who] = parsed("papers by Hwang", index).filters.authors
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
    found = parsed(query, index)
    assert found.filters.authors == (("finzi, marc anton",), ("wilson, andrew gordon",))


@pytest.mark.parametrize(
    "query",
    ["Finzi or Wilson", "papers by Finzi or Wilson", "Marc Finzi or Andrew Wilson on flows"],
)
def test_one_author_or_the_other(index: LexicalIndex, query: str) -> None:
    found = parsed(query, index)
    assert found.filters.authors == (("finzi, marc anton", "wilson, andrew gordon"),)
    assert "Finzi or" in found.said


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("ICLR 2022", Filters(venues=("ICLR",), years=(2022,))),
        ("iclr22", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR'22", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR '22 papers", Filters(venues=("ICLR",), years=(2022,))),
        ("ICLR-2022", Filters(venues=("ICLR",), years=(2022,))),
        ("2022 ICLR papers", Filters(venues=("ICLR",), years=(2022,))),
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
        ("give me all orals from 2022", Filters(years=(2022,), decisions=("oral",))),
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
    found = parsed(query, index)
    assert (found.filters, found.topic) == (filters, "")


DU, FINZI = Filters(authors=(("du, yilun",),)), Filters(authors=(("finzi, marc anton",),))


@pytest.mark.parametrize(
    ("query", "excluded", "topic"),
    [
        ("graphs not by Yilun Du", (DU,), "graphs"),
        ("graphs, not by Finzi or Du", (FINZI, DU), "graphs"),
        ("graphs not from ICLR 2022", (Filters(venues=("ICLR",), years=(2022,)),), "graphs"),
        ("graphs, not the ones from 2022", (Filters(years=(2022,)),), "graphs"),
        ("graphs not from 2021 or 2022", (Filters(years=(2021, 2022)),), "graphs"),
        ("graphs, no orals or posters", (Filters(decisions=("oral", "poster")),), "graphs"),
        ("graphs without the posters", (Filters(decisions=("poster",)),), "graphs"),
        ("graphs except orals", (Filters(decisions=("oral",)),), "graphs"),
        ("graphs -author:du", (DU,), "graphs"),
        ("graphs -venue:iclr -year:2022", (Filters(venues=("ICLR",)), Filters(years=(2022,))),
         "graphs"),
    ],
)  # fmt: skip
def test_what_is_left_out(
    index: LexicalIndex, query: str, excluded: tuple[Filters, ...], topic: str
) -> None:
    found = parsed(query, index)
    assert (found.filters, found.topic) == (Filters(excluded=excluded), topic)


def test_a_not_reaches_no_further_than_what_it_stands_before(index: LexicalIndex) -> None:
    found = parsed("ICLR papers by Finzi, not the posters", index)
    assert found.filters.excluded == (Filters(decisions=("poster",)),)
    assert (found.filters.venues, found.filters.authors) == (("ICLR",), FINZI.authors)
    found = parsed("Finzi or Du, not from 2022", index)
    assert found.filters.excluded == (Filters(years=(2022,)),)
    assert len(found.filters.authors) == 1
    assert not parsed("why models do not learn, ICLR 2022", index).filters.excluded


@pytest.mark.parametrize(
    ("query", "filters", "topic"),
    [
        ('author:"Yilun Du" plans', DU, "plans"),
        ("author:du", DU, ""),
        ("AUTHOR:du author:finzi", Filters(authors=(*DU.authors, *FINZI.authors)), ""),
        ("year:2022", Filters(years=(2022,)), ""),
        ("year:2020-2022", Filters(years=(2020, 2021, 2022)), ""),
        ("year:2022-2020", Filters(years=(2020, 2021, 2022)), ""),
        ("year:>2021", Filters(years=(2022, 2023)), ""),
        ("year:<=2020", Filters(years=(2019, 2020)), ""),
        ("year:2022-", Filters(years=(2022, 2023)), ""),
        ('venue:"ICLR 2022"', Filters(venues=("ICLR",), years=(2022,)), ""),
        ("venue:ICLR venue:Nature", Filters(venues=("ICLR", "Nature")), ""),
        ("decision:oral energy", Filters(decisions=("oral",)), "energy"),
        ("energy -survey", Filters(excluded_words=("survey",)), "energy"),
        ('energy -"large scale"', Filters(excluded_words=("large scale",)), "energy"),
        ("energy year:2022 papers from 2021", Filters(years=(2022,)), "energy"),
    ],
)
@pytest.mark.parametrize("lookup", [True, False])
def test_explicit_terms(
    index: LexicalIndex, query: str, filters: Filters, topic: str, lookup: bool
) -> None:
    found = parsed(query, index, lookup=lookup)
    assert (found.filters, found.topic, found.explicit) == (filters, topic, True)


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("year:abc graphs", "year abc graphs"),
        ("year:0000 graphs", "year 0000 graphs"),
        ("author: graphs", "graphs"),
        ('author:"" graphs', "graphs"),
        ('graphs "unbalanced', "graphs unbalanced"),
        ("graphs - networks", "graphs networks"),
        ("state-of-the-art re-ranking", "state-of-the-art re-ranking"),
        ("rate -0.5", "rate 0.5"),
        ("mailauthor:du", "mailauthor du"),
    ],
)
def test_what_is_no_explicit_term_is_words(index: LexicalIndex, query: str, topic: str) -> None:
    found = parsed(query, index, lookup=False)
    assert (found.filters, found.topic, found.explicit) == (NO_FILTERS, topic, False)


@pytest.mark.parametrize(
    "query",
    [
        "oral cancer",
        "Are oral presentations generated by LLMs good?",
        "What can oral history teach in nature?",
        "spotlight attention",
        "data collected since 2015",
        "ImageNet 2012 accuracy",
        "the NeurIPS 2021 challenge",
        "Who won the NeurIPS 2021 challenge?",
        "Wei Wang's initialization",
        "What is wei wang initialization?",
        "How long do agents learn?",
        "How does the conjecture of Du et al. (2022) explain energies?",
        "data that both Long and Wang agents scale",
        "images generated by long diffusion",
        "trained by Adam, last year",
        "cells infected by West Nile virus",
        "$K$ -armed bandits",
        "DiffStride",
    ],
)
def test_nothing_is_filtered_in_a_question_about_content(index: LexicalIndex, query: str) -> None:
    found = parsed(query, index, lookup=False)
    assert (found.filters, found.unmatched) == (NO_FILTERS, ())


@pytest.mark.parametrize("query", ["oral cancer", "poster design", "so long", "han style",
    "Newton's method papers", "recent graphs", "natural images in nature"])  # fmt: skip
def test_ordinary_words_are_no_filter_in_a_lookup(index: LexicalIndex, query: str) -> None:
    assert not parsed(query, index).filters


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("What do papers at ICLR 2022 say?", Filters(venues=("ICLR",), years=(2022,))),
        ("How do ICLR papers prune?", Filters(venues=("ICLR",))),
        ("Which orals of ICLR use graphs?", Filters(venues=("ICLR",), decisions=("oral",))),
        ("What do papers from 2022 find?", Filters(years=(2022,))),
        ("How do oral papers end?", Filters(decisions=("oral",))),
        ("What does Yilun Du say of rewards?", DU),
        ("What do papers by yilun du say?", DU),
        ("What does Yilun Du's paper say?", DU),
    ],
)
def test_what_a_question_says_of_papers(index: LexicalIndex, query: str, filters: Filters) -> None:
    assert parsed(query, index, lookup=False).filters == filters


@pytest.mark.parametrize(
    ("query", "topic", "introduced"),
    [
        ("ICLR 2022 orals about proteins", "proteins", True),
        ("papers by Yilun Du on Energy models", "Energy models", True),
        ("Yilun Du planning", "planning", False),
        ("papers accepted at ICLR", "", False),
        ("which papers won an award in 2019?", "", False),
    ],
)
def test_topics(index: LexicalIndex, query: str, topic: str, introduced: bool) -> None:
    found = parsed(query, index)
    assert found.filters
    assert (found.topic, found.introduced) == (topic, introduced)


@pytest.mark.parametrize(
    ("query", "unmatched"),
    [
        ("papers by Ada Lovelace", ["by Ada Lovelace"]),
        ("papers by Lovelace", ["by Lovelace"]),
        ("papers by Ada Lovelace at ICLR 2022", ["by Ada Lovelace"]),
        ("papers by Yilun Du and papers by Ada Lovelace", ["by Ada Lovelace"]),
        ("CVPR 2020 papers", ["at CVPR 2020"]),
        ("graphs at CVPR2020", ["at CVPR2020"]),
        ("author:lovelace", ["by lovelace"]),
        ("venue:CVPR", ["at CVPR"]),
        ("decision:gold", ["with decision gold"]),
        ("papers by women", []),
        ("Attention by Design", []),
        ("papers on ImageNet 2012", []),
        ("-author:lovelace graphs", []),
    ],
)
def test_what_is_named_but_not_here(index: LexicalIndex, query: str, unmatched: list[str]) -> None:
    assert [each.said for each in parsed(query, index).unmatched] == unmatched


def test_a_close_name_is_offered(index: LexicalIndex) -> None:
    [unmatched] = parsed("papers by Yilan Dew, Yilun Dux", index).unmatched
    assert unmatched.field == "author"


def test_an_empty_query(index: LexicalIndex) -> None:
    assert parsed("", index) == ParsedQuery(NO_FILTERS)
