"""Citation lookup and the paper dialog, as a person uses them."""

import re

from app_process import Served
from playwright.sync_api import Browser, Locator, Page, expect

TITLE = "Machine Unlearning of Federated Clusters"


def open_lookup(page: Page, app: Served) -> None:
    """The tab, with all papers listed."""
    page.goto(app.address)
    page.get_by_role("tab", name="Lookup").click()
    expect(count(page)).to_have_text("1,643 papers, page 1 of 83")


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


def choose(page: Page, field: str, value: str) -> None:
    """Press a value of a filter."""
    group = page.get_by_role("group", name=field)
    group.get_by_role("button", name=re.compile(rf"^{value} ")).click()


def test_papers_are_sorted_over_all_and_a_misspelled_title_says_why(
    page: Page, app: Served
) -> None:
    open_lookup(page, app)
    look_up(page, "machine unlerning of federated clustres")
    expect(titles(page).first).to_have_text(TITLE)
    expect(count(page)).to_have_text("1 paper")
    first = page.locator(".lookup-paper").first
    expect(first).to_contain_text("Chao Pan")
    expect(first).to_contain_text("ICLR 2023, poster")
    expect(first.locator(".lookup-why")).to_contain_text("title matches")
    assert "federated" in first.locator(".lookup-excerpt mark").all_text_contents()
    page.get_by_role("button", name=re.compile("Show .* weaker matches")).click()
    expect(page.locator(".lookup-divider")).to_have_text("Weaker matches")
    expect(page.get_by_role("button", name=re.compile("Hide"))).to_be_visible()
    look_up(page, "graph neural networks")
    expect(page.locator(".lookup-why").first).to_contain_text("title matches")
    page.get_by_label("Sort by").select_option("title")
    expect(page.get_by_label("Sort by")).to_have_value("title")
    expect(titles(page).first).to_have_text(re.compile("^A "))
    shown = [re.findall(r"\w+", title.lower())[0] for title in titles(page).all_text_contents()]
    assert shown == sorted(shown)
    page.get_by_label("Sort by").select_option("year")
    expect(page.get_by_label("Sort by")).to_have_value("year")


def test_filters_narrow_at_once_and_an_author_has_a_field_of_its_own(
    page: Page, app: Served
) -> None:
    open_lookup(page, app)
    choose(page, "Decision", "oral")
    expect(count(page)).to_have_text("94 papers, page 1 of 5")
    choose(page, "Year", "2022")
    expect(count(page)).to_have_text("4 papers")
    years = page.get_by_role("group", name="Year")
    expect(years).to_contain_text(re.compile("2023 ?90"))
    for where in page.locator(".lookup-where").all_text_contents():
        assert "ICLR 2022, oral" in where
    page.get_by_role("button", name="Clear filters").click()
    expect(count(page)).to_have_text("1,643 papers, page 1 of 83")
    page.get_by_label("Author", exact=True).fill("Olgica Milenkovic")
    page.keyboard.press("Enter")
    expect(count(page)).to_have_text("2 papers")
    for why in page.locator(".lookup-why").all_text_contents():
        assert "author Olgica Milenkovic" in why


def test_pages_turn_and_the_selection_stays_for_one_search(page: Page, app: Served) -> None:
    open_lookup(page, app)
    page.locator(".lookup-list input").nth(3).check()
    page.get_by_role("button", name="Page 2").click()
    expect(count(page)).to_have_text("1,643 papers, page 2 of 83")
    expect(page.locator(".lookup-selected")).to_have_text("1 selected, 1 on other pages")
    page.get_by_role("button", name="Previous").click()
    expect(page.locator(".lookup-list input").nth(3)).to_be_checked()
    look_up(page, TITLE)
    expect(titles(page).first).to_have_text(TITLE)
    expect(page.locator(".lookup-selected")).to_be_hidden()


