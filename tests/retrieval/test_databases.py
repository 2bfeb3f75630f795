"""What databases and reference managers export, laid out after their documentation."""

import csv
import io
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from damaged import mutated

from retrieval.formats import files_of, read_file
from retrieval.types import InputError, Publication, Record

FROGS = {
    "title": "Calls of tree frogs in winter: a field study",
    "authors": ("Maria García López", "X. Y. Gao"),
    "venue": "Journal of Amphibian Research",
    "year": 2021,
    "doi": "10.1234/jar.2021.017",
    "abstract": "Background: Frogs call. Results: We counted 120 calls of H2O frogs.",
}
"""The paper of most examples, as it should be read; each example says where it differs."""

KIND, VOLUME, ISSUE, PAGES, MONTH = "article-journal", "12", "3", "45-67", 5
DETAILS = {
    "kind": KIND,
    "volume": VOLUME,
    "issue": ISSUE,
    "pages": PAGES,
    "month": MONTH,
    "publisher": "Pond Press",
    "issn": "1234-567X",
    "keywords": ("tree frogs", "calls; in winter"),
    "surnames": ("García López", "Gao"),
}
KEYWORDS = ("tree frogs", "winter")

RIS = """\
TY  - JOUR
ID  - 7
TI  - Calls of tree frogs in winter: a field study
AU  - García López, Maria
AU  - Gao, X. Y.
T2  - Journal of Amphibian Research
J2  - J. Amphib. Res.
PY  - 2021/05/03/
VL  - 12
IS  - 3
SP  - 45
EP  - 67
PB  - Pond Press
SN  - 1234-567X
KW  - tree frogs
winter
DO  - https://doi.org/10.1234/jar.2021.017
AB  - <b>Background</b>: Frogs call.
Results: We counted 120 calls of H<sub>2</sub>O frogs.
ER  -
"""

RIS_OF_WEB_OF_SCIENCE = """\
TY  - JOUR
AU  - Garcia Lopez, M
AU  - Gao, XY
TI  - Calls of tree frogs in winter: a field study
T2  - JOURNAL OF AMPHIBIAN RESEARCH
KW  - tree frogs
AB  - Background: Frogs call. Results: We counted 120 calls of H2O frogs.
AD  - Univ Pond, Dept Frogs, Marsh, SpainPU  - POND PRESS
SN  - 1234-567X
J9  - J AMPHIB RES
DA  - MAY
PY  - 2021
VL  - 12
DO  - 10.1234/jar.2021.017
WE  - Science Citation Index (SCI)AN  - WOS:000123456700001
N1  - Times Cited:  0
Total Times Cited:  0
ER  -
"""

MEDLINE = """
PMID- 34567890
OWN - NLM
IS  - 1234-567X (Electronic)
VI  - 12
IP  - 3
DP  - 2021 May-Jun
TI  - Calls of tree frogs in winter: a
      field study
PG  - 45-67
LID - S1234(21)017 [pii]
LID - 10.1234/jar.2021.017 [doi]
AB  - Background: Frogs call. Results: We counted 120 calls
      of H2O frogs.
CI  - Copyright (c) 2021.
FAU - García López, Maria
AU  - García López M
AD  - Pond University.
FAU - Gao, X. Y.
AU  - Gao XY
LA  - eng
PT  - Journal Article
PT  - Review
TA  - J Amphib Res
JT  - Journal of Amphibian Research
MH  - *Anura/physiology
OT  - tree frogs
OT  - winter

PMID- 34567891
TI  - One without an abstract.
"""

WOS = """\
FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Lopez, MG
   Gao, XY
AF García López, Maria
   Gao, X. Y.
TI Calls of tree frogs in winter: a
   field study
SO Journal of Amphibian Research
DT Article; Proceedings Paper
DE tree frogs; winter
ID ANURA
AB Background: Frogs call. Results: We counted 120 calls of H2O frogs.
PU Pond Press
SN 1234-567X
EI 2345-6789
JI J. Amphib. Res.
PD MAY-JUN
PY 2021
VL 12
IS 3
BP 45
EP 67
DI 10.1234/jar.2021.017
UT WOS:000123456700001
ER

EF
"""

