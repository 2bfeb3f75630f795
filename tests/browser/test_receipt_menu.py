"""Below an answer: what was searched; in its menu: the receipt and the methods paragraph."""

import json
from pathlib import Path

from app_process import Served
from chatting import ask, open_chat, wait_until_answered
from playwright.sync_api import Page, expect
from remembering_app import QUESTION

from assistant.research.receipt import read_receipts


def test_an_answer_has_a_statement_a_receipt_and_a_paragraph(
    page: Page, app: Served, tmp_path: Path
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_chat(page, app)
    ask(page, QUESTION)
    wait_until_answered(page)
    statement = page.locator("#conversation .searched").inner_text()
    assert statement.startswith("Searched 1,643 abstracts (2022-2023); ")
    page.locator("details.more summary").click()
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="Receipt").click()
    file = tmp_path / "receipt.json"
    downloaded.value.save_as(file)
    (receipt,) = read_receipts(file)
    assert (receipt["question"], receipt["statement"]) == (QUESTION, statement)
    page.locator("details.more summary").click()  # each action closes the menu
    page.get_by_role("button", name="Copy methods text").click()
    expect(page.locator(".own-said")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert QUESTION in copied
    counts = statement.removeprefix("Searched ").partition("; query: ")[0]
    assert counts in copied
    page.locator(".counts summary").click()
    expect(page.get_by_text("Matched: abstracts that share a word")).to_be_visible()


def test_a_receipt_is_given_to_its_owner_and_for_an_answer_only(page: Page, app: Served) -> None:
    answer = page.request.get(f"{app.address}/conversations/none/receipts/none.json")
    assert answer.status == 404
    assert "no receipt" in json.loads(answer.text())["detail"]


def test_the_models_tab_counts_connections(page: Page, app: Served) -> None:
    page.goto(app.address)
    page.get_by_role("tab", name="Models").click()
    badge = page.locator(".models-outgoing")
    summary = badge.locator("summary")
    expect(summary).to_have_text("0 connections to other machines since the start")
    summary.click()
    expect(badge.locator("p")).to_contain_text("downloads count")
