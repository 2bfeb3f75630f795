"""The paper dialog and the listing: every text stays text, only safe links are made."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from fakes import PAPERS, paper

from assistant.server.web.lookup import LookupForm, form_html, listing_html, refused_html
from assistant.server.web.paper import gone_html, paper_html
from retrieval.query.lookup import Match
from retrieval.search.search import Similar
from retrieval.types import Paper

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><iframe src="https://example.org"></iframe>',
    "' onmouseover='alert(1)",
    "</article></dialog><h1>out</h1>",
    "</option></select><b>out</b>",
    "&lt;script&gt;",
    "{{ 7 * 7 }} ${value} {} {0} %s",
    "$\\text{<img src=x onerror=alert(1)>}$",
)
ALLOWED = frozenset(
    "article header h2 h3 p div button details summary span a ul li footer mark section form label "
    "input select option math mrow mi mn mo mtext".split()
)


class Reader(HTMLParser):
    """Collects tags, attributes and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile(payload: str) -> Paper:
    """A paper whose every field is hostile."""
    return replace(
        paper(),
        id=payload,
        title=payload,
        authors=tuple([payload] * 12),
        venue=payload,
        decision=payload,
        abstract=f"One. {payload} Two.",
        url=payload,
        doi=payload,
    )


def assert_is_harmless(html: str) -> None:
    read = Reader(html)
    assert set(read.tags) <= ALLOWED
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]
    assert all(value.startswith("https://") for name, value in read.attributes if name == "href")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_paper_stays_text(payload: str) -> None:
    shown = hostile(payload)
    html = paper_html(shown, [payload], [Similar(shown, 0.5)], {"Copy": payload})
    assert_is_harmless(html)
    copied = [value for name, value in Reader(html).attributes if name == "data-copy"]
    assert copied == [payload]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_listing_stays_text(payload: str) -> None:
    asked = LookupForm(payload, payload, payload, payload, payload, payload)
    match = Match(hostile(payload), payload)
    html = listing_html(asked, [match], 7, payload, 3)
    assert_is_harmless(html)
    assert payload in [value for name, value in Reader(html).attributes if name == "data-query"]
    assert_is_harmless(listing_html(asked, [], 0, payload, 0))
    assert_is_harmless(form_html({"venue": {payload: 2}}))
    assert_is_harmless(refused_html(payload))


def test_only_addresses_of_the_web_are_links() -> None:
    linked = replace(paper(), url="https://example.org/x", doi="10.1234/ab")
    attributes = Reader(paper_html(linked, [], [], {})).attributes
    assert [value for name, value in attributes if name == "href"] == [
        "https://doi.org/10.1234/ab",
        "https://example.org/x",
    ]
    assert [value for name, value in attributes if name == "rel"] == ["noreferrer noopener"] * 2
    unsafe = replace(paper(), url="javascript:alert(1)", doi="javascript:alert(1)")
    assert "href" not in paper_html(unsafe, [], [], {})


def test_many_authors_are_folded() -> None:
    html = paper_html(replace(paper(), authors=tuple(f"A{at}" for at in range(12))), [], [], {})
    assert "A7 <span>and 4 more</span></summary>A8, A9, A10, A11" in html


def test_a_paper_without_title_is_shown_by_how_it_begins() -> None:
    html = paper_html(replace(paper(), title="", abstract="It begins. And ends."), [], [], {})
    assert '<h2 id="paper-title" tabindex="-1">It begins. And ends.</h2>' in html


def test_a_paper_that_is_gone_is_said_to_be() -> None:
    assert "no longer in the library" in gone_html()


@pytest.mark.parametrize(
    ("shown", "total", "expected"),
    [(1, 1, "1 paper"), (2, 2, "2 papers"), (2, 1194, "2 of 1,194 papers")],
)
def test_the_count_says_how_many_of_how_many(shown: int, total: int, expected: str) -> None:
    matches = [Match(each, "") for each in PAPERS[:shown]]
    html = listing_html(LookupForm("x"), matches, total, "", 0)
    assert f'role="status">{expected}</p>' in html


def test_a_note_stands_before_what_was_found_all_the_same() -> None:
    html = listing_html(LookupForm("x"), [Match(paper(), "")], 1, "No paper by Foo.", 0)
    assert 'role="status">No paper by Foo. 1 paper</p>' in html


def test_the_next_papers_are_asked_for_with_what_was_asked() -> None:
    html = listing_html(LookupForm("cats", venue="ICLR"), [Match(paper(), "")], 60, "", 50)
    attributes = dict(Reader(html).attributes)
    assert attributes["data-query"] == "cats"
    assert attributes["data-venue"] == "ICLR"
    assert attributes["data-shown"] == "51"
    assert "Show 50 more" in html


def test_years_are_newest_first_with_their_counts() -> None:
    html = form_html({"year": {"2021": 1, "2023": 1200}})
    assert html.index("2023 (1,200)") < html.index("2021 (1)")
