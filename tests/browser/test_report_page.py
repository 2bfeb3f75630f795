"""The report of an evaluation in a real Chromium, opened as a file."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from payloads import ALL, FORMULAS
from playwright.sync_api import Browser, Page, expect
from reported_run import MISSES, RECORD, compared, figures_of, rows

from assistant.evaluation.report.page import write_report
from assistant.evaluation.types import Row, Score

SCREENS = {"light": ("light", 1200), "dark": ("dark", 1200), "phone": ("light", 390)}
TEXTS = (*ALL, *FORMULAS.values())


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that may ask for the report itself, and for nothing else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    yield page
    context.close()
    assert [url for url in asked if not re.search(r"^file:.*/report[.]html$|^data:,$", url)] == []
    assert said == []


def report(folder: Path, run: list[Row] | None = None) -> str:
    """Address of a report."""
    run = rows() if run is None else run
    path = folder / "report.html"
    write_report(path, figures_of(run), run, RECORD, compared())
    return path.as_uri()


@pytest.fixture
def address(tmp_path: Path) -> str:
    return report(tmp_path)


def shown(page: Page) -> list[str]:
    """Ids of the samples that are shown."""
    return page.locator(".sample:visible .id").all_text_contents()


def test_the_misses_are_one_press_away(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#count")).to_have_text("7 samples")
    page.get_by_text(f"Misses {len(MISSES)}", exact=True).click()
    assert shown(page) == list(MISSES)
    expect(page.locator("#count")).to_have_text("5 of 7 samples")
    assert page.url.endswith("#show=misses")


def test_the_filters_go_together(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("combobox", name="Type").select_option("single")
    assert shown(page) == ["right", "forgetful", "broken"]
    page.get_by_label("Short of the full score in").select_option("facts")
    assert shown(page) == ["forgetful"]
    page.get_by_role("button", name="Clear").click()
    assert len(shown(page)) == 7
    assert page.url.endswith("#samples")
    page.get_by_text("Failed 1", exact=True).click()
    assert shown(page) == ["broken"]
    page.get_by_text("Not scored 1", exact=True).click()
    assert shown(page) == ["weather"]


def test_words_are_searched_in_everything_that_a_sample_says(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Text").fill("tidal ANTARCTICA")
    assert shown(page) == ["forgetful"]
    page.get_by_label("Text").fill("nowhere to be found")
    expect(page.get_by_text("No sample fits.")).to_be_visible()


def test_a_link_has_the_filter(page: Page, address: str) -> None:
    page.goto(f"{address}#show=misses&type=chat&find=who+else%3F")
    assert shown(page) == ["talk"]
    expect(page.get_by_role("radio", name="Misses 5")).to_be_checked()
    expect(page.get_by_role("combobox", name="Type")).to_have_value("chat")
    expect(page.get_by_label("Text")).to_have_value("who else?")


@pytest.mark.parametrize(
    "hash_", ["show=everything", "type=%3Cscript%3E", "short=constructor", "%", "find=%E0%A4%A"]
)
def test_a_link_that_means_nothing_does_no_harm(page: Page, address: str, hash_: str) -> None:
    page.goto(f"{address}#{hash_}")
    expect(page.locator("#filter")).to_be_visible()


def test_the_summary_leads_to_the_misses(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="5 of 7 samples").click()
    assert shown(page) == list(MISSES)
    expect(page.locator("#samples")).to_be_in_viewport()
    page.get_by_text("All 7", exact=True).click()
    expect(page.locator("#count")).to_have_text("7 samples")
    page.get_by_role("link", name="5 of 7 samples").click()
    expect(page.locator("#count")).to_have_text("5 of 7 samples")
    assert shown(page) == list(MISSES)


def test_what_was_lost_leads_to_its_sample_whatever_is_filtered(page: Page, address: str) -> None:
    page.goto(f"{address}#type=lookup")
    page.get_by_text("Lost: 2 samples").click()
    page.get_by_role("link", name="forgetful").click()
    sample = page.locator("#sample-2")
    expect(sample.get_by_text("Antarctica", exact=False).first).to_be_in_viewport()
    expect(sample.locator("summary")).to_be_focused()
    assert len(shown(page)) == 7


def test_all_shown_samples_open_and_close(page: Page, address: str) -> None:
    page.goto(f"{address}#type=single")
    page.get_by_role("button", name="Open all").click()
    assert page.locator(".sample > details[open]").count() == 3
    page.get_by_role("button", name="Close all").click()
    assert page.locator(".sample > details[open]").count() == 0


def test_the_keyboard_is_enough(page: Page, address: str) -> None:
    page.goto(address)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the samples")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="All 7")).to_be_focused()
    page.keyboard.press("ArrowRight")
    assert shown(page) == list(MISSES)
    for _ in range(7):
        page.keyboard.press("Tab")
    expect(page.locator("#sample-2 summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#sample-2 .inside")).to_be_visible()


def test_without_scripts_everything_is_there(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#filter")).to_be_hidden()
    expect(page.locator(".sample")).to_have_count(7)
    page.locator("#sample-2 summary").click()
    expect(page.locator("#sample-2 .inside")).to_be_visible()
    context.close()


def violations(page: Page) -> list[str]:
    """What axe finds."""
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in Axe().run(page).response["violations"]
        for node in each["nodes"]
    ]


def test_it_can_be_read_by_everyone(browser: Browser, address: str) -> None:
    for scheme, width in SCREENS.values():
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
            bypass_csp=True,  # for axe itself, a script that the page does not know
        )
        page = context.new_page()
        page.goto(address)
        assert violations(page) == []
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        context.close()


def test_long_words_make_no_page_wider_than_a_phone(browser: Browser, tmp_path: Path) -> None:
    long = "x" * 500
    run = [replace(row, id=f"{row.id}{long}", failed=long) for row in rows()]
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(report(tmp_path, [*run, saying(long, 7)]))
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_on_paper_everything_is_open(page: Page, address: str) -> None:
    page.goto(address)
    closed = page.locator("#sample-2 .inside")
    assert not closed.is_visible()
    page.emulate_media(media="print")
    assert closed.is_visible()
    expect(page.locator("#filter")).to_be_hidden()


def saying(text: str, number: int) -> Row:
    """A sample whose every text is this one."""
    first, second = rows()[0], rows()[1]
    reply = second.replies[0]
    assert reply.answer is not None
    answer = {
        **reply.answer,
        "standalone_question": f"understood {text}",
        "sentences": [{**each, "text": text} for each in reply.answer["sentences"]],
        "citations": [
            {**each, "title": text, "quote": f"quote {text}"} for each in reply.answer["citations"]
        ],
    }
    expected = replace(reply.expected, answer=text, facts=((text, text),), evidence=(text,))
    hostile = replace(
        reply,
        question=f"{number} {text}",
        expected=expected,
        ranking=(text, "z"),
        answer=answer,
        scores={"fact recall": Score(0.5, text), "facts": Score(0.0, text)},
    )
    refused = replace(hostile, answer={**answer, "outcome": text, "answer": text, "sentences": []})
    return Row(f"{number} {text}", first.type, (hostile, refused), {"z": text, text: text}, text)


FOREIGN = """() => {
    const tags = new Set(`a article aside b blockquote body button caption circle code dd details
        div fieldset footer form h1 h2 h3 h4 h5 h6 head header html input label legend li line link
        main meta nav ol option output p path rect script section select span strong style summary
        svg table tbody td text th thead title tr ul`.split(/\\s+/));
    return [...document.querySelectorAll('*')].filter(each => !tags.has(each.localName)
        || [...each.attributes].some(({name, value}) => /^on|^style$|^src/.test(name)
            || name === 'href' && !/^(#|data:,$)/.test(value)))
        .map(each => each.outerHTML.slice(0, 160));
}"""
"""What stands in the page that the template does not write."""


def test_what_samples_say_runs_nothing(page: Page, tmp_path: Path) -> None:
    run = [saying(text, number) for number, text in enumerate(TEXTS)]
    page.goto(report(tmp_path, run))
    page.get_by_role("button", name="Open all").click()
    assert page.locator(".sample").count() == len(TEXTS)
    assert page.evaluate(FOREIGN) == []
    assert page.locator("script").count() == 1
    for number, text in enumerate(TEXTS):
        said = page.locator(f"#sample-{number + 1} .expected p").first.text_content()
        assert (said or "").strip() == text.strip()
    page.get_by_label("Text").fill("turnip")
    assert page.evaluate("window.hit") is None
    assert page.locator(".sample:visible").count() == 0


def test_many_samples_are_filtered_together(page: Page, tmp_path: Path) -> None:
    astray = rows()[2]
    many = [replace(astray, id=f"Q{number}") for number in range(400)]
    page.goto(report(tmp_path, many))
    expect(page.locator("#count")).to_have_text("400 samples")
    page.get_by_label("Text").fill("Q123")
    expect(page.locator("#count")).to_have_text("1 of 400 samples")
