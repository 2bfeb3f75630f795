"""Citation lookup and the paper dialog, as a person uses them."""

import re

from app_process import Served
from playwright.sync_api import Browser, Locator, Page, expect

TITLE = "Machine Unlearning of Federated Clusters"


def open_lookup(page: Page, app: Served) -> None:
    """The tab, with all papers listed."""
    page.goto(app.address)
    page.get_by_role("tab", name="Lookup").click()
    expect(count(page)).to_have_text("25 of 1,643 papers")


def count(page: Page) -> Locator:
    """How many papers there are."""
    return page.locator(".lookup-count")


def titles(page: Page) -> Locator:
    """The buttons that open papers."""
    return page.locator(".lookup-title")


def look_up(page: Page, query: str) -> None:
    """Type a query and press Enter."""
    page.get_by_label("Find papers").fill(query)
    page.keyboard.press("Enter")


def open_paper(page: Page, app: Served) -> None:
    """The dialog of one paper, opened from the keyboard."""
    open_lookup(page, app)
    look_up(page, "machine unlearning federated clusters")
    expect(titles(page).first).to_have_text(TITLE)
    titles(page).first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()


def test_a_misspelled_title_is_found_and_says_why(page: Page, app: Served) -> None:
    open_lookup(page, app)
    look_up(page, "machine unlerning of federated clustres")
    expect(titles(page).first).to_have_text(TITLE)
    first = page.locator(".lookup-list li").first
    expect(first).to_contain_text("Chao Pan")
    expect(first).to_contain_text("ICLR 2023, poster")
    expect(first.locator(".lookup-why")).to_contain_text("title matches")


def test_filters_narrow_at_once_and_stay_chosen(page: Page, app: Served) -> None:
    open_lookup(page, app)
    page.get_by_label("Decision").select_option("oral")
    expect(count(page)).to_have_text("25 of 94 papers")
    page.get_by_label("Year").select_option(label="2022 (14)")
    expect(count(page)).not_to_have_text("25 of 94 papers")
    expect(page.get_by_label("Decision")).to_have_value("oral")
    for why in page.locator(".lookup-why").all_text_contents():
        assert "ICLR 2022" in why
        assert "decision oral" in why
    page.get_by_role("button", name="Clear").click()
    expect(count(page)).to_have_text("25 of 1,643 papers")


def test_an_author_is_looked_up_in_a_field_of_its_own(page: Page, app: Served) -> None:
    open_lookup(page, app)
    page.get_by_label("Author", exact=True).fill("Olgica Milenkovic")
    page.keyboard.press("Enter")
    expect(page.locator(".lookup-why").first).to_contain_text("author Olgica Milenkovic")
    assert all("Milenkovic" in each for each in page.locator(".lookup-why").all_text_contents())


def test_papers_are_sorted_over_all_that_were_found(page: Page, app: Served) -> None:
    open_lookup(page, app)
    look_up(page, "graph neural networks")
    page.get_by_label("Sort by").select_option("title")  # while the search is on its way
    expect(page.locator(".lookup-more")).to_have_attribute("data-sort", "title")
    expect(page.locator(".lookup-more")).to_have_attribute("data-query", "graph neural networks")
    shown = [re.findall(r"\w+", title.lower())[0] for title in titles(page).all_text_contents()]
    assert shown == sorted(shown)
    assert shown[0] < "b"
    page.get_by_label("Sort by").select_option("year")
    expect(page.locator(".lookup-more")).to_have_attribute("data-sort", "year")
    years = [text.split(",")[0][-4:] for text in page.locator(".lookup-where").all_text_contents()]
    assert years == sorted(years, reverse=True)


def test_more_are_shown_and_the_selection_stays(page: Page, app: Served) -> None:
    open_lookup(page, app)
    boxes = page.locator(".lookup-list input")
    boxes.nth(3).check()
    page.get_by_role("button", name="Show 50 more").click()
    expect(titles(page)).to_have_count(75)
    expect(boxes.nth(3)).to_be_checked()
    expect(page.locator(".lookup-selected")).to_have_text("1 selected")
    look_up(page, TITLE)
    expect(titles(page).first).to_have_text(TITLE)
    expect(page.locator(".lookup-selected")).to_have_text("")
    expect(page.get_by_role("button", name="Copy")).to_be_disabled()


