"""Answers as HTML: hostile text stays text, and nothing breaks out of the one block."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from fakes import PAPERS, answered, evidence, paper, passage

from assistant.browser.render import (
    answer_html,
    error_html,
    library_html,
    progress_html,
    question_html,
    searching_html,
    setup_html,
    stopped_html,
)
from assistant.making import ABSTENTION
from assistant.setup import Stage, State
from assistant.types import Answer, AnswerSentence, Citation, Evidence, Kind, Outcome

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><iframe src="https://example.org"></iframe>',
    "' onmouseover='alert(1)",
    "</p></div></details><h1>out</h1>",
    "<a href='javascript:alert(1)'>x</a>",
    "![x](https://example.org/x.png)",
    "[x](javascript:alert(1))",
    "<!-- <b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{ 7 * 7 }} {} {0} %s",
    "<style>*{display:none}</style>",
    "`code` **bold** # heading",
    "x\r\r![x](https://example.org/x.png)",
    "x\n\n<script>alert(1)</script>",
    "x\u2028\u2029\x0b\x0c\x85<b>y</b>",
)
TAGS = {
    "div", "p", "span", "sup", "blockquote", "details", "summary", "dl", "dt", "dd", "mark", "br",
    "ul", "li", "progress", "strong",
}  # fmt: skip
ATTRIBUTES = {"class", "role", "aria-label", "max", "value"}
QUOTE = "It does not need retraining."


class Page(HTMLParser):
    """The text of a page, its tags and their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.marked: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "mark":
            self.marked.append("")
        if tag == "br":
            self.text += "\n"
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self.open:
            self.marked[-1] += data


def checked(html: str) -> Page:
    """The page, after what holds for all that is rendered."""
    assert "\n" not in html
    assert "\r" not in html
    assert html.startswith('<div class="assistant-block">')
    assert html.endswith("</div>")
    page = Page(html)
    assert page.open == []
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    return page


def flat(text: str) -> str:
    return " ".join(text.split())


