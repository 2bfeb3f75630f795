"""The four kinds of pages of the seeds, whatever their file is called, and what is no page."""

import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from retrieval.formats import files_of, read_file
from retrieval.formats.seed_pages import read_awards, read_list, read_session, read_titles
from retrieval.types import InputError, Record, Skipped

AWARDS = "000_157da2c6366597ad.txt"
CONFERENCE = "001_ec953934fd8ce3e8.txt"
SESSION = "002_38f0d016b694d3b1.txt"
TRENDING = "003_90c001e264484733.txt"
SHORT = (AWARDS, SESSION, TRENDING)

read_once = cache(read_file)
"""For the seeds, which no test changes."""

LONG = "This abstract is long enough to be taken for one. " * 5


def titled(records: tuple[Record, ...] | list[Record], title: str) -> Record:
    return next(record for record in records if record.title == title)


# --- the seeds


@pytest.mark.parametrize(
    ("name", "papers"), [(AWARDS, 10), (CONFERENCE, 1564), (SESSION, 7), (TRENDING, 65)]
)
def test_every_paper_of_the_seeds_is_read(seeds: Path, name: str, papers: int) -> None:
    assert len(read_once(seeds / name).records) == papers


@pytest.mark.parametrize(
    ("name", "decisions"),
    [
        (AWARDS, {"outstanding paper": 7, "honorable mention": 3}),
        (CONFERENCE, {"oral": 90, "spotlight": 280, "poster": 1194}),
        (SESSION, {"oral": 4, "outstanding paper": 3}),
        (TRENDING, {"": 65}),
    ],
)
def test_every_decision_is_read(seeds: Path, name: str, decisions: dict[str, int]) -> None:
    assert Counter(record.decision for record in read_once(seeds / name).records) == decisions


@pytest.mark.parametrize(
    ("name", "untitled", "without_authors"),
    [(AWARDS, 9, 10), (CONFERENCE, 0, 0), (SESSION, 1, 0), (TRENDING, 0, 65)],
)
def test_titles_and_authors_are_read_where_there_are_any(
    seeds: Path, name: str, untitled: int, without_authors: int
) -> None:
    records = read_once(seeds / name).records
    assert sum(not record.title for record in records) == untitled
    assert sum(not record.authors for record in records) == without_authors


@pytest.mark.parametrize(
    ("name", "venue", "year"),
    [
        (AWARDS, "ICLR", 2022),
        (CONFERENCE, "ICLR", 2023),
        (SESSION, "ICLR", 2022),
        (TRENDING, "", None),
    ],
)
def test_venue_and_year_of_the_seeds_are_known_by_their_content(
    seeds: Path, tmp_path: Path, name: str, venue: str, year: int | None
) -> None:
    copy = tmp_path / "renamed"
    shutil.copy(seeds / name, copy)
    assert {(record.venue, record.year) for record in read_file(copy).records} == {(venue, year)}


@pytest.mark.parametrize(
    ("name", "disguises"),
    [
        (CONFERENCE, ["papers.jsonl"]),  # the long one
        *((name, ["papers.jsonl", "data.csv", "noext", "été 日本.bib"]) for name in SHORT),
    ],
)
def test_the_reader_is_chosen_by_content_under_any_file_name(
    seeds: Path, tmp_path: Path, name: str, disguises: list[str]
) -> None:
    original = read_once(seeds / name).records
    for disguise in disguises:
        copy = tmp_path / disguise
        copy.write_bytes((seeds / name).read_bytes())
        read = read_file(copy).records
        assert [record.abstract for record in read] == [record.abstract for record in original]
        assert {source.file for record in read for source in record.sources} == {disguise}


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(
    seeds: Path, tmp_path: Path, ending: str
) -> None:
    text = (seeds / SESSION).read_text("utf-8")
    copy = tmp_path / SESSION
    copy.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ending).encode())
    read, original = read_file(copy, "ICLR", 2022), read_once(seeds / SESSION)
    assert read == original


def test_an_author_list_is_read_in_order(seeds: Path) -> None:
    paper = titled(read_once(seeds / CONFERENCE).records, "Encoding Recurrence into Transformers")
    assert paper.authors == (
        "Feiqing Huang",
        "Kexin Lu",
        "Yuxi CAI",
        "Zhen Qin",
        "Yanwen Fang",
        "Guangjian Tian",
        "Guodong Li",
    )
    assert paper.sources[0].line == 3


