"""BibTeX: what its language allows, and entries that are not what they should be."""

import logging
import time
from pathlib import Path

import pytest

from retrieval.formats import bibtex as reader
from retrieval.formats import read_file
from retrieval.types import Publication, Record, Source

FULL = r"""
@inproceedings{pan2023,
  title = {Machine {U}nlearning with {BERT} in $O(n\log n)$},
  author = "Pan, Chao and M{\"u}ller, J\"org and van den Oord, A{\"a}ron and Donald E. Knuth",
  booktitle = {Proceedings of {ICLR}},
  year = 2023,
  abstract = {A 50% gain \& {``}more'' --- with \emph{both \textbf{hands}} of $n_1$
    researchers at @home~\cite{x}.},
  url = {\url{https://a.org/x\_y~z}},
  doi = "10.1/a_b",
  keywords = {read}
}
"""


def read_one(fields: str, before: str = "", opening: str = "@article{key,") -> Record:
    (record,) = reader.read(f"{before}\n{opening} abstract={{A.}}, {fields}}}", "f").records
    return record


def reasons(text: str) -> dict[int, str]:
    return {skipped.line: skipped.reason for skipped in reader.read(text, "f").skipped}


def test_every_field_is_read() -> None:
    assert reader.read(FULL, "f.bib").records == (
        Record(
            given_id="pan2023",
            title=r"Machine Unlearning with BERT in $O(n\log n)$",
            authors=("Chao Pan", "Jörg Müller", "Aäron van den Oord", "Donald E. Knuth"),
            venue="Proceedings of ICLR",
            year=2023,
            abstract="A 50% gain & “more” — with both hands of $n_1$ researchers at @home.",
            url="https://a.org/x_y~z",
            doi="10.1/a_b",
            sources=(Source("f.bib", 2),),
            publication=Publication(
                kind="paper-conference",
                keywords=("read",),
                surnames=("Pan", "Müller", "van den Oord", "Knuth"),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("Knuth, Donald E.", ("Donald E. Knuth",)),
        ("{Simon and Schuster} and {OpenAI, Inc.}", ("Simon and Schuster", "OpenAI, Inc.")),
        ("Beeblebrox, IV, Zaphod", ("Zaphod Beeblebrox IV",)),
        ("Bee, Ann\n AND\n Dee, Cy and others", ("Ann Bee", "Cy Dee")),
        (r"Erd{\H o}s, P\'al and \L{}ukasz Kaiser", ("Pál Erdős", "Łukasz Kaiser")),
        (r"Ann Bee and \'Elan Dee and {\'E}lan Eff", ("Ann Bee", "Élan Dee", "Élan Eff")),
        ("Sand Andersen and and Bee", ("Sand Andersen", "Bee")),
        ("Plato", ("Plato",)),
        ("Last, ", ("Last",)),
        ("{Unbalanced", ()),
        ("", ()),
        ("A, B, C, D, E", None),
    ],
)
def test_names_are_turned_round(names: str, read: tuple[str, ...] | None) -> None:
    if names.startswith("{Unb"):
        assert list(reasons(f"@article{{key, abstract={{A.}}, author={{{names}}}}}")) == [1]
    elif read is None:
        assert read_one(f"author={{{names}}}").abstract == "A."
    else:
        assert read_one(f"author={{{names}}}").authors == read


@pytest.mark.parametrize(
    ("fields", "venue", "year"),
    [
        ("booktitle={ICLR}, year={2020}", "ICLR", 2020),
        ("Journal={J.}, YEAR=2020", "J.", 2020),
        ("journaltitle={J.}, date={2020-05-01}", "J.", 2020),
        ("booktitle=iclr, year={n.d.}", "Int. Conf. on LR", None),
        ('booktitle=ICLR # " 2020" # { (A # B)}', "Int. Conf. on LR 2020 (A # B)", None),
        ("booktitle=unknown", "unknown", None),
        ("school={MIT}, year={to appear}", "MIT", None),
        ("booktitle={First}, booktitle={Second}", "First", None),
    ],
)
def test_venue_and_year_come_from_several_fields_and_strings(
    fields: str, venue: str, year: int | None
) -> None:
    record = read_one(fields, '@string{conf = "Conf."}@STRING(iclr = {Int. } # conf # " on LR")')
    assert (record.venue, record.year) == (venue, year)


def test_what_a_paper_lacks_is_its_volumes() -> None:
    text = (
        "@inproceedings{one, title={T}, abstract={A.}, crossref={Volume}}\n"
        "@inproceedings{two, abstract={B.}, crossref=volume, year=1999, booktitle={Own}}\n"
        "@inproceedings{three, abstract={C.}, crossref={missing}}\n"
        "@proceedings{volume, title={The Proceedings}, author={Ed. Itor}, year={2000}}\n"
    )
    page = reader.read(text, "f")
    assert [(r.title, r.authors, r.venue, r.year) for r in page.records] == [
        ("T", (), "The Proceedings", 2000),
        ("", (), "Own", 1999),
        ("", (), "", None),
    ]
    assert not page.skipped


def test_comments_and_text_between_entries_are_no_papers() -> None:
    text = (
        "% a note\n@comment{@article{x, abstract={A.}}}\nfree text, with = signs\n@preamble{{p}}\n"
    )
    page = reader.read(text + FULL + "\nthe end", "f")
    assert (len(page.records), page.skipped) == (1, ())


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("@article{b, title={T}}", "the paper has no abstract"),
        ("@article{b}", "the paper has no abstract"),
        ("@article{b, abstract={ {} }}", "the paper has no abstract"),
        ("@article{b, title = {T, abstract = {B.}}", "a broken entry (Unexpected block start: "),
        ('@article{b, abstract = "B., year = 2000}', "a broken entry (Unexpected block start: "),
        ("@article{b title={T}}", "a broken entry (Expected comma after entry key"),
        ("@article{b, title}", "a broken entry (Expected a '=' after entry key 'title'"),
    ],
)
def test_an_entry_without_a_usable_paper_is_skipped_with_the_reason(
    entry: str, reason: str
) -> None:
    text = (
        f"@article{{first, abstract={{First.}}}}\n\n{entry}\n@article{{last, abstract={{Last.}}}}"
    )
    page = reader.read(text, "f")
    assert [record.abstract for record in page.records] == ["First.", "Last."]
    (skipped,) = page.skipped
    assert (skipped.source, skipped.line) == ("f", 3)
    assert skipped.reason.startswith(reason)
    assert "\n" not in skipped.reason


