r"""Exports as real libraries have them, rougher than the documentation of the formats.

Several records a file, in the encodings, line ends and habits of the programs; each with every
field that should be read.
"""

# ruff: noqa: E501, W291
# fmt: off

import json
from typing import Any

Expected = dict[str, Any]
FILES: dict[str, tuple[bytes, list[Expected]]] = {}
A = "We counted herons at 40 lakes. Their number rose by 12% in wet years."


def add(name: str, text: str | bytes, *papers: Expected, encoding: str = "utf-8") -> None:
    FILES[name] = (text if isinstance(text, bytes) else text.encode(encoding), list(papers))


def paper(**fields: Any) -> Expected:
    return fields


GAO = {"authors": ("Xiaoming Gao", "Anna van den Berg"), "surnames": ("Gao", "van den Berg")}
JOUR = {"kind": "article-journal"}

# --- reference managers

add(
    "zotero.ris",
    "\ufeffTY  - JOUR\r\nTI  - Herons of <i>wet</i> years: 10 µg & more\r\nAU  - Gao, Xiaoming\r\n"
    "AU  - van den Berg, Anna\r\nT2  - Journal of Herons\r\nAB  - " + A + "\r\nDA  - 2019/10/15/\r\n"
    "PY  - 2019\r\nDO  - 10.1234/h.1\r\nDP  - DOI.org (Crossref)\r\nVL  - 12\r\nIS  - 3\r\n"
    "SP  - 45\r\nEP  - 67\r\nJ2  - J Herons\r\nLA  - en\r\nSN  - 1234-5678\r\nST  - Herons\r\n"
    "UR  - https://example.org/a\r\nL4  - https://example.org/a.pdf\r\nY2  - 2024/01/02/09:10:11\r\n"
    "KW  - birds\r\nKW  - lakes, wet\r\nN1  - <p>Read again in 2024</p>\r\nER  - \r\n\r\n"
    "TY  - UNPB\r\nTI  - Attention to herons\r\nAU  - Gao, Xiaoming\r\nAU  - van den Berg, Anna\r\n"
    "AB  - " + A + " Here it is a preprint.\r\nDA  - 2023/08/02/\r\nPY  - 2023\r\n"
    "DO  - 10.48550/arXiv.1706.03762\r\nDP  - arXiv.org\r\nPB  - arXiv\r\nM1  - arXiv:1706.03762\r\n"
    "UR  - http://arxiv.org/abs/1706.03762\r\nY2  - 2024/01/02/\r\nKW  - Computer Science - Birds\r\n"
    "ER  - \r\n\r\n",
    paper(
        title="Herons of wet years: 10 µg & more", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a", keywords=("birds", "lakes, wet"),
    ),
    paper(
        title="Attention to herons", **GAO, kind="article", abstract=A + " Here it is a preprint.",
        year=2023, month=8, doi="10.48550/arXiv.1706.03762", publisher="arXiv",
        arxiv="1706.03762", url="http://arxiv.org/abs/1706.03762",
        keywords=("Computer Science - Birds",),
    ),
)
add(
    "zotero_better_bibtex.bib",
    r"""@misc{gaoAttentionHerons2023,
  title = {Attention {{Is All Herons Need}}: {$O(n \log n)$} Calls},
  shorttitle = {Attention},
  author = {Gao, Xiaoming and {van den Berg}, Anna},
  year = 2023,
  month = aug,
  number = {arXiv:1706.03762},
  eprint = {1706.03762},
  primaryclass = {cs},
  publisher = {arXiv},
  doi = {10.48550/arXiv.1706.03762},
  urldate = {2024-01-02},
  abstract = {We counted herons at 40 lakes. Their number rose by 12\% in wet years.},
  archiveprefix = {arXiv},
  keywords = {Computer Science - Birds,Statistics - Herons},
  file = {/home/u/Zotero/storage/AB/Gao 2023.pdf;/home/u/x.html}
}

@inproceedings{gaoHerons2021,
  title = {Herons \& \emph{{Ardea}} Cinerea at 5\,{\textdegree}{{C}}},
  booktitle = {Proceedings of the 2021 {{Conference}} on {{Birds}}},
  author = {Gao, Xiaoming and Ko{\c c}, {\"O}mer and {\L}ukasz, Jan},
  year = {2021},
  month = jun,
  series = {{{BIRDS}} '21},
  pages = {101--110},
  publisher = {Association for Birds},
  address = {New York, NY, USA},
  doi = {10.1145/1.2},
  isbn = {978-1-4503-8000-1},
  abstract = {Herons call---often---at ``night''. $\alpha$ stays, \textasciitilde 5 too.},
}
""",
    paper(
        title="Attention Is All Herons Need: $O(n \\log n)$ Calls", **GAO, kind="article", year=2023,
        month=8, abstract=A, arxiv="1706.03762", doi="10.48550/arXiv.1706.03762", publisher="arXiv",
        given_id="gaoAttentionHerons2023",
        keywords=("Computer Science - Birds", "Statistics - Herons"),
    ),
    paper(
        title="Herons & Ardea Cinerea at 5 °C", authors=("Xiaoming Gao", "Ömer Koç", "Jan Łukasz"),
        surnames=("Gao", "Koç", "Łukasz"), kind="paper-conference", year=2021, month=6,
        venue="Proceedings of the 2021 Conference on Birds", pages="101-110", doi="10.1145/1.2",
        publisher="Association for Birds", given_id="gaoHerons2021",
        abstract="Herons call—often—at “night”. $\\alpha$ stays, ~5 too.",
    ),
)
add(
    "zotero_better_biblatex.bib",
    r"""@online{gaoAttention2023,
  title = {Attention to {{Herons}}},
  author = {Gao, Xiaoming and family=Berg, given=Anna, prefix=van den, useprefix=true},
  date = {2023-08-01},
  eprint = {1706.03762},
  eprinttype = {arXiv},
  eprintclass = {cs},
  doi = {10.48550/arXiv.1706.03762},
  url = {http://arxiv.org/abs/1706.03762},
  urldate = {2024-01-02},
  abstract = {We counted herons at 40 lakes.},
  pubstate = {prepublished}
}

@thesis{bergThesis2018,
  type = {phdthesis},
  title = {On Herons},
  author = {family=Berg, given=Anna, prefix=van den, useprefix=true},
  date = {2018-04},
  institution = {University of Lakes},
  location = {Delft},
  abstract = {A thesis on herons.},
}

@report{gao2017,
  type = {Technical report},
  title = {Herons Counted},
  author = {{Institute of Birds}},
  date = {2017},
  number = {17-3},
  institution = {Institute of Birds},
  abstract = {A report on herons.},
}
""",
    paper(
        title="Attention to Herons", **GAO, kind="article", year=2023, month=8, arxiv="1706.03762",
        abstract="We counted herons at 40 lakes.", doi="10.48550/arXiv.1706.03762",
        url="http://arxiv.org/abs/1706.03762", given_id="gaoAttention2023",
    ),
    paper(
        title="On Herons", authors=("Anna van den Berg",), surnames=("van den Berg",),
        kind="thesis", year=2018, month=4, venue="University of Lakes", given_id="bergThesis2018",
        abstract="A thesis on herons.",
    ),
    paper(
        title="Herons Counted", authors=("Institute of Birds",), surnames=("Institute of Birds",),
        kind="report", year=2017, venue="Institute of Birds", issue="17-3", given_id="gao2017",
        abstract="A report on herons.",
    ),
)
ZOTERO_ITEM: dict[str, Any] = {
    "id": "gaoHerons2019", "type": "article-journal", "abstract": A,
    "container-title": "Journal of Herons", "container-title-short": "J Herons",
    "DOI": "10.1234/h.1", "ISSN": "1234-5678, 2345-6789", "issue": "3", "page": "45–67",
    "title": "Herons of <i>wet</i> years in CO<sub>2</sub>", "volume": "12",
    "URL": "https://example.org/a", "note": "PMID: 1",
    "author": [{"family": "Gao", "given": "Xiaoming"},
               {"family": "Berg", "given": "Anna", "non-dropping-particle": "van den"},
               {"literal": "Heron Group"}],
    "issued": {"date-parts": [["2019", 10, 15]]}, "accessed": {"date-parts": [["2024", 1, 2]]},
}
add(
    "zotero.csl.json",
    json.dumps([
        ZOTERO_ITEM,
        {"id": "http://zotero.org/users/1/items/XY", "type": "article", "title": "Attention to herons",
         "abstract": "A preprint.", "number": "arXiv:1706.03762", "publisher": "arXiv",
         "source": "arXiv.org", "DOI": "10.48550/arXiv.1706.03762",
         "author": [{"family": "Gao", "given": "Xiaoming"}],
         "issued": {"date-parts": [[2023, 8]]}},
        {"id": "t", "type": "thesis", "title": "On herons", "abstract": "A thesis.",
         "genre": "PhD thesis", "publisher": "University of Lakes",
         "author": [{"family": "Berg", "given": "Anna", "dropping-particle": "van"}],
         "issued": {"raw": "April 2018"}},
    ], indent="\t"),
    paper(
        title="Herons of wet years in CO2", authors=(*GAO["authors"], "Heron Group"),
        surnames=(*GAO["surnames"], "Heron Group"), **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a", given_id="gaoHerons2019",
    ),
    paper(
        title="Attention to herons", authors=("Xiaoming Gao",), surnames=("Gao",), kind="article",
        abstract="A preprint.", year=2023, month=8, arxiv="1706.03762", publisher="arXiv",
        doi="10.48550/arXiv.1706.03762", given_id="http://zotero.org/users/1/items/XY",
    ),
    paper(
        title="On herons", authors=("Anna van Berg",), surnames=("van Berg",), kind="thesis",
        abstract="A thesis.", year=2018, month=4, venue="", publisher="University of Lakes",
        given_id="t",
    ),
)
add(
    "zotero_better_csl.json",
    json.dumps({"config": {"id": "36a3b0b5"}, "version": "6", "items": [
        {"key": "AB12", "itemType": "journalArticle", "title": "Herons of wet years",
         "creators": [{"firstName": "Xiaoming", "lastName": "Gao", "creatorType": "author"},
                      {"name": "Heron Group", "creatorType": "author"},
                      {"firstName": "E.", "lastName": "Ditor", "creatorType": "editor"}],
         "abstractNote": A, "publicationTitle": "Journal of Herons", "volume": "12", "issue": "3",
         "pages": "45-67", "date": "2019-10-15", "journalAbbreviation": "J Herons",
         "DOI": "10.1234/h.1", "ISSN": "1234-5678", "url": "https://example.org/a",
         "tags": [{"tag": "birds"}, {"tag": "lakes", "type": 1}], "citationKey": "gaoHerons2019",
         "attachments": [{"itemType": "attachment", "title": "PDF", "url": "x"}]},
    ]}),
    paper(
        title="Herons of wet years", authors=("Xiaoming Gao", "Heron Group"),
        surnames=("Gao", "Heron Group"), **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a", keywords=("birds", "lakes"),
        given_id="gaoHerons2019",
    ),
)
add(
    "zotero.csv",
    "\ufeff" + '"Key","Item Type","Publication Year","Author","Title","Publication Title","ISBN","ISSN",'
    '"DOI","Url","Abstract Note","Date","Date Added","Date Modified","Access Date","Pages","Num Pages",'
    '"Issue","Volume","Number Of Volumes","Journal Abbreviation","Publisher","Place","Manual Tags",'
    '"Automatic Tags","Editor","Conference Name","Number"\r\n'
    '"ABCD1234","conferencePaper","2019","Gao, Xiaoming; van den Berg, Anna","Herons of ""wet"" years",'
    '"Proceedings of the Conference on Birds","978-1-4503-8000-1","","10.1145/1.2","https://example.org/a",'
    f'"{A}\r\n\r\nSecond part.","2019-06","2021-01-01 10:00:00","2021-01-02 10:00:00","2021-01-01",'
    '"101-110","","","","","","ACM","New York","birds; lakes","","Smith, J.","BIRDS 2019",""\r\n'
    '"EFGH5678","preprint","2023","Gao, Xiaoming","Attention to herons","","","","10.48550/arXiv.1706.03762",'
    '"http://arxiv.org/abs/1706.03762","A preprint.","2023-08-02","","","","","","","","","","arXiv","",'
    '"","Computer Science - Birds","","","arXiv:1706.03762"\r\n',
    paper(
        title='Herons of "wet" years', **GAO, kind="paper-conference", abstract=A + " Second part.",
        year=2019, month=6, venue="Proceedings of the Conference on Birds", doi="10.1145/1.2",
        pages="101-110", publisher="ACM", url="https://example.org/a", keywords=("birds", "lakes"),
        given_id="ABCD1234",
    ),
    paper(
        title="Attention to herons", authors=("Xiaoming Gao",), surnames=("Gao",), kind="article",
        abstract="A preprint.", year=2023, month=8, arxiv="1706.03762", publisher="arXiv",
        doi="10.48550/arXiv.1706.03762", url="http://arxiv.org/abs/1706.03762",
        keywords=("Computer Science - Birds",), given_id="EFGH5678",
    ),
)
add(
    "endnote_windows.ris",
    "TY  - JOUR\r\nAB  - Hérons “de nuit” – comptés à 40 lacs…\r\nAU  - Müller, Jörg\r\n"
    "AU  - O’Brien, Seán\r\nDA  - Oct\r\nDO  - 10.1234/h.1\r\nID  - 12\r\nIS  - 3\r\nKW  - hérons\r\n"
    "lacs\r\nPY  - 2019\r\nSN  - 1234-5678 (Print)\r\n1234-5678 (Linking)\r\nSP  - 45-67\r\n"
    "ST  - Hérons\r\nT2  - Revue des Hérons\r\nTI  - Les hérons – de nuit\r\nVL  - 12\r\nER  - \r\n\r\n",
    paper(
        title="Les hérons – de nuit", authors=("Jörg Müller", "Seán O’Brien"),
        surnames=("Müller", "O’Brien"), **JOUR, abstract="Hérons “de nuit” – comptés à 40 lacs…",
        year=2019, month=10, venue="Revue des Hérons", doi="10.1234/h.1", volume="12", issue="3",
        pages="45-67", issn="1234-5678", keywords=("hérons", "lacs"), given_id="12",
    ),
    encoding="cp1252",
)
add(
    "endnote_numbers.xml",
    '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="My.enl" '
    'path="C:\\My.enl">My.enl</database><source-app name="EndNote" version="20.4">EndNote</source-app>'
    '<rec-number>1</rec-number><foreign-keys><key app="EN" db-id="x" timestamp="1">1</key>'
    '</foreign-keys><ref-type name="Journal Article">17</ref-type><contributors><authors>'
    '<author>Gao, Xiaoming</author><author>van den Berg, Anna</author></authors><secondary-authors>'
    '<author>Ditor, E.</author></secondary-authors></contributors><auth-address>Univ</auth-address>'
    '<titles><title>Herons of wet years: a &lt;i&gt;study&lt;/i&gt; &amp; more</title><secondary-title>'
    'J Herons</secondary-title><alt-title>Journal of herons (Online)</alt-title></titles><periodical>'
    '<full-title>J Herons</full-title></periodical><alt-periodical><full-title>Journal of herons'
    '</full-title></alt-periodical><pages>45-67</pages><volume>12</volume><number>3</number>'
    '<edition>2019/10/15</edition><keywords><keyword>*Birds</keyword><keyword>Lakes/physiology'
    '</keyword></keywords><dates><year>2019</year><pub-dates><date>Oct</date></pub-dates></dates>'
    '<isbn>1234-5678 (Electronic)&#xD;2345-6789 (Linking)</isbn><accession-num>31000001'
    '</accession-num><abstract>BACKGROUND: Herons call.&#xD;RESULTS: We counted 12 &lt; 40 lakes.'
    '</abstract><urls><related-urls><url>https://www.ncbi.nlm.nih.gov/pubmed/31000001</url>'
    '<url>https://b.org</url></related-urls></urls><electronic-resource-num>10.1234/h.1'
    '</electronic-resource-num><language>eng</language></record><record><database name="My.enl">My.enl'
    '</database><rec-number>2</rec-number><ref-type name="Conference Paper">47</ref-type>'
    '<contributors><authors><author><style face="normal" font="default" size="100%">Gao, X.</style>'
    '</author></authors></contributors><titles><title><style face="normal">Herons</style></title>'
    '<secondary-title><style face="normal">BIRDS 2020</style></secondary-title></titles><dates><year>'
    '<style face="normal">2020</style></year></dates><abstract><style face="normal">Herons again.'
    '</style></abstract><urls></urls></record><record><rec-number>3</rec-number>'
    '<ref-type name="Thesis">32</ref-type><titles><title>No abstract</title></titles></record>'
    "</records></xml>",
    paper(
        title="Herons of wet years: a study & more", **GAO, **JOUR, year=2019, month=10,
        abstract="BACKGROUND: Herons call. RESULTS: We counted 12 < 40 lakes.",
        venue="Journal of herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://www.ncbi.nlm.nih.gov/pubmed/31000001",
        keywords=("Birds", "Lakes/physiology"), given_id="1",
    ),
    paper(
        title="Herons", authors=("X. Gao",), surnames=("Gao",), kind="paper-conference", year=2020,
        venue="BIRDS 2020", abstract="Herons again.", given_id="2",
    ),
)
add(
    "mendeley_reference_manager.bib",
    """@article{Gao2019,
   abstract = {We counted herons at 40 lakes. Their number rose by 12% in wet years.},
   author = {Xiaoming Gao and Anna van den Berg},
   doi = {10.1234/h.1},
   issn = {12345678},
   issue = {3},
   journal = {Journal of Herons},
   keywords = {birds,lakes},
   month = {10},
   pages = {45-67},
   pmid = {31000001},
   publisher = {Heron Press},
   title = {Herons of wet years},
   volume = {12},
   url = {https://example.org/a},
   year = {2019}
}
@misc{,
   abstract = {No key, no authors.},
   title = {A note on herons},
   year = {2020}
}
""",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="Heron Press", url="https://example.org/a",
        keywords=("birds", "lakes"), given_id="Gao2019",
    ),
    paper(title="A note on herons", abstract="No key, no authors.", year=2020),
)
add(
    "jabref_windows.bib",
    "% Encoding: windows-1252\r\n\r\n@Article{Mueller2019,\r\n  author    = {Müller, Jörg and "
    "Sørensen, Åse},\r\n  title     = {Hérons “de nuit”},\r\n  journal   = {Revue des Hérons},\r\n"
    "  year      = {2019},\r\n  month     = {#oct#},\r\n  volume    = {12},\r\n  number    = {3},\r\n"
    "  pages     = {45--67},\r\n  abstract  = {Les hérons – comptés.},\r\n  comment   = {x},\r\n"
    "  file      = {:a.pdf:PDF},\r\n  owner     = {me},\r\n  timestamp = {2019.10.15},\r\n}\r\n\r\n"
    "@Comment{jabref-meta: databaseType:bibtex;}\r\n\r\n@Comment{jabref-meta: grouping:\r\n"
    "0 AllEntriesGroup:;\r\n1 StaticGroup:birds\\;0\\;1\\;\\;\\;\\;;\r\n}\r\n",
    paper(
        title="Hérons “de nuit”", authors=("Jörg Müller", "Åse Sørensen"),
        surnames=("Müller", "Sørensen"), **JOUR, abstract="Les hérons – comptés.", year=2019,
        month=10, venue="Revue des Hérons", volume="12", issue="3", pages="45-67",
        given_id="Mueller2019",
    ),
    encoding="cp1252",
)
add(
    "bibdesk.bib",
    """%% This BibTeX bibliography file was created using BibDesk.
%% http://bibdesk.sourceforge.net/

%% Saved with string encoding Unicode (UTF-8)

@string{joh = "Journal of Herons"}

@article{Gao:2019aa,
	Abstract = {We counted herons at 40 lakes. Their number rose by 12{\\%} in wet years.},
	Author = {Xiaoming Gao and Anna van den Berg},
	Date-Added = {2019-10-20 10:00:00 +0000},
	Doi = {10.1234/h.1},
	Issn = {1234-5678},
	Journal = joh,
	Keywords = {birds; lakes},
	Month = {10},
	Number = {3},
	Pages = {45 -- 67},
	Title = {Herons of wet years},
	Ty = {JOUR},
	Url = {https://example.org/a?x=1\\&y=2},
	Volume = {12},
	Year = {2019},
	Bdsk-Url-1 = {https://example.org/a},
	Bdsk-File-1 = {YnBsaXN0MDDSAQIDBFxyZWxhdGl2ZVBhdGg=}}

@comment{BibDesk Smart Groups{
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><array/></plist>
}}
""",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a?x=1&y=2", keywords=("birds", "lakes"),
        given_id="Gao:2019aa",
    ),
)
add(
    "citavi.bib",
    """% This file was created with Citavi 6.14.0.0

@article{Gao.2019,
 abstract = {We counted herons at 40 lakes. Their number rose by 12{\\%} in wet years.},
 author = {Gao, Xiaoming and {van den Berg}, Anna},
 year = {2019},
 title = {Herons of wet years},
 url = {https://example.org/a},
 keywords = {birds;lakes},
 pages = {45--67},
 volume = {12},
 number = {3},
 issn = {1234-5678},
 journal = {Journal of Herons},
 doi = {10.1234/h.1},
 file = {a:Attachments/a.pdf:application/pdf}
}


@proceedings{.2018,
 year = {2018},
 title = {Proceedings of Birds},
 publisher = {{Heron Press}},
}


@inproceedings{Gao.2018,
 abstract = {Herons again.},
 author = {Gao, Xiaoming},
 title = {Herons before},
 pages = {1--9},
 crossref = {.2018}
}
""",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a", keywords=("birds", "lakes"),
        given_id="Gao.2019",
    ),
    paper(
        title="Herons before", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2018, venue="Proceedings of Birds",
        publisher="Heron Press", pages="1-9", given_id="Gao.2018",
    ),
)

