"""Makes README's screenshot from the running app.

python tests/browser/take_screenshot.py http://127.0.0.1:7860 tests/browser/screenshot.png
"""

import shutil
import sys

from playwright.sync_api import expect, sync_playwright

QUESTIONS = (
    "How much faster is machine unlearning of federated clusters than retraining?",
    "Who are the authors?",
)


def main(address: str, target: str) -> None:
    """Ask two questions, point at a citation, and save what is seen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 940})
        page.goto(address)
        for number, question in enumerate(QUESTIONS, start=1):
            page.locator("#question textarea").fill(question)
            page.keyboard.press("Enter")
            expect(page.locator("#conversation .exchange")).to_have_count(number, timeout=120_000)
        page.locator("#conversation .chip").nth(1).hover()
        page.locator("#quote").wait_for()
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
