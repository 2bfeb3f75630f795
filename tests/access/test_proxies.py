"""What a proxy says is believed only from those that are named, and a path may stand before all."""

import pytest
from fastapi.testclient import TestClient
from protected_app import PASSWORD, Known, small_app

from assistant.server.auth.guard import warn_if_open
from assistant.server.auth.headers import Proxied
from assistant.settings import Settings, load_settings
from retrieval.types import InputError

WRONG = {"name": "ann", "password": "wrong"}


def client_from(address: str, known: Known, **settings: str) -> TestClient:
    """A client at this address of an app that only Ann may use."""
    values = Settings.model_validate({"auth_file": known.file, **settings})
    app = Proxied(small_app(values), values)
    return TestClient(app, base_url="http://localhost", follow_redirects=False, client=(address, 1))


def statuses(client: TestClient) -> list[int]:
    """What twelve wrong passwords get, each said to come from another address."""
    return [
        client.post("/login", data=WRONG, headers={"x-forwarded-for": f"192.0.2.{n}"}).status_code
        for n in range(12)
    ]


@pytest.mark.parametrize("proxies", ["", "192.0.2.1", "10.0.0.0/8, ::1"])
def test_a_client_cannot_give_itself_another_address(known: Known, proxies: str) -> None:
    assert statuses(client_from("127.0.0.1", known, proxies=proxies)) == [401] * 10 + [429] * 2


def test_clients_of_a_named_proxy_are_counted_apart(known: Known) -> None:
    client = client_from("127.0.0.1", known, proxies="192.0.2.1, 127.0.0.0/8")
    assert statuses(client) == [401] * 12


def test_only_a_named_proxy_makes_a_cookie_secure(known: Known) -> None:
    right = {"name": "ann", "password": PASSWORD}
    said = {"x-forwarded-proto": "https"}
    stranger = client_from("127.0.0.1", known).post("/login", data=right, headers=said)
    assert "Secure" not in stranger.headers["set-cookie"]
    proxy = client_from("127.0.0.1", known, proxies="127.0.0.1")
    assert "Secure" in proxy.post("/login", data=right, headers=said).headers["set-cookie"]


def test_another_host_is_not_believed_even_from_a_proxy(known: Known) -> None:
    client = client_from("127.0.0.1", known, proxies="127.0.0.1")
    said = {"host": "evil.example", "x-forwarded-host": "localhost"}
    assert client.get("/healthz", headers=said).status_code == 421


@pytest.mark.parametrize("stripped", [True, False])
@pytest.mark.parametrize("way", ["setting", "header"])
def test_all_is_served_below_a_path(known: Known, stripped: bool, way: str) -> None:
    settings = {"root_path": "/papers"} if way == "setting" else {"proxies": "127.0.0.1"}
    client = client_from("127.0.0.1", known, **settings)
    if way == "header":
        client.headers["x-forwarded-prefix"] = "/papers/"
    start = "" if stripped else "/papers"
    asked = client.get(f"{start}/", headers={"accept": "text/html"})
    assert asked.headers["location"] == "/papers/login"
    assert 'action="login"' in client.get(f"{start}/login").text
    signed_in = client.post(f"{start}/login", data={"name": "ann", "password": PASSWORD})
    assert signed_in.headers["location"] == "/papers/"
    assert "Path=/papers/" in signed_in.headers["set-cookie"]
    cookie = {"cookie": signed_in.headers["set-cookie"].split(";")[0]}
    assert client.get(f"{start}/owner", headers=cookie).text == "user:ann"
    page = client.get(f"{start}/", headers=cookie)
    assert "sha256-" in page.headers["content-security-policy"]
    assert client.get(f"{start}/monitoring", headers=cookie).status_code == 404
    assert client.post(f"{start}/logout").headers["location"] == "/papers/login"


def test_the_path_itself_leads_to_the_page(known: Known) -> None:
    asked = client_from("127.0.0.1", known, root_path="/papers").get("/papers")
    assert asked.headers["location"] == "/papers/"
    assert asked.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("proxies", "prefix"), [("", "/papers"), ("127.0.0.1", "//evil.example"), ("127.0.0.1", "x")]
)
def test_a_prefix_is_not_taken_from_strangers(known: Known, proxies: str, prefix: str) -> None:
    client = client_from("127.0.0.1", known, proxies=proxies)
    asked = client.get("/", headers={"accept": "text/html", "x-forwarded-prefix": prefix})
    assert asked.headers["location"] == "/login"


@pytest.mark.parametrize(("proxies", "warned"), [("", True), ("127.0.0.1", False)])
def test_a_proxy_that_is_not_named_is_warned_of(
    proxies: str, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_if_open(Settings(server_name="papers.example", proxies=proxies))
    assert ("name the proxy's address" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(
    "flags", [{"proxies": "caddy"}, {"proxies": "10.0.0.1/8"}, {"root_path": "papers"}]
)
def test_what_is_no_address_or_no_path_is_one_sentence(flags: dict[str, str]) -> None:
    [(name, value)] = flags.items()
    with pytest.raises(InputError, match=f"The setting '{name}' cannot be '{value}'"):
        load_settings(flags)
