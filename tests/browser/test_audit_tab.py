"""The tab "Check a draft", as a person uses it."""

import re
from pathlib import Path

from app_process import Served
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

DRAFT = """\
In this section we review models. Liquid-S4 reaches an average of 87.32% on the Long-Range Arena
benchmark. Coral reefs have lost <b>half</b> of their cover since 1970 (Hasani et al., 2023).
"""


def look_at_report(page: Page, file: Path) -> None:
    """Each verdict has its colour, and a phone shows all of it."""
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(file.as_uri())
    for verdict in ("supported", "nothing"):
        said = page.locator(f".{verdict} .verdict")
        colour = said.evaluate("each => getComputedStyle(each).color")
        expect(page.locator(f".sentence.{verdict}")).to_have_css("border-left-color", colour)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert Axe().run(page).violations_count == 0
    page.close()


def test_a_draft_is_checked_filtered_and_cited(page: Page, app: Served, tmp_path: Path) -> None:
    page.goto(app.address)
    page.get_by_role("tab", name="Check a draft").click()
    page.get_by_label("Your draft").fill(DRAFT)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("button", name="Download HTML")).to_be_visible()
    expect(page.locator(".audit-said")).to_have_text("3 of 3 sentences checked")
    sentences = page.locator(".audit-list > li")
    verdicts = sentences.locator(".audit-verdict")
    expect(verdicts).to_have_text(
        [re.compile("No claim"), re.compile("Supported"), re.compile("Nothing")]
    )
    expect(sentences.last).to_contain_text("its abstract does not say this")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download HTML").click()
    saved.value.save_as(tmp_path / "audit.html")
    look_at_report(page.context.new_page(), tmp_path / "audit.html")
    page.get_by_role("button", name=re.compile("Supported 1")).click()
    expect(sentences.first).to_be_hidden()
    assert Axe().run(page).violations_count == 0
    page.get_by_role("button", name="Insert 1 suggested citation").click()
    written = page.get_by_label("Draft with suggested citations")
    expect(written).to_have_value(re.compile(r"benchmark \(Hasani et al\., 2023\)\."))
    expect(written).to_be_focused()
    page.locator(".audit-shows .audit-paper").click()
    marked = page.get_by_role("dialog").locator("mark")
    expect(marked.first).to_contain_text("87.32%")
    page.keyboard.press("Escape")
    page.get_by_label("Your draft").fill(" ")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".audit-said")).to_contain_text("The draft is empty")
    expect(page.get_by_role("group", name="Show")).to_be_hidden()
