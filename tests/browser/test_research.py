"""Evidence tables and pinned questions in the page."""

from app_process import Served
from axe_playwright_python.sync_playwright import Axe
from chatting import ask, open_chat, wait_until_answered
from playwright.sync_api import Page, expect
from remembering_app import SEVERAL


def faults(page: Page) -> list[str]:
    return [
        each["id"]
        for each in Axe().run(page).response["violations"]
        if each["impact"] in {"serious", "critical"}
    ]


def test_a_table_is_filled_edited_sorted_and_copied(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, SEVERAL)
    wait_until_answered(page)
    page.get_by_role("button", name="Evidence table").click()
    dialog = page.locator(".research-dialog")
    columns = dialog.get_by_label("Columns")
    expect(columns).to_have_value("data set, metric, gain, limitation")
    expect(dialog.locator(".files")).to_be_visible()
    expect(dialog.locator("td")).to_have_count(4 * dialog.locator("tbody tr").count())
    assert faults(page) == []
    quote = dialog.locator("td details").first  # none stands below a sentence that is whole
    quote.locator("summary").click()
    shown, quoted = quote.locator("xpath=..").inner_text().split("quote", 1)
    assert shown.strip() not in {"", quoted.strip()[1:-1]}

    columns.fill("gain, <b>code</b>")
    dialog.get_by_role("button", name="Fill again").click()
    expect(dialog.locator("thead th")).to_have_text(["Paper", "gain", "<b>code</b>"])
    expect(dialog.locator(".files")).to_be_visible()
    filled = dialog.locator("td:not(:has(.empty))").first
    said = filled.evaluate("cell => cell.firstChild.textContent")
    dialog.locator("thead button").first.click()
    expect(dialog.locator("thead th").first).to_have_attribute("aria-sort", "ascending")
    titles = dialog.locator("tbody th button").all_inner_texts()
    assert titles == sorted(titles, key=str.casefold)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download CSV").click()
    assert said in download.value.path().read_text("utf-8")

    columns.fill(" , ")
    dialog.get_by_role("button", name="Fill again").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no columns")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_question_is_pinned_shown_and_unpinned(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, SEVERAL)
    wait_until_answered(page)
    page.locator("details.more > summary").click()
    page.get_by_role("button", name="Pin: ask again").click()
    expect(page.locator(".own-said")).to_contain_text("Pinned")
    expect(page.locator("details.more")).not_to_have_attribute("open", "")
    pin = page.locator("#pins button")
    expect(pin).to_have_text(SEVERAL)
    dialog = page.locator(".research-dialog")
    pin.click()
    expect(dialog.get_by_role("heading", name=SEVERAL)).to_be_visible()
    assert faults(page) == []
    expect(dialog.locator(".pin-text")).to_have_count(0)
    dialog.get_by_role("button", name="Unpin").click()
    expect(pin).to_have_count(0)


def test_a_pinned_list_of_records_shows_the_list(page: Page, app: Served) -> None:
    open_chat(page, app)
    ask(page, "Which papers are by Denny Zhou?")
    wait_until_answered(page)
    page.locator("details.more > summary").click()
    page.get_by_role("button", name="Pin: ask again").click()
    expect(page.locator(".own-said")).to_contain_text("Pinned")
    dialog = page.locator(".research-dialog")
    for _ in range(60):
        page.locator("#pins button").click()
        expect(dialog.get_by_role("button", name="Unpin")).to_be_visible()
        if dialog.locator(".pin-list").count():
            break
        page.keyboard.press("Escape")
        page.wait_for_timeout(500)
    papers = dialog.locator(".pin-list li")
    assert papers.count() > 1
    expect(papers.filter(has_text="“TEMPERA: ")).to_have_count(1)
    assert dialog.bounding_box()["width"] < 800  # type: ignore[index]
    papers.filter(has_text="“TEMPERA: ").get_by_role("button", name="Open abstract").click()
    expect(page.get_by_role("dialog", name="TEMPERA: ")).to_be_visible()
