"""Ingest: what is new, what changed, and that only that is embedded."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import WordEmbedder

from retrieval.encoders.embedder import LlamaCppEmbedder
from retrieval.formats import read_file
from retrieval.formats.merge import fold
from retrieval.library.health import check
from retrieval.library.ingest import ingest
from retrieval.library.library import Library
from retrieval.search.search import search
from retrieval.types import Cancelled, IngestReport, InputError, Paper, Record, Source

Open = Callable[..., Library]
Jsonl = Callable[..., Path]

LONG = (
    "Gradient noise averages out over many small steps of the method. "
    "Large steps amplify the variance of each sampled batch instead. "
    "We prove that a schedule between both is optimal for smooth losses."
)
"""More than 120 letters: enough to be recognized when it is cut or changed a little."""

FRUIT: dict[str, Any] = {"title": "Fruit", "abstract": "An apple a day. A pear at night."}
STONES: dict[str, Any] = {"title": "Stones", "abstract": "Granite is hard. Talc is soft."}


def counts(report: IngestReport) -> tuple[int, int, int, int, int]:
    return report.papers, report.added, report.updated, report.unchanged, report.merged


def papers(library: Library) -> dict[str, Paper]:
    """The papers by title."""
    return {stored.paper.title: stored.paper for stored in library.store.papers()}


def chunk_texts(library: Library, paper: Paper) -> list[str]:
    """The chunks of a paper that are in the store, in order, until one is missing."""
    ids = [f"{paper.id}:{ordinal}" for ordinal in range(20)]
    found = library.store.chunks_by_id(ids)
    return [found[id_].text for id_ in ids if id_ in found]


class Ingesting:
    """A library with one way in that tells what was embedded."""

    def __init__(self, library: Library, embedder: WordEmbedder) -> None:
        self.library = library
        self._embedder = embedder

    def __call__(self, *files: Path) -> tuple[tuple[int, int, int, int, int], list[str]]:
        """The counts of (papers, added, updated, unchanged, merged), and the texts embedded."""
        self._embedder.embedded.clear()
        report = ingest(self.library, files)
        assert (report.papers, report.chunks) == self.library.store.count()
        assert self.library.store.damage() == ([], [])
        assert not self.library.was_interrupted
        return counts(report), list(self._embedder.embedded)


@pytest.fixture
def ingesting(open_library: Open) -> Ingesting:
    embedder = WordEmbedder()
    return Ingesting(open_library(embedder), embedder)


# --- new and unchanged


def test_papers_and_their_chunks_are_added(ingesting: Ingesting, jsonl: Jsonl) -> None:
    done, embedded = ingesting(jsonl(FRUIT, STONES))
    assert done == (2, 2, 0, 0, 0)
    assert embedded == [
        "Fruit. An apple a day. A pear at night.",
        "Stones. Granite is hard. Talc is soft.",
    ]
    assert papers(ingesting.library)["Fruit"].sources == (Source("papers.jsonl", 1),)


def test_a_second_ingest_changes_and_embeds_nothing(ingesting: Ingesting, jsonl: Jsonl) -> None:
    file = jsonl(FRUIT, STONES)
    ingesting(file)
    revision = ingesting.library.revision
    assert ingesting(file) == ((2, 0, 0, 2, 0), [])
    assert ingesting.library.revision == revision


def test_order_of_lines_is_only_a_change_of_place(ingesting: Ingesting, jsonl: Jsonl) -> None:
    ingesting(jsonl(FRUIT, STONES))
    assert ingesting(jsonl(STONES, FRUIT)) == ((2, 0, 2, 0, 0), [])
    assert papers(ingesting.library)["Fruit"].sources == (Source("papers.jsonl", 2),)


def test_copies_are_counted_as_merged(ingesting: Ingesting, jsonl: Jsonl) -> None:
    one = jsonl({"title": "T", "abstract": LONG[:160] + " …"}, name="a.jsonl")
    other = jsonl({"abstract": LONG, "venue": "ICLR"}, name="b.jsonl")
    assert ingesting(one, other)[0] == (1, 1, 0, 0, 1)
    (paper,) = papers(ingesting.library).values()
    assert (paper.title, paper.abstract, paper.venue) == ("T", LONG, "ICLR")
    assert paper.sources == (Source("a.jsonl", 1), Source("b.jsonl", 1))


def test_what_was_skipped_is_reported(ingesting: Ingesting, jsonl: Jsonl) -> None:
    report = ingest(ingesting.library, [jsonl(FRUIT, {"title": "No abstract"})])
    (skipped,) = report.skipped
    assert (skipped.source, skipped.line) == ("papers.jsonl", 2)


def test_nothing_is_written_if_any_file_cannot_be_read(ingesting: Ingesting, jsonl: Jsonl) -> None:
    with pytest.raises(InputError, match=r"bad\.jsonl has no paper .*line 1: not valid JSON"):
        ingest(ingesting.library, [jsonl(FRUIT), jsonl("{", name="bad.jsonl")])
    assert ingesting.library.store.count() == (0, 0)


# --- changed


@pytest.mark.parametrize(
    ("change", "embedded"),
    [
        ({"venue": "ICLR"}, []),
        ({"year": 2023}, []),
        ({"authors": ["Ann"]}, []),
        ({"decision": "oral"}, []),
        ({"url": "https://a.org"}, []),
        ({"title": "Fruits"}, ["Fruits. An apple a day. A pear at night."]),
        ({"abstract": "An apple."}, ["Fruit. An apple."]),
        (
            {"abstract": "An apple a day keeps all doctors away. A pear too."},
            ["Fruit. An apple a day keeps all doctors away.", "Fruit. A pear too."],
        ),
    ],
)
def test_a_changed_paper_is_updated_and_embedded_only_if_its_text_changed(
    ingesting: Ingesting, jsonl: Jsonl, change: dict[str, Any], embedded: list[str]
) -> None:
    ingesting(jsonl(FRUIT, STONES))
    id_ = papers(ingesting.library)["Fruit"].id
    changed = jsonl({**FRUIT, **change}, STONES)
    assert ingesting(changed) == ((2, 0, 1, 1, 0), embedded)
    assert ingesting(changed) == ((2, 0, 0, 2, 0), [])
    (paper,) = (each for each in papers(ingesting.library).values() if each.title != "Stones")
    assert paper.id == id_
    fields = {name: getattr(paper, name) for name in change}
    assert fields == {**change, **({"authors": ("Ann",)} if "authors" in change else {})}


def test_chunks_that_an_abstract_no_longer_has_are_removed(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    ingesting(jsonl({"title": "T", "abstract": LONG}))
    (paper,) = papers(ingesting.library).values()
    assert len(chunk_texts(ingesting.library, paper)) > 3
    ingesting(jsonl({"title": "T", "abstract": "Much shorter now."}))
    assert chunk_texts(ingesting.library, paper) == ["Much shorter now."]
    assert ingesting.library.store.count() == (1, 1)
    assert search(ingesting.library, "gradient noise", 5)[0].chunk.text == "Much shorter now."


def test_a_field_that_a_file_no_longer_gives_is_dropped(ingesting: Ingesting, jsonl: Jsonl) -> None:
    ingesting(jsonl({**FRUIT, "venue": "ICLR"}))
    ingesting(jsonl(FRUIT))
    assert papers(ingesting.library)["Fruit"].venue == ""


def test_an_untitled_paper_with_a_new_end_is_an_update(ingesting: Ingesting, jsonl: Jsonl) -> None:
    other_end = " and all the rest of it is about the frogs, toads and newts of a pond nearby."
    ingesting(jsonl({"abstract": LONG[:130] + other_end}))
    assert ingesting(jsonl({"abstract": LONG}))[0] == (1, 0, 1, 0, 0)


def test_papers_of_one_title_are_told_apart_by_their_text(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    one, two = {"title": "Reply", "abstract": "We agree."}, {"title": "Reply", "abstract": "Never."}
    ingesting(jsonl(one, two))
    rewritten = {"title": "Reply", "abstract": "We agree in part."}
    assert ingesting(jsonl(rewritten, two))[0] == (2, 0, 1, 1, 0)
    texts = {stored.paper.abstract for stored in ingesting.library.store.papers()}
    assert texts == {"We agree in part.", "Never."}


def test_papers_of_one_title_and_beginning_do_not_overwrite_each_other(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    """Too short to be taken for copies, but alike in all that a generated id is made of."""
    begin = "This is the reply of the authors to the comments that the editors sent to all authors "
    rows = [{"title": "Reply", "abstract": begin + end} for end in ("of one.", "of two.", "all.")]
    file = jsonl(*rows)
    assert ingesting(file)[0] == (3, 3, 0, 0, 0)
    assert ingesting(file) == ((3, 0, 0, 3, 0), [])
    assert ingesting(jsonl(*rows[1:]))[0] == (3, 0, 2, 0, 0)
    texts = {stored.paper.abstract for stored in ingesting.library.store.papers()}
    assert texts == {row["abstract"] for row in rows}


# --- several files


def test_a_paper_of_two_files_keeps_what_the_other_file_gave(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    ingesting(jsonl({"abstract": LONG, "venue": "ICLR", "decision": "oral"}, name="a.jsonl"))
    other = {"title": "T", "abstract": LONG, "year": 2023}
    assert ingesting(jsonl(other, name="b.jsonl"))[0] == (1, 0, 1, 0, 0)
    assert ingesting(jsonl({**other, "url": "u"}, name="b.jsonl"))[0] == (1, 0, 1, 0, 0)
    (paper,) = papers(ingesting.library).values()
    assert (paper.venue, paper.decision) == ("ICLR", "oral")
    assert (paper.title, paper.year, paper.url) == ("T", 2023, "u")
    assert paper.sources == (Source("a.jsonl", 1), Source("b.jsonl", 1))


def test_a_cut_copy_of_another_file_does_not_shorten_a_paper(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    ingesting(jsonl({"abstract": LONG}, name="a.jsonl"))
    cut = jsonl({"abstract": LONG[:160] + " …"}, name="b.jsonl")
    assert ingesting(cut) == ((1, 0, 1, 0, 0), [])
    assert papers(ingesting.library)[""].abstract == LONG


def test_the_order_of_files_does_not_matter_for_what_is_in_the_library(
    open_library: Open, jsonl: Jsonl
) -> None:
    files = [
        jsonl({"abstract": LONG[:160] + " …", "decision": "oral"}, FRUIT, name="a.jsonl"),
        jsonl({"title": "T", "abstract": LONG}, name="b.jsonl"),
        jsonl(STONES, {"abstract": LONG, "venue": "ICLR", "id": "x"}, name="c.jsonl"),
    ]
    there, back = open_library(home="there"), open_library(home="back")
    for file in files:
        ingest(there, [file])
    ingest(back, reversed(files))
    assert papers(there) == papers(back)
    assert papers(there).keys() == {"T", "Fruit", "Stones"}


def test_given_venue_and_year_are_written(open_library: Open, jsonl: Jsonl) -> None:
    library = open_library()
    ingest(library, [jsonl(FRUIT)], venue="ICML", year=1999)
    assert (papers(library)["Fruit"].venue, papers(library)["Fruit"].year) == ("ICML", 1999)


# --- ids


def test_a_given_id_is_kept_when_the_paper_changes(ingesting: Ingesting, jsonl: Jsonl) -> None:
    ingesting(jsonl({**FRUIT, "id": "f:1/ü"}))
    changed = {"id": "f:1/ü", "title": "Fruit", "abstract": "All is new."}
    assert ingesting(jsonl(changed))[0] == (1, 0, 1, 0, 0)
    paper = papers(ingesting.library)["Fruit"]
    assert (paper.id, paper.id_is_given, paper.abstract) == ("f:1/ü", True, "All is new.")


def test_a_given_id_takes_the_place_of_a_generated_one(ingesting: Ingesting, jsonl: Jsonl) -> None:
    ingesting(jsonl({**FRUIT, "venue": "ICLR"}, STONES, name="a.jsonl"))
    given = jsonl({**FRUIT, "id": "f1"}, name="b.jsonl")
    assert ingesting(given)[0] == (2, 0, 1, 0, 0)
    assert ingesting(given) == ((2, 0, 0, 1, 0), [])
    paper = papers(ingesting.library)["Fruit"]
    assert (paper.id, paper.venue) == ("f1", "ICLR")
    assert ingesting.library.store.count() == (2, 2)


def test_the_first_of_different_given_ids_of_a_paper_is_kept(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    ingesting(jsonl({**FRUIT, "id": "a"}, name="a.jsonl"))
    other = jsonl({**FRUIT, "id": "b"}, name="b.jsonl")
    assert ingesting(other)[0] == (1, 0, 1, 0, 0)
    assert ingesting(other)[0] == (1, 0, 0, 1, 0)
    assert papers(ingesting.library)["Fruit"].id == "a"


def numbered(*titles: str) -> list[dict[str, Any]]:
    return [
        {"id": number, "title": title, "abstract": f"{title} are studied in {number} forms."}
        for number, title in enumerate(titles, start=1)
    ]  # fmt: skip


@pytest.mark.parametrize("names", [("a.jsonl", "b.jsonl"), ("one/a.jsonl", "two/a.jsonl")])
def test_two_libraries_with_equal_record_numbers_stay_whole(
    ingesting: Ingesting, jsonl: Jsonl, names: tuple[str, str]
) -> None:
    one = jsonl(*numbered("Frogs of ponds", "Steel bridges", "Old maps"), name=names[0])
    two = jsonl(*numbered("Neural networks", "Icebergs at sea", "Jazz music"), name=names[1])
    assert ingesting(one)[0] == (3, 3, 0, 0, 0)
    assert ingesting(two)[0] == (6, 3, 0, 0, 0)
    stored = papers(ingesting.library)
    assert all(paper.abstract.startswith(title) for title, paper in stored.items())
    assert {stored[title].id for title in ("Frogs of ponds", "Old maps")} == {"1", "3"}
    assert ingesting(one)[0] == ingesting(two)[0] == (6, 0, 0, 3, 0)
    assert ingesting(one, two)[0] == (6, 0, 0, 6, 0)


def test_two_libraries_read_at_once_stay_whole(ingesting: Ingesting, jsonl: Jsonl) -> None:
    one = jsonl(*numbered("Frogs of ponds", "Steel bridges"), name="a.jsonl")
    two = jsonl(*numbered("Neural networks", "Icebergs at sea"), name="b.jsonl")
    assert ingesting(one, two)[0] == (4, 4, 0, 0, 0)
    stored = papers(ingesting.library)
    assert [stored[title].id for title in ("Frogs of ponds", "Steel bridges")] == ["1", "2"]


def mixed(library: Library, one: Path, two: Path) -> None:
    """Mix the papers of two files, as earlier versions did: titles of `one`, texts of `two`."""
    ingest(library, [one])
    texts = list(read_file(two).records)
    for stored, other in zip(
        sorted(library.store.papers(), key=lambda each: each.paper.id), texts, strict=True
    ):
        sources = (*stored.paper.sources, *other.sources)
        paper = replace(stored.paper, abstract=other.abstract, sources=sources)
        library.store.write([library.prepared(paper)], {paper.id: stored.chunk_count})
    library.store.rewrite_records([replace(each, is_old=True) for each in library.store.papers()])
    fields = library.store._papers.get()["metadatas"]
    for each in fields or ():
        each.pop("publication", None)
    ids = library.store._papers.get()["ids"]
    library.store._papers.delete(ids=ids)
    library.store._papers.add(
        ids=ids,
        embeddings=[[1.0]] * len(ids),
        metadatas=fields,
        documents=[texts[int(id_) - 1].abstract for id_ in ids],
    )
    with library.writing():
        pass


def test_a_library_mixed_by_an_earlier_version_is_found_and_healed(
    open_library: Open, jsonl: Jsonl
) -> None:
    library = open_library()
    one = jsonl(*numbered("Frogs of ponds", "Steel bridges"), name="one.jsonl")
    two = jsonl(*numbered("Neural networks", "Icebergs at sea"), name="two.jsonl")
    mixed(library, one, two)
    health = check(library)
    assert (health.mixed, health.mixed_files) == (("1", "2"), ("one.jsonl", "two.jsonl"))
    (finding,) = health.findings
    assert "2 papers are perhaps mixed of two with the same id ('1', '2')" in finding
    assert "ingest one.jsonl and two.jsonl again, all in one command" in finding
    ingest(library, [one, two])
    stored = papers(library)
    assert len(stored) == 4
    assert all(paper.abstract.startswith(title) for title, paper in stored.items())
    assert check(library).sound


def test_eight_papers_of_scopus_in_three_formats_are_eight(
    ingesting: Ingesting, tmp_path: Path
) -> None:
    files = [tmp_path / f"scopus.{ending}" for ending in ("bib", "ris", "csv")]
    topics = "frogs bridges maps jazz tides moths kites salt".split()
    papers_ = [(number, f"A Study of {topic} in Winter") for number, topic in enumerate(topics)]
    files[0].write_text(
        "".join(
            f"@article{{Gao2020{number}, author={{Gao, X. and Li, Y.}}, title={{{title}}}, "
            f"journal={{J}}, year={{2020}}, doi={{10.1234/s.{number}}}, "
            f"abstract={{{title} is made. © 2020 Elsevier}}}}\n"
            for number, title in papers_
        )
    )
    files[1].write_text(
        "".join(
            f"TY  - JOUR\nTI  - {title}\nAU  - Gao, X.\nAU  - Li, Y.\nDO  - 10.1234/S.{number}\n"
            f"AB  - {title} is made.\nER  - \n\n"
            for number, title in papers_
        )
    )
    rows = (
        f'"Gao X., Li Y.","{title}",2020,10.1234/s.{number},"{title} is made.",2-s2.0-850{number}\n'
        for number, title in papers_
    )
    files[2].write_text("Authors,Title,Year,DOI,Abstract,EID\n" + "".join(rows))
    for file in files:
        ingesting(file)
    assert ingesting.library.store.count()[0] == 8
    assert ingesting(*files)[0][0] == 8
    for paper in papers(ingesting.library).values():
        assert paper.authors == ("X. Gao", "Y. Li")
        assert paper.id.startswith("Gao2020")
        assert len(paper.sources) == 3


def test_a_library_written_out_and_read_in_again_stays_the_same(
    ingesting: Ingesting, jsonl: Jsonl
) -> None:
    """Generated ids that come back as given ones find their papers."""
    ingesting(jsonl(FRUIT, STONES, {"abstract": LONG}, name="a.jsonl"))
    rows = [
        {"id": stored.paper.id, "title": stored.paper.title, "abstract": stored.paper.abstract}
        for stored in ingesting.library.store.papers()
    ]
    assert ingesting(jsonl(*rows, name="b.jsonl")) == ((3, 0, 3, 0, 0), [])


# --- stopping


@pytest.mark.parametrize("stop_after", [0, 1, 63, 64, 65, 100, 129])
def test_a_stopped_ingest_is_completed_by_the_next(
    open_library: Open, jsonl: Jsonl, stop_after: int
) -> None:
    file = jsonl(*({"abstract": f"Paper number {number} of many."} for number in range(130)))
    embedder = WordEmbedder()
    library = open_library(embedder)

    def stop(stage: str, done: int, total: int, unit: str) -> None:
        if stage == "Reading files":
            return
        assert (stage, total, unit) == ("Embedding papers", 130, "papers")
        if done > stop_after:
            raise Cancelled

    with pytest.raises(Cancelled):
        ingest(library, [file], progress=stop)
    assert library.was_interrupted
    embedder.embedded.clear()
    report = ingest(library, [file])
    kept = stop_after // 64 * 64
    assert counts(report) == (130, 130 - kept, 0, kept, 0)
    assert len(embedder.embedded) == 130 - kept
    assert library.store.damage() == ([], [])


def test_progress_counts_every_paper_that_is_embedded(open_library: Open, jsonl: Jsonl) -> None:
    calls: list[tuple[str, int, int, str]] = []

    def heard(stage: str, done: int, total: int, unit: str) -> None:
        calls.append((stage, done, total, unit))

    ingest(open_library(), [jsonl(FRUIT, STONES)], progress=heard)
    assert calls == [("Embedding papers", done, 2, "papers") for done in range(3)]


def test_progress_of_reading_counts_records_over_all_files(
    open_library: Open, jsonl: Jsonl, seeds: Path
) -> None:
    calls: list[tuple[int, int]] = []

    def heard(stage: str, done: int, total: int, unit: str) -> None:
        if stage == "Reading files":
            assert unit == "records"
            calls.append((done, total))
        else:
            raise Cancelled

    many = jsonl(*({"abstract": f"Paper number {number}."} for number in range(120)))
    session = seeds / "002_38f0d016b694d3b1.txt"
    with pytest.raises(Cancelled):
        ingest(open_library(), [many, session, jsonl(FRUIT, name="b.jsonl")], progress=heard)
    assert calls == [(50, 120), (100, 120), (120, 120), (127, 127), (128, 128)]


def test_reading_can_be_stopped(open_library: Open, jsonl: Jsonl) -> None:
    def stop(_stage: str, _done: int, _total: int, _unit: str) -> None:
        raise Cancelled

    library = open_library()
    many = jsonl(*({"abstract": f"Paper number {number}."} for number in range(120)))
    with pytest.raises(Cancelled):
        ingest(library, [many], progress=stop)
    assert library.store.count() == (0, 0)
    assert not library.was_interrupted


# --- the real parts


def test_the_seeds_oral_session_with_the_real_embedder(
    tmp_path: Path, seeds: Path, embedder: LlamaCppEmbedder, seed_records: list[Record]
) -> None:
    library = Library(tmp_path / "home", embedder)
    pages = [seeds / "000_157da2c6366597ad.txt", seeds / "002_38f0d016b694d3b1.txt"]
    assert counts(ingest(library, pages)) == (14, 14, 0, 0, 3)
    assert counts(ingest(library, reversed(pages))) == (14, 0, 0, 14, 3)
    passages = search(library, "How can strides be learned rather than fixed?", 3)
    assert passages[0].paper.title == "Learning Strides in Convolutional Neural Networks"
    assert 0.3 < passages[0].similarity <= 1
    expected = {r.abstract for r in fold(seed_records) if r.year == 2022}
    assert {stored.paper.abstract for stored in library.store.papers()} == expected


@pytest.mark.parametrize("query", ["", " ", "the of and", "?", "unheardof " * 600, "🙂", "a\x00b"])
def test_any_query_can_be_searched_with_the_real_embedder(
    tmp_path: Path, jsonl: Jsonl, embedder: LlamaCppEmbedder, query: str
) -> None:
    library = Library(tmp_path / "home", embedder)
    ingest(library, [jsonl(FRUIT, STONES)])
    passages = search(library, query, 5)
    assert {passage.paper.title for passage in passages} == {"Fruit", "Stones"}
    assert all(0 <= passage.score <= 1 for passage in passages)


def test_all_that_was_read_is_in_the_store(open_library: Open, seeds: Path) -> None:
    """A page of the seeds, field by field."""
    library = open_library()
    page = seeds / "003_90c001e264484733.txt"
    ingest(library, [page])
    stored = {each.paper.title: each.paper for each in library.store.papers()}
    assert len(stored) == 65
    for paper in stored.values():
        assert paper == replace(paper, venue="", year=None, authors=(), decision="")
        assert paper.abstract


# --- files that were given another name


def test_a_file_is_called_as_it_is_told_and_one_that_cannot_be_read_is_skipped(
    open_library: Open, jsonl: Jsonl, tmp_path: Path
) -> None:
    library = open_library()
    good, bad = jsonl(FRUIT, "{", name="upload-1"), tmp_path / "upload-2"
    bad.write_bytes(b"\x89PNG\x00")
    names = {good: "fruit.jsonl", bad: "picture.png"}
    report = ingest(library, [bad, good], names=names, skips_files=True)
    assert report.added == 1
    assert papers(library)["Fruit"].sources == (Source("fruit.jsonl", 1),)
    first, second = report.skipped
    assert (first.source, first.line) == ("picture.png", 0)
    assert first.reason.startswith("picture.png is not UTF-8 text (byte 0)")
    assert (second.source, second.line) == ("fruit.jsonl", 2)
    with pytest.raises(InputError, match=r"picture\.png is not UTF-8"):
        ingest(library, [bad], names=names)
