"""Library, models, papers and lookup as HTML: what they say, and that hostile text stays text."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import PAPERS, paper
from html_page import PAYLOADS, HtmlPage, flat

from assistant.models import ModelDescription
from assistant.models.chat import Speed
from assistant.server.jobs.library import JobState, Stage
from assistant.server.jobs.setup import SetupState
from assistant.server.web.library import duration, library_html
from assistant.server.web.lookup import LookupForm, lookup_html
from assistant.server.web.models import models_html
from assistant.server.web.paper import paper_html
from assistant.settings import WritingMode
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.library.overview import Overview
from retrieval.query.lookup import Match
from retrieval.search.search import Similar
from retrieval.types import IngestReport, Skipped

CHAT = ModelDescription(
    "chat", "Tiny", "default", "a file", Path("t.gguf"), 145_000_000, "Q8_0", "MIT", True, 8192
)
EMBEDDER = ModelDescription("embedder", "E", "e", "a file", Path("e"), 1, "F16", None, True)
OTHER = ModelDescription(
    "chat", "Big", "hf:a/b:c.gguf", "hub", Path("c"), 4_700_000_000, "Q4_K_M", None, False
)


def overview(venues: tuple[tuple[str, int], ...], file: str = "a.txt") -> str:
    papers = sum(count for _, count in venues)
    contents = Overview(papers, 2 * papers, ((file, papers),), venues, (("2023", papers),), venues)
    return library_html("overview", contents)


def report(*skipped: Skipped) -> str:
    of = IngestReport(1643, 1, 0, 2000, 0, 1, 95.0, skipped)
    return library_html("ingest", JobState(1, report=of))


def models(
    chat: ModelDescription = CHAT, *others: ModelDescription, mode: WritingMode = WritingMode.FREE
) -> str:
    machine = SimpleNamespace(available=21_600_000_000, total=25_300_000_000)
    return models_html(
        "models", chat, EMBEDDER, others, "Tiny.Q8_0", 4096, 2, mode, 652_000_000, machine,
        145_000_001, Path("/c.toml"),
    )  # fmt: skip


def dialog(of: Any, *quotes: str) -> HtmlPage:
    return HtmlPage(paper_html("paper", of, quotes, [Similar(of, 0.5)], {"Copy": "text"}))


def listing(form: LookupForm, *papers: Any, total: int = 1, note: str = "", more: int = 0) -> str:
    return lookup_html("listing", form, [Match(each, note) for each in papers], total, note, more)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text(payload: str) -> None:
    odd = replace(
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
    stages = (Stage(payload, 1, 2, payload),)
    form = LookupForm(*[payload] * 6)
    model = replace(OTHER, name=payload, spec=payload, source=payload, licence=payload)
    pages = (
        library_html("setup", SetupState(stages)),
        library_html("setup", SetupState(error=payload)),
        library_html("heading", 1, payload),
        library_html("error", payload),
        overview(((payload, 1),), payload),
        library_html("asked", Removal(payload, 1, 1, 5)),
        library_html("removed", JobState(1, "remove", removal=Removal(payload, 1, 1, 5))),
        library_html("removed", JobState(1, "remove", error=payload)),
        library_html("ingest", JobState(1, running=True, stages=stages)),
        library_html("ingest", JobState(1, error=payload, added=3)),
        report(Skipped(payload, 1, payload)),
        library_html("health", JobState(1, "check", error=payload)),
        models(replace(CHAT, name=payload, source=payload, licence=payload), model),
        models_html("speed", None, (0, 0.0, 0.0), payload),
        paper_html("paper", odd, [payload], [Similar(odd, 0.5)], {payload: payload}),
        paper_html("message", payload, payload),
        listing(form, odd, total=7, note=payload, more=3),
        listing(form, note=payload),
        lookup_html("form", {"venue": {payload: 2}}),
        lookup_html("refused", payload),
    )
    for page in map(HtmlPage, pages):
        assert flat(payload) in flat(page.text)
    assert payload in HtmlPage(pages[-4]).values("data-query")


def test_the_progress_of_the_setup() -> None:
    stages = [Stage("fetching", 5_000_000, 93_000_000, "B"), Stage("starting")]
    state = SetupState((*stages, Stage("Embedding papers", 1200, 1643, "papers")))
    page = HtmlPage(library_html("setup", state))
    assert "5 of 93 MB" in page.text
    assert "1,200 of 1,643 papers" in page.text
    assert page.tags.count("progress") == 3
    assert "alert" in library_html("setup", SetupState(error="x"))


def test_the_line_above_the_tabs() -> None:
    text = HtmlPage(library_html("heading", 1643, "SmolLM2")).text
    assert text == "1,643 papers · answered on this machine by SmolLM2"


def test_a_long_table_is_folded_and_a_longer_one_cut() -> None:
    html = overview(tuple((f"V{number:03}", 500 - number) for number in range(300)))
    assert "and 292 more" in html
    assert html.index("V007") < html.index("<details>") < html.index("V008")
    assert "V199" in html
    assert "V200" not in html
    assert "100 of them are not shown." in html


def test_the_unknown_is_named_and_small_shares_are_not_nothing() -> None:
    html = overview((("ICLR", 999), ("", 1)))
    assert re.findall(r'title="[^"]*">([^<]*)</th><td>([^<]*)</td><td>([^<]*)<', html)[1:3] == [
        ("ICLR", "999", "100 %"),
        ("unknown", "1", "&lt; 1 %"),
    ]


def test_an_empty_library_says_what_to_do() -> None:
    assert "It is empty: add files above." in overview(())


def test_progress_shows_what_is_left() -> None:
    stages = (Stage("Reading files", 5, 5, "records", None), Stage("Embedding", 1, 4, "papers", 61))
    html = library_html("ingest", JobState(1, running=True, stages=stages))
    assert "1 of 4 papers, about 61 s left" in html
    assert '<progress max="4" value="1" aria-label="Embedding">' in html
    assert "Stopping" in library_html("ingest", JobState(1, running=True, stopping=True))
    assert [duration(each) for each in (0.2, 89, 90, 3000)] == ["1 s", "89 s", "2 min", "50 min"]


def test_what_was_added_and_what_was_skipped() -> None:
    html = report(*(Skipped("a.csv", line, "no abstract") for line in range(1, 301)))
    assert "1 paper added</strong>, 0 updated, 2,000 unchanged, 0 records merged" in html
    assert '<details class="lib-skipped"><summary>300 places skipped' in html
    assert "and 100 more" in html
    assert html.count("no abstract") == 200
    assert '<details class="lib-skipped" open>' in report(Skipped("a.csv", 1, "no abstract"))


def test_what_is_wrong_with_the_library_is_listed() -> None:
    health = Health(2, 3, True, True, 1, 2, 0, 0, 0, True)
    html = library_html("health", JobState(1, "check", health=health))
    assert "1 paper is without the right chunks." in html
    assert "2 chunks of no paper." in html
    whole = Health(2, 3, False, True, 0, 0, 0, 0, 0, True)
    assert "The library is whole." in library_html("health", JobState(1, "check", health=whole))


def test_which_models_are_in_use_and_which_else_are_here() -> None:
    html = models(CHAT, OTHER)
    assert "4,096 tokens in use, trained for 8,192" in html
    assert "652 MB, 145 MB of it model weights" in html
    assert "21.6 GB free of 25.3 GB" in html
    assert "<dd>not said in its file</dd>" in html
    assert "<strong>Big</strong> (chat): Q4_K_M, 4.7 GB" in html
    assert 'data-copy="assistant serve --model hf:a/b:c.gguf"' in html
    assert "<p>None.</p>" in models()
    assert "/c.toml" in html


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (WritingMode.FREE, "It answered 4 of 6 short test questions or more"),
        (WritingMode.BRIEF, "With its adapter it answered 4 of 6"),
        (WritingMode.QUOTE, "It did not answer 4 of 6"),
    ],
)
def test_whether_the_model_writes_is_said_plainly(mode: WritingMode, said: str) -> None:
    assert said in models(mode=mode)


def test_the_speed_as_measured_and_in_use() -> None:
    html = models_html("speed", Speed(1234.5, 56.4), (2, 1.25, 3.5))
    assert "Reads 1,234 and writes 56 tokens a second" in html
    assert "2 questions answered since the start: first sentence after 1.2 s, whole after" in html
    unused = (0, 0.0, 0.0)
    assert "Not measured yet" in models_html("speed", None, unused)
    assert "Measuring" in models_html("speed", None, unused, measuring=True)
    assert "32 questions" in models_html("speed", Speed(1, 1), unused, "32 questions are waiting")


def test_only_addresses_of_the_web_are_links() -> None:
    page = dialog(replace(paper(), url="https://example.org/x", doi="10.1234/ab"))
    assert page.values("href") == ["https://doi.org/10.1234/ab", "https://example.org/x"]
    assert page.values("rel") == ["noreferrer noopener"] * 2
    unsafe = replace(paper(), url="javascript:alert(1)", doi="javascript:alert(1)")
    assert dialog(unsafe).values("href") == []


def test_many_authors_are_folded() -> None:
    many = replace(paper(), authors=tuple(f"A{at}" for at in range(12)))
    assert "A7 and 4 moreA8, A9, A10, A11" in dialog(many).text


def test_a_paper_without_title_is_shown_by_how_it_begins() -> None:
    page = dialog(replace(paper(), title="", abstract="It begins. And ends."), "And ends.")
    assert "←It begins. And ends.✕" in page.text
    assert page.tags.count("mark") == 1


@pytest.mark.parametrize(
    ("shown", "total", "note", "expected"),
    [
        (1, 1, "", "1 paper"),
        (2, 2, "", "2 papers"),
        (2, 1194, "", "2 of 1,194 papers"),
        (1, 1, "No paper by Foo.", "No paper by Foo. 1 paper"),
        (0, 0, "No paper by Foo.", "No paper by Foo."),
    ],
)
def test_the_count_says_how_many_of_how_many(
    shown: int, total: int, note: str, expected: str
) -> None:
    html = listing(LookupForm("x"), *PAPERS[:shown], total=total, note=note)
    assert f'role="status">{expected}</p>' in html


def test_the_next_papers_are_asked_for_with_what_was_asked() -> None:
    html = listing(LookupForm("cats", venue="ICLR"), paper(), total=60, more=50)
    attributes = dict(HtmlPage(html).attributes)
    assert attributes["data-query"] == "cats"
    assert attributes["data-venue"] == "ICLR"
    assert attributes["data-shown"] == "51"
    assert "Show 50 more" in html


def test_years_are_newest_first_with_their_counts() -> None:
    html = lookup_html("form", {"year": {"2021": 1, "2023": 1200}})
    assert html.index("2023 (1,200)") < html.index("2021 (1)")