REFER = """\
%0 Journal Article
%T Calls of tree frogs in winter: a field study
%A García López, Maria
%A Gao, X. Y.
%J Journal of Amphibian Research
%D 2021
%8 May 3, 2021
%V 12
%N 3
%P 45-67
%@ 1234-567X
%I Pond Press
%R 10.1234/jar.2021.017
%K tree frogs
%K winter
%X Background: Frogs call. Results: We counted 120 calls of H2O frogs.
"""

ENDNOTE_XML = """\
<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="A.enl">A.enl</database>
<rec-number>7</rec-number><ref-type name="Journal Article">17</ref-type><contributors><authors>
<author><style face="normal">García López, Maria</style></author>
<author><style face="normal">Gao, X. Y.</style></author></authors></contributors>
<titles><title><style face="normal">Calls of tree frogs</style><style face="italic"> in winter: a
field study</style></title><secondary-title>Journal of Amphibian Research</secondary-title></titles>
<periodical><full-title>Journal of Amphibian Research</full-title><abbr-1>J. Amphib. Res.</abbr-1>
</periodical><pages>45-67</pages><volume>12</volume><number>3</number><keywords>
<keyword>tree frogs</keyword><keyword>winter</keyword></keywords><dates><year>2021</year><pub-dates>
<date>May 3</date></pub-dates></dates><publisher>Pond Press</publisher><isbn>1234-567X</isbn>
<electronic-resource-num>10.1234/jar.2021.017</electronic-resource-num><abstract><style>Background:
Frogs call. Results: We counted 120 calls of H</style><style face="subscript">2</style><style>O
frogs.</style></abstract><urls><pdf-urls><url>internal-pdf://7/a.pdf</url></pdf-urls></urls>
</record></records></xml>
"""

PUBMED_XML = """\
<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/p.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">34567890</PMID><Article>
<Journal><ISSN IssnType="Electronic">1234-567X</ISSN><JournalIssue><Volume>12</Volume>
<Issue>3</Issue><PubDate><Year>2021</Year><Month>May</Month></PubDate></JournalIssue>
<Title>Journal of Amphibian Research</Title><ISOAbbreviation>J Amphib Res</ISOAbbreviation>
</Journal>
<ArticleTitle>Calls of <i>tree frogs</i> in winter: a field study</ArticleTitle>
<Pagination><MedlinePgn>45-67</MedlinePgn></Pagination>
<ELocationID EIdType="doi">10.1234/jar.2021.017</ELocationID><Abstract>
<AbstractText Label="Background">Frogs call.</AbstractText>
<AbstractText Label="Results">We counted 120 calls of H<sub>2</sub>O frogs.</AbstractText>
<CopyrightInformation>Copyright 2021.</CopyrightInformation></Abstract><AuthorList>
<Author><LastName>García López</LastName><ForeName>Maria</ForeName><Initials>M</Initials></Author>
<Author><LastName>Gao</LastName><ForeName>X. Y.</ForeName><Initials>XY</Initials></Author>
</AuthorList><PublicationTypeList><PublicationType>Journal Article</PublicationType>
</PublicationTypeList></Article><KeywordList><Keyword>tree frogs</Keyword><Keyword>winter</Keyword>
</KeywordList></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>1</PMID>cut off"""

ARXIV_FEED = """\
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title><entry>
<id>http://arxiv.org/abs/2105.01234v2</id><published>2021-05-03T10:00:00Z</published>
<title>Calls of tree frogs in winter:
  a field study</title><summary>  Background: Frogs call. Results: We counted 120
calls of H2O frogs.
</summary><author><name>Maria García López</name></author><author><name>X. Y. Gao</name>
<arxiv:affiliation xmlns:arxiv="http://arxiv.org/schemas/atom">Pond</arxiv:affiliation></author>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1234/jar.2021.017</arxiv:doi>
</entry></feed>
"""

BIBTEX_OF_SCOPUS = r"""
Scopus
EXPORT DATE: 03 May 2021

@ARTICLE{GarciaLopez2021,
	author = {García López, Maria and Gao, X. Y.},
	title = {Calls of tree frogs in winter: a field study},
	year = {2021}, month = may,
	journal = {Journal of Amphibian Research},
	volume = {12}, number = {3}, pages = {45 – 67},
	doi = {10.1234/jar.2021.017},
	url = {https://www.scopus.com/inward/record.uri?eid=2-s2.0-8500},
	abstract = {Background: Frogs call. Results: We counted 120 calls of H2O frogs.},
	author_keywords = {tree frogs; winter}, keywords = {Anura},
	publisher = {Pond Press}, issn = {1234567X}, language = {English},
	abbrev_source_title = {J. Amphib. Res.}, type = {Article}, source = {Scopus}
}
"""

