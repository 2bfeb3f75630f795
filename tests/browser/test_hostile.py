"""Papers, files, people and models that try to run a script: everything they say stays text.

No script runs, no other host is asked (the fixture `page` watches that), and inside the page's own
HTML stands no element and no attribute that is not of the page's own making.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from app_process import Served, served
from payloads import ADDRESSES, ALL, FORMULAS, HOST
from playwright.sync_api import Dialog, FilePayload, Locator, Page, expect

from assistant.cli.main import main
from assistant.server.web.formulas import plain_formulas
from retrieval.formats.fields import prose
from retrieval.types import nested

TEXTS = (*ALL, *FORMULAS.values())
LYING = Path(__file__).with_name("lying_app.py")

FOREIGN = """() => {
    const own = ['.html-container', '#quote', '#said', '.own-said', 'dialog'];
    const tags = new Set(`a article blockquote br button caption circle code col dd details div dl
        dt fieldset footer form g h1 h2 h3 header input kbd label legend li mark nav ol option p
        path progress rect section select span strong summary svg table tbody td text textarea th
        thead title tr ul
        math mrow mi mn mo mtext mspace msup msub msubsup mover munder munderover mfrac msqrt mroot
        mtable mtr mtd mstyle mpadded`.split(/\\s+/));
    const withoutAddress = /^(style|src|srcset|srcdoc|action|formaction|poster|data|xlink:href)$/;
    const isOwnLink = new RegExp('^(https?://|conversations/[0-9a-f]+[.](md|bib|json)$'
        + '|conversations/[0-9a-f]{32}/receipts/[0-9a-f]{32}[.]json$)');
    const percent = '[0-9]{1,3}[.][0-9]{1,2}%';
    const isPlace = new RegExp(
        `^left:${percent};top:${percent};width:${percent};height:${percent}$`);
    const isTile = (each, name, value) => name === 'style'
        && each.matches('#lib-topics ol.lib-topics > li') && isPlace.test(value);
    const found = [];
    for (const region of document.querySelectorAll(own.join())) {
        for (const each of region.querySelectorAll('*')) {
            if (!tags.has(each.localName)) found.push(each.outerHTML.slice(0, 120));
            for (const {name, value} of each.attributes) {
                if (/^on/.test(name)
                    || withoutAddress.test(name) && !isTile(each, name, value)
                    || name === 'href' && !isOwnLink.test(value)
                    || name === 'popovertarget' || name === 'autofocus' && value !== 'true') {
                    found.push(`${each.localName} ${name}=${value}`.slice(0, 120));
                }
            }
        }
    }
    return found;
}"""
"""What stands in the HTML of ours that we do not write."""


def paper(number: int) -> dict[str, Any]:
    """A paper with payloads in every field, its own in title, abstract and id."""

    def other(offset: int) -> str:
        return TEXTS[(number + offset) % len(TEXTS)]

    text = TEXTS[number]
    return {
        "id": f"{number} {text}",
        "title": f"Turnip {number} {text}",
        "authors": [other(1), f"Ann {other(2)}"],
        "venue": other(3),
        "year": 1960 + number,
        "decision": other(4),
        "abstract": f"We weigh turnip {number} {text} in sand. It is {other(5)} heavier by a gram.",
        "url": ADDRESSES[number % len(ADDRESSES)],
        "doi": f"10.1000/{number}{text}",
    }


@pytest.fixture(scope="module")
def hostile_app(
    tmp_path_factory: pytest.TempPathFactory, chat_model_path: Path
) -> Iterator[Served]:
    """The real app over hostile papers and a model that lies."""
    assert chat_model_path.exists()
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / "papers<img src=x onerror=window.hit=1>.jsonl"
    papers = [paper(number) for number in range(len(TEXTS))]
    file.write_text("\n".join(map(json.dumps, papers)), "utf-8")
    assert main(["ingest", "--home", str(folder / "home"), str(file)]) == 0
    with served(folder / "home", "--threads", "1", program=(str(LYING),)) as running:
        running.wait_until_ready()
        yield running


@pytest.fixture
def watched(page: Page, hostile_app: Served) -> Iterator[Page]:
    """The page, from which nothing may have run in the end."""
    opened: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        opened.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(hostile_app.address)
    expect(page.locator("#conversation .welcome")).to_be_visible()
    yield page
    is_clean(page)
    assert opened == []


def is_clean(page: Page) -> None:
    """Nothing has run, and no element came in."""
    assert page.evaluate("window.hit") is None
    assert page.evaluate(FOREIGN) == []


def shown(text: str) -> str:
    """A planted title as the library keeps it."""
    return nested(prose(text))


def letters(text: str) -> str:
    """Without spaces, which HTML folds."""
    return "".join(text.split())


def ask(page: Page, question: str) -> Locator:
    """Ask in a new chat, and wait for the answer."""
    if page.locator("#conversation .exchange").count():
        page.locator("#new").click()
    expect(page.locator("#conversation .welcome")).to_be_visible()
    page.locator("#question textarea").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("#conversation .references")).to_have_count(1)
    expect(page.locator("#send")).to_be_visible()
    return page.locator("#conversation .answer")


def copied(page: Page, button: Locator, said: str = "Copied") -> str:
    button.click()
    expect(page.locator(".own-said").last).to_have_text(said)
    return str(page.evaluate("navigator.clipboard.readText()"))


def pages_of_all(page: Page) -> Iterator[Locator]:
    """The titles in the list of all papers, one page of it after another."""
    page.get_by_role("tab", name="Lookup").click()
    pages = -(-len(TEXTS) // 20)
    for number in range(1, pages + 1):
        if number > 1:
            page.get_by_role("button", name="Next").click()
        counted = f"{len(TEXTS)} papers, page {number} of {pages}"
        expect(page.locator(".lookup-count")).to_have_text(counted)
        yield page.locator(".lookup-title")


def test_the_list_of_what_is_found(watched: Page) -> None:
    listed: set[str] = set()
    boxes: list[str] = []
    for titles in pages_of_all(watched):
        listed.update(titles.all_text_contents())
        boxes += watched.locator(".lookup-list input").evaluate_all(
            "all => all.map((box) => box.value)"
        )
        watched.get_by_label("Select page").check()
        is_clean(watched)
    for number, text in enumerate(ALL):
        title = shown(f"Turnip {number} {text}")
        assert title in listed or "$" in title  # what is between two dollars is a formula
    assert {letters(each) for each in boxes} == {letters(paper(n)["id"]) for n in range(len(TEXTS))}
    for filter_ in ("Venue", "Decision"):
        group = watched.get_by_role("group", name=filter_)
        assert any("<script>window.hit=1</script>" in each for each in group.all_text_contents())
    for format_ in ("BibTeX", "APA"):
        watched.evaluate("navigator.clipboard.writeText('')")
        watched.get_by_label("Cite as").select_option(label=format_)
        watched.get_by_role("button", name="Copy", exact=True).click()
        watched.wait_for_function(
            "async () => (await navigator.clipboard.readText()).includes('window.hit=1')"
        )
        expect(watched.locator(".own-said").last).to_have_text(f"Copied {len(TEXTS)} papers")


def test_queries_and_filters(watched: Page) -> None:
    watched.get_by_role("tab", name="Lookup").click()
    expect(watched.locator(".lookup-title")).to_have_count(20)
    for text in TEXTS[::8]:
        before = watched.locator("#lookup-listing").inner_html()
        watched.get_by_label("Find papers").fill(f"qqq {text}")
        watched.get_by_label("Author", exact=True).fill(f"Zyx {text}")
        watched.keyboard.press("Enter")
        watched.wait_for_function(
            "before => document.querySelector('#lookup-listing').innerHTML !== before", arg=before
        )
        is_clean(watched)
    watched.get_by_label("Find papers").fill("")
    watched.get_by_role("button", name="Clear filters").click()
    expect(watched.locator(".lookup-title")).to_have_count(20)
    watched.get_by_role("group", name="Venue").get_by_role("button").nth(2).click()
    expect(watched.locator(".lookup-count")).to_have_text(re.compile("^[12] papers?$"))


def test_papers_in_the_dialog(watched: Page) -> None:
    dialog = watched.locator("dialog[open]")
    for titles in pages_of_all(watched):
        for number, opener in enumerate(titles.all()[::4]):
            title = opener.text_content()
            opener.evaluate("button => button.click()")
            expect(dialog.locator("#paper-title")).to_have_text(str(title), use_inner_text=False)
            is_clean(watched)
            if number == 0:
                for style in ("BibTeX", "APA"):
                    dialog.locator("details.menu > summary").click()
                    other = dialog.get_by_role("button", name=style, exact=True)
                    assert "urnip" in copied(watched, other, f"{style} copied")
                    main_ = dialog.get_by_role("button", name=f"Copy {style}")
                    assert "urnip" in copied(watched, main_, f"{style} copied")
                    is_clean(watched)
            watched.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
        for link in ("javascript", "data:text", "vbscript"):
            assert watched.locator(f"a[href*='{link}' i]").count() == 0


def test_what_a_lying_model_writes_does_not_reach_the_page(watched: Page) -> None:
    answer = ask(watched, "How heavy is turnip 7 in the sand?")
    expect(answer.locator(".verified")).to_have_count(0)
    assert "So <" not in answer.inner_text()
    expect(answer.locator(".quoted").first).to_be_visible()


def test_what_is_let_through_is_shown_as_text(watched: Page) -> None:
    answer = ask(watched, "UNCHECKED: how heavy is turnip 7 in the sand?")
    expect(answer.locator(".verified").nth(30)).to_be_visible()
    said = letters(answer.inner_text())
    whole = [text for text in ALL if letters(f"So {text} it is.") in said]
    assert len(whole) >= 40
    is_clean(watched)
    text = copied(watched, answer.get_by_role("button", name="Copy"))
    assert all(letters(each) in letters(text) for each in whole)


def test_answers_from_records_and_abstracts(watched: Page) -> None:
    for number in range(0, len(ALL), 14):
        title = shown(f"Turnip {number} {TEXTS[number]}")
        answer = ask(watched, f"Who wrote “{title}”?")
        is_clean(watched)
        chip = answer.locator(".chip").first
        if chip.count():
            chip.hover()
            tip = watched.locator("#quote")
            expect(tip.locator("p")).to_have_text(str(chip.get_attribute("data-quote")))
            expect(tip.locator("strong")).to_have_text(str(chip.get_attribute("data-title")))
            assert tip.locator(":is(strong, p) *").count() == 0
            chip.click()
            expect(watched.locator("dialog[open] #paper-title")).to_be_visible()
            is_clean(watched)
            watched.keyboard.press("Escape")


def test_a_refusal_names_a_paper(watched: Page) -> None:
    title = shown(f"Turnip 3 {TEXTS[3]}")
    answer = ask(watched, f"SILENT: how many GPUs were used to train “{title}”?")
    expect(answer.locator(".refusal")).to_be_visible()
    expect(answer.locator(".references .paper").first).to_be_visible()


def test_questions_names_and_comments(watched: Page, hostile_app: Served) -> None:
    every = " ".join(TEXTS)
    answer = ask(watched, f"{every[:1900]} turnip")
    assert letters(every[:1800]) in letters(watched.locator("#conversation .question").inner_text())
    is_clean(watched)
    answer.locator("details.report > summary").click()
    watched.get_by_label("Something else").check()
    watched.get_by_label("Comment").fill(every[:400])
    answer.get_by_role("button", name="Send").click()
    expect(watched.locator(".rated")).to_be_visible()
    for text in (TEXTS[0], *TEXTS[4:60:14]):
        entry = watched.locator("#past li.open")
        entry.locator("details.menu > summary").click()
        entry.get_by_label("Name").fill(text)
        entry.get_by_role("button", name="Rename").click()
        printed = plain_formulas(text) if "$" in text else text  # what is between two dollars
        expect(watched.locator("#past li.open .name")).to_have_text(printed)
        is_clean(watched)
    entry.locator("details.menu > summary").click()
    with watched.expect_download() as download:
        entry.get_by_role("link", name="Export as Markdown").click()
    assert re.fullmatch(r"[\w -]+\.md", download.value.suggested_filename)
    text = Path(download.value.path()).read_text("utf-8")
    assert re.findall(r"(?<!\\)<|(?<!\\)!\[|(?<!\\)\]\(", text) == []
    with watched.expect_download() as download:
        entry.get_by_role("link", name="BibTeX").click()
    assert re.fullmatch(r"[\w -]+\.bib", download.value.suggested_filename)
    watched.reload()
    expect(watched.locator("#conversation .references")).to_have_count(1)
    is_clean(watched)
    watched.goto(f"{hostile_app.address}/?c={quote(TEXTS[0])}&__theme={quote(TEXTS[4])}")
    expect(watched.locator("#conversation .welcome")).to_be_visible()


def file_of(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_files_and_what_is_skipped_of_them(watched: Page) -> None:
    watched.get_by_role("tab", name="Library").click()
    expect(watched.get_by_role("heading", name="Sources")).to_be_visible()
    is_clean(watched)
    named = [text for text in ALL if not set(text) & set('/\\\u2028\u2029"') and len(text) < 200]
    assert len(named) >= 15
    uploads = watched.locator("#lib-uploads input[type=file]")
    line = json.dumps({"title": "Quokkas", "abstract": "Quokkas sleep by day. So we saw."})
    files = [file_of(f"{text}.jsonl", f"{{bad {text}") for text in named]
    own = f"own {named[0]}.jsonl"
    uploads.set_input_files([file_of(own, line), *files])
    report = watched.locator("#lib-ingest")
    expect(report).to_contain_text("1 paper added")
    expect(report.locator("tbody tr")).to_have_count(len(named))
    names = report.locator("tbody th").all_text_contents()
    assert set(names) == {f"{text}.jsonl" for text in named}
    is_clean(watched)
    file = watched.locator("#lib-overview .lib-files li", has_text=own)
    file.get_by_role("button").click()
    expect(watched.locator("#lib-removal")).to_contain_text(f"Remove “{own}”?")
    is_clean(watched)
    watched.locator("#lib-remove").click()
    expect(watched.locator("#lib-removal")).to_contain_text(f"Removed “{own}”")
    uploads.set_input_files([file_of(f"{TEXTS[4]}.png", "x")])
    refused = f"Not added: “{TEXTS[4]}.png”. Papers come from files named .bib"
    expect(watched.locator(".own-said")).to_contain_text(refused)
    dropped = watched.evaluate_handle(
        """name => { const moved = new DataTransfer();
            moved.items.add(new File(['x'], name, {type: 'text/plain'}));
            return moved; }""",
        f"{TEXTS[5]}.png",
    )
    drop = watched.locator("#lib-uploads button").first
    drop.dispatch_event("drop", {"dataTransfer": dropped})
    expect(watched.locator(".own-said")).to_contain_text(f"Not added: “{TEXTS[5]}.png”")
    expect(watched.get_by_test_id("toast-body")).to_have_count(0)


def test_models_and_the_heading(watched: Page) -> None:
    expect(watched.locator("#library")).to_contain_text("<img src=x onerror=window.hit=1>")
    watched.get_by_role("tab", name="Models").click()
    expect(watched.locator("#models h2").first).to_be_visible()


def test_what_other_addresses_answer(page: Page, hostile_app: Served) -> None:
    with httpx.Client(base_url=hostile_app.address, trust_env=False) as client:
        for text in TEXTS[::8]:
            for path in (f"/v1/papers/{quote(text, safe='')}", f"/{quote(text)}"):
                reply = client.get(path)
                assert reply.status_code in {404, 405}
                assert not reply.headers["content-type"].startswith("text/html")
                assert "sandbox" in reply.headers["content-security-policy"] or (
                    reply.headers["x-content-type-options"] == "nosniff"
                )
    address = f"{hostile_app.address}/v1/papers/{quote(str(paper(0)['id']), safe='')}"
    page.goto(address)
    assert page.locator("script").count() == 0
    page.goto(f"{hostile_app.address}/docs")
    page.locator("[id^=operations-][id$=lookup] .opblock-summary-control").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_placeholder("q", exact=True).first.fill(TEXTS[4])
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table").first).to_contain_text("onerror=window.hit=1")
    assert page.locator(".opblock :is(img, script, iframe):not([src^='data:'])").count() == 0
    assert page.evaluate("window.hit") is None
    assert HOST not in page.url