def test_authors_of_a_session_are_parted_at_dots(seeds: Path) -> None:
    title = "Expressiveness and Approximation Properties of Graph Neural Networks"
    paper = titled(read_once(seeds / SESSION).records, title)
    assert paper.authors == ("Floris Geerts", "Juan L. Reutter")


def test_an_untitled_talk_keeps_its_authors_and_abstract(seeds: Path) -> None:
    untitled = titled(read_once(seeds / SESSION).records, "")
    assert untitled.authors == ("Huiqi Deng", "Qihan Ren", "Hao Zhang", "Quanshi Zhang")
    assert untitled.abstract.startswith("This paper explores the bottleneck of feature")


def test_a_page_that_repeats_its_papers_names_every_place(seeds: Path) -> None:
    paper = titled(
        read_once(seeds / AWARDS).records,
        "AnalyticDPM: an Analytic Estimate of the Optimal Reverse Variance in Diffusion "
        "Probabilistic Models",
    )
    assert len(paper.sources) == 2


def test_how_a_talk_was_given_is_no_part_of_its_abstract(seeds: Path) -> None:
    assert not any("Virtual" in r.abstract[:20] for r in read_once(seeds / AWARDS).records)


@pytest.mark.parametrize(
    ("name", "lines"),
    [(AWARDS, []), (CONFERENCE, []), (SESSION, [1, 4, 7]), (TRENDING, [1, 3, 5, 7, 9])],
)
def test_only_navigation_text_of_the_seeds_is_skipped(
    seeds: Path, name: str, lines: list[int]
) -> None:
    skipped = read_once(seeds / name).skipped
    assert [each.line for each in skipped] == lines
    assert {each.source for each in skipped} <= {name}


# --- a conference's list


@pytest.mark.parametrize(
    "opening",
    [
        r"- abstract@[open-review\(Oral\)](#): ",
        r"- abstract@[open-review(Oral)](#) ",
        r"- [abstract@open-review\(Oral\)](#): ",
        r"• abstract@[open-review\(Oral\)](https://a.org/x): ",
        r"* Abstract@[open-review\(oral\)](#):",
    ],
)
@pytest.mark.parametrize("title", ["[A Title](#)", "A Title"])
def test_each_markup_of_a_conference_list_is_read(opening: str, title: str) -> None:
    page = read_list(f"{title}\n\n- A. One, B. Two\n{opening}Its abstract.", "f")
    assert not page.skipped
    (paper,) = page.records
    assert (paper.title, paper.authors) == ("A Title", ("A. One", "B. Two"))
    assert (paper.decision, paper.abstract) == ("oral", "Its abstract.")


OPENING = r"- abstract@[open-review\(Poster\)](#): "


def test_an_abstract_runs_over_paragraphs_and_lists_until_the_next_title() -> None:
    page = read_list(
        f"First\n- A\n{OPENING}One.\n\nTwo.\n1) three;\n- four.\n\nSecond\n\n- B\n{OPENING}Five.",
        "f",
    )
    assert [(p.title, p.abstract) for p in page.records] == [
        ("First", "One. Two. 1) three; - four."),
        ("Second", "Five."),
    ]


def test_brackets_in_a_linked_title_stay() -> None:
    page = read_list(f"[Sets [of] Sets](#)\n- A\n{OPENING}Text.", "f")
    assert page.records[0].title == "Sets [of] Sets"


def test_a_paper_without_abstract_is_reported_and_its_neighbours_are_read() -> None:
    text = f"[First](#)\n\n- A\n\n[Second](#)\n\n- B\n{OPENING}Two.\n\n[Third](#)\n- C"
    page = read_list(text, "list.txt")
    assert [record.title for record in page.records] == ["Second"]
    reasons = {each.line: each.reason for each in page.skipped}
    assert reasons == {
        1: "text before the first paper",
        3: "text before the first paper",
        10: "title or authors of a paper without an abstract",
        11: "title or authors of a paper without an abstract",
    }


def test_an_empty_abstract_is_reported() -> None:
    page = read_list(f"First\n- A\n{OPENING}\n\n[Second](#)\n- B\n{OPENING}Two.", "f")
    assert [record.title for record in page.records] == ["Second"]
    assert page.skipped == (Skipped("f", 3, "the abstract is empty"),)


# --- the other pages


