"""JSONL: fields, and lines that are not what they should be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrieval.formats import json_records as reader
from retrieval.formats import read_file
from retrieval.types import InputError, Record, Source


def read_one(**fields: Any) -> Record:
    """The record of a line with these fields and an abstract."""
    line = json.dumps({"abstract": "An abstract.", **fields})
    (record,) = reader.read(line, "f").records
    return record


def test_every_field_is_read() -> None:
    line = {
        "id": "p1",
        "title": r"A \emph{Title}",
        "abstract": r"Some \emph{words}.",
        "authors": ["Ann B.", "Cy D."],
        "venue": "ICLR",
        "year": 2023,
        "decision": "Oral",
        "url": "https://a.org",
        "doi": "10.1/2",
        "unknown": [1],
    }
    assert reader.read("\n" + json.dumps(line), "f.jsonl").records == (
        Record(
            given_id="p1",
            title="A Title",
            abstract="Some words.",
            authors=("Ann B.", "Cy D."),
            venue="ICLR",
            year=2023,
            decision="oral",
            url="https://a.org",
            doi="10.1/2",
            sources=(Source("f.jsonl", 2),),
        ),
    )


def test_an_abstract_alone_is_a_paper() -> None:
    assert read_one() == Record(abstract="An abstract.", sources=(Source("f", 1),))


def test_a_line_of_beir_is_read(jsonl: Callable[..., Path]) -> None:
    file = jsonl({"_id": "4983", "title": "T", "text": "Words.", "metadata": {}})
    (record,) = read_file(file).records
    assert (record.given_id, record.title, record.abstract) == ("4983", "T", "Words.")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["Ann B.", " Cy D. ", ""], ("Ann B.", "Cy D.")),
        ("Ann B., Cy D.", ("Ann B.", "Cy D.")),
        ("Bee, Ann; Dee, Cy", ("Ann Bee", "Cy Dee")),
        ("Bee, Ann and Dee, Cy", ("Ann Bee", "Cy Dee")),
        (["Bee, Ann", "Dee, Cy"], ("Ann Bee", "Cy Dee")),
        (["Ann Bee", "OpenAI, Inc."], ("Ann Bee", "OpenAI, Inc.")),
        ("Ann B.", ("Ann B.",)),
        ("", ()),
        (None, ()),
        ([], ()),
    ],
)
def test_authors_come_as_a_list_or_in_one_string(given: object, read: tuple[str, ...]) -> None:
    assert read_one(authors=given).authors == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (2023, 2023),
        ("2023", 2023),
        (2023.0, 2023),
        ("2023.0", 2023),
        ("2023-05-01", 2023),
        ("May 2023", 2023),
        ("800", 800),
        (None, None),
        ("", None),
        ("n.d.", None),
        ("soon", None),
        (0, None),
        (-5, None),
        (99999, None),
        ("99999", None),
        (2023.5, None),
        (True, None),
        ({"from": 2020}, None),
    ],
)
def test_years_are_numbers_or_unknown_and_never_lose_the_paper(
    given: object, read: int | None
) -> None:
    assert read_one(year=given).year == read


@pytest.mark.parametrize(("given", "read"), [(17, "17"), (" a b ", "a b"), ("", ""), (None, "")])
def test_ids_are_kept_as_text(given: object, read: str) -> None:
    assert read_one(id=given).given_id == read


def test_a_field_that_is_null_is_unknown() -> None:
    record = read_one(title=None, venue=None, decision=None, url=None, doi=None)
    assert record == read_one()


def test_half_a_character_is_left_out_of_every_field() -> None:
    line = r'{"id":"i\ud83d","title":"t\ud83d","abstract":"a\ud83d","venue":"v\ud83d"}'
    (record,) = reader.read(line, "f").records
    assert (record.given_id, record.title, record.abstract, record.venue) == ("i", "t", "a", "v")
    assert read_one(title="\U0001f600").title == "\U0001f600"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"title": "T"}', "the paper has no abstract"),
        ('{"abstract": ""}', "the paper has no abstract"),
        ('{"abstract": null}', "the paper has no abstract"),
        (r'{"abstract": " \u200b "}', "the paper has no abstract"),
        ('{"abstract": "[No abstract available]"}', "the paper has no abstract"),
        ('{"text": "N/A"}', "the paper has no abstract"),
        ('{"abstract": [[], {}]}', "the paper has no abstract"),
        ("[]", "not a JSON object"),
        ("7", "not a JSON object"),
        ('{"abstract": "a"', "not valid JSON (Expecting ',' delimiter at column 17)"),
        ("{'abstract': 'a'}", "not valid JSON (Expecting property name"),
        ('{"abstract": "a"} {}', "not valid JSON (Extra data at column 19)"),
        ('{"year": ' + "9" * 5000 + "}", "not valid JSON (Exceeds the limit"),
        ('{"a": ' + "[" * 100_000, "not valid JSON (maximum recursion depth exceeded"),
    ],
)
def test_a_line_without_a_usable_paper_is_skipped_with_the_reason(line: str, reason: str) -> None:
    page = reader.read(f'{{"abstract": "First."}}\n\n{line}\n{{"abstract": "Last."}}', "f")
    assert [record.abstract for record in page.records] == ["First.", "Last."]
    (skipped,) = page.skipped
    assert (skipped.source, skipped.line) == ("f", 3)
    assert skipped.reason.startswith(reason)
    assert "\n" not in skipped.reason


def test_a_file_without_one_usable_line_is_refused_with_the_first_reason(
    jsonl: Callable[..., Path],
) -> None:
    with pytest.raises(
        InputError, match=r"no paper with an abstract \(line 1: not valid JSON \(.*"
    ):
        read_file(jsonl('{"abstract": "a"', '{"title": "T"}'))


def test_a_broken_first_line_does_not_hide_the_others(jsonl: Callable[..., Path]) -> None:
    page = read_file(jsonl('cut off"}', {"abstract": "One."}, {"abstract": "Two."}))
    assert [record.abstract for record in page.records] == ["One.", "Two."]
    assert [skipped.line for skipped in page.skipped] == [1]


def test_papers_with_the_same_id_are_both_kept() -> None:
    lines = [
        '{"id": "x", "title": "no abstract"}',
        '{"id": "x", "abstract": "a"}',
        "",
        '{"_id": "x", "abstract": "b"}',
    ]
    page = reader.read("\n".join(lines), "f")
    assert [record.abstract for record in page.records] == ["a", "b"]
    assert [(skipped.line, skipped.reason) for skipped in page.skipped] == [
        (1, "the paper has no abstract"),
    ]


def test_progress_is_told_every_fifty_records_and_at_the_end() -> None:
    told: list[tuple[int, int]] = []
    reader.read('{"abstract": "a"}\n' * 120, "f", lambda done, total: told.append((done, total)))
    assert told == [(50, 120), (100, 120), (120, 120)]


def test_separators_inside_a_text_do_not_end_a_line() -> None:
    line = json.dumps({"abstract": "one\u2028two\x85three\x0cfour"}, ensure_ascii=False)
    assert reader.read(line, "f").records[0].abstract == "one two three four"


@pytest.mark.parametrize(
    "text",
    [
        '[{"abstract": "a"}, {"abstract": "b"}]',
        '[\n{"abstract": "a"},\n{"abstract": "b"}\n]\n',
        '{"records": {"1": {"abstract": "a"}, "2": {"abstract": "b"}}}',
        '{\n "title": "Mine",\n "items": [{"data": {"abstractNote": "a"}}, {"abstract": "b"}]\n}',
        '{"message": {"items": [{"abstract": "a"}, {"abstract": "b"}]}}',
    ],
)
def test_arrays_and_answers_of_services_are_read(text: str) -> None:
    assert [record.abstract for record in reader.read(text, "f").records] == ["a", "b"]


def test_an_array_that_is_cut_off_or_has_other_values_keeps_its_papers() -> None:
    page = reader.read('[\n{"abstract": "a"},\n7,\n{"abstract": "b"},\n{"abstr', "f")
    assert [(record.abstract, record.sources[0].line) for record in page.records] == [
        ("a", 2),
        ("b", 4),
    ]
    assert [skipped.line for skipped in page.skipped] == [3, 5]


def test_authors_may_be_objects() -> None:
    authors = [
        {"name": "Ann Bee"},
        {"author": {"display_name": "Cy Dee"}},
        {"family": "Eff", "given": "Di", "suffix": "Jr."},
        {"firstName": "Gus", "lastName": "Haq", "creatorType": "author"},
        {"firstName": "Ed", "lastName": "Itor", "creatorType": "editor"},
        {"literal": "Frog Group"},
        {"first": "Ian", "last": "Jay", "middle": []},
        {"unknown": 1},
        7,
    ]
    names = ("Ann Bee", "Cy Dee", "Di Eff Jr.", "Gus Haq", "Frog Group", "Ian Jay")
    assert read_one(authors=authors).authors == names


@pytest.mark.parametrize("depth", [400, 900, 3000])
def test_values_that_are_nested_deeply_are_skipped_in_a_sentence(depth: int) -> None:
    opened, closed = "[" * depth, "]" * depth
    deep = '{"title": ' + opened + closed + "}"
    for text in (f'{{"abstract": "a", "title": {opened}{closed}}}', f"[{deep}]", opened + closed):
        page = reader.read(text, "f")
        assert len(page.records) + len(page.skipped) <= 1
