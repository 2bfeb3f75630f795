"""Makes README's pictures from the running app, light and dark: an answer with its evidence open.

python tests/browser/take_screenshot.py http://127.0.0.1:7860 tests/browser
"""

import shutil
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, expect, sync_playwright

QUESTION = "At what cryo-EM resolution does ModelAngelo get close to manual model building?"
SIZE = {"width": 1360, "height": 640}
PATIENCE = 120_000
"""Milliseconds for an answer."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def take(browser: Browser, address: str, scheme: Literal["light", "dark"], folder: Path) -> None:
    """Ask the question and save what is seen once the citation's card is lit."""
    page = browser.new_page(viewport=SIZE, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    page.locator("#question textarea").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#conversation .references")).to_be_visible(timeout=PATIENCE)
    page.locator("#conversation .written .chip").first.click()
    expect(page.locator(".card.lit")).to_be_visible()
    page.mouse.move(0, 0)
    page.screenshot(path=folder / f"screenshot-{scheme}.png")
    page.close()


def main(address: str, folder: str) -> None:
    """Save a picture for each scheme in `folder`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme in SCHEMES:
            take(browser, address, scheme, Path(folder))
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