# --- Scopus, Web of Science

SCOPUS_HEAD = (
    '"Authors","Author full names","Author(s) ID","Title","Year","Source title","Volume","Issue",'
    '"Art. No.","Page start","Page end","Cited by","DOI","Link","Affiliations",'
    '"Authors with affiliations","Abstract","Author Keywords","Index Keywords","Editors","Publisher",'
    '"Conference name","ISSN","ISBN","Language of Original Document","Abbreviated Source Title",'
    '"Document Type","Publication Stage","Open Access","Source","EID"\n'
)
add(
    "scopus.csv",
    "\ufeff" + SCOPUS_HEAD + '"Gao X.; van den Berg A.; O\'Brien S.; Al-Saadi M.","Gao, Xiaoming (57190000001); van den Berg, Anna '
    "(57190000002); O'Brien, Seán (57190000003); Al-Saadi, Mona (57190000004)\",\"57190000001; 57190000002\",\"Herons of wet years: CO<inf>2</inf> and "
    'R<sup>2</sup> > 0.5","2019","Journal of Herons","12","3","e102830","","","7","10.1234/h.1",'
    '"https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001","","","' + A
    + ' © 2019 Elsevier Ltd","birds; lakes (wet)","Ardea","","Elsevier Ltd","","12345678","","English",'
    '"J. Herons","Article","Final","All Open Access; Gold","Scopus","2-s2.0-85001"\n'
    '"Gao X.","Gao, Xiaoming (57190000001)","57190000001","Herons without abstract","2018","Journal of Herons",'
    '"11","","","","","","","","","","[No abstract available]","","","","","","","","English","","Editorial",'
    '"Final","","Scopus","2-s2.0-85002"\n'
    '"Gao X.","Gao, Xiaoming (57190000001)","57190000001","Herons at talks","2020","Lecture Notes in Birds (including '
    'subseries Lecture Notes in Herons)","1234 LNCS","","","101","110","","10.1007/978-3-030-1_1","","","",'
    '"Herons again.","","","Ditor E.","Springer","12th Conference on Birds, BIRDS 2020","03029743","978-3","English",'
    '"Lect. Notes Birds","Conference paper","Final","","Scopus","2-s2.0-85003"\n',
    paper(
        title="Herons of wet years: CO2 and R2 > 0.5",
        authors=("Xiaoming Gao", "Anna van den Berg", "Seán O'Brien", "Mona Al-Saadi"),
        surnames=("Gao", "van den Berg", "O'Brien", "Al-Saadi"), **JOUR,
        abstract=A + " © 2019 Elsevier Ltd", year=2019, venue="Journal of Herons",
        doi="10.1234/h.1", volume="12", issue="3", pages="e102830", issn="1234-5678",
        publisher="Elsevier Ltd", url="https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001",
        keywords=("birds", "lakes (wet)"), given_id="2-s2.0-85001",
    ),
    paper(
        title="Herons at talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020, volume="1234 LNCS",
        venue="Lecture Notes in Birds (including subseries Lecture Notes in Herons)",
        pages="101-110", doi="10.1007/978-3-030-1_1", publisher="Springer", issn="0302-9743",
        given_id="2-s2.0-85003",
    ),
)
add(
    "scopus_2024.ris",
    f"""TY  - JOUR
AU  - Gao, X.
AU  - van den Berg, A.
TI  - Herons of wet years
PY  - 2019
T2  - Journal of Herons
VL  - 12
IS  - 3
C7  - e102830
DO  - 10.1234/h.1
UR  - https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001&doi=10.1234%2Fh.1&partnerID=40
AD  - University of Lakes, Delft, Netherlands
AD  - Heron Institute
AB  - {A} © 2019 Elsevier Ltd
KW  - birds
KW  - lakes
KW  - Ardea
PB  - Elsevier Ltd
SN  - 12345678 (ISSN)
LA  - English
J2  - J. Herons
M3  - Article
DB  - Scopus
N1  - Export Date: 15 October 2024; Cited By: 7; Correspondence Address: X. Gao; University of Lakes
ER  -

TY  - CONF
AU  - Gao, X.
A2  - Ditor, E.
TI  - Herons at talks
PY  - 2020
T2  - CEUR Workshop Proceedings
VL  - 2600
SP  - 1
EP  - 9
UR  - https://www.scopus.com/inward/record.uri?eid=2-s2.0-85003
AB  - Herons again.
PB  - CEUR-WS
SN  - 16130073 (ISSN)
LA  - English
J2  - CEUR Workshop Proc.
M3  - Conference paper
DB  - Scopus
ER  -
""",
    paper(
        title="Herons of wet years", authors=("X. Gao", "A. van den Berg"),
        surnames=("Gao", "van den Berg"), **JOUR, abstract=A + " © 2019 Elsevier Ltd", year=2019,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="e102830",
        issn="1234-5678", publisher="Elsevier Ltd", keywords=("birds", "lakes", "Ardea"),
        url="https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001&doi=10.1234%2Fh.1&partnerID=40",
    ),
    paper(
        title="Herons at talks", authors=("X. Gao",), surnames=("Gao",), kind="paper-conference",
        abstract="Herons again.", year=2020, venue="CEUR Workshop Proceedings", volume="2600",
        pages="1-9", publisher="CEUR-WS", issn="1613-0073",
        url="https://www.scopus.com/inward/record.uri?eid=2-s2.0-85003",
    ),
)
add(
    "scopus_2024.bib",
    """
Scopus
EXPORT DATE: 15 October 2024

@ARTICLE{Gao2019,
	author = {Gao, Xiaoming and van den Berg, Anna and Sánchez de la Cruz, José M.},
	title = {Herons of wet years: A {study} of H2O & “rain”},
	year = {2019},
	journal = {Journal of Herons},
	volume = {12},
	number = {3},
	pages = {45 – 67},
	doi = {10.1234/h.1},
	url = {https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001&doi=10.1234%2fh.1&partnerID=40},
	affiliations = {University of Lakes, Delft, Netherlands},
	abstract = {We counted herons at 40 lakes. Their number rose by 12% in wet years ({\\textless} 3 °C). © 2019 Elsevier Ltd},
	author_keywords = {birds; lakes},
	keywords = {Ardea; article; human},
	correspondence_address = {X. Gao; University; email: x@y.org},
	publisher = {Elsevier Ltd},
	issn = {12345678},
	coden = {JHERX},
	language = {English},
	abbrev_source_title = {J. Herons},
	type = {Article},
	publication_stage = {Final},
	source = {Scopus},
	note = {Cited by: 7}
}

@CONFERENCE{Gao2020101,
	author = {Gao, Xiaoming},
	title = {Herons at talks},
	year = {2020},
	journal = {CEUR Workshop Proceedings},
	volume = {2600},
	pages = {1 – 9},
	abstract = {Herons again.},
	editor = {Ditor E.},
	publisher = {CEUR-WS},
	issn = {16130073},
	type = {Conference paper},
	source = {Scopus},
}
""",
    paper(
        title="Herons of wet years: A study of H2O & “rain”",
        authors=("Xiaoming Gao", "Anna van den Berg", "José M. Sánchez de la Cruz"),
        surnames=("Gao", "van den Berg", "Sánchez de la Cruz"), **JOUR,
        abstract=A[:-1] + " (< 3 °C). © 2019 Elsevier Ltd", year=2019, venue="Journal of Herons",
        doi="10.1234/h.1", volume="12", issue="3", pages="45-67", issn="1234-5678",
        publisher="Elsevier Ltd", keywords=("birds", "lakes"), given_id="Gao2019",
        url="https://www.scopus.com/inward/record.uri?eid=2-s2.0-85001&doi=10.1234%2fh.1&partnerID=40",
    ),
    paper(
        title="Herons at talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020, volume="2600", pages="1-9",
        venue="CEUR Workshop Proceedings", publisher="CEUR-WS", issn="1613-0073",
        given_id="Gao2020101",
    ),
)
add(
    "web_of_science.txt",
    f"""\ufeffFN Clarivate Analytics Web of Science\r
VR 1.0\r
PT J\r
AU Gao, XM\r
   van den Berg, A\r
AF Gao, Xiaoming\r
   van den Berg, Anna\r
TI Herons of wet years: H&lt;sub&gt;2&lt;/sub&gt;O and\r
   rain\r
SO JOURNAL OF HERONS\r
LA English\r
DT Article\r
DE birds; lakes\r
ID ARDEA; RAIN\r
AB {A} (C) 2019 Elsevier Ltd. All rights\r
   reserved.\r
C1 [Gao, Xiaoming] Univ Lakes, Delft, Netherlands.\r
RP Gao, XM (corresponding author), Univ Lakes, Delft, Netherlands.\r
EM x@y.org\r
CR Smith J, 2010, J HERONS, V3, P12, DOI 10.9999/wrong.1\r
   Jones K, 2011, J HERONS, V4, P1, DOI [10.9999/wrong.2, 10.9999/wrong.3]\r
NR 2\r
TC 7\r
PU ELSEVIER SCI LTD\r
PI OXFORD\r
PA THE BOULEVARD, OXFORD, ENGLAND\r
SN 1234-5678\r
EI 2345-6789\r
J9 J HERONS\r
JI J. Herons\r
PD OCT 15\r
PY 2019\r
VL 12\r
IS 3\r
AR 102830\r
DI 10.1234/h.1\r
EA SEP 2019\r
PG 9\r
WC Ornithology\r
UT WOS:000500000000001\r
PM 31000001\r
OA Green Published\r
DA 2024-10-15\r
ER\r
\r
PT S\r
AU Gao, XM\r
AF Gao, Xiaoming\r
BE Ditor, E\r
TI Herons at talks\r
SO BIRDS 2020: PROCEEDINGS OF THE CONFERENCE ON BIRDS\r
SE Lecture Notes in Birds\r
LA English\r
DT Proceedings Paper\r
CT Conference on Birds\r
CY JUN 01-03, 2020\r
AB Herons again.\r
PU SPRINGER\r
SN 0302-9743\r
BN 978-3\r
PY 2020\r
VL 1234\r
BP 101\r
EP 110\r
DI 10.1007/978-3-030-1_1\r
D2 10.1007/978-3-030-1\r
UT WOS:000500000000002\r
ER\r
\r
EF\r
""",
    paper(
        title="Herons of wet years: H2O and rain", **GAO, **JOUR,
        abstract=A + " (C) 2019 Elsevier Ltd. All rights reserved.", year=2019, month=10,
        venue="JOURNAL OF HERONS", doi="10.1234/h.1", volume="12", issue="3", pages="102830",
        issn="1234-5678", publisher="ELSEVIER SCI LTD", keywords=("birds", "lakes"),
        given_id="WOS:000500000000001",
    ),
    paper(
        title="Herons at talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020, volume="1234",
        venue="BIRDS 2020: PROCEEDINGS OF THE CONFERENCE ON BIRDS", pages="101-110",
        doi="10.1007/978-3-030-1_1", publisher="SPRINGER", issn="0302-9743",
        given_id="WOS:000500000000002",
    ),
)
WOS_TABLE = (
    "PT\tAU\tBA\tBE\tGP\tAF\tBF\tCA\tTI\tSO\tSE\tLA\tDT\tCT\tDE\tID\tAB\tPU\tSN\tEI\tJ9\tJI\tPD\tPY"
    "\tVL\tIS\tBP\tEP\tAR\tDI\tUT\t\n"
    'J\tGao, XM; van den Berg, A\t\t\t\tGao, Xiaoming; van den Berg, Anna\t\t\t"Wet" herons: a study\t'
    "JOURNAL OF HERONS\t\tEnglish\tArticle\t\tbirds; lakes\t\t" + A + "\tELSEVIER\t1234-5678\t\tJ HERONS"
    "\tJ. Herons\tOCT\t2019\t12\t3\t45\t67\t\t10.1234/h.1\tWOS:000500000000001\t\n"
    'J\tGao, XM\t\t\t\tGao, Xiaoming\t\t\tHerons of 5" rain\tJOURNAL OF HERONS\t\tEnglish\tArticle\t\t'
    '\t\t"It rained 5" when herons called.\tELSEVIER\t1234-5678\t\tJ HERONS\tJ. Herons\t\t2020\t13\t1\t1\t9'
    "\t\t10.1234/h.2\tWOS:000500000000002\t\n"
)
WOS_PAPERS = (
    paper(
        title='"Wet" herons: a study', **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="JOURNAL OF HERONS", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="ELSEVIER", keywords=("birds", "lakes"),
        given_id="WOS:000500000000001",
    ),
    paper(
        title='Herons of 5" rain', authors=("Xiaoming Gao",), surnames=("Gao",), **JOUR,
        abstract='"It rained 5" when herons called.', year=2020, venue="JOURNAL OF HERONS",
        doi="10.1234/h.2", volume="13", issue="1", pages="1-9", issn="1234-5678",
        publisher="ELSEVIER", given_id="WOS:000500000000002",
    ),
)
add("web_of_science_tab.txt", "\ufeff" + WOS_TABLE.replace("\n", "\r\n"), *WOS_PAPERS)
add("web_of_science_tab_utf16.txt", WOS_TABLE.replace("\n", "\r\n"), *WOS_PAPERS, encoding="utf-16")
add(
    "excel_semicolons.csv",
    "sep=;\r\nAutoren;Titel;Title;Authors;Year;Journal;DOI;Abstract;Volume;Pages\r\n"
    'x;y;Reiher im Fluß;"Müller, Jörg; Weiß, Ute";2019;Zeitschrift für Vögel;10.1234/h.1;'
    '"Wir zählten; es waren 12 – mehr als „vorher“.";12;45-67\r\n',
    paper(
        title="Reiher im Fluß", authors=("Jörg Müller", "Ute Weiß"), surnames=("Müller", "Weiß"),
        abstract="Wir zählten; es waren 12 – mehr als „vorher“.", year=2019,
        venue="Zeitschrift für Vögel", doi="10.1234/h.1", volume="12", pages="45-67", **JOUR,
    ),
    encoding="cp1252",
)

