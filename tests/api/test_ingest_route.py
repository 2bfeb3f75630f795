"""Papers added over the network: only where allowed, and a file's name is nothing but a name."""

import json
import selectors
from pathlib import Path

import httpx
import pytest
from app_process import Served

Files = list[tuple[str, tuple[str, bytes]]]


def papers(*titles: str) -> bytes:
    lines = [
        {"title": title, "abstract": f"{title} were measured for nine years in wet soil."}
        for title in titles
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def sent(client: httpx.Client, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    form: Files = [("files", file) for file in files]
    return client.post("/v1/ingest", files=form, data=fields)


def found(client: httpx.Client, title: str) -> list[dict[str, object]]:
    listing = client.get("/v1/lookup", params={"q": title}).raise_for_status().json()
    return [match for match in listing["matches"] if match["title"] == title]


def test_it_is_refused_where_it_is_not_allowed(client: httpx.Client) -> None:
    response = sent(client, ("papers.jsonl", papers("Carrots")))
    assert response.status_code == 403
    assert "--allow-ingest" in response.json()["error"]["message"]
    assert found(client, "Carrots") == []


def test_papers_are_added_and_told(small_client: httpx.Client) -> None:
    before = small_client.get("/healthz").json()["papers"]
    response = sent(
        small_client,
        ("a.jsonl", papers("Parsnips", "Radishes")),
        ("a.jsonl", papers("Beetroots")),
        venue="Garden",
        year="1999",
    )
    assert response.status_code == 200
    assert response.json()["added"] == 3
    (match,) = found(small_client, "Beetroots")
    assert (match["venue"], match["year"]) == ("Garden", 1999)
    assert small_client.get("/healthz").json()["papers"] == before + 3


@pytest.mark.parametrize(
    "name", ["../../../escaped.jsonl", "/etc/escaped.jsonl", "C:\\escaped.jsonl", "a\tb<b>.jsonl"]
)
def test_a_file_name_is_no_path(small_client: httpx.Client, tmp_path: Path, name: str) -> None:
    title = f"Leeks {abs(hash(name))}"
    assert sent(small_client, (name, papers(title))).status_code == 200
    (match,) = found(small_client, title)
    paper = small_client.get(f"/v1/papers/{match['paper_id']}").json()
    assert not set(paper["sources"][0]["file"]) & set("/\\\t")
    assert not list(tmp_path.parent.rglob("escaped.jsonl"))


@pytest.mark.parametrize(
    ("files", "fields", "said"),
    [
        ([("a.pdf", b"%PDF-1.7\x00\x01")], {}, "a.pdf"),
        ([("a.jsonl", b"")], {}, "empty"),
        ([("a.exe", b"MZ\xff\xfe")], {}, "a.exe"),
        ([("a.jsonl", papers("Kale"))], {"year": "soon"}, "year"),
        ([("a.jsonl", papers("Kale"))], {"year": "-1"}, "year"),
        ([("a.jsonl", papers("Kale"))] * 21, {}, "files"),
        ([], {"venue": "Garden"}, "files"),
    ],
)
def test_what_cannot_be_read_is_told(
    small_client: httpx.Client,
    files: list[tuple[str, bytes]],
    fields: dict[str, str],
    said: str,
) -> None:
    form: Files = [("files", file) for file in files]
    form = form or [("other", ("", b"x"))]
    response = small_client.post("/v1/ingest", files=form, data=fields)
    assert response.status_code == 400
    message = response.json()["error"]["message"]
    assert said in message
    assert "/tmp" not in message  # noqa: S108 - where it was kept is nobody's business


def test_another_kind_of_body_and_too_large_a_one_are_refused(small_client: httpx.Client) -> None:
    assert small_client.post("/v1/ingest", json={}).status_code == 415
    broken = small_client.post(
        "/v1/ingest", content=b"--x\r\nnonsense", headers={"Content-Type": "multipart/form-data"}
    )
    assert broken.status_code == 400
    large = sent(small_client, ("a.jsonl", b"x" * 60_000_000))
    assert large.status_code == 413
    assert small_client.get("/healthz").status_code == 200


def test_one_at_a_time(small_client: httpx.Client, small_app: Served) -> None:
    many = papers(*(f"Cress {number} of many" for number in range(2000)))
    request = small_client.build_request("POST", "/v1/ingest", files={"files": ("m.jsonl", many)})
    body = request.read()
    head = f"POST /v1/ingest HTTP/1.1\r\nHost: {small_app.host}\r\n"
    kind = f"Content-Type: {request.headers['Content-Type']}\r\n"
    length = f"Content-Length: {len(body)}\r\n\r\n"
    with small_app.connected() as one, small_app.connected() as other:
        for connection in (one, other):
            connection.sendall(f"{head}{kind}{length}".encode() + body)
        with selectors.DefaultSelector() as selector:
            for connection in (one, other):
                selector.register(connection, selectors.EVENT_READ, connection)
            (first, *_) = selector.select(60)
        assert first[0].data.recv(1000).startswith(b"HTTP/1.1 409 ")
    assert small_client.get("/healthz").status_code == 200