CSV_OF_SCOPUS = (
    '"Authors","Author full names","Author(s) ID","Title","Year","Source title","Volume","Issue",'
    '"Art. No.","Page start","Page end","DOI","Link","Abstract","Author Keywords","Index Keywords",'
    '"Publisher","ISSN","Abbreviated Source Title","Document Type","Source","EID"\n'
    '"García López M.; Gao X.Y.","García López, Maria (5700000); Gao, X. Y. (5700001)","5;6",'
    '"Calls of tree frogs in winter: a field study","2021","Journal of Amphibian Research","12",'
    '"3",'
    '"","45","67","10.1234/jar.2021.017","https://www.scopus.com/r?eid=2-s2.0-85",'
    '"Background: Frogs call. Results: We counted 120 calls of H2O frogs.","tree frogs; winter",'
    '"Anura","Pond Press","1234567X","J. Amphib. Res.","Article","Scopus","2-s2.0-85"\n'
)

CSV_OF_EMBASE = (
    '"TITLE","Calls of tree frogs in winter: a field study"\n"AUTHOR NAMES","García López M.",'
    '"Gao X.Y."\n"SOURCE","Journal of Amphibian Research (2021) 12:3 (45-67). Date: 3 May 2021"\n'
    '"PUBLICATION YEAR","2021"\n"VOLUME","12"\n"ISSUE","3"\n"DATE OF PUBLICATION","3 May 2021"\n'
    '"PUBLICATION TYPE","Article"\n"ABSTRACT","Background: Frogs call. Results: We counted 120 '
    "calls "
    'of H2O frogs."\n"AUTHOR KEYWORDS","tree frogs","winter"\n"DOI","10.1234/jar.2021.017"\n\n'
    '"TITLE","No abstract"\n"ABSTRACT","NA"\n'
)

CSV_OF_DIMENSIONS = (
    "\"About the data: Exported on May 03, 2021. Criteria: 'frogs'\"\n"
    "Rank,Publication ID,DOI,Title,Abstract,Source title,Anthology title,Publication Date,PubYear,"
    "Volume,Issue,Pagination,Publication Type,Authors,Dimensions URL\n"
    "1,pub.113,10.1234/jar.2021.017,Calls of tree frogs in winter: a field study,"
    '"Background: Frogs call. Results: We counted 120 calls of H2O frogs.",'
    "Journal of Amphibian Research,,2021-05-03,2021,12,3,45-67,Article,"
    '"García López, Maria; Gao, X. Y.",https://app.dimensions.ai/details/publication/pub.113\n'
)

CSV_OF_OPENALEX = (
    "id,doi,display_name,publication_year,publication_date,type,abstract,"
    "authorships.author.display_name,primary_location.source.display_name,"
    "primary_location.source.type,biblio.volume,biblio.issue,biblio.first_page,biblio.last_page,"
    "keywords.display_name\n"
    "https://openalex.org/W314,https://doi.org/10.1234/jar.2021.017,"
    "Calls of tree frogs in winter: a field study,2021,2021-05-03,article,"
    "Background: Frogs call. Results: We counted 120 calls of H2O frogs.,"
    "Maria García López|X. Y. Gao,Journal of Amphibian Research,journal,12,3,45,67,"
    "tree frogs|winter\n"
)

TABLE_OF_WEB_OF_SCIENCE = (
    "PT\tAU\tAF\tTI\tSO\tDE\tAB\tSN\tPD\tPY\tVL\tIS\tBP\tEP\tDI\tUT\n"
    "J\tLopez, MG; Gao, XY\tGarcía López, Maria; Gao, X. Y.\t"
    "Calls of tree frogs in winter: a field study\tJournal of Amphibian Research\t"
    "tree frogs; winter\tBackground: Frogs call. Results: We counted 120 calls of H2O frogs.\t"
    "1234-567X\tMAY\t2021\t12\t3\t45\t67\t10.1234/jar.2021.017\tWOS:000123456700001\n"
)