# --- PubMed, Ovid, Embase, Cochrane, EBSCO, ProQuest

add(
    "pubmed.nbib",
    f"""\r
PMID- 31000001\r
OWN - NLM\r
STAT- MEDLINE\r
DCOM- 20200101\r
LR  - 20200101\r
IS  - 1234-5678 (Electronic)\r
IS  - 2345-6789 (Linking)\r
VI  - 12\r
IP  - 3\r
DP  - 2019 Oct 15\r
TI  - Herons of wet years: a randomized trial of rain in patients with a very long title\r
      that runs on.\r
PG  - 45-67\r
LID - S1234-5678(19)30001-1 [pii]\r
LID - 10.1234/h.1 [doi]\r
AB  - BACKGROUND: {A}\r
      FINDINGS: P < 0.001. COPYRIGHT: 2019 Elsevier.\r
CI  - Copyright (c) 2019 Elsevier Ltd. All rights reserved.\r
FAU - Gao, Xiaoming\r
AU  - Gao X\r
AUID- ORCID: 0000-0001-0000-0001\r
AD  - Univ Lakes, Delft, Netherlands. Electronic address: x@y.org.\r
FAU - van den Berg, Anna\r
AU  - van den Berg A\r
CN  - HERON Investigators\r
LA  - eng\r
SI  - ClinicalTrials.gov/NCT00000001\r
PT  - Journal Article\r
PT  - Randomized Controlled Trial\r
PT  - Research Support, Non-U.S. Gov't\r
DEP - 20190901\r
PL  - England\r
TA  - J Herons\r
JT  - Journal of herons (London, England)\r
JID - 0000001\r
RN  - 0 (Rain)\r
SB  - IM\r
CIN - J Herons. 2019 Oct 15;12(3):1-2. doi: 10.9999/wrong. PMID: 1\r
MH  - Animals\r
MH  - *Birds/physiology\r
OTO - NOTNLM\r
OT  - birds\r
OT  - lakes\r
EDAT- 2019/09/05 06:00\r
AID - 10.1234/h.1 [doi]\r
PST - ppublish\r
SO  - J Herons. 2019 Oct 15;12(3):45-67. doi: 10.1234/h.1. Epub 2019 Sep 1.\r
\r
PMID- 31000002\r
STAT- PubMed-not-MEDLINE\r
DP  - 2020 Mar\r
TI  - Preprint on herons.\r
AB  - Herons again.\r
FAU - Gao, Xiaoming\r
AU  - Gao X\r
LA  - eng\r
PT  - Journal Article\r
PT  - Preprint\r
TA  - bioRxiv\r
JT  - bioRxiv : the preprint server for biology\r
AID - 10.1101/2020.03.01.000001 [doi]\r
SO  - bioRxiv [Preprint]. 2020 Mar 1:2020.03.01.000001. doi: 10.1101/2020.03.01.000001.\r
""",
    paper(
        title="Herons of wet years: a randomized trial of rain in patients with a very long title"
        " that runs on.",
        authors=(*GAO["authors"], "HERON Investigators"),
        surnames=(*GAO["surnames"], "HERON Investigators"), **JOUR,
        abstract=f"BACKGROUND: {A} FINDINGS: P < 0.001. COPYRIGHT: 2019 Elsevier.", year=2019,
        month=10, venue="Journal of herons (London, England)", doi="10.1234/h.1", volume="12",
        issue="3", pages="45-67", issn="1234-5678", keywords=("birds", "lakes"),
        given_id="31000001",
    ),
    paper(
        title="Preprint on herons.", authors=("Xiaoming Gao",), surnames=("Gao",), kind="article",
        abstract="Herons again.", year=2020, month=3, doi="10.1101/2020.03.01.000001",
        venue="bioRxiv : the preprint server for biology", given_id="31000002",
    ),
)
add(
    "pubmed.xml",
    """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE" IndexingMethod="Automated" Owner="NLM"><PMID Version="1">31000001</PMID><DateCompleted><Year>2021</Year><Month>01</Month><Day>02</Day></DateCompleted><DateRevised><Year>2022</Year><Month>02</Month></DateRevised><Article PubModel="Print-Electronic"><Journal><ISSN IssnType="Electronic">1234-5678</ISSN><JournalIssue CitedMedium="Internet"><Volume>12</Volume><Issue>3</Issue><PubDate><Year>2019</Year><Season>Fall</Season></PubDate></JournalIssue><Title>Journal of herons</Title><ISOAbbreviation>J Herons</ISOAbbreviation></Journal><ArticleTitle>Herons (<i>Ardea</i>) of wet years: <sup>13</sup>C &amp; TGF-&#x3b2;.</ArticleTitle><Pagination><StartPage>45</StartPage><EndPage>67</EndPage><MedlinePgn>45-67</MedlinePgn></Pagination><ELocationID EIdType="pii" ValidYN="Y">S1234</ELocationID><ELocationID EIdType="doi" ValidYN="Y">10.1234/h.1</ELocationID><Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Herons <b>call</b>.</AbstractText><AbstractText Label="RESULTS" NlmCategory="RESULTS">We counted 40 lakes (<i>p</i>&#x2009;&lt;&#x2009;0.01).</AbstractText><CopyrightInformation>Copyright 2019.</CopyrightInformation></Abstract><AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Gao</LastName><ForeName>Xiaoming</ForeName><Initials>X</Initials><AffiliationInfo><Affiliation>Univ Lakes.</Affiliation></AffiliationInfo></Author><Author ValidYN="Y"><LastName>Foo</LastName><ForeName>Bob</ForeName><Initials>B</Initials><Suffix>Jr</Suffix></Author><Author ValidYN="Y"><CollectiveName>HERON Group</CollectiveName></Author></AuthorList><Language>eng</Language><PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList></Article><MedlineJournalInfo><Country>England</Country><MedlineTA>J Herons</MedlineTA><NlmUniqueID>1</NlmUniqueID><ISSNLinking>2345-6789</ISSNLinking></MedlineJournalInfo><CommentsCorrectionsList><CommentsCorrections RefType="CommentIn"><RefSource>J Herons. 2019;12(3):1</RefSource><PMID Version="1">1</PMID></CommentsCorrections></CommentsCorrectionsList><MeshHeadingList><MeshHeading><DescriptorName UI="D1">Birds</DescriptorName></MeshHeading></MeshHeadingList><OtherAbstract Type="Publisher" Language="spa"><AbstractText>Las garzas.</AbstractText></OtherAbstract><KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">birds</Keyword><Keyword MajorTopicYN="Y">lakes</Keyword></KeywordList><InvestigatorList><Investigator ValidYN="Y"><LastName>Wrong</LastName><ForeName>Ann</ForeName></Investigator></InvestigatorList></MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="received"><Year>2018</Year><Month>5</Month></PubMedPubDate></History><ArticleIdList><ArticleId IdType="pubmed">31000001</ArticleId><ArticleId IdType="doi">10.1234/h.1</ArticleId></ArticleIdList><ReferenceList><Reference><Citation>X</Citation><ArticleIdList><ArticleId IdType="doi">10.9999/wrong</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation Status="Publisher" Owner="NLM"><PMID Version="1">31000002</PMID><Article PubModel="Electronic"><Journal><JournalIssue CitedMedium="Internet"><PubDate><Year>2020</Year><Month>03</Month><Day>01</Day></PubDate></JournalIssue><Title>Vogelwarte</Title></Journal><ArticleTitle>[Herons at night].</ArticleTitle><Abstract><AbstractText>Herons again.</AbstractText></Abstract><VernacularTitle>Reiher bei Nacht.</VernacularTitle><PublicationTypeList><PublicationType UI="D000076942">Preprint</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID Version="1">20000001</PMID><ArticleIdList><ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList><Book><Publisher><PublisherName>University of Lakes</PublisherName><PublisherLocation>Delft</PublisherLocation></Publisher><BookTitle book="gene">HeronReviews</BookTitle><PubDate><Year>1993</Year></PubDate><AuthorList Type="editors"><Author><LastName>Ditor</LastName><ForeName>Emma</ForeName></Author></AuthorList></Book><ArticleTitle book="gene" part="x">Heron Disease</ArticleTitle><Language>eng</Language><AuthorList Type="authors"><Author><LastName>Gao</LastName><ForeName>Xiaoming</ForeName></Author></AuthorList><PublicationType UI="D016454">Review</PublicationType><Abstract><AbstractText>A chapter.</AbstractText></Abstract></BookDocument></PubmedBookArticle>
</PubmedArticleSet>""",
    paper(
        title="Herons (Ardea) of wet years: 13C & TGF-β.",
        authors=("Xiaoming Gao", "Bob Foo Jr", "HERON Group"), surnames=("Gao", "Foo", "HERON Group"),
        **JOUR, abstract="BACKGROUND: Herons call. RESULTS: We counted 40 lakes (p < 0.01).",
        year=2019, venue="Journal of herons", doi="10.1234/h.1", volume="12", issue="3",
        pages="45-67", issn="1234-5678", keywords=("birds", "lakes"), given_id="31000001",
    ),
    paper(
        title="[Herons at night].", kind="article", abstract="Herons again.", year=2020, month=3,
        venue="Vogelwarte", given_id="31000002",
    ),
    paper(
        title="Heron Disease", authors=("Xiaoming Gao",), surnames=("Gao",), kind="chapter",
        abstract="A chapter.", year=1993, venue="HeronReviews", publisher="University of Lakes",
        given_id="20000001",
    ),
)
add(
    "ovid.ris",
    f"""TY  - JOUR
DB  - Ovid MEDLINE(R)
AN  - 31000001
ID  - 10.1234/h.1 [doi]
T1  - Herons of wet years.
[Review]
A1  - Gao, Xiaoming
A1  - van den Berg, Anna
Y1  - 20191015//
N2  - {A}
KW  - *Birds
KW  - Lakes/ph [Physiology]
KW  - 0 (Rain)
JF  - Journal of herons
JA  - J Herons
LA  - English
VL  - 12
IS  - 3
SP  - 45
EP  - 67
CY  - England
SN  - 1234-5678
DO  - https://dx.doi.org/10.1234/h.1
PT  - Journal Article
UR  - https://ovidsp.ovid.com/ovidweb.cgi?T=JS&CSC=Y&NEWS=N&PAGE=fulltext&D=med16&AN=31000001
ER  -

TY  - JOUR
DB  - Embase
AN  - 2004000001
T1  - Herons at night
A1  - Gao X.
Y1  - 2020//
N2  - Herons again.
JF  - Journal of Herons
VL  - 13
IN  - (Gao) Univ Lakes, Delft
SN  - 1234-5678 (electronic) 2345-6789
PB  - Elsevier Ltd (Langford Lane, Oxford OX5 1GB, United Kingdom)
M3  - Article in Press
ER  -
""",
    paper(
        title="Herons of wet years. [Review]", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", keywords=("Birds", "Lakes/ph [Physiology]", "0 (Rain)"),
        given_id="10.1234/h.1 [doi]",
        url="https://ovidsp.ovid.com/ovidweb.cgi?T=JS&CSC=Y&NEWS=N&PAGE=fulltext&D=med16&AN=31000001",
    ),
    paper(
        title="Herons at night", authors=("X. Gao",), surnames=("Gao",), **JOUR,
        abstract="Herons again.", year=2020, venue="Journal of Herons", volume="13",
        issn="1234-5678",
        publisher="Elsevier Ltd (Langford Lane, Oxford OX5 1GB, United Kingdom)",
    ),
)
add(
    "embase.ris",
    f"""TY  - JOUR
ID  - L631000001
A1  - Gao X.
A1  - van den Berg A.
A1  - Murk J.-L.
M1  - (Gao X.; van den Berg A.) Univ Lakes, Delft, Netherlands
Y1  - 2019
T1  - Herons of wet years: a study
KW  - bird
KW  - *lake
JF  - Journal of Herons
JO  - J. Herons
LA  - English
VL  - 12
IS  - 3
SP  - 45
EP  - 67
CY  - United Kingdom
PB  - Elsevier Ltd
SN  - 2345-6789
SN  - 1234-5678
N2  - {A}
U2  - L631000001
U4  - 2019-10-20
UR  - https://www.embase.com/search/results?subaction=viewrecord&id=L631000001&from=export
UR  - http://dx.doi.org/10.1234/h.1
DO  - 10.1234/h.1
ER  -
""",
    paper(
        title="Herons of wet years: a study",
        authors=("X. Gao", "A. van den Berg", "J.-L. Murk"),
        surnames=("Gao", "van den Berg", "Murk"), **JOUR, abstract=A, year=2019,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="2345-6789", publisher="Elsevier Ltd", keywords=("bird", "lake"),
        given_id="L631000001",
        url="https://www.embase.com/search/results?subaction=viewrecord&id=L631000001&from=export",
    ),
)
add(
    "ebsco.ris",
    f"""TY  - JOUR
ID  - 137000001
T1  - Herons of wet years.
AU  - Gao, Xiaoming
AU  - van den Berg, Anna
JO  - Journal of Herons
JF  - Journal of Herons
JA  - J HERONS
Y1  - 2019/10//Oct2019
VL  - 12
IS  - 3
SP  - 45
EP  - 67
PB  - Heron Press
AB  - {A}
SN  - 12345678
KW  - BIRDS
KW  - LAKES
KW  - herons
N1  - Accession Number: 137000001; Gao, Xiaoming 1; Affiliations: 1: Univ Lakes
UR  - https://search.ebscohost.com/login.aspx?direct=true&db=aph&AN=137000001&site=ehost-live
DP  - EBSCOhost
DB  - aph
ER  -
""",
    paper(
        title="Herons of wet years.", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", volume="12", issue="3", pages="45-67", issn="1234-5678",
        publisher="Heron Press", keywords=("BIRDS", "LAKES", "herons"), given_id="137000001",
        url="https://search.ebscohost.com/login.aspx?direct=true&db=aph&AN=137000001&site=ehost-live",
    ),
)
add(
    "proquest.ris",
    f"""TY  - JOUR
DB  - ProQuest Central
T1  - Herons of wet years
AN  - 2300000001
AB  - {A}
AU  - Gao, Xiaoming
AU  - van den Berg, Anna
Y1  - 2019///Oct 15
DA  - 2019 Oct 15
PY  - 2019
CY  - Delft
PB  - Heron Press
SP  - 45-67
J2  - J. Herons
JF  - Journal of Herons
VL  - 12
IS  - 3
KW  - Birds
KW  - Lakes
KW  - 0000:General
L2  - https://www.proquest.com/docview/2300000001
LA  - English
N1  - Copyright - © 2019; Last updated - 2023-11-29
M3  - Journal Article
SN  - 1234-5678, 12345678
UR  - https://www.proquest.com/docview/2300000001?accountid=1
DO  - https://doi.org/10.1234/h.1
ER  -
""",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="Heron Press", keywords=("Birds", "Lakes", "0000:General"),
        url="https://www.proquest.com/docview/2300000001?accountid=1",
    ),
)

