"""Drafts checked over HTTP and as an MCP tool's route would."""

import httpx

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


def test_a_draft_without_a_sentence_is_refused_in_one(client: httpx.Client) -> None:
    refused = client.post("/v1/audit", json={"draft": "# Only a heading"})
    assert refused.status_code == 400
    assert "no sentence to check" in refused.json()["error"]["message"]