CSL: dict[str, Any] = {
    "id": "garcia2021",
    "type": "article-journal",
    "title": "Calls of tree frogs in winter: a field study",
    "author": [{"family": "García López", "given": "Maria"}, {"family": "Gao", "given": "X. Y."}],
    "container-title": "Journal of Amphibian Research",
    "container-title-short": "J. Amphib. Res.",
    "issued": {"date-parts": [["2021", 5, 3]]},
    "volume": "12",
    "issue": "3",
    "page": "45-67",
    "publisher": "Pond Press",
    "ISSN": "1234-567X",
    "DOI": "10.1234/jar.2021.017",
    "abstract": "Background: Frogs call. Results: We counted 120 calls of H2O frogs.",
    "keyword": "tree frogs, winter",
}

CROSSREF: dict[str, Any] = {
    "status": "ok",
    "message": {
        "items": [
            {
                **{name: CSL[name] for name in ("author", "volume", "issue", "page", "DOI")},
                "publisher": "Pond Press",
                "title": ["Calls of tree frogs in winter: a field study"],
                "container-title": ["Journal of Amphibian Research"],
                "short-container-title": ["J. Amphib. Res."],
                "ISSN": ["1234-567X", "2345-6789"],
                "type": "journal-article",
                "issued": {"date-parts": [[2021, 5]]},
                "abstract": (
                    "<jats:title>Abstract</jats:title><jats:sec><jats:title>Background</jats:title>"
                    "<jats:p>Frogs call.</jats:p></jats:sec><jats:title>Results</jats:title>"
                    "<jats:p>We counted 120 calls of H<jats:sub>2</jats:sub>O frogs.</jats:p>"
                ),
            }
        ]
    },
}  # fmt: skip

OPENALEX: dict[str, Any] = {
    "id": "https://openalex.org/W314",
    "doi": "https://doi.org/10.1234/jar.2021.017",
    "title": None,
    "display_name": "Calls of tree frogs in winter: a field study",
    "publication_year": 2021,
    "publication_date": "2021-05-03",
    "type": "article",
    "primary_location": {
        "landing_page_url": "https://doi.org/10.1234/jar.2021.017",
        "source": {
            "display_name": "Journal of Amphibian Research",
            "issn_l": "1234-567X",
            "type": "journal",
            "host_organization_name": "Pond Press",
        },
    },
    "authorships": [
        {"author_position": "first", "author": {"display_name": "Maria García López"}},
        {"author_position": "last", "author": {"display_name": "X. Y. Gao"}},
    ],
    "biblio": {"volume": "12", "issue": "3", "first_page": "45", "last_page": "67"},
    "keywords": [{"display_name": "tree frogs", "score": 0.9}, {"display_name": "winter"}],
    "abstract_inverted_index": {
        "Background:": [0], "Frogs": [1], "call.": [2], "Results:": [3], "We": [4], "counted": [5],
        "120": [6], "calls": [7], "of": [8], "H2O": [9], "frogs.": [10],
    },
}  # fmt: skip

SEMANTIC_SCHOLAR: dict[str, Any] = {
    "paperId": "0123456789abcdef0123456789abcdef01234567",
    "externalIds": {"DOI": "10.1234/jar.2021.017", "CorpusId": 1},
    "title": "Calls of tree frogs in winter: a field study",
    "abstract": "Background: Frogs call. Results: We counted 120 calls of H2O frogs.",
    "venue": "Journal of Amphibian Research",
    "year": 2021,
    "publicationDate": "2021-05-03",
    "publicationTypes": ["JournalArticle", "Review"],
    "journal": {"name": "J. Amphib. Res.", "volume": "12", "pages": "\n 45-67\n "},
    "authors": [{"authorId": "1", "name": "Maria García López"}, {"name": "X. Y. Gao"}],
}  # fmt: skip

ARXIV: dict[str, Any] = {
    "id": "2105.01234",
    "submitter": "X. Y. Gao",
    "authors": "Maria Garc\\'ia L\\'opez, X. Y. Gao",
    "title": "Calls of tree frogs in winter:\n  a field study",
    "comments": "9 pages",
    "journal-ref": None,
    "doi": None,
    "report-no": None,
    "categories": "q-bio.PE cs.SD",
    "abstract": "  Background: Frogs call. Results: We counted 120 calls of H2O frogs.\n",
    "versions": [{"version": "v1", "created": "Mon, 3 May 2021 10:00:00 GMT"}],
    "update_date": "2023-01-09",
    "authors_parsed": [["García López", "Maria", ""], ["Gao", "X. Y.", ""]],
}