# --- publishers

add(
    "acm.bib",
    """@article{10.1145/3411764.3445148,
author = {Gao, Xiaoming and van den Berg, Anna},
title = {Herons of Wet Years: A Survey of \\#Rain in O(n\\^{}2)},
year = {2019},
issue_date = {October 2019},
publisher = {Association for Computing Machinery},
address = {New York, NY, USA},
volume = {12},
number = {3},
issn = {1234-5678},
url = {https://doi.org/10.1145/3411764.3445148},
doi = {10.1145/3411764.3445148},
abstract = {We counted herons at 40 lakes. Their number rose by 12\\% in wet years.},
journal = {ACM Trans. Herons},
month = oct,
articleno = {45},
numpages = {14},
keywords = {birds, lakes}
}

@inproceedings{10.1145/1.2,
author = {Gao, Xiaoming},
title = {Herons at Talks},
year = {2020},
isbn = {9781450380966},
publisher = {Association for Computing Machinery},
address = {New York, NY, USA},
url = {https://doi.org/10.1145/1.2},
doi = {10.1145/1.2},
abstract = {Herons again.},
booktitle = {Proceedings of the 2020 Conference on Birds},
pages = {101–110},
numpages = {10},
location = {Virtual Event, Netherlands},
series = {BIRDS '20}
}
""",
    paper(
        title="Herons of Wet Years: A Survey of #Rain in O(n^2)", **GAO, **JOUR, abstract=A,
        year=2019, month=10, venue="ACM Trans. Herons", doi="10.1145/3411764.3445148",
        volume="12", issue="3", pages="45", issn="1234-5678", keywords=("birds", "lakes"),
        publisher="Association for Computing Machinery", given_id="10.1145/3411764.3445148",
        url="https://doi.org/10.1145/3411764.3445148",
    ),
    paper(
        title="Herons at Talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020,
        venue="Proceedings of the 2020 Conference on Birds", doi="10.1145/1.2", pages="101-110",
        publisher="Association for Computing Machinery", given_id="10.1145/1.2",
        url="https://doi.org/10.1145/1.2",
    ),
)
add(
    "ieee.csv",
    "\ufeff" + '"Document Title",Authors,"Author Affiliations","Publication Title",Date Added To Xplore,"Publication Year",'
    '"Volume","Issue","Start Page","End Page","Abstract","ISSN",ISBNs,"DOI",Funding Information,PDF Link,'
    '"Author Keywords","IEEE Terms","Mesh_Terms",Article Citation Count,Patent Citation Count,"Reference Count",'
    '"License",Online Date,Issue Date,"Meeting Date","Publisher",Document Identifier\n'
    f'"Herons of Wet Years: $\\ell_1$ Norms","X. Gao; A. van den Berg; J.-L. Murk","Univ; Univ; Univ","IEEE Transactions on Herons","15 Oct 2019",'
    f'"2019","12","3","45","67","{A}","1234-5678","","10.1109/TH.2019.1","Fund","https://ieeexplore.ieee.org/stamp/stamp.jsp?arnumber=1",'
    '"Birds;lakes","Rain;Lakes","","7","","30","IEEE","1 Sep 2019","Oct. 2019","","IEEE","IEEE Journals"\n'
    '"Herons at Talks","X. Gao","Univ","2020 Conference on Birds (BIRDS)","1 Jul 2020","2020","","","101","110","Herons again.","",'
    '"978-1","10.1109/BIRDS.2020.1","","https://ieeexplore.ieee.org/stamp/stamp.jsp?arnumber=2","","Birds","","","","3","IEEE","1 Jul 2020",'
    '"1-3 June 2020","1-3 June 2020","IEEE","IEEE Conferences"\n',
    paper(
        title="Herons of Wet Years: $\\ell_1$ Norms",
        authors=("X. Gao", "A. van den Berg", "J.-L. Murk"), **JOUR, abstract=A, year=2019,
        month=10, venue="IEEE Transactions on Herons", doi="10.1109/TH.2019.1", volume="12",
        issue="3", pages="45-67", issn="1234-5678", publisher="IEEE", keywords=("Birds", "lakes"),
        url="https://ieeexplore.ieee.org/stamp/stamp.jsp?arnumber=1",
    ),
    paper(
        title="Herons at Talks", authors=("X. Gao",), kind="paper-conference",
        abstract="Herons again.", year=2020, month=6, venue="2020 Conference on Birds (BIRDS)",
        doi="10.1109/BIRDS.2020.1", pages="101-110", publisher="IEEE", keywords=("Birds",),
        url="https://ieeexplore.ieee.org/stamp/stamp.jsp?arnumber=2",
    ),
)
add(
    "ieee.bib",
    """@ARTICLE{8800001,
  author={Gao, Xiaoming and van den Berg, Anna},
  journal={IEEE Transactions on Herons}, 
  title={Herons of Wet Years: On the $\\ell_{1}$ Norm}, 
  year={2019},
  volume={12},
  number={3},
  pages={45-67},
  abstract={We counted herons at 40 lakes. Their number rose by 12% in wet years, $O(n^{2})$ at \\$5.},
  keywords={Birds;Lakes;Rain},
  doi={10.1109/TH.2019.1},
  ISSN={1234-5678},
  month={Oct},}
@INPROCEEDINGS{9900001,
  author={Gao, Xiaoming},
  booktitle={2020 Conference on Birds (BIRDS)}, 
  title={Herons at Talks}, 
  year={2020},
  volume={},
  number={},
  pages={101-110},
  abstract={Herons again.},
  keywords={},
  doi={10.1109/BIRDS.2020.1},
  ISSN={},
  month={June},}
""",
    paper(
        title="Herons of Wet Years: On the $\\ell_{1}$ Norm", **GAO, **JOUR,
        abstract=A[:-1] + ", $O(n^{2})$ at $5.", year=2019, month=10,
        venue="IEEE Transactions on Herons", doi="10.1109/TH.2019.1", volume="12", issue="3",
        pages="45-67", issn="1234-5678", keywords=("Birds", "Lakes", "Rain"), given_id="8800001",
    ),
    paper(
        title="Herons at Talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020, month=6,
        venue="2020 Conference on Birds (BIRDS)", doi="10.1109/BIRDS.2020.1", pages="101-110",
        given_id="9900001",
    ),
)
add(
    "two_publishers_concatenated.ris",
    f"\ufeffTY  - JOUR\nT1  - Herons of wet years\nAU  - Gao, Xiaoming\nAU  - van den Berg, Anna\n"
    f"JO  - Journal of Herons\nVL  - 12\nIS  - 3\nSP  - 45\nEP  - 67\nPY  - 2019\nDA  - 2019/10/01/\n"
    f"SN  - 1234-5678\nDO  - https://doi.org/10.1234/h.1\nUR  - https://example.org/a\nKW  - Birds\n"
    f"AB  - {A}\nER  - \n\ufeffTY  - CHAP\nAU  - Gao, Xiaoming\nED  - Ditor, Emma\nPY  - 2020\nDA  - 2020//\n"
    "TI  - Herons in books\nBT  - Handbook of Herons\nSP  - 3\nEP  - 17\nPB  - Springer\nCY  - Cham\n"
    "AB  - Herons again.\nSN  - 978-3-030-1\nUR  - https://doi.org/10.1007/978-3-030-1_1\n"
    "DO  - 10.1007/978-3-030-1_1\nID  - Gao2020\nER  - ",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", url="https://example.org/a", keywords=("Birds",),
    ),
    paper(
        title="Herons in books", authors=("Xiaoming Gao",), surnames=("Gao",), kind="chapter",
        abstract="Herons again.", year=2020, venue="Handbook of Herons", pages="3-17",
        publisher="Springer", doi="10.1007/978-3-030-1_1",
        url="https://doi.org/10.1007/978-3-030-1_1", given_id="Gao2020",
    ),
)
add(
    "wiley.ris",
    f"""TY  - JOUR
T1  - Herons of wet years
AU  - Gao, Xiaoming
AU  - van den Berg, Anna
Y1  - 2019/10/15
PY  - 2019
DA  - 2019/10/15
N1  - https://doi.org/10.1234/h.1
DO  - https://doi.org/10.1234/h.1
T2  - Journal of Herons
JF  - Journal of Herons
JO  - Journal of Herons
JA  - J Heron
SP  - 45
EP  - 67
VL  - 12
IS  - 3
KW  - birds
KW  - lakes
PB  - John Wiley & Sons, Ltd
SN  - 1234-5678
M3  - https://doi.org/10.1234/h.1
UR  - https://doi.org/10.1234/h.1
Y2  - 2024/10/15
N2  - Abstract {A}
ER  -
""",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract="Abstract " + A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="John Wiley & Sons, Ltd", keywords=("birds", "lakes"),
        url="https://doi.org/10.1234/h.1",
    ),
)

