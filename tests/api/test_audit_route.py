"""Drafts checked over HTTP and MCP."""

import json

import httpx
from app_process import Served
from test_mcp import call

SUPPORTED = "Liquid-S4 reaches an average of 87.32% on the Long-Range Arena benchmark."


def test_a_draft_is_checked(client: httpx.Client) -> None:
    draft = f"In this section we review models. {SUPPORTED[:-1]} [@liquid]."
    bib = "@article{liquid, title = {Liquid Structural State-Space Models}}"
    answered = client.post("/v1/audit", json={"draft": draft, "bibliography": bib}, timeout=120)
    structure, claim = answered.raise_for_status().json()["sentences"]
    assert structure["verdict"] == "no claim"
    assert claim["verdict"] == "supported"
    assert "87.32%" in claim["citations"][0]["quote"]
    assert claim["cited"][0]["judged"] == "supported"
    assert draft[claim["start"] : claim["end"]].startswith("Liquid-S4")


def test_suggested_citations_and_the_page_come_if_asked(app: Served, client: httpx.Client) -> None:
    body = {"draft": SUPPORTED, "insert": True}
    over_http = client.post("/v1/audit", json=body, timeout=120).raise_for_status().json()
    assert over_http["inserted"] == f"{SUPPORTED[:-1]} [@hasani2023liquid]."
    assert "@inproceedings{hasani2023liquid," in over_http["bibtex"]
    failed, said = call(app, "audit", **body)
    assert not failed
    assert json.loads(said) == over_http
    plain = json.loads(call(app, "audit", draft=SUPPORTED)[1])
    assert plain.keys().isdisjoint({"inserted", "bibtex"})
    page = client.post("/v1/audit", json={**body, "format": "html"}, timeout=120)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "hasani2023liquid" in page.text


def test_a_draft_without_a_sentence_is_refused_in_one(client: httpx.Client) -> None:
    refused = client.post("/v1/audit", json={"draft": "# Only a heading"})
    assert refused.status_code == 400
    assert "no sentence to check" in refused.json()["error"]["message"]
