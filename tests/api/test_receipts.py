"""Receipts over HTTP and MCP: whole, and of the answer that was given."""

import json
from pathlib import Path
from typing import Any

import httpx
from app_process import Served
from test_mcp import QUESTION, call

from assistant.research.receipt import methods_of, read_receipts


def checked(receipt: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The receipt as it is read from a file, which refuses all that is not whole."""
    file = folder / "receipt.json"
    file.write_text(json.dumps(receipt), "utf-8")
    (read,) = read_receipts(file)
    return read


def test_a_completion_has_a_receipt_of_the_whole_answer(
    client: httpx.Client, tmp_path: Path
) -> None:
    body = {"messages": [{"role": "user", "content": QUESTION}], "receipt": True, "max_tokens": 1}
    said = client.post("/v1/chat/completions", json=body).json()["assistant"]
    assert said["sentences"] == []
    receipt = checked(said["receipt"], tmp_path)
    assert "84x" in receipt["answer"]["sentences"][0]["text"]
    streamed = client.post("/v1/chat/completions", json={**body, "stream": True}).text
    chunks = [line.removeprefix("data: ") for line in streamed.splitlines() if "data: {" in line]
    last = json.loads(chunks[-1])["assistant"]["receipt"]
    assert checked(last, tmp_path)["answer"] == receipt["answer"]
    assert said["methods"] == methods_of(receipt)


def test_without_the_field_there_is_none(client: httpx.Client) -> None:
    body = {"messages": [{"role": "user", "content": QUESTION}]}
    said = client.post("/v1/chat/completions", json=body).json()["assistant"]
    assert said["receipt"] is None
    assert said["coverage_statement"].startswith("Searched 1,643 abstracts (2022-2023); ")


def test_the_tool_gives_one_if_asked(app: Served, tmp_path: Path) -> None:
    failed, text = call(app, "ask", question=QUESTION, receipt=True)
    assert not failed
    said = json.loads(text)
    receipt = checked(said["receipt"], tmp_path)
    assert receipt["question"] == QUESTION
    assert said["methods"] == methods_of(receipt)
    assert "We searched on 20" in said["methods"]
