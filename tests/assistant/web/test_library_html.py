"""The library as HTML: counts, reports, and that nothing of them is markup."""

import re

import pytest

from assistant.server.jobs.library import JobState, Stage
from assistant.server.web.library_html import (
    duration,
    health_html,
    ingest_html,
    overview_html,
    removal_html,
    removed_html,
)
from retrieval.library.health import Health
from retrieval.library.ingest import Removal
from retrieval.library.overview import Overview
from retrieval.types import IngestReport, Skipped

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"
MARKUP = re.compile(r"<(script|img)")


def overview(venues: tuple[tuple[str, int], ...], file: str = "a.txt") -> Overview:
    papers = sum(count for _, count in venues)
    return Overview(papers, 2 * papers, ((file, papers),), venues, (("2023", papers),), venues)


def test_a_long_table_is_folded_and_a_longer_one_cut() -> None:
    venues = tuple((f"V{number:03}", 500 - number) for number in range(300))
    html = overview_html(overview(venues))
    assert "and 292 more" in html
    assert html.index("V007") < html.index("<details>") < html.index("V008")
    assert "V199" in html
    assert "V200" not in html
    assert "100 of them are not shown." in html


def test_the_unknown_is_named_and_small_shares_are_not_nothing() -> None:
    html = overview_html(overview((("ICLR", 999), ("", 1))))
    assert re.findall(r'title="[^"]*">([^<]*)</th><td>([^<]*)</td><td>([^<]*)<', html)[1:3] == [
        ("ICLR", "999", "100 %"),
        ("unknown", "1", "&lt; 1 %"),
    ]


def test_an_empty_library_says_what_to_do() -> None:
    assert "It is empty: add files above." in overview_html(overview(()))


@pytest.mark.parametrize(
    "html",
    [
        overview_html(overview(((HOSTILE, 1),), HOSTILE)),
        removal_html(Removal(HOSTILE, 1, 1, 5)),
        removed_html(JobState(1, "remove", removal=Removal(HOSTILE, 1, 1, 5))),
        removed_html(JobState(1, "remove", error=HOSTILE)),
        ingest_html(JobState(1, running=True, stages=(Stage(HOSTILE, 1, 2, HOSTILE),))),
        ingest_html(JobState(1, error=HOSTILE, added=3)),
        ingest_html(
            JobState(1, report=IngestReport(1, 1, 0, 0, 0, 1, 1.0, (Skipped(HOSTILE, 1, HOSTILE),)))
        ),
        health_html(JobState(1, "check", error=HOSTILE)),
    ],
)
def test_no_text_is_markup(html: str) -> None:
    assert "alert(1)" in html
    assert not MARKUP.search(html)
    for value in re.findall(r'="([^"]*)"', html):
        assert "<" not in value


def test_progress_shows_what_is_left() -> None:
    stages = (Stage("Reading files", 5, 5, "records", None), Stage("Embedding", 1, 4, "papers", 61))
    html = ingest_html(JobState(1, running=True, stages=stages))
    assert "1 of 4 papers, about 61 s left" in html
    assert '<progress max="4" value="1" aria-label="Embedding">' in html
    assert "Stopping" in ingest_html(JobState(1, running=True, stopping=True))
    assert [duration(each) for each in (0.2, 89, 90, 3000)] == ["1 s", "89 s", "2 min", "50 min"]


def test_a_long_list_of_what_was_skipped_is_folded_and_cut() -> None:
    skipped = tuple(Skipped("a.csv", line, "no abstract") for line in range(1, 301))
    html = ingest_html(JobState(1, report=IngestReport(1, 0, 0, 1, 0, 1, 1.0, skipped)))
    assert '<details class="lib-skipped"><summary>300 places skipped' in html
    assert "and 100 more" in html
    assert html.count("no abstract") == 200


def test_what_is_wrong_with_the_library_is_listed() -> None:
    health = Health(2, 3, True, True, 1, 2, 0, 0, 0, True)
    html = health_html(JobState(1, "check", health=health))
    assert "1 paper is without the right chunks." in html
    assert "2 chunks of no paper." in html
    whole = Health(2, 3, False, True, 0, 0, 0, 0, 0, True)
    assert "The library is whole." in health_html(JobState(1, "check", health=whole))