def test_what_is_not_found_is_said_with_a_way_on(page: Page, app: Served) -> None:
    open_lookup(page, app)
    choose(page, "Decision", "oral")
    expect(count(page)).to_have_text("94 papers, page 1 of 5")
    look_up(page, "machine unlearning of federated clusters")
    expect(count(page)).to_have_text("No paper has all of these filters.")
    expect(titles(page)).to_have_count(0)
    page.get_by_role("button", name="Search without the filters").click()
    expect(titles(page).first).to_have_text(TITLE)


def test_a_paper_is_cited_in_the_remembered_style_alone_and_with_others(
    page: Page, app: Served
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app.address)
    open_lookup(page, app)
    page.get_by_label("Cite as").select_option("ris")
    page.reload()
    open_lookup(page, app)
    expect(page.get_by_label("Cite as")).to_have_value("ris")
    page.locator(".lookup-cite").first.click()
    expect(page.get_by_text("Copied 1 paper", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("TY  - CPAPER")
    page.get_by_label("Cite as").select_option("bibtex")
    page.get_by_label("Select page").check()
    expect(page.locator(".lookup-selected")).to_have_text("20 selected")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied 20 papers", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").count("@inproceedings{") == 20
    page.get_by_label("Select page").uncheck()
    page.locator(".lookup-list input").nth(1).check()
    page.get_by_label("Cite as").select_option("ieee")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == "papers.txt"
    text = waiting.value.path().read_text("utf-8")
    assert text.startswith("[1] ")
    assert text.count("\n") == 1


def test_keys_move_select_and_open(page: Page, app: Served) -> None:
    open_lookup(page, app)
    page.get_by_label("Find papers").press("ArrowDown")
    expect(titles(page).nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(titles(page).nth(2)).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator(".lookup-list input").nth(2)).to_be_checked()
    page.keyboard.press("k")
    expect(titles(page).nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_label("Find papers")).to_be_focused()


def test_a_paper_opens_and_closes_and_leads_to_similar_ones_and_back(
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
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    near = page.locator(".paper-link").first
    title = near.inner_text()
    near.click()
    expect(page.get_by_role("dialog", name=title)).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()
    expect(page.get_by_role("button", name="Back")).to_be_hidden()
    expect(page.locator("dialog[open]")).to_have_count(1)
    page.locator(".paper-abstract").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_paper_is_copied_in_the_remembered_style_which_a_menu_changes(
    page: Page, app: Served
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app.address)
    open_paper(page, app)
    page.get_by_role("button", name="Copy BibTeX").click()
    expect(page.locator("dialog .own-said")).to_have_text("BibTeX copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@inproceedings{pan2023machine,")
    others = page.locator("dialog details.menu > summary")
    others.click()
    page.keyboard.press("Escape")  # closes the menu alone
    expect(page.get_by_role("button", name="APA")).to_be_hidden()
    expect(others).to_be_focused()
    others.click()
    page.get_by_role("button", name="APA").click()
    expect(page.locator("dialog .own-said")).to_have_text("APA copied")
    assert "(2023). Machine Unlearning of Federated Clusters. In ICLR." in page.evaluate(
        "navigator.clipboard.readText()"
    )
    page.get_by_role("button", name="Close").click()
    titles(page).first.click()
    expect(page.get_by_role("button", name="Copy APA")).to_be_visible()


def test_without_a_clipboard_the_text_is_copied_by_way_of_a_selection(
    page: Page, app: Served
) -> None:
    page.add_init_script("delete Navigator.prototype.clipboard")
    open_paper(page, app)
    page.evaluate(
        "document.addEventListener('copy', () => { window.seen = document.activeElement.value; })"
    )
    page.get_by_role("button", name="Copy BibTeX").click()
    expect(page.locator("dialog .own-said")).to_have_text("BibTeX copied")
    assert page.evaluate("window.seen").startswith("@inproceedings")
    expect(page.get_by_role("button", name="Copy BibTeX")).to_be_focused()


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
    assert not page.locator(".lookup-author").is_visible()
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(wide)
    box = page.locator("dialog[open]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 800
    page.keyboard.press("Escape")
    assert not page.evaluate(wide)
    page.set_viewport_size({"width": 1100, "height": 800})  # turned or enlarged
    expect(page.locator(".lookup-author")).to_be_visible()
    context.close()
