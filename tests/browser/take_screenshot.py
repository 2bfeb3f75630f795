"""Makes README's screenshot from the running app.

python tests/browser/take_screenshot.py http://127.0.0.1:7860 tests/browser/screenshot.png
"""

import shutil
import sys

from playwright.sync_api import expect, sync_playwright

QUESTIONS = (
    "At what cryo-EM resolution does ModelAngelo get close to manual model building?",
    "Who are the authors?",
)


def main(address: str, target: str) -> None:
    """Ask two questions and save what is seen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 1040})
        page.goto(address)
        for number, question in enumerate(QUESTIONS, start=1):
            page.locator("#question textarea").fill(question)
            page.keyboard.press("Enter")
            expect(page.locator("#conversation .exchange")).to_have_count(number, timeout=120_000)
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
