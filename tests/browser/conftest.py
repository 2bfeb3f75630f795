"""The real app, and a real Chromium that looks at it."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
POLICY = "Content Security Policy"
"""What the console names when a page does what its server forbids."""
READY = 120_000
"""Milliseconds within which models are loaded and a page is drawn, on a busy machine."""
expect.set_options(timeout=READY)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """An installed Chromium, for a file: Playwright's loop is in the way of other tests'."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: the browser tests need one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new page that must ask this machine only and run without an error."""
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    page = context.new_page()
    strangers: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: strangers.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if POLICY in said.text else None)
    page.set_default_timeout(READY)
    yield page
    context.close()
    local = ("http://127.0.0.1:", "data:", "blob:")
    assert [url for url in strangers if not url.startswith(local)] == []
    assert errors == []
