"""Security headers, and the page whose own scripts may run."""

import base64
import hashlib

import pytest
from fastapi.testclient import TestClient
from protected_app import Known, client_of

from assistant.server.auth.headers import script_hashes, without_external

FIXED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/owner", 200),
        ("GET", "/stream", 200),
        ("GET", "/nowhere", 404),
        ("PUT", "/owner", 405),
        ("GET", "/broken", 500),
        ("GET", "/gradio_api/file=/tmp/page.html", 200),
        ("GET", "/monitoring", 404),
        ("HEAD", "/", 405),
    ],
)
def test_every_response_has_them(
    open_client: TestClient, method: str, path: str, status: int
) -> None:
    got = open_client.request(method, path, headers={"origin": "http://127.0.0.1:7860"})
    assert got.status_code == status
    assert {name: got.headers[name] for name in FIXED} == FIXED
    csp = dict(
        part.split(" ", 1)
        for part in got.headers["content-security-policy"].split("; ")
        if " " in part
    )
    assert csp["default-src"] in {"'self'", "'none'"}
    assert csp["frame-ancestors"] == "'none'"
    assert "'unsafe-inline'" not in csp.get("script-src", "")
    assert got.headers["cache-control"] == "no-store"
    assert not [name for name in got.headers if name.startswith("access-control-")]


def test_refusals_have_them_too(known: Known) -> None:
    client = client_of(auth_file=known.file)
    for got in (
        client.get("/owner"),
        client.get("/login"),
        client.post("/logout"),
        client.get("/healthz", headers={"host": "evil.example"}),
    ):
        assert {name: got.headers[name] for name in FIXED} == FIXED
        assert "script-src 'self';" in got.headers["content-security-policy"]


def test_only_scripts_of_the_page_itself_may_run(open_client: TestClient) -> None:
    digest = base64.b64encode(hashlib.sha256(b"window.first = 1").digest()).decode()
    policy = open_client.get("/").headers["content-security-policy"]
    assert f"script-src 'self' 'sha256-{digest}' 'unsafe-eval';" in policy
    file = open_client.get("/gradio_api/file=/tmp/page.html").headers["content-security-policy"]
    assert "sha256" not in file
    assert file.endswith("sandbox")


def test_a_failure_is_told_in_json(open_client: TestClient) -> None:
    assert open_client.get("/broken").json()["error"]["code"] == "internal_error"


def test_scripts_are_hashed_as_a_browser_reads_them() -> None:
    page = "<SCRIPT>\n a &amp; '<b>'\n</SCRIPT><script src='x.js'></script><script></script>"
    bodies = ("\n a &amp; '<b>'\n", "")
    expected = {
        f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
        for body in bodies
    }
    assert set(script_hashes(page)) == expected


def test_what_speaks_to_other_sites_is_left_out() -> None:
    page = (
        '<meta charset="utf-8" />\n<meta\n  property="og:image"\n  content="https://x/y.jpg"\n/>\n'
        '<meta name="twitter:card" content="z">\n<link rel="manifest" href="/manifest.json" />\n'
        '<link rel="stylesheet" href="a.css">'
    )
    assert without_external(page) == (
        '<meta charset="utf-8" />\n<link rel="stylesheet" href="a.css">'
    )