UNTOLD = {"publisher": "", "surnames": ()}
NO_ISSN = {"issn": "", "publisher": ""}
PREPRINT = {
    **dict.fromkeys(("volume", "issue", "pages", "publisher", "issn"), ""),
    "kind": "article",
    "arxiv": "2105.01234",
    "keywords": (),
}

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "ris": (RIS, {"given_id": "7"}),
    "ris of web of science": (
        RIS_OF_WEB_OF_SCIENCE,
        {
            "authors": ("M Garcia Lopez", "XY Gao"),
            "venue": "JOURNAL OF AMPHIBIAN RESEARCH",
            "publisher": "POND PRESS",
            "issue": "",
            "pages": "",
            "keywords": ("tree frogs",),
            "surnames": ("Garcia Lopez", "Gao"),
        },
    ),
    "ris with one space": (RIS.replace("  -", " -"), {"given_id": "7"}),
    "medline": (MEDLINE, {"given_id": "34567890", "publisher": ""}),
    "web of science": (WOS, {"given_id": "WOS:000123456700001"}),
    "endnote tagged": (REFER, {}),
    "endnote xml": (ENDNOTE_XML, {"given_id": "7"}),
    "pubmed xml": (PUBMED_XML, {"given_id": "34567890", "publisher": ""}),
    "arxiv feed": (ARXIV_FEED, {**PREPRINT, "venue": "", "surnames": (), "url": "http://arxiv.org/abs/2105.01234v2"}),
    "bibtex of scopus": (
        BIBTEX_OF_SCOPUS,
        {
            "given_id": "GarciaLopez2021",
            "url": "https://www.scopus.com/inward/record.uri?eid=2-s2.0-8500",
        },
    ),
    "csv of scopus": (
        CSV_OF_SCOPUS,
        {
            "given_id": "2-s2.0-85",
            "url": "https://www.scopus.com/r?eid=2-s2.0-85",
            "month": None,
        },
    ),
    "csv of embase": (
        CSV_OF_EMBASE,
        {**NO_ISSN, "authors": ("M. García López", "X.Y. Gao"), "pages": ""},
    ),
    "csv of dimensions": (
        CSV_OF_DIMENSIONS,
        {
            **NO_ISSN,
            "given_id": "pub.113",
            "keywords": (),
            "url": "https://app.dimensions.ai/details/publication/pub.113",
        },
    ),
    "csv of openalex": (CSV_OF_OPENALEX, {**UNTOLD, "given_id": "W314", "issn": ""}),
    "table of web of science": (
        TABLE_OF_WEB_OF_SCIENCE,
        {"given_id": "WOS:000123456700001", "publisher": ""},
    ),
    "csl json": (json.dumps([CSL], indent=2), {"given_id": "garcia2021"}),
    "crossref": (json.dumps(CROSSREF), {"keywords": ()}),
    "openalex": (
        json.dumps({"meta": {"count": 1}, "results": [OPENALEX], "group_by": []}, indent=1),
        {"given_id": "W314", "surnames": (), "url": "https://doi.org/10.1234/jar.2021.017"},
    ),
    "openalex lines": (
        json.dumps(OPENALEX) + "\n",
        {"given_id": "W314", "surnames": (), "url": "https://doi.org/10.1234/jar.2021.017"},
    ),
    "semantic scholar": (
        json.dumps({"total": 1, "data": [SEMANTIC_SCHOLAR]}),
        {
            **UNTOLD,
            "given_id": "0123456789abcdef0123456789abcdef01234567",
            "issue": "",
            "issn": "",
            "keywords": (),
        },
    ),
    "arxiv": (
        json.dumps(ARXIV),
        {**PREPRINT, "given_id": "2105.01234", "venue": "", "doi": ""},
    ),
    "arxiv, published": (
        json.dumps({**ARXIV, "journal-ref": "J. Frogs 12 (2021) 45", "doi": FROGS["doi"]}),
        {
            **PREPRINT,
            "kind": KIND,
            "given_id": "2105.01234",
            "venue": "J. Frogs 12 (2021) 45",
        },
    ),
}  # fmt: skip


