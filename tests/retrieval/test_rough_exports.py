"""Every field of rough exports, into records and out again; the encodings of files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exports import FILES

from retrieval.formats import read_file
from retrieval.formats.citation_keys import citation_keys
from retrieval.formats.merge import fold, paper_of
from retrieval.formats.writers import FORMATS
from retrieval.types import InputError, Publication, Record

TEXTS = ("title", "venue", "doi", "abstract", "given_id", "url", "decision")
NAMES = (*TEXTS, "authors", "year", *Publication.__slots__)
NOTHING: dict[str, Any] = {
    **dict.fromkeys(NAMES, ""),
    **dict.fromkeys(("authors", "surnames", "keywords"), ()),
    **dict.fromkeys(("year", "month")),
}
KEPT = (
    *("title", "authors", "year", "month", "doi", "abstract"),
    *("volume", "issue", "pages", "issn", "arxiv", "keywords"),
)
"""Fields that are the same in every format; venue and publisher of a thesis are one in some."""


def fields_of(record: Record) -> dict[str, Any]:
    return {
        name: getattr(record.publication if name in Publication.__slots__ else record, name)
        for name in NAMES
    }


def read(tmp_path: Path, name: str) -> list[Record]:
    file = tmp_path / name
    file.write_bytes(FILES[name][0])
    return list(read_file(file).records)


@pytest.mark.parametrize("name", FILES)
def test_every_field_of_every_record_is_read(tmp_path: Path, name: str) -> None:
    records = read(tmp_path, name)
    assert list(map(fields_of, records)) == [NOTHING | each for each in FILES[name][1]]


@pytest.mark.parametrize("form", ["bibtex", "ris", "csl-json"])
@pytest.mark.parametrize("name", FILES)
def test_what_is_exported_is_the_same_papers(tmp_path: Path, name: str, form: str) -> None:
    records = read(tmp_path, name)
    papers = [replace(paper_of(record), id=f"p{at}") for at, record in enumerate(records)]
    file = tmp_path / "out"
    file.write_text(FORMATS[form](papers, citation_keys(papers, lambda _: [])), "utf-8")
    back = list(read_file(file).records)
    assert len(fold(records + back)) == len(fold(records)) == len(back)
    for before, after in zip(records, back, strict=True):
        found, given = fields_of(after), fields_of(before)
        assert {name: found[name] for name in KEPT} == {name: given[name] for name in KEPT}


def test_a_file_of_windows_is_read_and_said_so(tmp_path: Path) -> None:
    file = tmp_path / "joined.csv"
    file.write_bytes("title,abstract\nÜbung,“Ärger”…\n".encode("cp1252") + "Ĳs,Ōta.\n".encode())
    page = read_file(file)
    assert [(r.title, r.abstract) for r in page.records] == [("Übung", "“Ärger”…"), ("Ĳs", "Ōta.")]
    assert "was read as Windows-1252; check accents" in page.notes[0].reason


@pytest.mark.parametrize("encoding", ["cp1251", "gbk", "shift_jis", "big5", "koi8-r"])
def test_other_scripts_are_not_taken_for_western_letters(tmp_path: Path, encoding: str) -> None:
    text = "Цапли во влажные годы" if encoding in {"cp1251", "koi8-r"} else "日本水中大人"
    file = tmp_path / "a.csv"
    file.write_bytes(f"title,abstract\nT,{text}\n".encode(encoding))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_file(file)


@pytest.mark.parametrize("name", ["idna", "undefined", "punycode", "rot13", "hex", "no-such"])
def test_an_encoding_that_is_none_of_text_is_not_used(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.bib"
    file.write_text(f"% Encoding: {name}\n@misc{{a, abstract={{One.}}}}")
    assert read_file(file).records[0].abstract == "One."
