"""What happens to an answer when the person does something else while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import Browser, Page, expect

if TYPE_CHECKING:
    from app_process import Served

QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
LONG = "Which papers recognise human actions from skeleton sequences?"
PATIENCE = 120_000
"""Milliseconds for an answer on a busy machine."""


def open_chat(page: Page, app: Served) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(app.address)
    expect(page.locator("#question textarea")).to_be_visible(timeout=PATIENCE)


def ask(page: Page, question: str) -> None:
    page.locator("#question textarea").fill(question)
    page.keyboard.press("Enter")


def expect_answer(page: Page) -> None:
    expect(page.locator("#conversation")).to_contain_text("roughly 84x", timeout=PATIENCE)
    expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)


def test_a_new_chat_while_an_answer_is_written(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, LONG)
    expect(page.locator("#conversation .status")).to_be_visible(timeout=PATIENCE)
    page.locator("#new").click()
    expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#conversation .question")).to_have_count(0)
    ask(page, QUESTION)
    expect_answer(page)
    expect(page.locator("#conversation .question")).to_have_count(1)
    expect(page.locator(".understood")).to_have_count(0)


def test_what_is_typed_while_an_answer_is_written_stays(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, QUESTION)
    expect(page.locator("#conversation .status")).to_be_visible(timeout=PATIENCE)
    page.locator("#question textarea").fill("And who are")
    expect_answer(page)
    expect(page.locator("#question textarea")).to_have_value("And who are")


def test_a_page_closed_while_an_answer_is_written(
    page: Page, browser: Browser, app: Served
) -> None:
    other = browser.new_page()
    open_chat(other, app)
    ask(other, LONG)
    expect(other.locator("#conversation .status")).to_be_visible(timeout=PATIENCE)
    other.close()
    open_chat(page, app)
    ask(page, QUESTION)
    expect_answer(page)


def test_a_page_loaded_again_while_an_answer_is_written(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, LONG)
    expect(page.locator("#conversation .status")).to_be_visible(timeout=PATIENCE)
    open_chat(page, app)
    ask(page, QUESTION)
    expect_answer(page)


def test_two_people_ask_at_once(page: Page, browser: Browser, app: Served) -> None:
    other = browser.new_page()
    open_chat(page, app)
    open_chat(other, app)
    ask(page, LONG)
    ask(other, QUESTION)
    expect_answer(other)
    expect(page.locator("#conversation .references")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator("#conversation")).not_to_contain_text("roughly 84x")
    other.close()


def test_a_question_that_is_too_long_says_so(page: Page, app: Served) -> None:
    open_chat(page, app)
    # Past the limit of the field, as a script would; typing ends at the limit.
    page.locator("#question textarea").evaluate("field => field.removeAttribute('maxlength')")
    ask(page, "why " * 600)
    expect(page.locator("#conversation .error")).to_contain_text("characters, at most 2,000")
    ask(page, QUESTION)
    expect_answer(page)


def test_lines_and_spaces_do_not_break_out_of_a_question(page: Page, app: Served) -> None:
    open_chat(page, app)
    question = f"{QUESTION}\n\n# heading\n\n    code\n\n![x](http://192.0.2.1/x.png)"
    page.locator("#question textarea").fill(question)
    page.locator("#send").click()
    expect_answer(page)
    shown = page.locator("#conversation .question")
    expect(shown).to_contain_text("# heading")
    expect(shown).to_contain_text("![x](http://192.0.2.1/x.png)")
    assert page.locator("#conversation :is(h1, pre, code)").count() == 0