def expected(changes: dict[str, Any]) -> dict[str, Any]:
    return {
        **FROGS,
        **DETAILS,
        "keywords": KEYWORDS,
        "arxiv": "",
        "given_id": "",
        "url": "",
    } | changes


def fields_of(record: Record) -> dict[str, Any]:
    names = list(Publication.__slots__)
    return {
        **{name: getattr(record, name) for name in (*FROGS, "given_id", "url")},
        **{name: getattr(record.publication, name) for name in names},
    }


def read(tmp_path: Path, content: str | bytes, name: str = "export.txt") -> tuple[Record, ...]:
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_file(file).records


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_field_of_an_export_is_read(tmp_path: Path, name: str) -> None:
    content, changes = EXAMPLES[name]
    (record,) = read(tmp_path, content)
    assert fields_of(record) == expected(changes)


def of(tmp_path: Path, **fields: Any) -> Record:
    """The record of a row of CSV with these columns, and an abstract if none is given."""
    file = io.StringIO()
    row = {"abstract": "An abstract.", **{name.replace("_", " "): v for name, v in fields.items()}}
    writer = csv.DictWriter(file, row)
    writer.writeheader()
    writer.writerow(row)
    (record,) = read(tmp_path, file.getvalue())
    return record


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Gao X.", ("X. Gao",)),
        ("Gao X., Li Y.-L., van de Ven A.", ("X. Gao", "Y.-L. Li", "A. van de Ven")),
        ("Gao, X., Li, Y.", ("X. Gao", "Y. Li")),
        ("Gao XY, Li YL", ("XY Gao", "YL Li")),
        ("Gao X.; Escudero-Arnanz Ó.; Monika", ("X. Gao", "Ó. Escudero-Arnanz", "Monika")),
        ("Gao, Xiang (57190123456); Li, Yu (571)", ("Xiang Gao", "Yu Li")),
        ("Xiang Gao, Yu Li and Ann van Bee", ("Xiang Gao", "Yu Li", "Ann van Bee")),
        ("I. Pratama; N. L. R; XI LIU", ("I. Pratama", "N. L. R", "XI LIU")),
        ("Xiang Gao|Yu Li", ("Xiang Gao", "Yu Li")),
        ("Foo, Bob, Jr.; Foo Bob III", ("Bob Foo Jr.", "Foo Bob III")),
        ("Foo, Bob Jr; Foo, Bob T 3rd", ("Bob Foo Jr", "Bob T Foo 3rd")),
        ("NA", ()),
    ],
)
def test_authors_are_given_names_first_however_they_are_written(
    tmp_path: Path, written: str, names: tuple[str, ...]
) -> None:
    assert of(tmp_path, title="T", authors=written).authors == names


def test_a_published_paper_of_the_feed_of_arxiv_is_an_article(tmp_path: Path) -> None:
    journal = "<arxiv:journal_ref>J. Frogs 12 (2021) 45</arxiv:journal_ref></entry>"
    (record,) = read(tmp_path, ARXIV_FEED.replace("</entry>", journal))
    assert (record.publication.kind, record.venue) == (KIND, "J. Frogs 12 (2021) 45")


def test_full_names_of_authors_and_journals_win(tmp_path: Path) -> None:
    record = of(
        tmp_path,
        Authors="Gao X.",
        Author_full_names="Gao, Xiang (571)",
        Source_title="J. Amphib. Res.",
        Journal="Journal of Amphibian Research",
        Source="Scopus",
    )
    assert (record.authors, record.venue) == (("Xiang Gao",), "Journal of Amphibian Research")


