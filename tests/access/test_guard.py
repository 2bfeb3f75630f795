"""Who is let in, and as whom."""

import re

import pytest
from fastapi.testclient import TestClient
from protected_app import ADDRESS, PASSWORD, Known, client_of

from assistant.server.auth.accounts import add_user, key_id_of, remove_user, revoke_key

RIGHT = {"name": "ann", "password": PASSWORD}
PAGE = {"accept": "text/html,*/*"}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_people_are_sent_to_sign_in_and_programs_refused(client: TestClient) -> None:
    page = client.get("/", headers=PAGE)
    assert (page.status_code, page.headers["location"]) == (303, "/login")
    for path in ("/", "/owner", "/nowhere", "/own/page.js", "/docs", "/gradio_api/info"):
        refused = client.get(path)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert set(refused.json()["error"]) == {"message", "type", "code", "param"}
    assert client.post("/owner", headers=PAGE).status_code == 401
    assert client.get("/healthz").status_code == 200


def test_signing_in_and_out(client: TestClient) -> None:
    assert client.get("/login").status_code == 200
    done = client.post("/login", data=RIGHT, headers={"origin": ADDRESS})
    assert (done.status_code, done.headers["location"]) == (303, "/")
    cookie = done.headers["set-cookie"]
    assert re.search(r"assistant_session=[\w-]{43};", cookie)
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert client.get("/owner").text == "user:ann"
    assert client.get("/login").headers["location"] == "/"
    token = client.cookies["assistant_session"]
    out = client.post("/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert "Max-Age=0" in out.headers["set-cookie"]
    client.cookies.set("assistant_session", token)
    assert client.get("/owner").status_code == 401
    assert client.get("/logout").status_code == 405


def test_over_https_the_cookie_stays_there(known: Known) -> None:
    client = client_of(auth_file=known.file)
    client.base_url = "https://localhost"
    assert "Secure" in client.post("/login", data=RIGHT).headers["set-cookie"]


@pytest.mark.parametrize(
    ("name", "password"), [("ann", "my best guess"), ("nobody", PASSWORD), ("<b>ann", PASSWORD)]
)
def test_a_wrong_name_or_password_is_told_without_saying_which(
    client: TestClient, name: str, password: str
) -> None:
    refused = client.post("/login", data={"name": name, "password": password})
    assert refused.status_code == 401
    assert "The name or the password is wrong." in refused.text
    assert "<b>" not in refused.text
    assert "set-cookie" not in refused.headers
    assert password not in refused.text


@pytest.mark.parametrize(
    "body", [b"", b"name=ann", b"\xff\xfe", b"name=ann&password=x&" + b"a=b&" * 100, b"a&" * 100]
)
def test_forms_that_cannot_be_read(client: TestClient, body: bytes) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    refused = client.post("/login", content=body, headers=kind)
    assert refused.status_code == 400
    assert "could not be read" in refused.text


def test_a_flood_of_attempts_is_slowed(client: TestClient) -> None:
    wrong = {"name": "ann", "password": "wrong"}
    tried = [client.post("/login", data=wrong).status_code for _ in range(11)]
    assert tried == [401] * 10 + [429]
    refused = client.post("/login", data=RIGHT)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "try again in" in refused.text


def test_keys(client: TestClient, known: Known) -> None:
    assert client.get("/owner", headers=bearer(known.key)).text == "user:ann"
    assert (
        client.get("/owner", headers={"authorization": f"bearer  {known.key}"}).status_code == 200
    )
    for wrong in ("", "x", known.key[:-1], f"aa_{key_id_of(known.key)}_x", "aa_ffffffff_x", "é"):
        header = {b"authorization": b"Bearer " + wrong.encode()}
        assert client.get("/owner", headers=header).status_code == 401
    assert client.get("/owner", headers={"authorization": f"Basic {known.key}"}).status_code == 401


def test_a_flood_of_wrong_keys_leaves_those_at_work_alone(client: TestClient, known: Known) -> None:
    assert client.get("/owner", headers=bearer(known.key)).status_code == 200
    tried = [client.get("/owner", headers=bearer(f"aa_{n}_x")).status_code for n in range(11)]
    assert tried == [401] * 10 + [429]
    assert client.get("/owner", headers=bearer(known.key)).status_code == 200


def test_a_wrong_key_is_not_made_good_by_a_session(client: TestClient) -> None:
    client.post("/login", data=RIGHT)
    assert client.get("/owner", headers=bearer("aa_00000000_x")).status_code == 401


def test_who_is_removed_is_out_at_once(client: TestClient, known: Known) -> None:
    client.post("/login", data=RIGHT)
    assert client.get("/owner", headers=bearer(known.key)).status_code == 200
    revoke_key(known.file, key_id_of(known.key))
    assert client.get("/owner", headers=bearer(known.key)).status_code == 401
    assert client.get("/owner").status_code == 200
    remove_user(known.file, "ann")
    assert client.get("/owner").status_code == 401
    add_user(known.file, "ann", "another horse")
    assert client.get("/owner").status_code == 401, "a session of an earlier password"


def test_without_an_auth_file_a_browser_is_known_by_its_cookie(open_client: TestClient) -> None:
    assert open_client.get("/owner").text == "anyone"
    cookie = open_client.get("/").headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    owner = open_client.get("/owner").text
    assert re.fullmatch(r"browser:[\w-]{43}", owner)
    assert open_client.get("/").headers["set-cookie"] == cookie, "a year from the last visit"
    assert "set-cookie" not in open_client.get("/v1/models").headers
    assert open_client.get("/owner").text == owner
    open_client.cookies.clear()
    open_client.cookies.set("assistant_browser", "user:ann")
    assert open_client.get("/owner").text == "anyone"
    assert open_client.get("/login").headers["location"] == "/"
