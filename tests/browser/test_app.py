"""What a person does in the browser, with the real models and the real seeds."""

import json
import re
from pathlib import Path

import pytest
from app_process import Served, served
from playwright.sync_api import Page, expect

QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
TITLE = "Machine Unlearning of Federated Clusters"
QUOTE = (
    "Compared to completely retraining K-means++ locally and globally for each removal request, we "
    "obtain an average speed-up of roughly 84x across seven datasets, two of which contain "
    "biological and medical information that is subject to frequent unlearning requests."
)


def open_chat(page: Page, app: Served) -> None:
    """The page, once one can type."""
    page.goto(app.address)
    expect(page.locator("#question textarea")).to_be_visible(timeout=120_000)


def ask(page: Page, question: str) -> None:
    """Type a question and send it."""
    page.locator("#question textarea").fill(question)
    page.keyboard.press("Enter")


def wait_until_answered(page: Page, answers: int = 1) -> None:
    """Until so many answers have ended: each shows references or closest papers."""
    expect(page.locator("#conversation .references")).to_have_count(answers, timeout=120_000)
    expect(page.locator("#send")).to_be_visible(timeout=120_000)


def watch(page: Page) -> None:
    """Note every state of the conversation as it changes."""
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => {
            const shown = (name) => document.querySelectorAll('#conversation ' + name).length;
            window.seen.push([shown('.status'), shown('.quoted, .verified'), shown('.references')]);
        }).observe(document.querySelector('#conversation'), {childList: true, subtree: true,
            characterData: true}); }"""
    )


def test_an_answer_streams_in(page: Page, app: Served) -> None:
    open_chat(page, app)
    watch(page)
    ask(page, QUESTION)
    wait_until_answered(page)
    seen = page.evaluate("window.seen")
    assert any(status and not sentences for status, sentences, _ in seen)
    assert any(sentences and not references for _, sentences, references in seen)
    assert seen[-1][0] == 0
    expect(page.locator("#conversation")).to_contain_text(QUESTION)


def test_a_reference_opens_to_its_abstract_with_the_quote_marked(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    reference = page.locator("details.reference").first
    expect(reference.locator(".abstract")).to_be_hidden()
    reference.locator("summary").click()
    expect(reference.locator(".abstract")).to_be_visible()
    rows = reference.locator("dd")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_have_text(TITLE)
    expect(rows.nth(1)).to_contain_text("Chao Pan")
    expect(rows.nth(2)).to_have_text("ICLR 2023")
    expect(rows.nth(3)).to_have_text("poster")
    marked = reference.locator("mark").all_text_contents()
    assert QUOTE in marked
    abstract = reference.locator(".abstract").text_content() or ""
    assert abstract.startswith("Federated clustering is an unsupervised")
    assert all(quote in abstract for quote in marked)
    assert len(abstract) > sum(map(len, marked))


def test_stop_ends_an_answer_and_the_next_is_answered(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "Which papers recognise human actions from skeleton sequences?")
    page.locator("#stop").click()
    expect(page.locator("#conversation")).to_contain_text("Stopped.")
    expect(page.locator("#send")).to_be_visible()
    ask(page, QUESTION)
    expect(page.locator("#conversation")).to_contain_text("roughly 84x")


def test_a_follow_up_shows_how_it_was_understood(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    ask(page, "Who are the authors?")
    wait_until_answered(page, 2)
    expect(page.locator(".understood")).to_contain_text(TITLE)
    expect(page.locator(".verified").last).to_contain_text("Chao Pan")


def test_what_is_not_in_the_library_is_not_answered(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "What's the weather in Vienna tomorrow?")
    wait_until_answered(page)
    expect(page.locator(".silent")).to_have_text(
        "No abstract in this library answers that. None mentions “Vienna”."
    )
    expect(page.locator("#conversation .quoted")).to_have_count(0)
    expect(page.locator(".references")).to_contain_text("Closest papers")


def test_an_example_is_asked_with_a_click(page: Page, app: Served) -> None:
    open_chat(page, app)
    page.get_by_role("button", name="learn its strides").click()
    wait_until_answered(page)
    expect(page.locator("#conversation")).to_contain_text("Learning Strides")


def test_a_new_chat_forgets(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.locator("#new").click()
    expect(page.locator("#conversation .references")).to_have_count(0)
    ask(page, "Who are the authors?")
    wait_until_answered(page)
    expect(page.locator(".understood")).to_have_count(0)


def test_an_empty_question_says_what_to_do(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "   ")
    expect(page.locator("#conversation .error")).to_contain_text("The question is empty")


PAYLOADS = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg/onload=window.hit=1>",
    "![x](http://192.0.2.1/picture.png)",
    "[a link](javascript:window.hit=1)",
    "</p></div><iframe src='javascript:parent.hit=1'></iframe>",
    "<style>@import 'http://192.0.2.1/style.css'</style>",
    '" onmouseover="window.hit=1',
)


@pytest.fixture
def hostile_home(tmp_path: Path) -> Path:
    """A library whose one paper carries the payloads in every field."""
    payload = " ".join(PAYLOADS)
    paper = {
        "id": "<b>id</b>",
        "title": f"Turnips {payload}",
        "abstract": f"Turnips grow quickly in sandy soil. {payload} Turnips are eaten in winter.",
        "authors": [f"Ann {payload}"],
        "venue": payload,
        "decision": payload,
    }
    file = tmp_path / "papers.jsonl"
    file.write_text(json.dumps(paper), "utf-8")
    home = tmp_path / "home"
    from assistant.cli import main  # noqa: PLC0415 - imports the models only where they are used

    assert main(["ingest", "--home", str(home), str(file)]) == 0
    return home


def test_text_from_papers_and_people_neither_runs_nor_loads(page: Page, hostile_home: Path) -> None:
    with served(hostile_home) as app:
        open_chat(page, app)
        ask(page, f"How do turnips grow in sandy soil? {PAYLOADS[1]} {PAYLOADS[3]}")
        wait_until_answered(page)
        page.locator("details.reference summary").first.click()
        expect(page.locator("details.reference .abstract")).to_be_visible()
        expect(page.locator("#conversation")).to_contain_text("<script>window.hit = 1</script>")
        page.locator("details.reference .abstract").hover()
        assert page.evaluate("window.hit") is None
        assert page.locator(".assistant-block :is(img, iframe, script, style, svg, a)").count() == 0


def test_the_first_start_shows_its_progress_and_is_completed_by_the_next(
    page: Page, tmp_path: Path, chat_model_path: Path
) -> None:
    assert chat_model_path.exists()
    with served(tmp_path / "new") as app:
        page.goto(app.address)
        expect(page.locator("#setup")).to_contain_text("Setting up.")
        bar = page.locator("#setup progress[aria-label='Embedding papers']")
        expect(bar).to_be_visible()
        expect(page.locator("#setup")).to_contain_text("of 1,643 papers")
        page.wait_for_function(
            "() => Number(document.querySelector("
            "'#setup progress[aria-label=\"Embedding papers\"]')?.value) >= 70"
        )
        expect(page.locator("#question textarea")).to_be_hidden()
        assert app.end() in (0, 130)
    with served(tmp_path / "new") as app:
        page.goto(app.address)
        left = page.locator("#setup li", has_text="Embedding papers")
        expect(left).to_contain_text(re.compile(r"of [\d,]+ papers"))
        [total] = re.findall(r"of ([\d,]+) papers", left.inner_text())
        # The first start wrote 64 papers at a time, as often as it could before it was ended.
        written = 1643 - int(total.replace(",", ""))
        assert written >= 64
        assert written % 64 == 0


def test_the_page_works_in_the_dark_and_on_a_phone(page: Page, app: Served) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
