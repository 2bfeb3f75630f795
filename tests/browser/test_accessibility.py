"""The page for everyone: contrast, names, the keyboard alone, no motion, enlarged, on a phone."""

import re
from collections.abc import Iterator

import pytest
from app_process import Served
from axe_playwright_python.sync_playwright import Axe
from chatting import QUOTE, TITLE, ask, open_chat, wait_until_answered
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect
from remembering_app import QUESTION

TABS = ("Lookup", "Check a draft", "Library", "Models")
FILLED = {
    "Lookup": ".lookup-title",
    "Check a draft": ".audit-form",
    "Library": "#lib-overview h2",
    "Models": "#models h2",
}
"""What shows that a tab is there."""
SCREENS = {"light": ("light", 1100), "dark": ("dark", 1100), "phone": ("light", 390)}
ROLES = (
    *("button", "checkbox", "combobox", "link", "progressbar", "radio", "searchbox"),
    *("spinbutton", "switch", "tab", "textbox", "dialog", "region"),
)
"""What a screen reader tells by its name."""
MOST_TABS = 80
"""Presses of a key after which something is taken for out of reach."""


@pytest.fixture(scope="module")
def talk(browser: Browser, app: Served) -> StorageState:
    """Whose conversation has quoted and checked sentences and a refusal."""
    context = browser.new_context()
    page = context.new_page()
    open_chat(page, app)
    questions = (QUESTION, "Who are the authors?", "What's the weather in Vienna tomorrow?")
    for number, question in enumerate(questions, start=1):
        ask(page, question)
        wait_until_answered(page, number)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(params=SCREENS)
def shown(
    request: pytest.FixtureRequest, browser: Browser, app: Served, talk: StorageState
) -> Iterator[Page]:
    """The page of whoever had that conversation, in light, dark and on a phone."""
    scheme, width = SCREENS[request.param]
    context = browser.new_context(
        storage_state=talk, color_scheme=scheme, viewport={"width": width, "height": 800}
    )
    page = context.new_page()
    open_chat(page, app)
    yield page
    context.close()