@pytest.mark.parametrize("nothing", ["NA", "N/A", "null", "nan", "", " "])
def test_what_means_nothing_is_empty(tmp_path: Path, nothing: str) -> None:
    record = of(tmp_path, title="T", doi=nothing, venue=nothing, volume=nothing, url=nothing)
    assert (record.doi, record.venue, record.publication.volume, record.url) == ("", "", "", "")
    assert of(tmp_path, title=nothing).title == ""


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("H<sub>2</sub>O and <i>E. coli</i>", "H2O and E. coli"),
        ("&lt;p&gt;One.&lt;/p&gt;&lt;p&gt;Two &amp;amp; three.&lt;/p&gt;", "One. Two & three."),
        ("<h4>Background</h4>Frogs.<h4>Aim:</h4>Call.", "Background: Frogs. Aim: Call."),
        ("<jats:title>Abstract</jats:title><jats:p>Text.</jats:p>", "Text."),
        ('<p class="a" lang=en>One<br/>two</p>', "One two"),
        ("if a < b and b > c then <stop>", "if a < b and b > c then <stop>"),
        ("<mml:math><mml:mi>x</mml:mi></mml:math> grows", "x grows"),
        (
            "<jats:tex-math>$$x$$</jats:tex-math><mml:math><mml:mi>x</mml:mi></mml:math> grows",
            "x grows",
        ),
        (
            '<inline-formula><tex-math notation="LaTeX">$x^2$</tex-math></inline-formula> grows',
            "$x^2$ grows",
        ),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_tags_become_text(tmp_path: Path, written: str, text: str) -> None:
    assert of(tmp_path, title=written, abstract=written).abstract == text


@pytest.mark.parametrize(
    ("column", "value", "field", "read_as"),
    [
        ("Proceedings title", "Proc. of Frogs", "kind", "paper-conference"),
        ("Journal", "Frogs", "kind", "article-journal"),
        ("Document Type", "Conference paper", "kind", "paper-conference"),
        ("Publication Type", "posted-content", "kind", "article"),
        ("Item Type", "bookSection", "kind", "chapter"),
        ("Month", "March", "month", 3),
        ("Publication Date", "2021/04/02", "month", 4),
        ("Date", "5 Dec 2026", "month", 12),
        ("Date", "Spring 2026", "month", None),
        ("Pages", "pp. 12 – 34", "pages", "12-34"),
        ("Art. No.", "e102830", "pages", "e102830"),
        ("ISSNs", "18616429; 18616410", "issn", "1861-6429"),
        ("ISBN/ISSN", "978-3-16-148410-0", "issn", ""),
        ("Index Keywords", "a; b; a", "keywords", ("a", "b")),
        ("URL", "https://arxiv.org/abs/2105.01234v3", "arxiv", "2105.01234"),
    ],
)
def test_columns_and_values_of_the_publication(
    tmp_path: Path, column: str, value: str, field: str, read_as: object
) -> None:
    assert getattr(of(tmp_path, title="T", **{column: value}).publication, field) == read_as


def test_proceedings_title_is_a_venue(tmp_path: Path) -> None:
    assert of(tmp_path, title="T", Proceedings_title="Proc. of Frogs").venue == "Proc. of Frogs"


def test_repeated_values_of_an_id_column_drop_no_record(tmp_path: Path) -> None:
    text = "id,title,abstract\n" + "".join(f"x,Title {n},Abstract {n}.\n" for n in range(3))
    assert len(read(tmp_path, text)) == 3


def test_what_papers_lack_is_said_once_for_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("title,authors,abstract\nT,Ann Bee,One.\n,Ann Bee,Two.\n,NA,Three.\n")
    notes = [(note.source, note.line, note.reason) for note in read_file(file).notes]
    assert notes == [
        ("a.csv", 3, "2 papers, the first here, have no title"),
        ("a.csv", 4, "the paper has no authors"),
    ]


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF; export the references themselves as RIS or BibTeX"),
        (b"PK\x03\x04\x14\x00xl/workbook.xml\xff", "an Excel workbook; save the sheet as CSV"),
        (b"PK\x03\x04\x14\x00\xff", "a packed file; unpack it"),
        (b"\x1f\x8b\x08\x00", "a packed file"),
        (b"SQLite format 3\x00", "a database, such as Zotero keeps; export it"),
        (b"{\\rtf1 A}", "rich text"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"<?xml version='1.0'?><modsCollection></modsCollection>", "MODS; export RIS"),
        (b"<?xml version='1.0'?><rdf:RDF></rdf:RDF>", "RDF, as Zotero writes it; export CSL JSON"),
        (b"<?xml version='1.0'?><a/>", "XML of an unknown kind; export PubMed or EndNote XML"),
        (b"\\begin{thebibliography}{9}\n\\bibitem{a} A.", "LaTeX; give its .bib file"),
        (
            b"1. J Frogs. 2021;12:45. doi: 10.1\n\nCalls of frogs.\n",
            r"save it in the format PubMed",
        ),
        (b"PMID,Title,Authors\n1,T,Gao X\n", "a table of papers without a column of abstracts"),
    ],
)
def test_an_unknown_file_is_named_by_what_it_looks_like(
    tmp_path: Path, content: bytes, looks: str
) -> None:
    with pytest.raises(InputError, match=f"it looks like .*{looks}"):
        read(tmp_path, content)


