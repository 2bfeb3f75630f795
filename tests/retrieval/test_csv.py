"""CSV: columns by any of their names, and rows that are not what they should be."""

import time
from pathlib import Path

import pytest

from retrieval.formats import csv_table as reader
from retrieval.formats import read_file
from retrieval.types import InputError, Record, Source


def read_one(text: str) -> Record:
    (record,) = reader.read(text, "f").records
    return record


def reasons(text: str) -> dict[int, str]:
    return {skipped.line: skipped.reason for skipped in reader.read(text, "f").skipped}


def test_every_field_is_read() -> None:
    text = (
        "id,title,abstract,authors,venue,year,decision,url,doi,other\n"
        'p1,A Title,"Words, and\n\nmore ""words"".",Ann Bee; Cy Dee,ICLR,2023,Oral,https://a.org,10.1/2,x\n'
    )
    assert reader.read(text, "f.csv").records == (
        Record(
            given_id="p1",
            title="A Title",
            abstract='Words, and more "words".',
            authors=("Ann Bee", "Cy Dee"),
            venue="ICLR",
            year=2023,
            decision="oral",
            url="https://a.org",
            doi="10.1/2",
            sources=(Source("f.csv", 2),),
        ),
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_each_delimiter_is_understood(delimiter: str) -> None:
    record = read_one(f"title{delimiter}abstract\n\nA{delimiter} B\n")
    assert (record.title, record.abstract, record.sources[0].line) == ("A", "B", 3)


@pytest.mark.parametrize(
    ("header", "venue"),
    [
        ("Title,Abstract Note,Author,Publication Title,Publication Year", "V"),
        ("TITLE,ABSTRACT,Author(s),Source title,Year", "V"),
        ("paper_title,summary,authors,conference,date", "V"),
        ('"Title","Abstract","Authors","Unknown","YEAR"', ""),
    ],
)
def test_columns_go_by_several_names_in_any_case(header: str, venue: str) -> None:
    record = read_one(f'{header}\nT,A,"Bee, Ann; Dee, Cy van",V,2020\n')
    assert (record.title, record.abstract, record.year) == ("T", "A", 2020)
    assert (record.authors, record.venue) == (("Ann Bee", "Cy van Dee"), venue)


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        ("Bee, Ann", ("Ann Bee",)),
        ("van Dee, Cy", ("Cy van Dee",)),
        ("Bee, Ann C.", ("Ann C. Bee",)),
        ("Ann Bee, Cy Dee", ("Ann Bee", "Cy Dee")),
        ("Bee, Dee, Eff", ("Bee", "Dee", "Eff")),
        ("Bee,", ("Bee",)),
        ("Ann Bee", ("Ann Bee",)),
    ],
)
def test_commas_part_names_but_not_the_parts_of_one(authors: str, names: tuple[str, ...]) -> None:
    assert read_one(f'title,abstract,authors\nT,A,"{authors}"\n').authors == names


def test_of_two_columns_of_a_field_the_one_that_says_something_is_read() -> None:
    assert read_one("title,abstract,summary\nT,,Text.\n").abstract == "Text."


@pytest.mark.parametrize(
    ("first_line", "is_table"),
    [
        ("title,abstract", True),
        ("\n\nTitle;Abstract", True),
        ("abstract\tyear", True),
        ("abstract", False),
        ("title,year", False),
        ("Title: a thing, abstract and whole", False),
        ('"title"x,abstract', False),
        ("", False),
    ],
)
def test_a_table_is_known_by_its_first_row(first_line: str, is_table: bool) -> None:
    assert reader.matches(f"{first_line}\nA,B\n") is is_table


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("T", "the paper has no abstract"),
        ("T,", "the paper has no abstract"),
        ("T,[No abstract available],2020", "the paper has no abstract"),
        ("T,One, two,2020", "the row has 4 cells under 3 columns; a text may lack its quotes"),
        ('T,"One" two,2020', "not a row of CSV (',' expected after '\"')"),
        (f"T,{'x' * 1_000_001}", "not a row of CSV (field larger than field limit (1000000))"),
    ],
)
def test_a_row_without_a_usable_paper_is_skipped_with_the_reason(row: str, reason: str) -> None:
    page = reader.read(f"title,abstract,year\nA,First.,1\n{row}\nB,Last.,2\n", "f")
    assert [record.abstract for record in page.records] == ["First.", "Last."]
    assert [(each.source, each.line, each.reason) for each in page.skipped] == [("f", 3, reason)]


@pytest.mark.parametrize("row", ["T,Text", "T,Text,n.d.", "T,Text,,,,"])
def test_a_short_row_or_an_odd_year_does_not_lose_the_paper(row: str) -> None:
    record = read_one(f"title,abstract,year\n{row}\n")
    assert (record.title, record.abstract, record.year) == ("T", "Text", None)


def test_a_quote_that_is_never_closed_costs_only_its_row() -> None:
    text = 'title,abstract\nA,"One.\nB,"Two."\nC,Three.\nD,"Four.\n'
    page = reader.read(text, "f")
    assert [record.abstract for record in page.records] == ["Two.", "Three."]
    assert reasons(text) == {
        2: "not a row of CSV (',' expected after '\"')",
        5: "not a row of CSV (unexpected end of data)",
    }


def test_lines_of_windows_and_a_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    file = tmp_path / "papers.txt"
    file.write_bytes(b'\xef\xbb\xbftitle;abstract\r\nA;"One\r\ntwo."\r\n')
    (record,) = read_file(file).records
    assert (record.title, record.abstract) == ("A", "One two.")


def test_zero_bytes_and_other_encodings_are_named(tmp_path: Path) -> None:
    file = tmp_path / "papers.csv"
    file.write_bytes(b"title,abstract\nA,B\x00\n")
    with pytest.raises(InputError, match="is binary"):
        read_file(file)
    file.write_bytes("title,abstract\nA,Цапля\n".encode("cp1251"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_file(file)


@pytest.mark.parametrize("row", ["T,Text of the paper\n", 'T,"broken\n', 'T,"a" b\n'])
def test_ten_thousand_rows_take_seconds(row: str) -> None:
    started = time.process_time()
    page = reader.read("title,abstract\n" + row * 10_000, "f")
    assert len(page.records) + len(page.skipped) == 10_000
    assert time.process_time() - started < 10