def serious(page: Page) -> list[str]:
    """What axe finds that keeps people from using the page."""
    return [
        f"{each['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]


def nameless(page: Page) -> list[str]:
    """What has a role and no name."""
    return [
        f"{role}: {each.evaluate('element => element.outerHTML.slice(0, 160)')}"
        for role in ROLES
        for each in page.get_by_role(role, name=re.compile(r"^\s*$")).all()  # type: ignore[arg-type]
    ]


def is_narrow(page: Page) -> bool:
    return bool(page.evaluate("innerWidth < 760"))


def fits(page: Page) -> bool:
    """Whether nothing is to be scrolled to sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def list_past(page: Page) -> None:
    """Have the conversations listed, which a narrow page does when asked."""
    if is_narrow(page):
        page.get_by_role("button", name="Conversations").click()


def open_past(page: Page) -> None:
    list_past(page)
    page.locator("#past .name").first.click()
    expect(page.locator("#conversation .references")).to_have_count(3)


def open_tab(page: Page, name: str) -> None:
    tab = page.get_by_role("tab", name=name)
    if not tab.is_visible():
        page.locator(".overflow-menu > button").click()
        tab = page.locator(".overflow-dropdown button", has_text=name)
    tab.click()
    expect(page.locator(FILLED[name]).first).to_be_visible()


def test_the_chat(shown: Page) -> None:
    assert serious(shown) == []
    assert nameless(shown) == []
    open_past(shown)
    assert Axe().run(shown).violations_count == 0
    assert nameless(shown) == []
    assert fits(shown)
    shown.locator("#conversation .chip").first.focus()
    expect(shown.locator("#quote")).to_be_visible()
    assert serious(shown) == []
    shown.locator("details.more > summary").last.click()
    expect(shown.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    assert shown.evaluate("(log => log.scrollWidth <= log.clientWidth)(window.log)")
    assert serious(shown) == []
    shown.keyboard.press("Escape")
    shown.locator("details.report > summary").last.click()
    expect(shown.get_by_label("Comment").last).to_be_visible()
    assert serious(shown) == []
    assert nameless(shown) == []
    shown.keyboard.press("Escape")
    list_past(shown)
    shown.locator("details.menu > summary").first.click()
    shown.locator("details.sure > summary").first.click()
    delete = shown.get_by_role("button", name="for good")
    delete.scroll_into_view_if_needed()
    expect(delete).to_be_in_viewport(ratio=1)
    assert serious(shown) == []
    assert nameless(shown) == []
    assert fits(shown)


def test_the_paper_and_the_other_tabs(shown: Page) -> None:
    open_past(shown)
    shown.locator("#conversation .chip").first.click()
    expect(shown.get_by_role("dialog", name=TITLE)).to_be_visible()
    assert serious(shown) == []
    assert nameless(shown) == []
    assert fits(shown)
    shown.keyboard.press("Escape")
    for tab in TABS:
        open_tab(shown, tab)
        assert serious(shown) == []
        assert nameless(shown) == []
        assert fits(shown)
    open_tab(shown, "Lookup")
    shown.get_by_label("Find papers").fill("qqqq zzzz")
    shown.keyboard.press("Enter")
    expect(shown.locator(".lookup-tip")).to_be_visible()
    assert serious(shown) == []


def press_until(page: Page, key: str, selector: str) -> None:
    """Press `key` until the focus is on what `selector` means."""
    for _ in range(MOST_TABS):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached with {key}")


def test_the_keyboard_is_enough(page: Page, app: Served) -> None:
    open_chat(page, app)
    press_until(page, "Shift+Tab", "[role=tab][data-tab-id=chat]")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Lookup")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".lookup-title").first).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    press_until(page, "Tab", "#question textarea")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    wait_until_answered(page)

    press_until(page, "Shift+Tab", "#conversation .chip")
    chip = page.locator("#conversation .chip:focus")
    expect(page.locator("#quote p")).to_have_text(QUOTE)
    expect(page.locator("#quote")).to_be_visible()
    expect(chip).to_have_attribute("aria-describedby", "quote")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(chip).to_be_focused()

    press_until(page, "Tab", "[aria-label='Good answer']")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")

    press_until(page, "Shift+Tab", "details.menu > summary")
    page.keyboard.press("Enter")
    press_until(page, "Tab", "details.menu input")
    page.keyboard.press("Control+A")
    page.keyboard.type("Clusters")
    page.keyboard.press("Enter")
    expect(page.locator("#past .name")).to_have_text("Clusters")


def test_nothing_moves_for_whom_it_must_not(browser: Browser, app: Served) -> None:
    context: BrowserContext = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    open_chat(page, app)
    page.evaluate(
        """() => { window.seen = 0; window.moved = new Set(); new MutationObserver(() => {
            window.seen += document.querySelectorAll('#answer .dots').length;
            for (const each of document.getAnimations()) {
                if (each.playState === 'running' && !(each instanceof CSSTransition)) {
                    window.moved.add(each.animationName ?? each.id);
                }
            }
        }).observe(document.body, {childList: true, subtree: true, characterData: true}); }"""
    )
    ask(page, QUESTION)
    wait_until_answered(page)
    for tab in TABS:
        open_tab(page, tab)
    assert page.evaluate("window.seen") > 0
    assert page.evaluate("[...window.moved]") == []
    context.close()


def test_twice_as_large_needs_no_scrolling_sideways(
    browser: Browser, app: Served, talk: StorageState
) -> None:
    context = browser.new_context(storage_state=talk, viewport={"width": 640, "height": 450})
    page = context.new_page()
    open_chat(page, app)
    open_past(page)
    assert fits(page)
    expect(page.locator("#question textarea")).to_be_visible()
    page.locator("#conversation .chip").first.focus()
    expect(page.locator("#quote")).to_be_in_viewport(ratio=1)
    for tab in TABS:
        open_tab(page, tab)
        assert fits(page)
    context.close()
