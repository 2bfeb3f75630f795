"""Signing in, API keys and what a page may do, with the real app and a real Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from app_process import Served, served
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from assistant.server.auth.accounts import add_user, key_id_of, make_key, remove_user, revoke_key

PASSWORD = "a correct horse"  # noqa: S105 - of nobody
QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
PATIENCE = 120_000
TABS = ("Chat", "Lookup", "Library", "Models")


class Guarded(NamedTuple):
    """An app that only its users may use."""

    app: Served
    file: Path


@pytest.fixture(scope="module")
def guarded(library_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    file = tmp_path_factory.mktemp("users") / "auth.json"
    add_user(file, "ann", PASSWORD)
    with served(library_home, "--auth-file", str(file)) as running:
        running.wait_until_ready()
        yield Guarded(running, file)


def sign_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")


def ask(page: Page) -> None:
    page.get_by_role("tab", name="Chat").click()
    page.locator("#question textarea").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#conversation")).to_contain_text("roughly 84x", timeout=PATIENCE)


@pytest.fixture
def client(guarded: Guarded) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded.app.address, trust_env=False, timeout=60) as client:
        yield client


def test_who_signs_in_can_chat_until_they_sign_out(page: Page, guarded: Guarded) -> None:
    page.goto(guarded.app.address)
    expect(page).to_have_url(f"{guarded.app.address}/login")
    sign_in(page, "ann", "a wrong horse")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    expect(page.get_by_label("Name")).to_have_value("ann")
    expect(page.get_by_label("Password")).to_be_focused()
    sign_in(page, " Ann ", PASSWORD)
    expect(page).to_have_url(f"{guarded.app.address}/")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    ask(page)
    stored = "[document.cookie, JSON.stringify({...localStorage, ...sessionStorage})]"
    cookies, storage = page.evaluate(stored)
    assert "assistant_session" not in cookies
    [session] = [each for each in page.context.cookies() if each["name"] == "assistant_session"]
    assert session["httpOnly"]
    assert session["value"] not in storage
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{guarded.app.address}/login")
    page.goto(guarded.app.address)
    expect(page).to_have_url(f"{guarded.app.address}/login")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_sign_in_page(page: Page, guarded: Guarded, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto(guarded.app.address)
    expect(page.get_by_label("Name")).to_be_focused()
    sign_in(page, "nobody", "a wrong horse")
    expect(page.get_by_role("alert")).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_who_is_removed_is_signed_out(page: Page, guarded: Guarded) -> None:
    add_user(guarded.file, "bob", PASSWORD)
    page.goto(guarded.app.address)
    sign_in(page, "bob", PASSWORD)
    expect(page.locator("#question textarea")).to_be_visible()
    remove_user(guarded.file, "bob")  # the open page finds out by itself
    expect(page).to_have_url(f"{guarded.app.address}/login")


def test_programs_come_in_with_a_key(client: httpx.Client, guarded: Guarded) -> None:
    key = make_key(guarded.file, "ann")
    bearer = {"authorization": f"Bearer {key}"}
    for path in ("/v1/models", "/metrics", "/gradio_api/info", "/openapi.json"):
        refused = client.get(path)
        assert refused.status_code == 401
        assert refused.json()["error"]["code"] == "not_signed_in"
        assert client.get(path, headers=bearer).status_code == 200
    found = client.post("/v1/search", headers=bearer, json={"query": "federated unlearning"})
    assert found.status_code == 200
    wrong = {"authorization": f"Bearer {key[:-2]}xx"}
    assert client.get("/v1/models", headers=wrong).status_code == 401
    revoke_key(guarded.file, key_id_of(key))
    assert client.get("/v1/models", headers=bearer).status_code == 401


ROUTES = (
    ("GET", "/"),
    ("GET", "/healthz"),
    ("GET", "/metrics"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/v1/models"),
    ("GET", "/v1/nothing"),
    ("POST", "/v1/search"),
    ("GET", "/own/page.js"),
    ("GET", "/gradio_api/info"),
    ("GET", "/gradio_api/queue/data"),
    ("POST", "/gradio_api/queue/join"),
    ("GET", "/gradio_api/file=/etc/passwd"),
    ("GET", "/gradio_api/proxy=https://192.0.2.1/x"),
    ("GET", "/../../etc/passwd"),
)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_has_security_headers(app: Served, method: str, path: str) -> None:
    with httpx.Client(base_url=app.address, trust_env=False, timeout=60) as client:
        got = client.request(method, path, headers={"origin": app.address})
    assert got.status_code in {200, 400, 403, 404, 405, 422, 503}
    assert "root:" not in got.text
    policy = got.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-inline'" not in policy.replace("style-src 'self' 'unsafe-inline'", "")
    assert ("'unsafe-eval'" in policy) == (path == "/")
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["x-frame-options"] == "DENY"
    assert got.headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in got.headers
    assert "server" not in got.headers


def test_scripts_that_get_into_the_page_do_not_run(browser: Browser, app: Served) -> None:
    page = browser.new_page()
    page.goto(app.address)
    expect(page.locator("#question textarea")).to_be_visible(timeout=PATIENCE)
    page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.hit = 1';
            document.body.append(script);
            const box = document.createElement('div');
            box.innerHTML = '<img src="data:," onerror="window.hit = 2">';
            document.body.append(box);
            const outside = document.createElement('script');
            outside.src = 'https://192.0.2.1/x.js';
            document.body.append(outside);
        }"""
    )
    refused = page.evaluate(
        """() => fetch('https://192.0.2.1/').then(() => 'sent', (error) => String(error))"""
    )
    assert refused.startswith("TypeError")
    assert page.evaluate("window.hit") is None
    page.close()


def test_another_site_can_do_nothing_with_the_app(app: Served) -> None:
    with httpx.Client(base_url=app.address, trust_env=False) as client:
        rebound = client.get("/", headers={"host": "evil.example"})
        assert rebound.status_code == 421
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            posted = client.post("/v1/search", headers={"origin": origin}, json={"query": "x"})
            assert posted.status_code == 403
