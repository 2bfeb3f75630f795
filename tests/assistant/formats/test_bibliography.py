"""Exports, read back by another library than the one that wrote them, and by our own readers."""

import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import rispy
from pybtex.database import BibliographyData, Entry, Person, parse_string
from pybtex.richtext import Text

from retrieval.formats import bibtex as bibtex_reader
from retrieval.formats import files_of, json_records, read_file
from retrieval.formats import tagged as ris_reader
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.merge import fold, paper_of
from retrieval.formats.writers import bibtex, csl_json, ris
from retrieval.text.latex import decode
from retrieval.types import Paper, Publication, Record, Source

NASTY = [
    "100% of {A} & B_1 #2: ~ ^ \\ | < > \" ' `",
    "On BERT, ImageNet and 3D Q-learning: a GLM-130B for X",
    r"$O(n \log N)$ bounds for $k$-NN in $\mathbb{R}^d$ at $5 and $10",
    "Jörg's naïve café — “Łódź” … 深層学習 😀 α∞ℝ",
    r"Broken $\frac{a$ and }{ formulas $\{x$ of 5%$",
    "@article{x, title = {injected}} , year = {1}",
    "dashes -- --- and ``quotes'' ?` !`",
    "TY  - JOUR",
    "A",
    "",
]
NAMES = [
    "Aäron van den Oord",
    "Simon and Schuster",
    "OpenAI, Inc.",
    "others",
    "Plato",
    "Juan {de} la Cruz",
    "Élan O'Neill-Łuczak Jr.",
    "王 伟",
    'Jian Li "u"',
    "Ðorđe Åse Ñandú III",
]


