"""What happens to an answer when the person does something else while it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app_process import served
from chatting import PATIENCE, ask, open_chat, wait_until_answered
from playwright.sync_api import Browser, Page, expect
from remembering_app import QUESTION

if TYPE_CHECKING:
    from pathlib import Path

    from app_process import Served


SLOW = "What is neural collapse and when does it appear?"
LONG = "What is federated learning and when does it fail?"
"""Several papers are read again for it."""


def expect_answer(page: Page) -> None:
    expect(page.locator("#conversation")).to_contain_text("roughly 84x", timeout=PATIENCE)
    expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)


def test_a_new_chat_while_an_answer_is_written(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, LONG)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    page.locator("#new").click()
    expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#conversation .question")).to_have_count(0)
    ask(page, QUESTION)
    expect_answer(page)
    expect(page.locator("#conversation .question")).to_have_count(1)
    expect(page.locator(".understood")).to_have_count(0)


def test_another_conversation_opened_while_an_answer_comes(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    expect_answer(page)
    page.locator("#new").click()
    expect(page.locator("#conversation .welcome")).to_be_visible(timeout=PATIENCE)
    ask(page, SLOW)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    # What is open already stays as it is.
    page.locator("#past .name", has_text="neural collapse").click()
    expect(page.locator("#answer .status")).to_be_visible()
    page.locator("#past .name", has_text="unlearning").click()
    expect_answer(page)
    expect(page.locator("#conversation .exchange")).to_have_count(1)
    page.locator("#past .name", has_text="neural collapse").click()
    expect(page.locator("#conversation .notice")).to_have_text("Stopped.", timeout=PATIENCE)
    expect(page.locator("#answer .exchange")).to_have_count(0)


def test_the_page_says_when_the_assistant_is_gone_and_goes_on_when_it_is_back(
    page: Page, library_home: Path
) -> None:
    with served(library_home) as app:
        open_chat(page, app)
        ask(page, QUESTION)
        expect_answer(page)
        ask(page, SLOW)
        expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
        app.end()
        expect(page.locator("#gone")).to_contain_text("Start it again", timeout=PATIENCE)
    with served(library_home, "--port", app.address.rsplit(":", 1)[1]):
        expect(page.locator("#gone")).to_have_count(0, timeout=PATIENCE)
        expect(page.locator("#conversation .exchange")).to_have_count(2, timeout=PATIENCE)
        expect(page.locator("#send")).to_be_visible()


def test_what_is_typed_while_an_answer_is_written_stays(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, SLOW)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    page.locator("#question textarea").fill("And who are")
    wait_until_answered(page)
    expect(page.locator("#question textarea")).to_have_value("And who are")


def test_a_question_edited_while_another_answer_comes_stays(
    page: Page, browser: Browser, app: Served
) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    expect_answer(page)
    other = browser.new_context().new_page()
    open_chat(other, app)
    ask(other, SLOW)
    expect(other.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    ask(page, LONG)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Edit").first.click()
    wait_until_answered(page, 2)
    expect(page.locator("#editing")).to_be_visible()
    expect(page.locator(".exchange.edited .question")).to_have_text(QUESTION)
    expect(page.locator("#question textarea")).to_have_value(QUESTION)
    page.locator("#send").click()
    expect(page.locator("#conversation .exchange")).to_have_count(1, timeout=PATIENCE)
    other.context.close()


def test_a_page_closed_while_an_answer_is_written(
    page: Page, browser: Browser, app: Served
) -> None:
    other = browser.new_page()
    open_chat(other, app)
    ask(other, LONG)
    expect(other.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    other.close()
    open_chat(page, app)
    ask(page, QUESTION)
    expect_answer(page)


def test_a_page_loaded_again_while_an_answer_is_written(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, SLOW)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    page.wait_for_url("**/?c=*")
    page.reload()
    notice = page.locator("#conversation .notice")
    expect(notice).to_be_visible()
    for _ in range(40):  # until the server has seen that the first page is gone
        if "another page" not in notice.inner_text():
            break
        page.reload()
        expect(notice).to_be_visible()
    expect(notice).to_have_text(re.compile("This answer was not finished|Stopped"))
    ask(page, QUESTION)
    expect_answer(page)


def test_two_people_ask_at_once(page: Page, browser: Browser, app: Served) -> None:
    other = browser.new_context().new_page()
    open_chat(page, app)
    open_chat(other, app)
    ask(page, LONG)
    ask(other, QUESTION)
    expect_answer(other)
    expect(page.locator("#conversation .references")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator("#conversation")).not_to_contain_text("roughly 84x")
    other.context.close()


def test_people_wait_in_line_and_see_how_many_come_first(
    page: Page, browser: Browser, app: Served
) -> None:
    others = [browser.new_context().new_page() for _ in range(2)]
    for other in others:
        open_chat(other, app)
    open_chat(page, app)
    watch_status = """() => { window.statuses = new Set(); new MutationObserver(() => {
        const status = document.querySelector('#answer .status')?.textContent;
        if (status) window.statuses.add(status);
    }).observe(document.querySelector('#answer'), {childList: true, subtree: true,
        characterData: true}); }"""
    page.evaluate(watch_status)
    for other in others:
        ask(other, SLOW)
        expect(other.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    ask(page, QUESTION)
    expect_answer(page)
    statuses = page.evaluate("[...window.statuses]")
    assert any("come first" in status or "comes first" in status for status in statuses), statuses
    for other in others:
        expect(other.locator("#conversation .references")).to_have_count(1, timeout=PATIENCE)
        expect(other.locator("#conversation")).not_to_contain_text("roughly 84x")
        other.context.close()


def test_a_question_that_is_too_long_says_so(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "why " * 600)
    expect(page.locator("#answer .error")).to_contain_text("characters, at most 2,000")
    ask(page, QUESTION)
    expect_answer(page)


def test_lines_and_spaces_do_not_break_out_of_a_question(page: Page, app: Served) -> None:
    open_chat(page, app)
    question = f"{QUESTION}\n\n# heading\n\n    code\n\n![x](http://192.0.2.1/x.png)"
    page.locator("#question textarea").fill(question)
    page.locator("#send").click()
    wait_until_answered(page)
    shown = page.locator("#conversation .question")
    expect(shown).to_contain_text("# heading")
    expect(shown).to_contain_text("![x](http://192.0.2.1/x.png)")
    assert page.locator("#conversation :is(h1, pre, code)").count() == 0


def test_the_same_conversation_on_a_second_page(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, SLOW)
    expect(page.locator("#answer .status")).to_be_visible(timeout=PATIENCE)
    page.wait_for_url("**/?c=*")
    second = page.context.new_page()
    second.goto(page.url)
    expect(second.locator("#conversation .notice")).to_contain_text(
        "coming on another page", timeout=PATIENCE
    )
    expect(page.locator("#conversation .references")).to_have_count(1, timeout=PATIENCE)
    second.reload()
    expect(second.locator("#conversation .references")).to_have_count(1, timeout=PATIENCE)