def hostile(payload: str) -> Answer:
    """An answer with the payload wherever text can come from outside."""
    odd = paper(
        title=payload,
        abstract=f"{payload} One. {QUOTE} {payload}",
        authors=(payload, "Ada"),
        venue=payload,
        decision=payload,
    )
    citations = (Citation(1, odd, QUOTE), Citation(2, odd, f"{payload} One."))
    return replace(
        answered(odd, QUOTE, payload),
        standalone_question=f"About {payload}",
        sentences=(
            AnswerSentence(payload, Kind.VERIFIED, (1,)),
            AnswerSentence(f"{payload} One.", Kind.QUOTED, (2,)),
        ),
        citations=citations,
        passages=(passage(odd),),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text(payload: str) -> None:
    answer = hostile(payload)
    whole = checked(answer_html(answer))
    assert flat(whole.text).count(flat(payload)) >= 8
    silent = replace(answer, outcome=Outcome.NOT_IN_LIBRARY, sentences=(), citations=())
    of = answer.citations[0].paper
    chosen = (Evidence(of, 0, len(of.abstract), of.abstract, 1.0),)
    pages = (
        whole,
        checked(answer_html(replace(silent, text=payload))),
        checked(question_html(payload)),
        checked(error_html(payload)),
        checked(progress_html(payload, answer.passages, (), (), ())),
        checked(progress_html("", answer.passages, chosen, answer.sentences, answer.citations)),
        checked(stopped_html(answer.sentences, answer.citations)),
        checked(library_html(1, payload)),
        checked(setup_html(State(error=payload))),
        checked(setup_html(State([Stage(payload, 1, 2, payload)]))),
    )
    for page in pages:
        assert flat(payload) in flat(page.text)


def test_the_quotes_are_marked_and_nothing_else() -> None:
    zebra = PAPERS[0]
    quotes = ["Large vision models are slow on phones.", QUOTE]
    citations = tuple(Citation(number, zebra, quote) for number, quote in enumerate(quotes, 1))
    answer = replace(answered(zebra, QUOTE), citations=citations)
    page = checked(answer_html(answer))
    assert page.marked == quotes
    assert zebra.abstract in page.text


@pytest.mark.parametrize(
    ("abstract", "quotes", "expected"),
    [
        ("A b. C d.", ["C d."], ["C d."]),
        ("A b. C d.", ["C d.", "A b."], ["A b.", "C d."]),
        ("A b. C d.", ["C d.", "C d."], ["C d."]),
        ("A b. A b.", ["A b."], ["A b."]),
        ("A <b>. C & d.", ["A <b>.", "C & d."], ["A <b>.", "C & d."]),
        ("A b. C d.", ["A b. C d."], ["A b. C d."]),
    ],
)
def test_marks(abstract: str, quotes: list[str], expected: list[str]) -> None:
    odd = paper(abstract=abstract)
    citations = tuple(Citation(number, odd, quote) for number, quote in enumerate(quotes, 1))
    page = checked(answer_html(replace(answered(odd, quotes[0]), citations=citations)))
    assert page.marked == expected
    assert abstract in page.text


def test_a_reference_shows_the_record() -> None:
    page = checked(answer_html(answered(PAPERS[0], QUOTE)))
    text = flat(page.text)
    for expected in (
        "References",
        "[1] Zebra Pruning for Vision Models — Ada Miro, Ben Okafor · ICML 2021, oral",
        "Ada Miro, Ben Okafor",
        "ICML 2021",
        "oral",
    ):
        assert expected in text
    assert page.tags.count("details") == 1


def test_one_reference_a_paper_with_all_its_numbers() -> None:
    zebra, tidal = PAPERS[:2]
    citations = (
        Citation(1, zebra, QUOTE),
        Citation(2, tidal, "Tidal currents near harbours are hard to forecast."),
        Citation(3, zebra, "Large vision models are slow on phones."),
    )
    page = checked(answer_html(replace(answered(zebra, QUOTE), citations=citations)))
    assert page.tags.count("details") == 2
    assert "[1][3] Zebra Pruning" in page.text


def test_a_paper_without_title() -> None:
    whisper = PAPERS[3]
    page = checked(answer_html(answered(whisper, "The word error rate falls from 48% to 19%.")))
    assert "(none given)" in page.text
    assert "Authors" not in page.text


def test_many_authors_are_cut() -> None:
    many = paper(authors=tuple(f"Author {number}" for number in range(30)))
    page = checked(answer_html(answered(many, QUOTE)))
    assert "Author 11 and 18 more" in page.text


def test_an_abstention_shows_the_closest_papers() -> None:
    silent = replace(
        answered(PAPERS[0], QUOTE),
        outcome=Outcome.NOT_IN_LIBRARY,
        text=ABSTENTION,
        sentences=(),
        citations=(),
        passages=tuple(passage(each) for each in PAPERS),
    )
    page = checked(answer_html(silent))
    assert ABSTENTION in page.text
    assert "Closest papers" in page.text
    assert page.tags.count("details") == 3
    assert page.marked == []


def test_what_is_shown_while_an_answer_comes() -> None:
    answer = answered(PAPERS[0], QUOTE)
    assert "Searching the library" in checked(searching_html()).text
    reading = checked(progress_html("", answer.passages, (), (), ())).text
    assert "Reading “Zebra Pruning for Vision Models”" in reading
    assert "Understood as" not in reading
    one = evidence(QUOTE)
    parts = (answer.passages, (one,), answer.sentences, answer.citations)
    writing = checked(progress_html("X", *parts)).text
    assert "Writing from 1 sentence of “Zebra Pruning for Vision Models”" in writing
    two = (one, replace(one, paper=PAPERS[1]))
    assert (
        "Writing from 2 sentences of 2 papers" in checked(progress_html("", (), two, (), ())).text
    )
    assert "Understood as: X" in writing
    assert f"From “Zebra Pruning for Vision Models”:{QUOTE}[1]" in writing
    stopped = checked(stopped_html(answer.sentences, answer.citations)).text
    assert QUOTE in stopped
    assert "Stopped." in stopped
    assert "References" not in checked(stopped_html((), ())).text


def test_understood_only_where_it_differs() -> None:
    answer = answered(PAPERS[0], QUOTE, "Why?")
    assert "Understood as" not in checked(answer_html(answer)).text
    other = replace(answer, standalone_question="About X: Why?")
    assert "Understood as: About X: Why?" in checked(answer_html(other)).text


def test_lines_of_a_question_stay_lines() -> None:
    page = checked(question_html("a\n\nb\r\nc"))
    assert page.tags == ["div", "div", "br", "br", "br"]


def test_setup() -> None:
    stages = [Stage("fetching", 5_000_000, 93_000_000, "B"), Stage("starting")]
    page = checked(setup_html(State([*stages, Stage("Embedding papers", 1200, 1643, "papers")])))
    assert "5 of 93 MB" in page.text
    assert "1,200 of 1,643 papers" in page.text
    assert page.tags.count("progress") == 3
    assert "alert" in setup_html(State(error="x"))


def test_library_line() -> None:
    text = checked(library_html(1643, "SmolLM2")).text
    assert text == "1,643 papers · answered on this machine by SmolLM2"
