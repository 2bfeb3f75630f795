"""References as people write them, whatever a record lacks, and addresses."""

from dataclasses import replace

import pytest
from fakes import paper
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.formats.styles import STYLES
from retrieval.formats.writers import FORMATS, doi_address, reference, web_address
from retrieval.types import Publication

PAPER = replace(
    paper(), title="Machine Unlearning", authors=("Chao Pan", "Jin Sima"), venue="ICLR", year=2023
)
ARTICLE = Publication(
    "article-journal", "12", "3", "45-67", month=5, publisher="Pond Press", surnames=("Pan", "Sima")
)
IN_JOURNAL = replace(PAPER, venue="Nature Medicine", doi="10.1234/AB", publication=ARTICLE)
PREPRINT = replace(PAPER, venue="", publication=Publication("article", arxiv="2301.00001"))
THESIS = replace(PAPER, authors=("Chao Pan",), venue="MIT", publication=Publication("thesis"))


def many(count: int) -> tuple[str, ...]:
    """As many authors: Ann A, Ann B, …"""
    return tuple(f"Ann {chr(ord('A') + at)}x" for at in range(count))


@pytest.mark.parametrize(
    ("style", "written"),
    [
        ("apa", "Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR."),
        ("ieee", "[1] C. Pan and J. Sima, “Machine Unlearning,” in ICLR, 2023."),
        ("vancouver", "1. Pan C, Sima J. Machine Unlearning. In: ICLR. 2023."),
        ("chicago", "Pan, Chao, and Jin Sima. 2023. “Machine Unlearning.” In ICLR."),
    ],
)
def test_a_talk_is_in_its_proceedings(style: str, written: str) -> None:
    assert reference(PAPER, style) == written


@pytest.mark.parametrize(
    ("style", "written"),
    [
        (
            "apa",
            "Pan, C., & Sima, J. (2023). Machine Unlearning. Nature Medicine, 12(3), 45–67. "
            "https://doi.org/10.1234/AB",
        ),
        (
            "ieee",
            "[1] C. Pan and J. Sima, “Machine Unlearning,” Nature Medicine, vol. 12, no. 3, "
            "pp. 45–67, May 2023, doi: 10.1234/AB.",
        ),
        (
            "vancouver",
            "1. Pan C, Sima J. Machine Unlearning. Nature Medicine. 2023 May;12(3):45–67. "
            "doi:10.1234/AB",
        ),
        (
            "chicago",
            "Pan, Chao, and Jin Sima. 2023. “Machine Unlearning.” Nature Medicine 12 (3): 45–67. "
            "doi:10.1234/AB.",
        ),
    ],
)
def test_an_article_is_not_in_its_journal(style: str, written: str) -> None:
    assert reference(IN_JOURNAL, style) == written


@pytest.mark.parametrize(
    ("of", "style", "written"),
    [
        (
            PREPRINT,
            "apa",
            "Pan, C., & Sima, J. (2023). Machine Unlearning (arXiv:2301.00001). arXiv. "
            "https://arxiv.org/abs/2301.00001",
        ),
        (
            replace(PREPRINT, venue="arXiv (Cornell University)"),
            "vancouver",
            "1. Pan C, Sima J. Machine Unlearning [Internet]. arXiv; 2023. Available from: "
            "https://arxiv.org/abs/2301.00001",
        ),
        (
            replace(PAPER, venue="bioRxiv", publication=Publication("article")),
            "apa",
            "Pan, C., & Sima, J. (2023). Machine Unlearning. bioRxiv.",
        ),
        (THESIS, "chicago", "Pan, Chao. 2023. “Machine Unlearning.” MIT."),
        (
            replace(THESIS, publication=Publication("report", issue="17-3")),
            "vancouver",
            "1. Pan C. Machine Unlearning. MIT; 2023. Report 17-3.",
        ),
    ],
)
def test_preprints_and_theses(of: object, style: str, written: str) -> None:
    assert reference(of, style) == written  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({"authors": ("Chao Pan",)}, "Pan, C. (2023). Machine Unlearning. In ICLR."),
        ({"authors": ()}, "Machine Unlearning. (2023). In ICLR."),
        ({"title": "Is it?"}, "Pan, C., & Sima, J. (2023). Is it? In ICLR."),
        ({"venue": ""}, "Pan, C., & Sima, J. (2023). Machine Unlearning."),
        ({"year": None}, "Pan, C., & Sima, J. (n.d.). Machine Unlearning. In ICLR."),
        (
            {"title": "", "abstract": "We forget. Fast."},
            "Pan, C., & Sima, J. (2023). [We forget. Fast.]. In ICLR.",
        ),
        (
            {"url": "https://example.org/x"},
            "Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR. https://example.org/x",
        ),
        (
            {"url": "javascript:alert(1)"},
            "Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR.",
        ),
        (
            {"title": "A\n title", "venue": " A  venue "},
            "Pan, C., & Sima, J. (2023). A title. In A venue.",
        ),
    ],
)
def test_what_a_record_lacks_is_left_out(changes: dict[str, object], written: str) -> None:
    assert reference(replace(PAPER, **changes), "apa") == written


