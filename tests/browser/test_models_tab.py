"""The models panel: what answers, how fast it is here, what can be done about it."""

import re
from pathlib import Path

from app_process import Served
from playwright.sync_api import Page, expect


def open_models(page: Page, app: Served) -> None:
    page.goto(app.address)
    page.get_by_role("tab", name="Models").click()
    expect(page.locator("#models h2").first).to_be_visible()
    for more in page.locator(".models-more summary").all():
        more.click()


def test_what_answers_is_told(page: Page, app: Served, chat_model_path: Path) -> None:
    open_models(page, app)
    panel = page.locator("#models")
    facts = panel.locator("dl").nth(1)
    size = round(chat_model_path.stat().st_size / 1_000_000)
    expect(facts).to_contain_text(f"{size} MB")
    expect(facts).to_contain_text("4,096 tokens in use, trained for 8,192")
    expect(facts).to_contain_text("SmolLM2-135M-Instruct")
    expect(facts).to_contain_text("Apache-2.0")
    expect(page.locator("#models-summary")).to_contain_text("it does not write long text")
    expect(panel).to_contain_text(re.compile("with its adapter", re.IGNORECASE))
    expect(panel).to_contain_text("all-MiniLM-L6-v2")
    expect(panel).to_contain_text(re.compile(r"[\d.]+ GB free of [\d.]+ GB"))
    expect(panel).to_contain_text("config.toml:")


def test_a_command_is_copied(page: Page, app: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_models(page, app)
    page.get_by_role("button", name="Copy ASSISTANT_MODEL").click()
    expect(page.locator(".own-said")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "ASSISTANT_MODEL=hf:owner/repo:file.gguf assistant serve"


def test_the_speed_is_measured_and_kept(page: Page, app: Served) -> None:
    open_models(page, app)
    speed = page.locator("#models-speed")
    expect(speed).to_contain_text("Not measured yet")
    page.get_by_role("button", name="Measure").click()
    expect(speed).to_contain_text("Measuring")
    expect(speed).to_contain_text("tokens a second", timeout=60_000)
    told = re.search(r"Reads ([\d,]+) and writes ([\d,]+)", speed.inner_text())
    assert told
    reading, writing = (int(figure.replace(",", "")) for figure in told.groups())
    assert reading > writing > 0
    page.reload()
    open_models(page, app)
    expect(speed).to_contain_text(told[0])