def test_what_is_not_found_is_said_with_a_way_on(page: Page, app: Served) -> None:
    open_lookup(page, app)
    page.get_by_label("Decision").select_option("oral")
    expect(count(page)).to_have_text("25 of 94 papers")
    look_up(page, "unlearning of federated clusters")
    expect(count(page)).to_have_text(
        "None of the 94 papers with decision oral is about “unlearning federated clusters”."
    )
    expect(titles(page)).to_have_count(0)
    page.get_by_role("button", name="Search without the filters").click()
    expect(titles(page).first).to_have_text(TITLE)
    expect(page.get_by_label("Decision")).to_have_value("")


def test_selected_papers_are_copied_and_downloaded(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app.address)
    open_lookup(page, app)
    page.get_by_label("Select all shown").check()
    expect(page.locator(".lookup-selected")).to_have_text("25 selected")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator(".own-said")).to_have_text("Copied 25 papers")
    assert page.evaluate("navigator.clipboard.readText()").count("@inproceedings{") == 25
    page.get_by_label("Select all shown").uncheck()
    page.locator(".lookup-list input").nth(1).check()
    page.get_by_label("Format").select_option("ieee")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == "papers.txt"
    text = waiting.value.path().read_text("utf-8")
    assert text.startswith("[1] ")
    assert text.count("\n") == 1


def test_a_paper_opens_and_closes_by_keyboard_and_gives_the_focus_back(
    page: Page, app: Served
) -> None:
    open_paper(page, app)
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(dialog).to_contain_text("Federated clustering is an unsupervised")
    expect(dialog).to_contain_text("Olgica Milenkovic")
    expect(page.locator("#paper-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(titles(page).first).to_be_focused()
    page.keyboard.press("Enter")  # the same paper once more
    expect(dialog).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(titles(page).first).to_be_focused()


def test_a_click_beside_the_dialog_closes_it_but_no_selection_that_ends_there(
    page: Page, app: Served
) -> None:
    open_paper(page, app)
    page.locator(".paper-abstract").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_similar_papers_open_in_the_same_dialog_and_back_leads_back(
    page: Page, app: Served
) -> None:
    open_paper(page, app)
    near = page.locator(".paper-link").first
    title = near.inner_text()
    near.click()
    expect(page.get_by_role("dialog", name=title)).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()
    expect(page.get_by_role("button", name="Back")).to_be_hidden()
    expect(page.locator("dialog")).to_have_count(1)


def test_a_paper_is_copied_as_bibtex(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app.address)
    open_paper(page, app)
    page.get_by_role("button", name="Copy BibTeX").click()
    expect(page.locator("dialog .own-said")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@inproceedings{pan2023machine,")
    page.get_by_role("button", name="Copy reference").click()
    expect(page.locator("dialog .own-said")).to_have_text("Copied")
    assert "(2023). Machine Unlearning of Federated Clusters. In ICLR." in page.evaluate(
        "navigator.clipboard.readText()"
    )


def test_without_a_clipboard_the_text_is_copied_by_way_of_a_selection(
    page: Page, app: Served
) -> None:
    page.add_init_script("delete Navigator.prototype.clipboard")
    open_paper(page, app)
    page.evaluate(
        "document.addEventListener('copy', () => { window.seen = document.activeElement.value; })"
    )
    page.get_by_role("button", name="Copy RIS").click()
    expect(page.locator("dialog .own-said")).to_have_text("Copied")
    assert page.evaluate("window.seen").startswith("TY  - CPAPER")
    expect(page.get_by_role("button", name="Copy RIS")).to_be_focused()


def test_a_question_about_a_paper_waits_in_the_chat(page: Page, app: Served) -> None:
    open_paper(page, app)
    page.get_by_role("button", name="Ask about this paper").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    question = page.locator("#question textarea")
    expect(question).to_have_value(f"What does “{TITLE}” propose?")
    expect(question).to_be_focused()


def test_formulas_are_shown_as_formulas(page: Page, app: Served) -> None:
    open_lookup(page, app)
    look_up(page, "A Higher Precision Algorithm for Computing the 1-Wasserstein Distance")
    expect(titles(page).first).to_contain_text("A Higher Precision Algorithm")
    titles(page).first.click()
    formulas = page.locator(".paper-abstract math")
    expect(formulas.first).to_be_visible()
    assert page.locator(".paper-abstract").inner_text().count("$") == 0


def test_a_phone_shows_all_without_scrolling_sideways(browser: Browser, app: Served) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    open_paper(page, app)
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(wide)
    box = page.locator("dialog[open]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 800
    page.keyboard.press("Escape")
    assert not page.evaluate(wide)
    context.close()
