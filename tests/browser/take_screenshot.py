"""Makes README's screenshot from the running app.

python tests/browser/take_screenshot.py http://127.0.0.1:7860 tests/browser/screenshot.png
"""

import shutil
import sys

from playwright.sync_api import sync_playwright

QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"


def main(address: str, target: str) -> None:
    """Ask a question, open its first reference, and save what is seen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 1480})
        page.goto(address)
        page.locator("#question textarea").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator("details.reference summary").first.click(timeout=120_000)
        page.locator("details.reference mark").last.scroll_into_view_if_needed()
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
