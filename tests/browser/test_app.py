"""What a person does in the chat, with the real models and the real seeds."""

import json
import re
from pathlib import Path

from app_process import Served, served
from chatting import QUOTE, TITLE, ask, open_chat, wait_until_answered
from playwright.sync_api import Locator, Page, expect
from remembering_app import QUESTION, SEVERAL


def watch(page: Page) -> None:
    """Note every state of the answer as it comes."""
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => {
            const shown = (name) => document.querySelectorAll(name).length;
            window.seen.push([shown('#answer .status'), shown('#answer :is(.quoted, .verified)'),
                              shown('#conversation .references')]);
        }).observe(document.querySelector('#log'), {childList: true, subtree: true,
            characterData: true}); }"""
    )


def test_an_answer_streams_in(page: Page, app: Served) -> None:
    open_chat(page, app)
    watch(page)
    ask(page, QUESTION)
    wait_until_answered(page)
    seen = page.evaluate("window.seen")
    assert any(status and not sentences for status, sentences, _ in seen)
    assert any(status and sentences and not kept for status, sentences, kept in seen)
    assert seen[-1][0] == 0
    expect(page.locator("#conversation .question")).to_have_text(QUESTION)
    expect(page.locator("#said")).to_have_text("The answer has come.")


def test_a_new_question_goes_to_the_top_and_stays_where_the_reader_goes(
    page: Page, app: Served
) -> None:
    open_chat(page, app)
    top = "() => document.querySelector('#log').getBoundingClientRect().top"
    several = "Which papers prove a sample complexity bound for reinforcement learning?"
    for number, question in enumerate((QUESTION, several), start=1):
        ask(page, question)
        wait_until_answered(page, number)
    question = page.locator("#conversation .question").last
    expect(question).to_be_in_viewport()
    assert (question.bounding_box() or {})["y"] - page.evaluate(top) < 30
    page.locator("#log").hover()
    page.mouse.wheel(0, -5000)
    expect(page.locator("#conversation .question").first).to_be_in_viewport()
    page.get_by_role("button", name="Good answer").first.click()
    expect(page.get_by_role("button", name="Good answer").first).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.locator("#conversation .question").first).to_be_in_viewport()


def test_a_citation_shows_its_quote_when_pointed_at_or_reached(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    chip = page.locator("#conversation .chip").last
    quote = page.locator("#quote")
    chip.hover()
    expect(quote.locator("strong")).to_have_text(TITLE)
    expect(quote.locator("p")).to_have_text(QUOTE)
    expect(chip).to_have_attribute("aria-describedby", "quote")
    page.keyboard.press("Escape")
    expect(quote).to_be_hidden()
    chip.focus()
    expect(quote).to_be_visible()
    page.locator("#question textarea").focus()
    expect(quote).to_be_hidden()


def test_a_citation_opens_its_paper_with_the_quote_marked(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    chip = page.locator("#conversation .chip").last
    chip.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(dialog.locator("mark")).to_have_text(QUOTE)
    expect(dialog).to_contain_text("Chao Pan")
    expect(dialog).to_contain_text("ICLR 2023")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(chip).to_be_focused()


def test_a_paper_of_the_references_is_asked_about(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.get_by_role("button", name="Open abstract").click()
    page.get_by_role("dialog").get_by_role("button", name="Ask about this paper").click()
    expect(page.locator("#question textarea")).to_have_value(re.compile(TITLE))
    expect(page.locator("#question textarea")).to_be_focused()


def test_a_wide_page_lights_the_card_of_a_citation(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1600, "height": 900})
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    answer, evidence = page.locator(".said"), page.locator(".references")
    right = (answer.bounding_box() or {})["x"] + (answer.bounding_box() or {})["width"]
    assert (evidence.bounding_box() or {})["x"] >= right
    page.locator(".said .chip").first.click()
    expect(page.locator(".card.lit")).to_contain_text(TITLE)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name=f"Cite {TITLE}").click()
    expect(page.get_by_text("BibTeX copied")).to_be_visible()
    assert "pan2023machine" in page.evaluate("navigator.clipboard.readText()")
    page.set_viewport_size({"width": 390, "height": 900})
    assert (evidence.bounding_box() or {})["y"] > (answer.bounding_box() or {})["y"]


def test_several_papers_are_a_table_that_is_sorted_and_copied(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_chat(page, app)
    ask(page, SEVERAL)
    wait_until_answered(page)
    titles = page.locator("tbody .paper")
    expect(titles.nth(2)).to_be_visible()
    head = page.get_by_role("columnheader", name="Paper")
    head.get_by_role("button").focus()
    for order in ("ascending", "descending"):
        page.keyboard.press("Enter")
        expect(head).to_have_attribute("aria-sort", order)
        shown = titles.all_text_contents()
        in_order = sorted(shown, key=str.casefold, reverse=order == "descending")
        assert shown == in_order
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Paper,Year,What it says,Quote")
    page.get_by_role("button", name="Copy as Markdown").click()
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()).startsWith('| Paper')"
    )


def test_nothing_moves_when_an_answer_comes_and_the_welcome_goes_at_once(
    page: Page, app: Served
) -> None:
    open_chat(page, app)
    page.evaluate(
        """() => { window.moved = 0; new PerformanceObserver((list) => {
            for (const each of list.getEntries()) {
                if (!each.hadRecentInput) window.moved += each.value;
            }
        }).observe({type: 'layout-shift'}); }"""
    )
    page.evaluate(
        """question => { const send = window.fetch; window.fetch = (...request) => {
            if (String(request[1]?.body).includes(question)) {
                window.went = !document.querySelector('.welcome').checkVisibility();
            }
            return send(...request);
        }; }""",
        QUESTION,
    )
    ask(page, QUESTION)
    wait_until_answered(page)
    assert page.evaluate("window.went")
    ask(page, SEVERAL)
    wait_until_answered(page, 2)
    assert page.evaluate("window.moved") < 0.01


def test_keys_of_the_box_to_ask_in(page: Page, app: Served) -> None:
    open_chat(page, app)
    box = page.locator("#question textarea")
    box.fill("one")
    height = (box.bounding_box() or {})["height"]
    box.press("Shift+Enter")
    box.press_sequentially("two")
    expect(box).to_have_value("one\ntwo")
    page.wait_for_function(
        "height => document.querySelector('#question textarea').offsetHeight > height", arg=height
    )
    ask(page, QUESTION)
    wait_until_answered(page)
    box.press("ArrowUp")
    expect(box).to_have_value(QUESTION)
    expect(page.locator("#editing")).to_be_visible()


def test_an_answer_is_printed_with_its_evidence_alone(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.emulate_media(media="print")
    for shown in (".question", ".written", ".references .quoted"):
        expect(page.locator(shown).first).to_be_visible()
    for hidden in ("#heading", "#side", "#ask", "[role=tab]", ".tools", ".actions"):
        expect(page.locator(hidden).first).to_be_hidden()


def test_quoted_and_written_sentences_look_different(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "At what cryo-EM resolution does ModelAngelo get close to manual model building?")
    wait_until_answered(page)
    ask(page, "Who are the authors?")
    wait_until_answered(page, 2)
    expect(page.locator(".understood")).to_contain_text("ModelAngelo")
    expect(page.locator(".verified").last).to_contain_text("Kiarash Jamali")
    bar = "element => getComputedStyle(element).borderLeftWidth"
    assert page.locator("blockquote.quoted").first.evaluate(bar) != "0px"
    assert page.locator(".written").first.evaluate(bar) == "0px"
    checked = page.locator(".verified .checked").last
    expect(checked).to_have_attribute("title", re.compile("Checked"))


def test_stop_ends_an_answer_and_it_can_be_asked_again(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "What is federated learning and when does it fail?")  # several papers are read again
    page.locator("#stop").click()
    expect(page.locator("#conversation .notice")).to_have_text("Stopped.")
    expect(page.locator("#send")).to_be_visible()
    page.get_by_role("button", name="Ask again").click()
    wait_until_answered(page)
    expect(page.locator("#conversation .exchange")).to_have_count(1)
    expect(page.locator("#conversation .notice")).to_have_count(0)


def test_what_is_not_in_the_library_is_not_answered(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "What's the weather in Vienna tomorrow?")
    wait_until_answered(page)
    expect(page.locator(".refusal .outcome")).to_have_text("Not in this library")
    expect(page.locator(".refusal .silent")).to_have_text(
        "No abstract in this library answers that. None mentions “Vienna”."
    )
    expect(page.locator("#conversation .quoted")).to_have_count(0)
    expect(page.locator(".references")).to_contain_text("Closest papers")
    page.get_by_role("button", name="Search the library for “What").click()
    expect(page.get_by_role("tab", name="Lookup")).to_have_attribute("aria-selected", "true")
    words = re.compile("What's the weather in Vienna tomorrow")
    expect(page.locator("#lookup-form [name=query]")).to_have_value(words)
    expect(page.locator(".lookup-title").first).to_contain_text(re.compile("weather", re.I))


def test_what_an_abstract_does_not_say_is_not_answered(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, f"How many GPUs were used to train the models of “{TITLE}”?")
    wait_until_answered(page)
    expect(page.locator(".refusal .outcome")).to_have_text("Not found in the abstract")
    expect(page.locator(".references .paper").first).to_have_text(TITLE)


def test_an_example_is_asked_with_a_click(page: Page, app: Served) -> None:
    open_chat(page, app)
    expect(page.locator(".examples button")).to_have_count(4)
    page.get_by_role("button", name="learn its strides").click()
    wait_until_answered(page)
    expect(page.locator("#conversation")).to_contain_text("Learning Strides")


def test_a_question_is_edited_and_what_came_after_goes(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    ask(page, "Who are the authors?")
    wait_until_answered(page, 2)
    page.get_by_role("button", name="Edit").first.click()
    question = page.locator("#question textarea")
    expect(question).to_have_value(QUESTION)
    expect(question).to_be_focused()
    expect(page.locator(".exchange.edited .question")).to_have_text(QUESTION)
    page.get_by_role("button", name="Cancel").click()
    expect(question).to_have_value("")
    expect(page.locator(".exchange.edited")).to_have_count(0)
    page.get_by_role("button", name="Edit").first.click()
    expect(question).to_have_value(QUESTION)
    ask(page, "How can a convolutional network learn its strides?")
    wait_until_answered(page)
    expect(page.locator("#conversation .exchange")).to_have_count(1)
    expect(page.locator("#conversation")).to_contain_text("Learning Strides")
    expect(page.locator("#editing")).to_be_hidden()


def test_an_answer_is_copied_with_its_references(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.locator("#conversation").get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert QUOTE in copied
    assert f"{TITLE}. ICLR 2023, poster." in copied
    more = page.locator("#conversation details.more > summary")
    more.click()
    page.get_by_role("button", name="Copy references").click()
    expect(page.get_by_text("BibTeX copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("@inproceedings{pan2023")
    expect(page.get_by_role("button", name="Copy as Markdown")).to_be_hidden()
    more.click()
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"## {QUESTION}")


def test_an_answer_is_rated_and_the_rating_taken_back(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    good = page.get_by_role("button", name="Good answer")
    good.click()
    expect(good).to_have_attribute("aria-pressed", "true")
    good.click()
    expect(good).to_have_attribute("aria-pressed", "false")
    page.locator("details.report summary").click()
    page.get_by_label("Wrong citation").check()
    page.get_by_label("Comment").fill("<b>another</b> paper")
    page.locator("details.report").get_by_role("button", name="Send").click()
    expect(page.locator(".rated")).to_have_text("Kept as a case for evaluation: wrong citation.")
    page.reload()
    expect(page.locator(".rated")).to_be_visible()
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".rated")).to_have_count(0)


def test_conversations_outlive_a_reload_and_are_named_opened_exported_deleted(
    page: Page, app: Served
) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.reload()
    wait_until_answered(page)
    ask(page, "Who are the authors?")
    wait_until_answered(page, 2)
    expect(page.locator(".understood")).to_contain_text(TITLE)

    page.locator("#new").click()
    expect(page.locator("#conversation .welcome")).to_be_visible()
    ask(page, "What is neural collapse and when does it appear?")
    wait_until_answered(page)
    expect(page.locator("#past .name")).to_have_count(2)

    first = page.locator("#past li", has_text="machine unlearning")
    first.locator("details.menu > summary").click()
    first.get_by_label("Name").fill("  My <b>clusters</b> ")
    first.get_by_role("button", name="Rename").click()
    renamed = page.locator("#past .name", has_text="My <b>clusters</b>")
    renamed.click()
    wait_until_answered(page, 2)
    expect(page.locator("#past [aria-current]")).to_have_text("My <b>clusters</b>")

    entry = page.locator("#past li.open")
    entry.locator("details.menu > summary").click()
    with page.expect_download() as download:
        entry.get_by_role("link", name="Export as Markdown").click()
    assert download.value.suggested_filename == "My b clusters b.md"
    text = Path(download.value.path()).read_text("utf-8")
    assert QUOTE in text
    assert "## References\n\n1. Chao Pan" in text
    with page.expect_download() as download:
        entry.get_by_role("link", name="BibTeX").click()
    assert "pan2023machine" in Path(download.value.path()).read_text("utf-8")
    with page.expect_download() as download:
        entry.get_by_role("link", name="JSON").click()
    kept = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert kept["name"] == "My <b>clusters</b>"
    assert [each["question"] for each in kept["exchanges"]] == [QUESTION, "Who are the authors?"]
    assert kept["exchanges"][0]["answer"]["citations"][0]["quote"] == QUOTE

    entry.locator("details.sure > summary").click()
    entry.get_by_role("button", name="for good").click()
    expect(page.locator("#past .name")).to_have_count(1)
    expect(page.locator("#conversation .welcome")).to_be_visible()


def test_conversations_are_searched_by_name_and_text(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    page.locator("#new").click()
    expect(page.locator("#conversation .welcome")).to_be_visible()
    collapse = "What is neural collapse and when does it appear?"
    ask(page, collapse)
    wait_until_answered(page)
    expect(page.locator("#past .day")).to_have_text("Today")
    words = page.get_by_role("searchbox", name="Search conversations")
    names = page.locator("#past .name")
    for typed, found in (("NEURAL collapse", collapse), ("roughly 84x", QUESTION)):
        words.fill(typed)
        expect(names).to_have_count(1)
        expect(names).to_contain_text(found[:40])
    words.fill("neither of them")
    expect(page.locator("#past .none")).to_be_visible()
    words.fill("")
    expect(names).to_have_count(2)


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
    expect(page.locator("#answer .error")).to_contain_text("The question is empty")


def test_the_first_start_shows_its_progress_answers_early_and_is_completed_by_the_next(
    page: Page, tmp_path: Path, chat_model_path: Path
) -> None:
    assert chat_model_path.exists()
    with served(tmp_path / "new") as app:
        page.goto(app.address)
        expect(page.locator("#setup")).to_contain_text("Getting ready")
        expect(page.locator("#setup progress[aria-label='Embedding papers']")).to_be_visible()
        expect(page.locator("#setup")).to_contain_text("of 1,643 papers")
        reading = page.locator("#library [role=status]")
        expect(reading).to_contain_text(re.compile(r"of 1,643 papers read.* answers come from"))
        page.get_by_role("tab", name="Lookup").click()
        count = page.locator(".lookup-count")
        expect(count).to_contain_text("papers, page 1 of")
        assert 64 <= number_in(count) < 1643
        title = page.locator(".lookup-title").first.inner_text()
        author = page.locator(".lookup-authors").first.inner_text().split(",")[0]
        page.get_by_role("tab", name="Chat").click()
        expect(page.locator(".examples button").first).to_be_visible()  # what is read answers it
        expect(page.locator("#current")).to_be_hidden()
        ask(page, f"Who wrote “{title}”?")
        wait_until_answered(page)
        expect(page.locator("#conversation .said")).to_contain_text(author)
        expect(reading).to_be_visible()
        assert app.end() in (0, 130)
    with served(tmp_path / "new") as app:
        page.goto(app.address)
        left = page.get_by_text(re.compile(r"of [\d,]+ papers"))
        expect(left).to_be_visible()
        # The first start wrote 64 papers at a time, as often as it could before it was ended.
        written = 1643 - number_in(left, "of ")
        assert written >= 64
        assert written % 64 == 0


def number_in(shown: Locator, before: str = "") -> int:
    """The number of papers that a text names, after the text `before`."""
    [number] = re.findall(rf"{before}([\d,]+) papers", shown.inner_text())
    return int(number.replace(",", ""))


def test_the_chat_works_on_a_phone_in_the_dark(page: Page, app: Served) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#past")).to_be_hidden()
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator("#past [aria-current]")).to_be_visible()