# --- OpenAlex, Semantic Scholar, Dimensions, Lens, arXiv, others

INVERTED: dict[str, list[int]] = {}
for _place, _word in enumerate(A.split()):
    INVERTED.setdefault(_word, []).append(_place)
OPENALEX = {
    "id": "https://openalex.org/W4385245566", "doi": "https://doi.org/10.48550/arxiv.1706.03762",
    "title": "Attention to &lt;i&gt;herons&lt;/i&gt;", "display_name": "Attention to herons",
    "publication_year": 2017, "publication_date": "2017-06-12", "type": "preprint",
    "type_crossref": "posted-content", "language": "en",
    "primary_location": {"landing_page_url": "https://arxiv.org/abs/1706.03762",
        "pdf_url": "https://arxiv.org/pdf/1706.03762", "version": "submittedVersion",
        "source": {"id": "https://openalex.org/S4306400194",
                   "display_name": "arXiv (Cornell University)", "issn_l": None, "issn": None,
                   "host_organization_name": "Cornell University", "type": "repository"}},
    "authorships": [{"author_position": "first", "raw_author_name": "X. Gao",
                     "author": {"id": "https://openalex.org/A1", "display_name": "Xiaoming Gao"}},
                    {"author": {"id": "https://openalex.org/A2", "display_name": "张伟"}}],
    "biblio": {"volume": None, "issue": None, "first_page": None, "last_page": None},
    "keywords": [{"id": "k", "display_name": "Heron", "score": 0.6}], "concepts": [],
    "topics": [{"display_name": "Birds"}], "abstract_inverted_index": INVERTED,
    "referenced_works": [], "locations": [{"source": {"display_name": "Wrong"}}],
}
add(
    "openalex.jsonl",
    json.dumps(OPENALEX) + "\n"
    + json.dumps({**OPENALEX, "id": "https://openalex.org/W2", "doi": None, "title": None,
                  "display_name": None, "type": "article", "type_crossref": "proceedings-article",
                  "primary_location": {"source": None, "landing_page_url": None},
                  "abstract_inverted_index": {"Herons": [0], "again.": [1]}, "keywords": [],
                  "authorships": []}) + "\n"
    + json.dumps({**OPENALEX, "id": "https://openalex.org/W3", "abstract_inverted_index": None}),
    paper(
        title="Attention to herons", authors=("Xiaoming Gao", "张伟"), kind="article", abstract=A,
        year=2017, month=6, venue="arXiv (Cornell University)", arxiv="1706.03762",
        doi="10.48550/arxiv.1706.03762", url="https://arxiv.org/abs/1706.03762",
        publisher="Cornell University", keywords=("Heron",), given_id="W4385245566",
    ),
    paper(abstract="Herons again.", year=2017, month=6, given_id="W2", kind="paper-conference"),
)
add(
    "openalex_api.csv",
    "id,doi,title,display_name,publication_year,publication_date,language,type,type_crossref,"
    "primary_location.source.display_name,primary_location.source.issn_l,primary_location.source.host_organization_name,"
    "primary_location.landing_page_url,authorships.author.display_name,biblio.volume,biblio.issue,biblio.first_page,"
    "biblio.last_page,keywords.display_name,abstract,cited_by_count\n"
    "https://openalex.org/W1,https://doi.org/10.1234/h.1,Herons of wet years,Herons of wet years,2019,2019-10-15,en,"
    "article,journal-article,Journal of Herons,1234-5678,Heron Press,https://doi.org/10.1234/h.1,"
    f'Xiaoming Gao|Anna van den Berg,12,3,45,67,birds|lakes,"{A}",7\n',
    paper(
        title="Herons of wet years", authors=GAO["authors"], **JOUR, abstract=A, year=2019,
        month=10, venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3",
        pages="45-67", issn="1234-5678", publisher="Heron Press", keywords=("birds", "lakes"),
        url="https://doi.org/10.1234/h.1", given_id="W1",
    ),
)
add(
    "semantic_scholar_bulk.jsonl",
    "\n".join(map(json.dumps, [
        {"paperId": "a" * 40, "corpusId": 1, "externalIds": {"DOI": "10.1234/h.1", "CorpusId": 1},
         "url": "https://www.semanticscholar.org/paper/" + "a" * 40, "title": "Herons of wet years",
         "abstract": A, "venue": "J. Herons", "year": 2019, "publicationDate": "2019-10-15",
         "publicationTypes": ["JournalArticle", "Review"], "fieldsOfStudy": ["Biology"],
         "publicationVenue": {"name": "Journal of Herons", "type": "journal", "issn": "1234-5678"},
         "journal": {"name": "Journal of Herons", "volume": "12", "pages": "\n          45-67\n        "},
         "authors": [{"authorId": "1", "name": "Xiaoming Gao"}, {"authorId": None, "name": "A. Berg"}]},
        {"paperId": "b" * 40, "externalIds": {"ArXiv": "1706.03762", "DBLP": "journals/corr/x"},
         "title": "Attention to herons", "abstract": "Herons again.", "venue": "arXiv.org",
         "year": 2017, "publicationDate": None, "publicationTypes": None,
         "journal": {"name": "ArXiv", "volume": "abs/1706.03762"}, "authors": []},
        {"paperId": "c" * 40, "title": "None", "abstract": None, "authors": []},
    ])),
    paper(
        title="Herons of wet years", authors=("Xiaoming Gao", "A. Berg"), **JOUR, abstract=A,
        year=2019, month=10, venue="Journal of Herons", doi="10.1234/h.1", volume="12",
        pages="45-67", issn="1234-5678", url="https://www.semanticscholar.org/paper/" + "a" * 40,
        given_id="a" * 40,
    ),
    paper(
        title="Attention to herons", kind="article", abstract="Herons again.", year=2017,
        venue="arXiv.org", arxiv="1706.03762", given_id="b" * 40,
    ),
)
add(
    "s2orc.jsonl",
    json.dumps({"paper_id": "77490191", "title": "Herons of wet years", "abstract": A,
                "authors": [{"first": "Xiaoming", "middle": ["B."], "last": "Gao", "suffix": ""},
                            {"first": "Anna", "middle": [], "last": "van den Berg", "suffix": "Jr."}],
                "year": 2019, "arxiv_id": None, "acl_id": None, "pmc_id": None, "doi": "10.1234/h.1",
                "venue": None, "journal": "Journal of Herons", "mag_id": "1",
                "mag_field_of_study": ["Biology"], "has_pdf_parse": True}) + "\n",
    paper(
        title="Herons of wet years", authors=("Xiaoming B. Gao", "Anna van den Berg Jr."),
        surnames=("Gao", "van den Berg"), abstract=A, year=2019, venue="Journal of Herons",
        doi="10.1234/h.1", given_id="77490191", **JOUR,
    ),
)
add(
    "cord19_metadata.csv",
    "cord_uid,sha,source_x,title,doi,pmcid,pubmed_id,license,abstract,publish_time,authors,journal,mag_id,"
    "who_covidence_id,arxiv_id,pdf_json_files,pmc_json_files,url,s2_id\n"
    'ug7v899j,d1aa,PMC,Herons of wet years,10.1186/1471-2334-1-6,PMC35282,11472636,no-cc,"OBJECTIVE: '
    f'{A}",2019-10-15,"Gao, Xiaoming; van den Berg, Anna J",BMC Infect Dis,,,,document_parses/x.json,,'
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC35282/; https://b.org/,1\n",
    paper(
        title="Herons of wet years", authors=("Xiaoming Gao", "Anna J van den Berg"),
        surnames=("Gao", "van den Berg"), **JOUR, abstract="OBJECTIVE: " + A, year=2019, month=10,
        venue="BMC Infect Dis", doi="10.1186/1471-2334-1-6", given_id="ug7v899j",
        url="https://www.ncbi.nlm.nih.gov/pmc/articles/PMC35282/",
    ),
)
add(
    "dimensions.csv",
    "\ufeff" + '"About the data: Exported on Oct 15, 2024. Criteria: Text - \'""herons""\' in full data. © 2024 Digital '
    'Science &amp; Research Solutions Inc."\r\nRank,Publication ID,DOI,PMID,PMCID,ISBN,Title,Abstract,Acknowledgements,'
    "Funding,Source title,Anthology title,MeSH terms,Publication date,PubYear,Publication date (online),"
    "Publication date (print),Volume,Issue,Pagination,Open Access,Publication Type,Document Type,Authors,"
    "Authors (Raw Affiliation),Times cited,Dimensions URL,Fields of Research (ANZSRC 2020)\r\n"
    f'500,pub.1120000001,10.1234/h.1,,,,Herons of wet years,"Abstract{A}",,,Journal of Herons,,,2019-10-15,2019,'
    '2019-09-01,2019-10-15,12,3,45-67,All OA; Gold,Article,Research Article,"Gao, Xiaoming; van den Berg, Anna",'
    '"Gao, Xiaoming (Univ)",7,https://app.dimensions.ai/details/publication/pub.1120000001,31 Biological\r\n'
    '500,pub.1120000002,10.1145/1.2,,,978-1,Herons at talks,Herons again.,,,,"Proceedings of the Conference on '
    'Birds",,2020-06,2020,,,,,101-110,Closed,Proceeding,Conference Paper,"Gao, Xiaoming",,1,'
    "https://app.dimensions.ai/details/publication/pub.1120000002,\r\n"
    '500,pub.1120000003,10.1101/2020.03.01.000001,,,,Herons early,Herons early.,,,bioRxiv,,,2020-03-01,2020,,,,,'
    '2020.03.01.000001,All OA; Green,Preprint,,"Gao, Xiaoming",,1,,\r\n',
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract="Abstract" + A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        url="https://app.dimensions.ai/details/publication/pub.1120000001",
        given_id="pub.1120000001",
    ),
    paper(
        title="Herons at talks", authors=("Xiaoming Gao",), surnames=("Gao",),
        kind="paper-conference", abstract="Herons again.", year=2020, month=6, pages="101-110",
        venue="Proceedings of the Conference on Birds", doi="10.1145/1.2",
        url="https://app.dimensions.ai/details/publication/pub.1120000002",
        given_id="pub.1120000002",
    ),
    paper(
        title="Herons early", authors=("Xiaoming Gao",), surnames=("Gao",), kind="article",
        abstract="Herons early.", year=2020, month=3, venue="bioRxiv", pages="2020.03.01.000001",
        doi="10.1101/2020.03.01.000001", given_id="pub.1120000003",
    ),
)
add(
    "lens.jsonl",
    json.dumps({"lens_id": "000-001-002-003-004", "title": "Herons of wet years", "abstract": A,
                "publication_type": "journal article", "year_published": 2019,
                "date_published": "2019-10-15T00:00:00.000000+00:00",
                "date_published_parts": [2019, 10, 15], "created": "2020-01-01T00:00:00+00:00",
                "external_ids": [{"type": "pmid", "value": "31000001"},
                                 {"type": "doi", "value": "10.1234/h.1"}],
                "authors": [{"collective_name": "", "first_name": "Xiaoming", "last_name": "Gao",
                             "initials": "X", "affiliations": [{"name": "Univ"}]},
                            {"first_name": "Anna", "last_name": "van den Berg", "initials": "A"}],
                "source": {"title": "Journal of Herons", "type": "Journal", "publisher": "Heron Press",
                           "issn": [{"type": "print", "value": "12345678"}], "country": "Netherlands"},
                "volume": "12", "issue": "3", "start_page": "45", "end_page": "67",
                "fields_of_study": ["Biology"], "keywords": ["birds", "lakes"],
                "source_urls": [{"type": "html", "url": "https://example.org/a"}]}) + "\n",
    paper(
        title="Herons of wet years", **GAO, **JOUR, abstract=A, year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="Heron Press", keywords=("birds", "lakes"),
        url="https://example.org/a", given_id="000-001-002-003-004",
    ),
)
add(
    "lens.csv",
    "\ufeff" + "Lens ID,Title,Date Published,Publication Year,Publication Type,Source Title,ISSNs,Publisher,Source Country,"
    "Author/s,Abstract,Volume,Issue Number,Start Page,End Page,Fields of Study,Keywords,MeSH Terms,Chemicals,Funding,"
    "Source URLs,External URL,PMID,DOI,Microsoft Academic ID,PMCID,Citing Patents Count,References,Citing Works Count,"
    "Is Open Access,Open Access License,Open Access Colour\n"
    f'000-001-002-003-004,Herons of wet years,2019-10-15,2019,journal article,Journal of Herons,12345678; 23456789,Heron Press,Netherlands,'
    f'Xiaoming Gao; Anna van den Berg,"{A}",12,3,45,67,Biology; Birds,birds; lakes,,,,https://example.org/a https://b.org,'
    "http://dx.doi.org/10.1234/h.1,31000001,10.1234/h.1,,,0,000-000,3,true,cc-by,gold\n",
    paper(
        title="Herons of wet years", authors=GAO["authors"], **JOUR, abstract=A, year=2019,
        month=10, venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3",
        pages="45-67", issn="1234-5678", publisher="Heron Press", keywords=("birds", "lakes"),
        url="http://dx.doi.org/10.1234/h.1", given_id="000-001-002-003-004",
    ),
)
ARXIV = {
    "id": "hep-ex/0307015", "submitter": "X. Gao", "authors": "The H1 Collaboration: A. Gao, B. Li",
    "title": "Herons at $\\sqrt{s}=13$ TeV and the\n  Erd\\H{o}s--R\\'enyi graph", "comments": "9 pages, 3 figures",
    "journal-ref": None, "doi": None, "report-no": "DESY-03", "categories": "hep-ex astro-ph",
    "license": None,
    "abstract": "  We counted $N>10^{3}$ herons with $p<0.05$ and {\\it Ardea} at 5\\% of\nlakes, i.e.\\ most; see\n\\url{https://x.org/a_b}.\n",
    "versions": [{"version": "v1", "created": "Mon, 7 Jul 2003 13:46:39 GMT"},
                 {"version": "v2", "created": "Tue, 5 Aug 2008 10:00:00 GMT"}],
    "update_date": "2009-11-10",
    "authors_parsed": [["The H1 Collaboration", "", ""], ["Gao", "A.", ""], ["Li", "B.", "Jr."]],
}
add(
    "arxiv_metadata.jsonl",
    json.dumps(ARXIV) + "\n"
    + json.dumps({**ARXIV, "id": "2105.01234", "title": "Herons again", "abstract": "  Herons again.\n",
                  "journal-ref": "Journal of Herons, 12(3): 45-67, 2021", "doi": "10.1234/h.1 10.1234/h.2",
                  "versions": [{"version": "v1", "created": "Mon, 3 May 2021 10:00:00 GMT"}],
                  "authors_parsed": [["Gao", "Xiaoming", ""]]}) + "\n",
    paper(
        title="Herons at $\\sqrt{s}=13$ TeV and the Erdős–Rényi graph",
        authors=("The H1 Collaboration", "A. Gao", "B. Li Jr."),
        surnames=("The H1 Collaboration", "Gao", "Li"), kind="article", year=2003, month=7,
        abstract="We counted $N>10^{3}$ herons with $p<0.05$ and Ardea at 5% of lakes, i.e. most; see https://x.org/a_b.",
        arxiv="hep-ex/0307015", given_id="hep-ex/0307015",
    ),
    paper(
        title="Herons again", authors=("Xiaoming Gao",), surnames=("Gao",), **JOUR, year=2021,
        month=5, abstract="Herons again.", venue="Journal of Herons, 12(3): 45-67, 2021",
        arxiv="2105.01234", doi="10.1234/h.1", given_id="2105.01234",
    ),
)
add(
    "biorxiv_api.json",
    json.dumps({"messages": [{"status": "ok", "count": 1}], "collection": [
        {"doi": "10.1101/2020.03.01.000001", "title": "Herons early",
         "authors": "Gao, X.; van den Berg, A.; Heron Group", "author_corresponding": "Xiaoming Gao",
         "author_corresponding_institution": "Univ", "date": "2020-03-01", "version": "1",
         "type": "new results", "license": "cc_by", "category": "ecology",
         "jatsxml": "https://www.biorxiv.org/x.xml", "abstract": A,
         "published": "10.1038/s41586-1921-0", "server": "bioRxiv"}]}),
    paper(
        title="Herons early", authors=("X. Gao", "A. van den Berg", "Heron Group"),
        surnames=("Gao", "van den Berg", "Heron Group"), kind="article", abstract=A, year=2020,
        month=3, doi="10.1101/2020.03.01.000001", venue="bioRxiv",
    ),
)
add(
    "crossref_works.json",
    json.dumps({"status": "ok", "message-type": "work-list", "message": {"items": [
        {"DOI": "10.1234/h.1", "type": "journal-article", "publisher": "Heron Press", "volume": "12",
         "issue": "3", "page": "45-67", "title": ["Herons &amp; <i>rain</i>"], "subtitle": ["A study"],
         "author": [{"given": "Xiaoming", "family": "Gao", "sequence": "first"},
                    {"given": "Anna", "family": "van den Berg"}, {"name": "Heron Group"}],
         "container-title": ["Journal of Herons"], "short-container-title": ["J. Herons"],
         "issued": {"date-parts": [[2019, 10, 15]]}, "ISSN": ["1234-5678", "2345-6789"],
         "abstract": "<jats:title>Abstract</jats:title><jats:sec><jats:title>Background</jats:title><jats:p>"
                     "Herons call.</jats:p></jats:sec><jats:sec><jats:title>Results</jats:title><jats:p>We "
                     "counted H<jats:sub>2</jats:sub>O &lt; 5.</jats:p></jats:sec>",
         "URL": "http://dx.doi.org/10.1234/h.1", "published": {"date-parts": [[2019, 9]]}},
        {"DOI": "10.1101/2020.03.01.000001", "type": "posted-content", "subtype": "preprint",
         "publisher": "Cold Spring Harbor Laboratory", "institution": [{"name": "bioRxiv"}],
         "title": ["Herons early"], "author": [{"given": "Xiaoming", "family": "Gao"}],
         "issued": {"date-parts": [[2020, 3, 1]]}, "abstract": "<jats:p>Herons again.</jats:p>",
         "container-title": [], "group-title": "Ecology"}]}}),
    paper(
        title="Herons & rain: A study", authors=(*GAO["authors"], "Heron Group"),
        surnames=(*GAO["surnames"], "Heron Group"), **JOUR,
        abstract="Background: Herons call. Results: We counted H2O < 5.", year=2019, month=10,
        venue="Journal of Herons", doi="10.1234/h.1", volume="12", issue="3", pages="45-67",
        issn="1234-5678", publisher="Heron Press", url="http://dx.doi.org/10.1234/h.1",
    ),
    paper(
        title="Herons early", authors=("Xiaoming Gao",), surnames=("Gao",), kind="article",
        abstract="Herons again.", year=2020, month=3, doi="10.1101/2020.03.01.000001",
        publisher="Cold Spring Harbor Laboratory", venue="bioRxiv",
    ),
)
add(
    "openreview.json",
    json.dumps({"notes": [{"id": "aBcD123", "forum": "aBcD123", "cdate": 1695000000000, "content": {
        "title": {"value": "Herons of Wet Years"}, "authors": {"value": ["Xiaoming Gao", "Anna van den Berg"]},
        "authorids": {"value": ["~X_Gao1"]}, "keywords": {"value": ["birds", "lakes"]},
        "abstract": {"value": A}, "venue": {"value": "ICLR 2024 oral"}, "venueid": {"value": "ICLR.cc/2024"},
        "pdf": {"value": "/pdf/x.pdf"}}}], "count": 1}),
    paper(
        title="Herons of Wet Years", authors=GAO["authors"], abstract=A, venue="ICLR 2024 oral",
        keywords=("birds", "lakes"), given_id="aBcD123", year=2024, kind="",
    ),
)

