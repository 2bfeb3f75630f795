"""The page of the HTTP API's documents, drawn with files from this machine alone."""

from app_process import Served
from playwright.sync_api import Page, expect


def test_the_documents_are_shown_and_can_be_tried(page: Page, app: Served) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{app.address}/docs")
    expect(page.get_by_role("heading", name="Abstracts assistant")).to_be_visible()
    expect(page.locator(".opblock")).to_have_count(18)
    page.locator("#operations-Status-health .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table").first).to_contain_text('"status"')
    assert [line for line in said if "Content Security Policy" in line] == []