def test_a_table_in_utf_16_is_read(tmp_path: Path) -> None:
    (record,) = read(tmp_path, TABLE_OF_WEB_OF_SCIENCE.encode("utf-16"))
    assert record.title == FROGS["title"]


def test_a_declared_encoding_of_xml_is_used(tmp_path: Path) -> None:
    text = ENDNOTE_XML.replace("UTF-8", "ISO-8859-1")
    (record,) = read(tmp_path, text.encode("latin-1"))
    assert record.authors[0] == "Maria García López"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_line_ends_and_a_byte_order_mark_make_no_difference(
    tmp_path: Path, name: str, ending: str
) -> None:
    content, changes = EXAMPLES[name]
    (record,) = read(tmp_path, b"\xef\xbb\xbf" + content.replace("\n", ending).encode())
    assert fields_of(record) == expected(changes)


# --- limits


def test_a_record_of_over_a_megabyte_is_skipped(tmp_path: Path) -> None:
    long = "x" * 1_100_000
    file = tmp_path / "a"
    for text in (
        f'{{"abstract": "One."}}\n{{"abstract": "{long}"}}',
        f"TY  - JOUR\nAB  - One.\nER  - \nTY  - JOUR\nAB  - {long}\nER  - \n",
        f"@misc{{a, abstract={{One.}}}}\n@misc{{b, abstract={{{long}}}}}",
        f"title,abstract\nT,One.\nT,{long}\n",
        PUBMED_XML.replace("cut off", f"<A>{long}</A></MedlineCitation></PubmedArticle>"),
    ):
        file.write_text(text)
        page = read_file(file)
        assert len(page.records) == 1
        assert any(
            "at most 1,000,000" in each.reason or "field limit" in each.reason
            for each in page.skipped
        )


def test_what_of_a_long_text_is_searched_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"title": "T", "authors": ["A"], "abstract": "Words. " * 4_000}))
    (note,) = read_file(file).notes
    assert note.reason == "of its 27,999 characters the first 20,000 can be searched"


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "large.bib"
    with file.open("wb") as sparse:
        sparse.truncate(6_000_000_000)
    with pytest.raises(InputError, match=r"large.bib has 6,000 MB; files of up to 200 MB are read"):
        read_file(file)


def test_pipes_devices_and_sockets_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.bib")
    for path in (tmp_path / "pipe.bib", Path("/dev/zero")):
        with pytest.raises(InputError, match="is a pipe, a device or a socket"):
            files_of([path])
        with pytest.raises(InputError, match="is a pipe, a device or a socket"):
            read_file(path)
    with pytest.raises(InputError, match="has no files"):
        files_of([tmp_path])
    (tmp_path / "a.bib").write_text("@misc{a, abstract={One.}}")
    assert files_of([tmp_path]) == [tmp_path / "a.bib", tmp_path / "pipe.bib"]


def test_a_name_that_is_not_utf_8_is_escaped(tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.bib"))
    file.write_text("@misc{a, abstract={One.}}\n@misc{b}")
    page = read_file(file)
    assert page.records[0].sources[0].file == page.skipped[0].source == r"caf\xe9.bib"
    file.write_text("nothing")
    with pytest.raises(InputError, match=r"caf\\xe9.bib is in no format"):
        read_file(file)


@pytest.mark.parametrize("seed", range(150))
def test_a_damaged_export_is_read_or_refused_in_a_sentence(tmp_path: Path, seed: int) -> None:
    """10,000 of them are read by tests/benchmarks/fuzz_formats.py."""
    texts = [content.encode() for content, _ in EXAMPLES.values()]
    chance = random.Random(seed)  # noqa: S311 - repeatable
    file = tmp_path / "export"
    file.write_bytes(mutated(chance.choice(texts), texts, chance))
    said = ""
    try:
        read_file(file)
    except InputError as error:
        said = str(error)
    assert "\n" not in said
