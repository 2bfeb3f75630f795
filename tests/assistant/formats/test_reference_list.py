"""References as people write them, whatever a record lacks."""

from dataclasses import replace

import pytest
from fakes import paper

from retrieval.formats.writers import apa, apa_list, doi_address, ieee, ieee_list, web_address

PAPER = replace(
    paper(), title="Machine Unlearning", authors=("Chao Pan", "Jin Sima"), venue="ICLR", year=2023
)


def many(count: int) -> tuple[str, ...]:
    """As many authors: Ann A, Ann B, …"""
    return tuple(f"Ann {chr(ord('A') + at)}x" for at in range(count))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR."),
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
            {"doi": "10.1234/AB", "url": "https://example.org/x"},
            "Pan, C., & Sima, J. (2023). Machine Unlearning. In ICLR. https://doi.org/10.1234/AB",
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
def test_apa(changes: dict[str, object], expected: str) -> None:
    assert apa(replace(PAPER, **changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "C. Pan and J. Sima, “Machine Unlearning,” in ICLR, 2023."),
        ({"authors": ()}, "“Machine Unlearning,” in ICLR, 2023."),
        ({"title": "Is it?"}, "C. Pan and J. Sima, “Is it?” in ICLR, 2023."),
        ({"title": "The “best”"}, "C. Pan and J. Sima, “The ‘best’,” in ICLR, 2023."),
        ({"venue": ""}, "C. Pan and J. Sima, “Machine Unlearning,” 2023."),
        ({"venue": "", "year": None}, "C. Pan and J. Sima, “Machine Unlearning.”"),
        ({"authors": many(3)}, "A. Ax, A. Bx, and A. Cx, “Machine Unlearning,” in ICLR, 2023."),
        ({"authors": many(7)}, "A. Ax et al., “Machine Unlearning,” in ICLR, 2023."),
    ],
)
def test_ieee(changes: dict[str, object], expected: str) -> None:
    assert ieee(replace(PAPER, **changes)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Madonna", "Madonna"),
        ("王伟", "王伟"),
        ("Aaron van den Oord", "van den Oord, A."),
        ("Foo, Bob", "Foo, B."),
        ("Foo, Bob, Jr.", "Foo, B., Jr."),
        ("Jean-Pierre Serre", "Serre, J.-P."),
        ("Lawson L.S. Wong", "Wong, L. L. S."),
        ("Shaofeng H.-C. Jiang", "Jiang, S. H.-C."),
        ("AJ Piergiovanni", "Piergiovanni, AJ"),
        ("SHUAI LIU", "LIU, S."),
        ("XI LIU", "LIU, X."),
        ("yann lecun", "yann lecun"),
    ],
)
def test_first_names_are_shortened_where_they_are_first_names(name: str, expected: str) -> None:
    assert apa(replace(PAPER, authors=(name,))).partition(" (2023)")[0] == expected


def test_apa_lists_twenty_authors_and_of_more_the_last() -> None:
    twenty = apa(replace(PAPER, authors=many(20)))
    more = apa(replace(PAPER, authors=many(22)))
    assert "Sx, A., & Tx, A. (2023)" in twenty
    assert "Sx, A., … Vx, A. (2023)" in more
    assert "Tx" not in more


def test_lists_have_a_line_for_each_paper() -> None:
    papers = [PAPER, replace(PAPER, title="Two")]
    assert apa_list(papers, {}).splitlines() == [apa(each) for each in papers]
    assert ieee_list(papers, {}).splitlines() == [f"[1] {ieee(PAPER)}", f"[2] {ieee(papers[1])}"]


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
