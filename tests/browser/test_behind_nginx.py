"""The app below a path of the real nginx on another port, set up as README says."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from app_process import Served, served
from chatting import ask
from nginx import NGINX, nginx, nginx_before
from playwright.sync_api import Page, expect

from assistant.server.auth.accounts import add_user, make_key

PASSWORD = "a correct horse"  # noqa: S105 - of nobody
SLOW = "What is federated learning and when does it fail?"
QUESTION = "How much faster is machine unlearning of federated clusters than retraining?"
README = Path(__file__).parents[2] / "assistant/server/README.md"


class Proxied(NamedTuple):
    """An app behind nginx."""

    app: Served
    address: str
    key: str


@pytest.fixture(scope="module")
def proxied(library_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    if NGINX is None:
        pytest.skip("no nginx is installed: what README says of it is not tested")
    folder = tmp_path_factory.mktemp("nginx")
    add_user(folder / "users.json", "ann", PASSWORD)
    key = make_key(folder / "users.json", "ann")
    flags = ("--auth-file", str(folder / "users.json"), "--proxies", "127.0.0.1")
    with served(library_home, *flags) as app, nginx(folder, readme_location(app)) as port:
        app.wait_until_ready()
        yield Proxied(app, f"http://127.0.0.1:{port}/papers", key)


def readme_location(app: Served) -> str:
    """README's configuration before `app`."""
    *_, last = re.findall(r"```nginx\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    return str(last).replace("127.0.0.1:7860", app.host)


def test_the_page_works_below_its_path(page: Page, proxied: Proxied) -> None:
    page.goto(proxied.address)
    expect(page).to_have_url(f"{proxied.address}/login")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{proxied.address}/")
    [session] = [each for each in page.context.cookies() if each["name"] == "assistant_session"]
    assert session["path"] == "/papers/"
    page.get_by_role("tab", name="Chat").click()
    page.locator("#question textarea").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#conversation")).to_contain_text("roughly 84x")
    page.get_by_role("tab", name="Library").click()
    papers = {"name": "papers.bib", "mimeType": "text/plain", "buffer": b"no record"}
    with page.expect_response(re.compile("/papers/gradio_api/upload")) as uploaded:
        page.locator("input[type=file]").first.set_input_files([papers])  # type: ignore[list-item]
    assert uploaded.value.status == 200
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{proxied.address}/login")


def test_programs_reach_the_api_below_the_path(proxied: Proxied) -> None:
    bearer = {"authorization": f"Bearer {proxied.key}"}
    with httpx.Client(headers=bearer, trust_env=False, timeout=120) as client:
        document = client.get(f"{proxied.address}/openapi.json").json()
        assert document["servers"] == [{"url": "/papers"}]
        assert client.get(f"{proxied.address}/docs").status_code == 200
        asked = {"stream": True, "messages": [{"role": "user", "content": QUESTION}]}
        with client.stream("POST", f"{proxied.address}/v1/chat/completions", json=asked) as answer:
            pieces = [*answer.iter_raw()]
        assert len(pieces) > 3, "it is not held back to its end"
        assert b"[DONE]" in pieces[-1]
        for _ in range(5):  # nginx is still sending when the refusal comes
            large = client.post(f"{proxied.address}/v1/search", content=b"x" * 20_000_000)
            assert large.json()["error"]["code"] == "body_too_large"


def test_an_answer_of_a_process_that_is_killed_is_told_and_its_question_stays(
    page: Page, library_home: Path, tmp_path: Path
) -> None:
    if NGINX is None:
        pytest.skip("no nginx is installed: what README says of it is not tested")
    with served(library_home) as one, served(library_home) as two:
        one.wait_until_ready()
        two.wait_until_ready()
        with nginx_before(tmp_path, one, two) as address:
            page.goto(address)
            expect(page.locator("#conversation .welcome")).to_be_visible()
            ask(page, SLOW)
            page.wait_for_url("**/?c=*")
            (one if is_busy(one) else two).end(signal.SIGKILL)
            notice = page.locator("#conversation .notice")
            expect(notice).to_have_text("This answer was not finished.")
            expect(page.locator("#conversation .question")).to_have_text(SLOW)
            page.get_by_role("button", name="Ask again").click()
            expect(page.locator("#conversation .references")).to_have_count(1)


def is_busy(app: Served) -> bool:
    """Whether a question waits or is answered there."""
    metrics = httpx.get(f"{app.address}/metrics", timeout=60, trust_env=False).text
    return "assistant_queue_length 0.0" not in metrics


def test_a_client_of_nginx_cannot_change_its_address(proxied: Proxied) -> None:
    wrong = {"name": "ann", "password": "wrong"}
    with httpx.Client(trust_env=False, timeout=60) as client:
        tried = [
            client.post(
                f"{proxied.address}/login",
                data=wrong,
                headers={"x-forwarded-for": f"192.0.2.{number}"},
            ).status_code
            for number in range(11)
        ]
    assert tried == [401] * 10 + [429]