def paper(id_: str, **fields: object) -> Paper:
    empty = Paper(id_, "", (), "", None, "", "An abstract.", (Source("f", 1),))
    return replace(empty, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def nasty() -> list[Paper]:
    titled = [
        paper(
            f"t{at}", title=title, abstract=f"About {title}.", authors=("Ann Bee",), year=2000 + at
        )
        for at, title in enumerate(NASTY)
    ]
    return [
        *titled,
        *(paper(f"n{at}", title="T", authors=(name, "Cy Dee")) for at, name in enumerate(NAMES)),
        paper("names", title="T", authors=tuple(NAMES), venue="J. of A & B", decision="oral"),
        paper(
            "address",
            url="https://a.org/x_y%20{z}~#q?a=1;b=2",
            doi="https://doi.org/10.1/a_b(c)<d>",
        ),
        paper("blank", title="  one\n two\u2028three\r\n", abstract="a\n\nb\u00a0c", venue="V\nW"),
    ]


@pytest.fixture(scope="module")
def papers(nasty: list[Paper]) -> list[Paper]:
    """All papers of the seeds, and papers made to break an export."""
    seeds = Path(__file__).parents[3] / "seeds"
    records: list[Record] = []
    for file in files_of([seeds]):
        records += read_file(file).records
    folded = [paper_of(record) for record in fold(records)]
    assert len(folded) == 1643
    return [*folded, *nasty]


def line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def keys_of(papers: Sequence[Paper]) -> dict[str, str]:
    """Keys by position: these tests are about what the keys lead to."""
    return {paper.id: f"key{at}" for at, paper in enumerate(papers)}


# --- BibTeX


@pytest.fixture(scope="module")
def parsed(papers: list[Paper]) -> BibliographyData:
    return parse_string(bibtex(papers, keys_of(papers)), "bibtex")


def spoken(person: Person) -> str:
    parts = (person.first_names, person.middle_names, person.prelast_names, person.last_names)
    return decode(" ".join(name for part in (*parts, person.lineage_names) for name in part))


def test_another_library_reads_the_same_papers(
    papers: list[Paper], parsed: BibliographyData
) -> None:
    assert len(parsed.entries) == len(papers)
    keys = keys_of(papers)
    for each in papers:
        entry: Entry = parsed.entries[keys[each.id]]
        assert decode(entry.fields.get("title", "")) == line(each.title)
        assert decode(entry.fields["abstract"]) == line(each.abstract)
        assert decode(entry.fields.get("booktitle", "")) == line(each.venue)
        assert entry.fields.get("year", "") == str(each.year or "")
        assert entry.type == ("inproceedings" if each.venue else "misc")
        authors = [spoken(person) for person in entry.persons.get("author", [])]
        assert authors == [line(name) for name in each.authors]


def test_another_decoder_reads_the_same_names_and_titles(
    papers: list[Paper], parsed: BibliographyData
) -> None:
    keys = keys_of(papers)
    compared = 0
    for each in papers[:1643]:
        entry: Entry = parsed.entries[keys[each.id]]
        latex = [entry.fields.get("title", "")]
        for person in entry.persons.get("author", []):
            parts = (*person.first_names, *person.middle_names, *person.prelast_names)
            latex.append(" ".join((*parts, *person.last_names, *person.lineage_names)))
        for encoded, text in zip(latex, (each.title, *each.authors), strict=True):
            if not UNKNOWN_TO_IT.search(encoded):
                assert plain(str(Text.from_latex(encoded))) == plain(text)
                compared += 1
    assert compared > 8000


UNKNOWN_TO_IT = re.compile(r"\\(?:ensuremath|text)|\$|--?\{")
"""Commands that the other decoder leaves as they are."""


def plain(text: str) -> str:
    """Without the differences between typewriter and printed quotes and dashes."""
    text = unicodedata.normalize("NFC", text).translate(str.maketrans("’‘“”–\u00a0", "''\"\"- "))
    return text.replace("''", '"')


def test_our_reader_reads_the_same_papers_from_bibtex(papers: list[Paper]) -> None:
    keys = keys_of(papers)
    page = bibtex_reader.read(bibtex(papers, keys), "f")
    assert not page.skipped
    assert [record.given_id for record in page.records] == list(keys.values())
    for record, each in zip(page.records[:1643], papers, strict=False):
        assert (record.title, record.abstract) == (each.title, each.abstract)
        assert (record.authors, record.year) == (each.authors, each.year)
        assert record.venue == each.venue


def test_an_entry_is_laid_out_for_people() -> None:
    made = paper(
        "p",
        title="BERT for Jörg's Q-learning: A Study of $O(N)$ in iOS",
        authors=("Ann Bee", "OpenAI, Inc."),
        venue="ICLR",
        year=2023,
        decision="oral",
        url="https://a.org/x_y",
        doi="https://doi.org/10.1/2_3",
        abstract="50% & more.",
    )
    assert bibtex([made], {"p": "bee2023bert"}) == (
        "@inproceedings{bee2023bert,\n"
        r"  title = {{BERT} for J{\"o}rg's {Q-learning}: A Study of {$O(N)$} in {iOS}},"
        "\n"
        "  author = {Ann Bee and {OpenAI, Inc.}},\n"
        "  booktitle = {ICLR},\n"
        "  year = {2023},\n"
        "  url = {https://a.org/x_y},\n"
        "  doi = {10.1/2_3},\n"
        "  note = {ICLR 2023 oral},\n"
        "  abstract = {50\\% \\& more.},\n"
        "}\n"
    )


def test_every_line_is_a_field_with_balanced_braces(papers: list[Paper]) -> None:
    for text in bibtex(papers, keys_of(papers)).splitlines():
        assert re.fullmatch(r"@\w+\{key\d+,|  \w+ = \{.*\},|\}|", text)
        if text.startswith("  "):
            depths = [0]
            for brace in re.findall("[{}]", text):
                depths.append(depths[-1] + (1 if brace == "{" else -1))
            assert depths[-1] == 0
            assert min(depths[1:-1]) > 0


def test_no_papers_make_no_export() -> None:
    assert bibtex([], {}) == ris([], {}) == ""


def test_ten_thousand_papers_take_seconds(papers: list[Paper]) -> None:
    many = [replace(each, id=f"{at}") for at, each in enumerate(papers * 6)]
    started = time.process_time()
    for export in (bibtex, ris):
        assert export(many, keys_of(many))
    assert time.process_time() - started < 30


# --- RIS


def test_rispy_reads_the_same_papers(papers: list[Paper]) -> None:
    keys = keys_of(papers)
    references = rispy.loads(ris(papers, keys))
    assert len(references) == len(papers)
    for reference, each in zip(references, papers, strict=True):
        assert reference["id"] == keys[each.id]
        assert reference.get("title", "") == " ".join(each.title.split())
        assert reference["abstract"] == " ".join(each.abstract.split())
        assert reference.get("year", "") == str(each.year or "")
        assert reference["type_of_reference"] == ("CPAPER" if each.venue else "GEN")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_our_reader_reads_the_same_papers_from_ris(
    papers: list[Paper], tmp_path: Path, ending: str
) -> None:
    file = tmp_path / "export"
    file.write_bytes(ris(papers, keys_of(papers)).replace("\n", ending).encode())
    page = read_file(file)
    assert not page.skipped
    for record, each in zip(page.records, papers, strict=True):
        if each in papers[:1643]:
            assert (record.title, record.abstract) == (each.title, each.abstract)
        if not any("," in name for name in each.authors):  # such a name is last name first
            assert record.authors == tuple(line(name) for name in each.authors)
        assert (record.year, record.venue) == (each.year, line(each.venue))


def test_a_reference_is_laid_out_as_managers_expect() -> None:
    made = paper(
        "p",
        title="A\nTitle",
        authors=("Ann van Bee", "Bob Foo Jr.", "Plato"),
        venue="ICLR",
        year=2023,
        decision="oral",
        url="https://a.org/?a;b",
        doi="10.1/2",
    )
    assert ris([made], {"p": "key"}).splitlines() == [
        "TY  - CPAPER",
        "ID  - key",
        "TI  - A Title",
        "AU  - Bee, Ann van",
        "AU  - Foo, Bob, Jr.",
        "AU  - Plato",
        "T2  - ICLR",
        "PY  - 2023",
        "DO  - 10.1/2",
        "UR  - https://a.org/?a;b",
        "N1  - ICLR 2023 oral",
        "AB  - An abstract.",
        "ER  - ",
    ]


# --- with the keys of a library


def test_an_export_with_the_keys_of_the_seeds_holds_every_paper(papers: list[Paper]) -> None:
    seeds = papers[:1643]
    keys = citation_keys(seeds, lambda _key: [])
    page = bibtex_reader.read(bibtex(seeds, keys), "f")
    assert (len(page.records), page.skipped) == (1643, ())


def test_a_given_key_survives_export_and_reading() -> None:
    text = "@article{Smith:2020-deep, title={T}, abstract={A.}}"
    (record,) = bibtex_reader.read(text, "f").records
    made = paper_of(record)
    keys = citation_keys([made], lambda _key: [made.id])
    for reader, export in ((bibtex_reader, bibtex), (ris_reader, ris)):
        (again,) = reader.read(export([made], keys), "f").records
        assert again.given_id == "Smith:2020-deep"


# --- what was published, there and back


PUBLISHED = Publication(
    kind="article-journal",
    volume="12",
    issue="3",
    pages="45-67",
    month=5,
    publisher="Pond & Press",
    issn="1234-567X",
    keywords=("frogs", "calls"),
    surnames=("García Márquez", "de la Cruz", "World Health Organization"),
)
AUTHORS = ("Gabriel García Márquez", "Juan de la Cruz", "World Health Organization")


@pytest.mark.parametrize(
    ("kind", "bibtex_type", "ris_type", "csl_type"),
    [
        ("article-journal", "article", "JOUR", "article-journal"),
        ("paper-conference", "inproceedings", "CPAPER", "paper-conference"),
        ("chapter", "incollection", "CHAP", "chapter"),
        ("thesis", "phdthesis", "THES", "thesis"),
        ("article", "misc", "UNPB", "article"),
    ],
)
def test_the_type_follows_the_record_and_every_field_comes_back(
    kind: str, bibtex_type: str, ris_type: str, csl_type: str
) -> None:
    arxiv = "2301.00001" if kind == "article" else ""
    publication = replace(PUBLISHED, kind=kind, arxiv=arxiv)
    made = paper(
        "k",
        title="Calls",
        authors=AUTHORS,
        venue="" if arxiv else "J. of Frogs",
        year=2021,
        doi="10.48550/arXiv.2301.00001" if arxiv else "10.1234/x",
        publication=publication,
    )
    exports = (bibtex, bibtex_reader), (ris, ris_reader), (csl_json, json_records)
    texts = [export([made], {"k": "key"}) for export, _ in exports]
    assert texts[0].startswith(f"@{bibtex_type}{{key,")
    assert texts[1].startswith(f"TY  - {ris_type}\nID  - key\n")
    assert f'"type": "{csl_type}"' in texts[2]
    assert ("eprint = {2301.00001},\n  archiveprefix = {arXiv}" in texts[0]) is bool(arxiv)
    for text, (_, reader) in zip(texts, exports, strict=True):
        (record,) = reader.read(text, "f").records
        assert record.authors == AUTHORS
        if (kind, reader) == ("thesis", json_records):  # CSL: the school is the publisher
            continue
        assert record.venue == made.venue
        assert (record.year, record.doi) == (2021, made.doi)
        assert record.publication == publication


def test_pybtex_reads_the_surnames_that_the_file_gave() -> None:
    made = paper("k", authors=AUTHORS, publication=PUBLISHED, venue="J")
    entry = parse_string(bibtex([made], {"k": "k"}), "bibtex").entries["k"]
    last = [" ".join((*p.prelast_names, *p.last_names)) for p in entry.persons["author"]]
    assert [decode(name) for name in last] == list(PUBLISHED.surnames)
    assert "month = may," in bibtex([made], {"k": "k"})
