"""What every test of the chat does: open the page, ask, wait for the answer."""

from app_process import Served
from playwright.sync_api import Page, expect

TITLE = "Machine Unlearning of Federated Clusters"
QUOTE = (
    "Compared to completely retraining K-means++ locally and globally for each removal request, we "
    "obtain an average speed-up of roughly 84x across seven datasets, two of which contain "
    "biological and medical information that is subject to frequent unlearning requests."
)
PATIENCE = 120_000
"""Milliseconds for an answer on a busy machine."""


def open_chat(page: Page, app: Served) -> None:
    """The page, once one can type."""
    page.set_default_timeout(PATIENCE)
    page.goto(app.address)
    expect(page.locator("#conversation .welcome")).to_be_visible(timeout=PATIENCE)


def ask(page: Page, question: str) -> None:
    """Type a question and send it."""
    page.locator("#question textarea").fill(question)
    page.keyboard.press("Enter")


def wait_until_answered(page: Page, answers: int = 1) -> None:
    """Until so many answers are kept: each shows references or closest papers."""
    expect(page.locator("#conversation .references")).to_have_count(answers, timeout=PATIENCE)
    expect(page.locator("#answer .exchange")).to_have_count(0, timeout=PATIENCE)
    expect(page.locator("#send")).to_be_visible(timeout=PATIENCE)