def test_lines_of_a_session_that_fit_nothing_are_reported() -> None:
    slot = "Tue 26 April 1:00 - 1:15 PDT"
    text = f"menu\n{slot}\nT\nA · B\nstray\n{LONG}\n{slot}\nU"
    page = read_session(text, "s")
    assert [record.title for record in page.records] == ["T"]
    assert [(each.line, each.reason) for each in page.skipped] == [
        (1, "navigation text, not part of a paper"),
        (5, "neither title, authors nor abstract"),
        (7, "a talk without an abstract"),
        (8, "a talk without an abstract"),
    ]


def test_awards_without_abstract_are_reported() -> None:
    text = f"menu\nOutstanding Paper\nTitle\nmore\nHonorable Mention\n{LONG}"
    page = read_awards(text, "a")
    assert [record.decision for record in page.records] == ["honorable mention"]
    assert [each.line for each in page.skipped] == [1, 2, 3, 4]


def test_a_title_and_its_abstract_make_a_paper_of_a_trending_page() -> None:
    page = read_titles(f"menu\n\nFirst\n\n{LONG}\n\nSecond\n\n{LONG}", "t")
    assert [(record.title, record.sources[0].line) for record in page.records] == [
        ("First", 3),
        ("Second", 7),
    ]
    assert [each.line for each in page.skipped] == [1]


# --- venue and year from the command line


def test_given_venue_and_year_fill_what_the_file_leaves_open(jsonl: Callable[..., Path]) -> None:
    file = jsonl({"abstract": "One.", "venue": "NeurIPS"}, {"abstract": "Two.", "year": 2020})
    records = read_file(file, "ICML", 2021).records
    assert [(r.venue, r.year) for r in records] == [("NeurIPS", 2021), ("ICML", 2020)]


# --- what cannot be read


def test_a_folder_gives_its_files_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.txt", ".hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert files_of([tmp_path]) == [tmp_path / "a" / "c.txt", tmp_path / "b.txt"]


def test_hidden_is_only_what_is_hidden_inside_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / ".papers"
    folder.mkdir()
    (folder / "a.txt").touch()
    assert files_of([folder]) == [folder / "a.txt"]


@pytest.mark.parametrize("beside", ["queries.jsonl", "qrels/test.tsv"])
def test_of_a_folder_in_the_layout_of_beir_only_the_corpus_is_read(
    tmp_path: Path, beside: str
) -> None:
    for name in ("scifact/corpus.jsonl", f"scifact/{beside}", "scifact/LICENSE", "own/a.bib"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    corpus = tmp_path / "scifact" / "corpus.jsonl"
    assert files_of([tmp_path / "scifact"]) == [corpus]
    assert files_of([tmp_path]) == [tmp_path / "own" / "a.bib", corpus]


def test_a_corpus_alone_is_a_file_like_others(tmp_path: Path) -> None:
    for name in ("corpus.jsonl", "notes.jsonl"):
        (tmp_path / name).touch()
    assert files_of([tmp_path]) == [tmp_path / "corpus.jsonl", tmp_path / "notes.jsonl"]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file or folder .*/nowhere; check the path") as error:
        files_of([tmp_path / "nowhere"])
    assert "\n" not in str(error.value)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder .* has no files; expected papers with abstracts"):
        files_of([tmp_path])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected"),
        (b" \n\t\n", "is empty; expected"),
        (b"\xef\xbb\xbf", "is in no format|is empty"),
        (b"\xff\xfe{\x00}\x00", "has no paper with an abstract"),
        (b"\xff\xfe{", r"is not UTF-16 text \(byte 2\); save it as UTF-8 text"),
        (b"caf\xe9", r"is not UTF-8 text \(byte 3\); save it as UTF-8 text"),
        (b"PK\x03\x04\x00\x00", "is not UTF-8|is binary: it looks like a packed file; unpack it"),
        (b"just a note\n", "is in no format that can be read; expected"),
        (b"[1, 2]", "is in no format that can be read; expected"),
        (b"Outstanding Paper\nTitle only", r"has no paper with an abstract \(line 1: an award"),
        (b'{"title": "T"}', r"has no paper with an abstract \(line 1: the paper has no abstract\)"),
        (b"title,abstract\n", "has no paper with an abstract; databases often"),
        (b"title,authors\nT,A\n", "is in no format .*: it looks like a table .* without a column"),
        (b"@string{a = {b}}\n", "has no paper with an abstract; databases"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_was_expected(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "some file"
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"some file ({message})") as error:
        read_file(file)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(".")


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a file"):
        read_file(tmp_path)