@pytest.mark.parametrize(
    ("changes", "style", "written"),
    [
        ({"title": "Is it?"}, "ieee", "[1] C. Pan and J. Sima, “Is it?” in ICLR, 2023."),
        ({"title": "The “best”"}, "ieee", "[1] C. Pan and J. Sima, “The ‘best’,” in ICLR, 2023."),
        ({"authors": ()}, "ieee", "[1] “Machine Unlearning,” in ICLR, 2023."),
        ({"authors": ()}, "chicago", "Machine Unlearning. 2023. In ICLR."),
        ({"year": None}, "ieee", "[1] C. Pan and J. Sima, “Machine Unlearning,” in ICLR."),
        (
            {"authors": many(3)},
            "ieee",
            "[1] A. Ax, A. Bx, and A. Cx, “Machine Unlearning,” in ICLR, 2023.",
        ),
        ({"authors": many(7)}, "ieee", "[1] A. Ax et al., “Machine Unlearning,” in ICLR, 2023."),
        (
            {"title": "mRNA in iOS: $\\alpha$-lazy β-cells"},
            "chicago",
            "Pan, Chao, and Jin Sima. 2023. “mRNA in iOS: $\\alpha$-lazy β-cells.” In ICLR.",
        ),
        (
            {"title": "Ten µg.", "authors": ("Chao Pan",)},
            "chicago",
            "Pan, Chao. 2023. “Ten µg.” In ICLR.",
        ),
        (
            {"title": "Цапли во влажные годы", "venue": "Журнал о птицах"},
            "chicago",
            "Pan, Chao, and Jin Sima. 2023. “Цапли во влажные годы.” In Журнал о птицах.",
        ),
        (
            {"publication": Publication("paper-conference"), "venue": ""},
            "chicago",
            "Pan, Chao, and Jin Sima. 2023. “Machine Unlearning.”",
        ),
    ],
)
def test_punctuation_and_capitals(changes: dict[str, object], style: str, written: str) -> None:
    assert reference(replace(PAPER, **changes), style) == written


@pytest.mark.parametrize(
    ("name", "surname", "written"),
    [
        ("Madonna", "", "Madonna"),
        ("王伟", "", "王伟"),
        ("Aaron van den Oord", "", "van den Oord, A."),
        ("Foo, Bob, Jr.", "", "Foo, B., Jr."),
        ("Jean-Pierre Serre", "", "Serre, J.-P."),
        ("Lawson L.S. Wong", "", "Wong, L. L. S."),
        ("XY Gao", "Gao", "Gao, X. Y."),
        ("Gabriel García Márquez", "García Márquez", "García Márquez, G."),
        ("محمد الأحمد", "الأحمد", "محمد الأحمد"),
        ("晓明 高", "高", "高晓明"),
        ("World Health Organization", "World Health Organization", "World Health Organization"),
    ],
)
def test_names_are_taken_apart_as_the_file_tells(name: str, surname: str, written: str) -> None:
    publication = Publication(surnames=(surname,) if surname else ())
    one = replace(PAPER, authors=(name,), publication=publication)
    assert reference(one, "apa").partition(" (2023)")[0].removesuffix(".") == written.removesuffix(
        "."
    )


def test_apa_lists_twenty_authors_and_of_more_the_last() -> None:
    twenty = reference(replace(PAPER, authors=many(20)), "apa")
    more = reference(replace(PAPER, authors=many(22)), "apa")
    assert "Sx, A., & Tx, A. (2023)" in twenty
    assert "Sx, A., … Vx, A. (2023)" in more
    assert "Tx" not in more


@pytest.mark.parametrize("style", STYLES)
def test_lists_have_a_line_for_each_paper_in_order(style: str) -> None:
    papers = [PAPER, replace(PAPER, title="Another", authors=("Ada Ax",))]
    first, second = FORMATS[style](papers, {}).splitlines()
    assert first == reference(PAPER, style)
    assert "Another" in second
    assert second.startswith("2" if style == "vancouver" else "[2]" if style == "ieee" else "Ax, A")
    assert FORMATS[style]([], {}) == ""


@settings(max_examples=50)
@given(st.text(max_size=60), st.text(max_size=30), st.sampled_from(list(STYLES)))
def test_any_text_makes_one_line(title: str, name: str, style: str) -> None:
    odd = replace(PAPER, title=title, authors=(name,), venue=title, doi=title, url=title)
    assert len(FORMATS[style]([odd], {}).split("\n")) == 2


@pytest.mark.parametrize(
    ("doi", "address"),
    [
        ("10.1234/ab", "https://doi.org/10.1234/ab"),
        ("doi: 10.1234/ab", "https://doi.org/10.1234/ab"),
        ("http://dx.doi.org/10.1234/ab", "https://doi.org/10.1234/ab"),
        ('10.1234/a"<b>', "https://doi.org/10.1234/a%22%3Cb%3E"),
        ("javascript:alert(1)", ""),
        ("10.1234", ""),
        ("", ""),
    ],
)
def test_a_doi_is_an_address_however_it_is_written(doi: str, address: str) -> None:
    assert doi_address(doi) == address


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("https://example.org/a?b=c", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,<b>", False),
        ("//example.org", False),
        ("https://", False),
        ("https://[bad", False),
        ("example.org", False),
        ("https://a b", False),
    ],
)
def test_only_addresses_of_the_web_are_shown(url: str, is_shown: bool) -> None:
    assert bool(web_address(url)) is is_shown
