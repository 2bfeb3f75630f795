"""RIS: tags of several exporters, and records that are not what they should be."""

import time
from pathlib import Path

import pytest

from retrieval.formats import read_file
from retrieval.formats import tagged as reader
from retrieval.types import Publication, Record, Source

FULL = """\
TY  - CPAPER
ID  - key1
TI  - A Title
AU  - Bee, Ann
AU  - Dee, Jr., Cy
AU  - van den Eff, Aaron
AU  - OpenAI
T2  - ICLR
PY  - 2023/05/01/
AB  - Words, and $x^2$.
More words.
DO  - 10.1/2;3
UR  - https://a.org/?a=1;b=2
UR  - https://b.org
KW  - read
ER  -
"""


def read_one(*lines: str) -> Record:
    (record,) = reader.read("\n".join(["TY  - JOUR", *lines, "ER  - "]), "f").records
    return record


def test_every_field_is_read() -> None:
    assert reader.read("1.\n" + FULL, "f.ris").records == (
        Record(
            given_id="key1",
            title="A Title",
            abstract="Words, and $x^2$. More words.",
            authors=("Ann Bee", "Cy Dee Jr.", "Aaron van den Eff", "OpenAI"),
            venue="ICLR",
            year=2023,
            url="https://a.org/?a=1;b=2",
            doi="10.1/2;3",
            sources=(Source("f.ris", 2),),
            publication=Publication(
                kind="paper-conference",
                month=5,
                keywords=("read",),
                surnames=("Bee", "Dee", "van den Eff", "OpenAI"),
            ),
        ),
    )


@pytest.mark.parametrize("venue", ["T2", "JO", "JF", "JA", "J2", "BT", "C3"])
def test_tags_of_other_exporters_are_read(venue: str) -> None:
    record = read_one("T1  - T", "A1  - Bee, Ann", "N2  - Text.", "Y1  - 2020", f"{venue}  - V")
    assert (record.title, record.authors, record.abstract) == ("T", ("Ann Bee",), "Text.")
    assert (record.year, record.venue) == (2020, "V")


def test_an_odd_year_does_not_lose_the_paper() -> None:
    assert read_one("AB  - Text.", "PY  - n.d.").year is None


def test_broken_records_are_skipped_and_their_neighbours_are_read() -> None:
    text = "\n".join(
        [
            *("TY  - JOUR", "TI  - No end", "AB  - One."),
            *("TY  - JOUR", "TI  - No abstract", "ER  - ", "stray", ""),
            *("TY  - JOUR", "continued before any tag", "ID  - a", "AB  - Two.", "ER  - "),
            *("TY  - JOUR", "ID  - a", "AB  - Three.", "ER  - "),
            *("TY  - JOUR", "AB  - cut"),
        ]
    )
    page = reader.read(text, "f")
    assert [(record.title, record.abstract) for record in page.records] == [
        ("No end", "One."),
        ("", "Two."),
        ("", "Three."),
    ]
    assert [(skipped.line, skipped.reason) for skipped in page.skipped] == [
        (4, "the paper has no abstract"),
        (18, "the record is cut off before its line ER"),
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "papers"
    file.write_bytes(b"\xef\xbb\xbf" + FULL.replace("\n", ending).encode())
    assert read_file(file).records == reader.read(FULL, "papers").records


def test_thousands_of_records_take_seconds() -> None:
    started = time.monotonic()
    records = (FULL.replace("key1", f"key{number}") for number in range(3_000))
    assert len(reader.read("\n".join(records), "f").records) == 3_000
    assert time.monotonic() - started < 15
