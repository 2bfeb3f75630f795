"""Library, models, papers and lookup as HTML: what they say, and that hostile text stays text."""

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
from assistant.server.web.lookup import LookupForm, LookupPage, lookup_html
from assistant.server.web.models import models_html
from assistant.server.web.paper import paper_html
from assistant.server.web.topic_map import tiles
from assistant.settings import WritingMode
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.library.ingest_log import IngestLog
from retrieval.library.overview import Copies, Overview, SourceFile
from retrieval.library.topics import Topic, Topics
from retrieval.query.lookup import Match
from retrieval.search.search import Similar
from retrieval.types import IngestReport, Skipped, Source

CHAT = ModelDescription(
    "chat", "Tiny", "default", "a file", Path("t.gguf"), 145_000_000, "Q8_0", "MIT", True, 8192
)
EMBEDDER = ModelDescription("embedder", "E", "e", "a file", Path("e"), 1, "F16", None, True)
OTHER = ModelDescription(
    "chat", "Big", "hf:a/b:c.gguf", "hub", Path("c"), 4_700_000_000, "Q4_K_M", None, False
)


def overview(venues: tuple[tuple[str, int], ...], file: str = "a.txt") -> str:
    papers = sum(count for _, count in venues)
    contents = Overview(
        papers, 2 * papers, ((file, papers),), venues, (("2023", papers),), venues,
        files=(SourceFile(file, papers, "", file),),
        dated=tuple((venue, "2023", count) for venue, count in venues if venue),
        copied=1, copies=(Copies(file, (Source(file, 1), Source(file, 2))),),
    )  # fmt: skip
    entry = (Skipped(file, 2, file),)
    return library_html("overview", contents, IngestLog({file: entry}, {file: entry}))


def topic_map(*topics: Topic, papers: int = 100) -> str:
    return library_html("topics", Topics(topics, 50), tiles(topics), papers)


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
    return HtmlPage(paper_html("paper", of, quotes, [Similar(of, 0.5)]))


def listing(form: LookupForm, *papers: Any, total: int = 1, note: str = "", **page: Any) -> str:
    matches = [Match(each, note) for each in papers]
    shown = {"strong": total, "weaker": 0} | page
    return lookup_html("listing", form, LookupPage(matches, total=total, note=note, **shown))


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
    form = LookupForm(*[payload] * 8)
    model = replace(OTHER, name=payload, spec=payload, source=payload, licence=payload)
    pages = (
        library_html("setup", SetupState(stages)),
        library_html("setup", SetupState(error=payload)),
        library_html("heading", 1, payload, None, ""),
        topic_map(Topic((payload, payload), 40, 0.5, 0.5)),
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
        models_html("summary", replace(CHAT, name=payload), "free"),
        models_html("speed", None, (0, 0.0, 0.0), payload),
        paper_html("paper", odd, [payload], [Similar(odd, 0.5)]),
        paper_html("message", payload, payload),
        listing(form, odd, total=7, note=payload, counts={"venue": {payload: 2}}),
        listing(form, note=payload),
        lookup_html("refused", payload),
    )
    for page in map(HtmlPage, pages):
        assert flat(payload) in flat(page.text)


def test_the_progress_of_the_setup() -> None:
    stages = [Stage("fetching", 5_000_000, 93_000_000, "B"), Stage("starting")]
    state = SetupState((*stages, Stage("Embedding papers", 1200, 1643, "papers")))
    page = HtmlPage(library_html("setup", state))
    assert "✓fetching (done)93 MB" in page.text
    assert "1,200 of 1,643 papers" in page.text
    assert page.tags.count("progress") == 1  # the others are done
    assert "alert" in library_html("setup", SetupState(error="x"))


def test_the_line_above_the_tabs() -> None:
    text = HtmlPage(library_html("heading", 1643, "SmolLM2", None, "")).text
    assert text == "1,643 papers · answered on this machine by SmolLM2"
    reading = Stage("Embedding papers", 512, 1643, "papers", 40.0)
    text = HtmlPage(library_html("heading", 512, "SmolLM2", reading, "")).text
    assert text == "512 of 1,643 papers read, about 40 s left · answers come from those"