# --- other scripts, odd and long

add(
    "cnki.enw",
    "%0 Journal Article\n%A 高晓明\n%A 李娜\n%+ 湖泊大学\n%T 湿润年份的苍鹭研究\n%J 鸟类学报\n%D 2019\n"
    "%V 12\n%N 03\n%K 苍鹭;湖泊\n%X 我们统计了40个湖泊的苍鹭数量。结果显示增加了12%。\n%P 45-67\n%@ 1000-0001\n"
    "%L 11-1234/Q\n%W CNKI\n\n%0 Thesis\n%A 王芳\n%Y 李教授\n%T 苍鹭的声音\n%I 湖泊大学\n%D 2020\n%X 一篇论文。\n",
    paper(
        title="湿润年份的苍鹭研究", authors=("高晓明", "李娜"), **JOUR,
        abstract="我们统计了40个湖泊的苍鹭数量。结果显示增加了12%。", year=2019, venue="鸟类学报",
        volume="12", issue="03", pages="45-67", issn="1000-0001", keywords=("苍鹭", "湖泊"),
    ),
    paper(
        title="苍鹭的声音", authors=("王芳",), kind="thesis", abstract="一篇论文。", year=2020,
        publisher="湖泊大学",
    ),
)
add(
    "scripts.ris",
    "TY  - JOUR\nTI  - Цапли во влажные годы\nAU  - Иванов, Иван Петрович\nAU  - Сидорова, А.\n"
    "T2  - Журнал о птицах\nPY  - 2019\nAB  - Мы посчитали цапель на 40 озёрах.\nKW  - цапли\nER  - \n\n"
    "TY  - JOUR\nTI  - مالك الحزين في السنوات الرطبة\nAU  - الأحمد, محمد\nPY  - 2020\n"
    "AB  - أحصينا الطيور في 40 بحيرة.\nER  - \n\n"
    "TY  - JOUR\nTI  - नम वर्षों में बगुले\nAU  - शर्मा, राम\nPY  - 2021\nAB  - हमने क्‍षेत्र में गिना।\nER  - \n",
    paper(
        title="Цапли во влажные годы", authors=("Иван Петрович Иванов", "А. Сидорова"),
        surnames=("Иванов", "Сидорова"), **JOUR, abstract="Мы посчитали цапель на 40 озёрах.",
        year=2019, venue="Журнал о птицах", keywords=("цапли",),
    ),
    paper(
        title="مالك الحزين في السنوات الرطبة", authors=("محمد الأحمد",), surnames=("الأحمد",),
        **JOUR, abstract="أحصينا الطيور في 40 بحيرة.", year=2020,
    ),
    paper(
        title="नम वर्षों में बगुले", authors=("राम शर्मा",), surnames=("शर्मा",), **JOUR,
        abstract="हमने क्षेत्र में गिना।", year=2021,
    ),
)
add(
    "pandas.csv",
    ",title,abstract,authors,year,keywords,doi\n"
    f"0,Herons of wet years,\"{A}\",\"['Xiaoming Gao', 'Anna van den Berg']\",2019.0,\"['birds', 'lakes']\",10.1234/h.1\n"
    "1,Herons again,Herons again.,\"[\"\"Seán O'Brien\"\"]\",,[],nan\n",
    paper(
        title="Herons of wet years", authors=GAO["authors"], abstract=A, year=2019,
        keywords=("birds", "lakes"), doi="10.1234/h.1",
    ),
    paper(title="Herons again", authors=("Seán O'Brien",), abstract="Herons again."),
)
add(
    "kaggle_arxiv.csv",
    'titles,summaries,terms\n"Herons of wet\nyears","We counted herons\nat 40 lakes.","[\'cs.CV\', \'stat.ML\']"\n',
    paper(
        title="Herons of wet years", abstract="We counted herons at 40 lakes.",
        keywords=("cs.CV", "stat.ML"),
    ),
)
add(
    "long_and_odd.bib",
    "@article{atlas2012,\n  author = {" + " and ".join(f"Name{n}, A. B." for n in range(3000)) + " and others},\n"
    "  title = \"{Observation of a heron with $m_H \\approx 125\\,\\mathrm{GeV}$ at \\$5 and 10\\%}\",\n"
    "  journal = {Phys.\\ Lett.\\ B}, year = 2012, volume = {716}, pages = {1--29},\n"
    "  month = sep # \"~17\", doi = {http://doi.org/10.1016/j.physletb.2012.08.020},\n"
    "  abstract = {A heron was seen at $\\sqrt{s}=7$ and 8 TeV with 5.9 $\\sigma$.},\n}\n\n"
    "@article(paren2013,\n  author = \"Jos{\\'e} {de la Cruz} and {{Heron Group}} and {\\relax Ch}ristos Papas and Foo, Jr., Bob\",\n"
    "  title = {A {\\em heron} in {\\ss}tra{\\ss}e},\n  journal = \"J.~Herons\",\n  year = \"in press 2013\",\n"
    "  abstract = {Herons\\\\again \\\\ and \\emph{again}.})\n\n"
    "@article{noabstract, title={None}, year=2000}\n",
    paper(
        title="Observation of a heron with $m_H \\approx 125\\,\\mathrm{GeV}$ at $5 and 10%",
        authors=tuple(f"A. B. Name{n}" for n in range(3000)),
        surnames=tuple(f"Name{n}" for n in range(3000)), **JOUR, year=2012, month=9,
        venue="Phys. Lett. B", volume="716", pages="1-29", doi="10.1016/j.physletb.2012.08.020",
        abstract="A heron was seen at $\\sqrt{s}=7$ and 8 TeV with 5.9 $\\sigma$.",
        given_id="atlas2012",
    ),
    paper(
        title="A heron in ßtraße", authors=("José de la Cruz", "Heron Group", "Christos Papas", "Bob Foo Jr."),
        surnames=("de la Cruz", "Heron Group", "Papas", "Foo"), **JOUR, year=2013,
        venue="J. Herons", abstract="Herons again and again.", given_id="paren2013",
    ),
)
add(
    "two_pubmed_concatenated.xml",
    "".join(
        '<?xml version="1.0" ?>\n<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>'
        f"{n}</PMID><Article><Journal><JournalIssue><PubDate><Year>201{n}</Year></PubDate></JournalIssue>"
        f"<Title>Herons</Title></Journal><ArticleTitle>Heron {n}</ArticleTitle><Abstract><AbstractText>"
        f"Herons {n}.</AbstractText></Abstract><PublicationTypeList><PublicationType>Journal Article"
        "</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>\n"
        for n in (1, 2)
    ),
    *(
        paper(title=f"Heron {n}", abstract=f"Herons {n}.", year=2010 + n, venue="Herons",
              given_id=str(n), **JOUR)
        for n in (1, 2)
    ),
)
add(
    "two_arrays_concatenated.json",
    json.dumps([{"title": "Heron 1", "abstract": "Herons 1.", "year": 2011}], indent=1)
    + "\n"
    + json.dumps([{"title": "Heron 2", "abstract": "Herons 2.", "year": "2012"}], indent=1),
    paper(title="Heron 1", abstract="Herons 1.", year=2011),
    paper(title="Heron 2", abstract="Herons 2.", year=2012),
)
add(
    "pretty_objects.json",
    json.dumps({"title": "Heron 1", "abstract": "Herons 1.", "authors": ["A. Gao"]}, indent=2)
    + "\n"
    + json.dumps({"title": "Heron 2", "abstract": "Herons 2.", "authors": "B. Li; C. Xu"}, indent=2),
    paper(title="Heron 1", abstract="Herons 1.", authors=("A. Gao",)),
    paper(title="Heron 2", abstract="Herons 2.", authors=("B. Li", "C. Xu")),
)
add(
    "double_escaped.csv",
    "title,abstract,authors,journal,year\n"
    '"Herons &amp;amp; rain: &amp;lt;i&amp;gt;Ardea&amp;lt;/i&amp;gt; &amp;#x3b1;","&lt;p&gt;Fish &amp;gt; frogs '
    '&amp;mdash; it&amp;#39;s 5&amp;nbsp;%.&lt;/p&gt;","Gao, Xiaoming &amp; Li, Yu","Science &amp; Herons",2019\n',
    paper(
        title="Herons & rain: Ardea α", abstract="Fish > frogs — it's 5 %.",
        authors=("Xiaoming Gao", "Yu Li"), surnames=("Gao", "Li"), venue="Science & Herons",
        year=2019, **JOUR,
    ),
)