@pytest.mark.parametrize(
    "cut", ["@article{b, abstract = {cut", '@article{b, abstract = "cut', "@a{"]
)
def test_an_entry_cut_off_at_the_end_is_skipped(cut: str) -> None:
    assert reasons(f"{FULL}{cut}") == {13: "a broken entry (Unexpectedly reached end of file)"}


def test_a_closing_brace_too_many_keeps_the_paper_and_is_reported() -> None:
    text = "@article{a, abstract={One.}}, year={2000}}\n@article{b, abstract={Two.}}"
    assert [record.abstract for record in reader.read(text, "f").records] == ["One.", "Two."]
    assert reasons(text) == {1: "text outside an entry, which one closing brace too many ends"}


def test_entries_without_keys_are_papers_without_given_ids() -> None:
    text = "@article{, abstract={One.}}\n@article{, abstract={Two.}, crossref={}}"
    page = reader.read(text, "f")
    assert [(r.given_id, r.abstract, r.venue) for r in page.records] == [
        ("", "One.", ""),
        ("", "Two.", ""),
    ]


def test_round_brackets_may_enclose_an_entry() -> None:
    (record,) = reader.read('@misc(p, title="A (b) c", abstract={A.})', "f").records
    assert (record.given_id, record.title) == ("p", "A (b) c")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "papers.txt"
    file.write_bytes(b"\xef\xbb\xbf" + FULL.replace("\n", ending).encode())
    assert read_file(file).records == reader.read(FULL, "papers.txt").records


def test_the_parser_itself_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    handlers, logging.root.handlers = logging.root.handlers, []
    try:
        reader.read("@article{cut, abstract={", "f")
    finally:
        logging.root.handlers = handlers
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "entry",
    [
        FULL,
        "@article{pan2023, title = {x, abstract = {y}\n",
        "@article{pan2023, abstract = {y}}, z = {}}\n",
    ],
)
def test_thousands_of_entries_take_seconds(entry: str) -> None:
    started = time.process_time()
    text = "".join(entry.replace("pan2023", f"key{number}") for number in range(3_000))
    page = reader.read(text, "f")
    assert len(page.records) + len(page.skipped) >= 3_000
    assert time.process_time() - started < 15


@pytest.mark.parametrize(
    ("entry", "published"),
    [
        (
            "@article{a, journal={J.}, volume=3, number={4}, pages={12--34}, month=mar, "
            "issn={12345678}",
            Publication(
                "article-journal", "3", "4", "12-34", month=3, issn="1234-5678"
            ),
        ),
        ("@conference{a, booktitle={C}", Publication("paper-conference")),
        ("@incollection{a, booktitle={B}, publisher={P}", Publication("chapter", publisher="P")),
        ("@phdthesis{a, school={MIT}", Publication("thesis")),
        ("@misc{a, type={Journal Article}", Publication("article-journal")),
        (
            "@misc{a, eprint={2301.00001v2}, archivePrefix={arXiv}",
            Publication("article", arxiv="2301.00001"),
        ),
        (
            "@article{a, journal={arXiv preprint arXiv:2301.00001}",
            Publication("article", arxiv="2301.00001"),
        ),
        ("@online{a, eprint={1}, eprinttype={x}, date={2020-04}", Publication("webpage", month=4)),
    ],
)  # fmt: skip
def test_the_publication_is_read(entry: str, published: Publication) -> None:
    (record,) = reader.read(f"{entry}, abstract={{A.}}}}", "f").records
    assert record.publication == published


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("Gao X. and Li Y.-L.", ("X. Gao", "Y.-L. Li")),
        ("Gao X, Li Y, Zhao Z, Wu AB", ("X Gao", "Y Li", "Z Zhao", "AB Wu")),
        ("{World Health Organization}", ("World Health Organization",)),
    ],
)
def test_names_of_databases_are_turned_round(names: str, read: tuple[str, ...]) -> None:
    assert read_one(f"author={{{names}}}").authors == read


def test_journals_of_the_astrophysics_data_system_are_written_out() -> None:
    assert read_one(r"journal={\apjl}").venue == "The Astrophysical Journal Letters"