def test_many_venues_are_folded_and_more_are_cut() -> None:
    html = overview(tuple((f"V{number:03}", 500 - number) for number in range(300)))
    assert html.index("V007") < html.index("292 more venues") < html.index("V008")
    assert "V199" in html
    assert "V200" not in html
    assert "100 of them are not shown." in html


def test_the_unknown_is_named() -> None:
    assert "1 paper of no known venue." in overview((("ICLR", 999), ("", 1)))


def test_topics_fill_their_map_without_a_hole_and_are_as_large_as_their_papers() -> None:
    topics = [
        Topic((f"term {at}", "word"), 400 - 30 * at, at * 5 % 12 / 12, at * 7 % 12 / 12)
        for at in range(12)
    ]
    drawn = tiles(topics)
    assert [each.topic for each in drawn] == topics
    papers = sum(each.papers for each in topics)
    for each in drawn:
        assert each.width * each.height / 10_000 == pytest.approx(
            each.topic.papers / papers, abs=0.03
        )
    for at, one in enumerate(drawn):
        for other in drawn[at + 1 :]:
            across = min(one.left + one.width, other.left + other.width)
            down = min(one.top + one.height, other.top + other.height)
            overlap = (across - max(one.left, other.left), down - max(one.top, other.top))
            assert min(overlap) < 0.05  # rounding
    assert sum(each.width * each.height for each in drawn) == pytest.approx(10_000, rel=0.01)
    alike = [replace(each, x=0.5, y=0.5) for each in topics]
    assert len({(each.left, each.top) for each in tiles(alike)}) == len(topics)
    html = topic_map(*topics)
    assert html.count("<li ") == 12
    assert "estimated from 50 of them" in html
    assert "being worked out" in library_html("topics", None, [], 5)


def test_an_empty_library_says_what_to_do() -> None:
    empty = library_html("overview", Overview(0, 0, (), (), (), ()), IngestLog())
    assert "It is empty: add files above." in empty


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
    assert "/c.toml" in html


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (WritingMode.FREE, "writes answers in its own words, and every sentence is checked"),
        (WritingMode.BRIEF, "it does not write long text"),
        (WritingMode.QUOTE, "word for word, because it did not pass the test"),
    ],
)
def test_what_the_model_can_do_is_said_plainly(mode: WritingMode, said: str) -> None:
    html = models_html("summary", CHAT, mode)
    assert said in html
    assert "assistant serve --model hf:owner/repo:file.gguf" in html


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
        (2, 1194, "", "1,194 papers, page 1 of 60"),
        (1, 1, "No paper by Foo.", "No paper by Foo. 1 paper"),
        (0, 0, "No paper by Foo.", "No paper by Foo."),
        (0, 0, "", "No paper has all of these filters."),
    ],
)
def test_the_count_says_how_many_there_are(
    shown: int, total: int, note: str, expected: str
) -> None:
    html = listing(LookupForm("x"), *PAPERS[:shown], total=total, note=note)
    status = html.split('role="status">')[1].split("</p>")[0]
    assert HtmlPage(status).text.strip() == expected


def test_weaker_matches_are_offered_and_pages_turned() -> None:
    html = listing(LookupForm("cats"), *PAPERS[:2], total=60, strong=60, weaker=7)
    assert "Show 7 weaker matches" in html
    sets = HtmlPage(html).values("data-set")
    assert '{"weak": "1"}' in sets
    assert sets.count('{"page": "2"}') == 2
    assert 'aria-current="page" aria-label="Page 1"' in html


def test_many_values_of_a_filter_are_folded_and_the_chosen_one_is_shown() -> None:
    venues = {f"V{at:03}": 300 - at for at in range(300)}
    form = LookupForm("cats", venue="V250")
    html = listing(form, paper(), counts={"venue": venues, "year": {}, "decision": {}})
    assert html.index("V250") < html.index("200 more") < html.index("V006")
    assert 'aria-pressed="true" data-set="{&#34;venue&#34;: &#34;&#34;}"' in html
    assert "V206" not in html
