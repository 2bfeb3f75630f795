"""First paint of the page over loopback, and how much moves while answers come.

python tests/benchmarks/bench_page.py http://127.0.0.1:7860
"""

import shutil
import statistics
import sys

from playwright.sync_api import Browser, expect, sync_playwright

LOADS = 9
QUESTIONS = (
    "What is knowledge distillation?",
    "Which papers recognise human actions from skeleton sequences?",
    "What's the weather in Vienna tomorrow?",
)
WIDTHS = (390, 1280, 1600)
PATIENCE = 120_000
"""Milliseconds for an answer."""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
WATCH = """() => { window.moved = 0; new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.moved += each.value;
}).observe({type: 'layout-shift'}); }"""


def first_paint(browser: Browser, address: str) -> float:
    """Milliseconds until a new visitor sees something."""
    page = browser.new_page()
    page.goto(address)
    expect(page.locator("#conversation .welcome")).to_be_visible(timeout=PATIENCE)
    painted = float(page.evaluate(PAINT))
    page.close()
    return painted


def moved(browser: Browser, address: str, width: int) -> float:
    """Cumulative layout shift over the questions."""
    page = browser.new_page(viewport={"width": width, "height": 850})
    page.goto(address)
    expect(page.locator("#conversation .welcome")).to_be_visible(timeout=PATIENCE)
    page.evaluate(WATCH)
    for number, question in enumerate(QUESTIONS, start=1):
        page.locator("#question textarea").focus()
        page.keyboard.type(question)  # what a key moves does not count as a shift
        page.keyboard.press("Enter")
        answers = page.locator("#conversation .references")
        expect(answers).to_have_count(number, timeout=PATIENCE)
        expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)
    total = float(page.evaluate("window.moved"))
    page.close()
    return total


def main(address: str) -> None:
    """Print the figures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        paints = [first_paint(browser, address) for _ in range(LOADS)]
        print(f"first paint, ms: median {statistics.median(paints):.0f}, most {max(paints):.0f}")
        for width in WIDTHS:
            print(f"layout shift at {width} px: {moved(browser, address, width):.4f}")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
