"""The library in the browser: what is in it, adding, stopping, removing, checking."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_process import Served, served
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FilePayload, Page, expect

HOSTILE = "<img src=x onerror='window.hit=1'>.jsonl"
HERON = {"title": "Herons", "abstract": "We weigh seven herons. They are light.", "year": 2021}


def rows(count: int, start: int = 0, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"turnip-{number}",
            "title": f"Turnip {number}",
            "abstract": f"Turnip number {number} grows in sand. It was {number} cm long in May.",
            **fields,
        }
        for number in range(start, start + count)
    ]


def file_of(name: str, *lines: dict[str, Any] | str) -> FilePayload:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return {"name": name, "mimeType": "text/plain", "buffer": "\n".join(texts).encode()}


@pytest.fixture(scope="module")
def small_home(tmp_path_factory: pytest.TempPathFactory, chat_model_path: Path) -> Path:
    """Ten papers of two files, one paper of both."""
    assert chat_model_path.exists()
    folder = tmp_path_factory.mktemp("library")
    birds, plants = folder / "birds.jsonl", folder / "plants.jsonl"
    birds.write_text(json.dumps({**HERON, "venue": "Wings", "decision": "oral"}), "utf-8")
    lines = [*rows(9, venue="Soil", year=2020), HERON]
    plants.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    from assistant.cli.main import main  # noqa: PLC0415 - imports the models only where they are used

    assert main(["ingest", "--home", str(folder / "home"), str(birds), str(plants)]) == 0
    return folder / "home"


@pytest.fixture(scope="module")
def small_app(small_home: Path) -> Iterator[Served]:
    with served(small_home, "--threads", "1") as running:
        yield running


def open_library(page: Page, app: Served) -> None:
    page.goto(app.address)
    page.get_by_role("tab", name="Library").click()
    expect(page.locator("#lib-overview h2").first).to_be_visible()


def upload(page: Page, *files: FilePayload) -> None:
    page.locator("#lib-uploads input[type=file]").set_input_files(list(files))


def papers_of(page: Page, file: str) -> str:
    """How many papers a source has, as shown."""
    source = page.locator(".lib-files li", has_text=file)
    return source.locator(".lib-number").inner_text()


def test_what_is_in_the_library_is_counted_and_leads_to_lookup(
    page: Page, small_app: Served
) -> None:
    open_library(page, small_app)
    assert papers_of(page, "plants.jsonl") == "10 papers"
    assert papers_of(page, "birds.jsonl") == "1 paper"
    expect(page.locator(".lib-files li").first).to_contain_text("Soil 2020")
    page.get_by_text("1 paper found in several places and merged").click()
    expect(page.locator(".lib-copies tbody tr")).to_contain_text("same title")
    page.get_by_role("button", name="Soil 2020: 9 papers").click()
    expect(page.locator(".lookup-count")).to_have_text("9 papers")
    expect(page.get_by_role("button", name=re.compile("^Soil"))).to_have_attribute(
        "aria-pressed", "true"
    )


def test_topics_of_the_seeds_are_a_map_that_leads_to_lookup(page: Page, app: Served) -> None:
    open_library(page, app)
    topics = page.locator(".lib-topics button")
    expect(topics).to_have_count(12)
    boxes = [each.bounding_box() for each in topics.all()]
    covered = sum(box["width"] * box["height"] for box in boxes if box)
    whole = page.locator(".lib-topics").bounding_box()
    assert whole is not None
    assert covered > 0.9 * whole["width"] * whole["height"]  # no holes
    page.locator(".lib-topics button", has_text="federated learning").click()
    expect(page.locator("#lookup-query")).to_have_value(re.compile("federated learning"))
    expect(page.locator(".lookup-title").first).to_contain_text(re.compile("federated", re.I))


def test_files_are_added_removed_and_what_was_skipped_is_told(
    page: Page, small_app: Served
) -> None:
    open_library(page, small_app)
    payload = "<script>window.hit=1</script>"
    upload(
        page,
        file_of(HOSTILE, *rows(3, 100, venue=payload), f"{{bad {payload}"),
        {"name": "picture.txt", "mimeType": "text/plain", "buffer": b"\x89PNG\x00\xff"},
    )
    report = page.locator("#lib-ingest")
    expect(report).to_contain_text("3 papers added")
    skipped = report.locator("tbody tr")
    expect(skipped).to_have_count(2)
    expect(skipped.nth(0)).to_contain_text("not valid JSON")
    expect(skipped.nth(0).locator("td").first).to_have_text("4")
    expect(skipped.nth(1)).to_contain_text("picture.txt is not UTF-8 text")
    expect(page.locator("#library")).to_contain_text("13 papers")
    expect(page.locator("#lib-overview")).to_contain_text(payload)
    page.locator("#lib-overview button", has_text="Remove").nth(1).click()
    question = page.locator("#lib-removal")
    expect(question).to_contain_text("3 papers go from the library")
    expect(question).to_contain_text("onerror='window.hit=1'")
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#lib-remove")).to_be_hidden()
    expect(question).not_to_contain_text("go from")
    page.locator("#lib-overview button", has_text="Remove").nth(1).click()
    page.locator("#lib-remove").click()
    expect(question).to_contain_text("3 papers gone")
    expect(page.locator("#library")).to_contain_text("10 papers")
    assert page.evaluate("window.hit") is None
    assert page.locator(".lib :is(img, script)").count() == 0


def test_a_file_is_dropped_and_its_papers_are_asked_about(page: Page, small_app: Served) -> None:
    open_library(page, small_app)
    text = json.dumps({"title": "Quokkas at Night", "abstract": "Quokkas sleep by day. So we saw."})
    dropped = page.evaluate_handle(
        """text => { const moved = new DataTransfer();
            moved.items.add(new File([text], 'dropped (1).jsonl', {type: 'text/plain'}));
            return moved; }""",
        text,
    )
    page.locator("#lib-uploads button").first.dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator("#lib-ingest")).to_contain_text("1 paper added")
    expect(page.locator(".lib-files li", has_text="dropped (1).jsonl")).to_contain_text("1 paper")
    page.get_by_role("tab", name="Chat").click()
    page.locator("#question textarea").fill("Which papers have “Quokkas at Night” as their title?")
    page.keyboard.press("Enter")
    expect(page.locator("#conversation")).to_contain_text("Quokkas at Night", timeout=60_000)


def test_adding_is_seen_on_every_page_and_stopped_at_once(
    page: Page, browser: Browser, small_app: Served
) -> None:
    open_library(page, small_app)
    upload(page, file_of("many.jsonl", *rows(900, 1000)))
    progress = page.locator("#lib-ingest progress[aria-label='Embedding papers']")
    expect(progress).to_be_visible()
    expect(page.locator("#lib-uploads")).to_be_hidden()
    with browser.new_context() as context:
        other = context.new_page()
        open_library(other, small_app)
        expect(other.locator("#lib-ingest")).to_contain_text("of 900 papers")
        expect(other.locator("#lib-check")).to_be_disabled()
        other.wait_for_function(
            "() => Number(document.querySelector("
            "'#lib-ingest progress[aria-label=\"Embedding papers\"]')?.value) > 64"
        )
        page.reload()
        open_library(page, small_app)
        page.get_by_role("button", name="Cancel").click()
        for each in (page, other):
            expect(each.locator("#lib-ingest")).to_contain_text("Stopped. The library is whole.")
            expect(each.locator("#lib-uploads")).to_be_visible()
    told = re.search(r"(\d+) papers had been added", page.locator("#lib-ingest").inner_text())
    assert told
    assert int(told[1]) % 64 == 0
    assert 64 <= int(told[1]) < 900
    expect(page.locator(".lib-files li", has_text="many.jsonl")).to_contain_text(told[1])
    page.locator("#lib-check").click()
    expect(page.locator("#lib-health")).to_contain_text("The library is whole.")
    expect(page.locator("#lib-repair")).to_be_hidden()


def test_what_is_wrong_is_found_and_repaired(
    page: Page, small_app: Served, small_home: Path
) -> None:
    manifest = small_home / "library.json"
    interrupted = {**json.loads(manifest.read_text("utf-8")), "writing": True}
    del interrupted["checksum"]
    manifest.write_text(json.dumps(interrupted), "utf-8")
    open_library(page, small_app)
    page.locator("#lib-check").click()
    expect(page.locator("#lib-health")).to_contain_text("The last write to the library was")
    page.get_by_role("button", name="Repair").click()
    expect(page.locator("#lib-health")).to_contain_text("Repaired: the library is whole.")
    expect(page.locator("#lib-repair")).to_be_hidden()


def test_everyone_can_use_it(page: Page, small_app: Served) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        open_library(page, small_app)
        upload(page, file_of("broken.jsonl", {"title": "T", "abstract": "A. B."}, "{"))
        expect(page.locator("#lib-ingest")).to_contain_text("1 place skipped")
        parts = ("overview", "ingest", "health", "check")
        found = Axe().run(page, context={"include": [[f"#lib-{part}"] for part in parts]})
        serious = [
            (each["id"], [node["html"] for node in each["nodes"]])
            for each in found.response["violations"]
            if each["impact"] in {"serious", "critical"}
        ]
        assert serious == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
