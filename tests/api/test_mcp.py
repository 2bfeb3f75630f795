"""The questions as MCP tools, called with the protocol's own client."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from app_process import Served
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from remembering_app import QUESTION, WEATHER

TITLE = "Machine Unlearning of Federated Clusters"


def with_session(app: Served, use: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """What `use` makes of a session with the app."""

    async def talk() -> Any:
        async with (
            httpx.AsyncClient(trust_env=False, timeout=120) as http,
            streamable_http_client(f"{app.address}/gradio_api/mcp/", http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            return await use(session)

    with ThreadPoolExecutor(1) as thread:  # Playwright, if it ran before, has a loop in this one
        return thread.submit(asyncio.run, talk()).result()


def call(app: Served, tool: str, **arguments: object) -> tuple[bool, str]:
    """Whether a tool failed, and what it said."""
    result: CallToolResult = with_session(app, lambda session: session.call_tool(tool, arguments))
    (content,) = result.content
    assert isinstance(content, TextContent)
    return bool(result.isError), content.text


def test_the_tools_are_listed_and_described(app: Served) -> None:
    tools = with_session(app, lambda session: session.list_tools()).tools
    assert {tool.name for tool in tools} == {"ask", "search", "lookup", "audit", "table", "pinned"}
    assert all(tool.description for tool in tools)
    for tool in tools:
        parameters = tool.inputSchema["properties"].values()
        assert all(parameter["description"] for parameter in parameters)


def test_ask_answers_with_citations(app: Served) -> None:
    failed, text = call(app, "ask", question=QUESTION)
    answer = json.loads(text)
    assert not failed
    assert answer["outcome"] == "answered"
    assert "roughly 84x" in answer["answer"]
    assert {citation["title"] for citation in answer["citations"]} == {TITLE}


def test_ask_says_whether_a_list_is_complete(app: Served) -> None:
    answer = json.loads(call(app, "ask", question="Which papers are by Denny Zhou?")[1])
    assert answer["coverage"] == "Complete by the records: no other one here fits “by Denny Zhou”."


def test_ask_says_what_no_abstract_answers(app: Served) -> None:
    answer = json.loads(call(app, "ask", question=WEATHER)[1])
    assert answer["outcome"] == "not_in_library"
    assert len(answer["closest"]) == 3


def test_search_and_lookup_find_papers(app: Served) -> None:
    found = json.loads(call(app, "search", query="unlearning in federated clustering", k=2)[1])
    assert found["hits"][0]["title"] == TITLE
    looked_up = json.loads(call(app, "lookup", query="clusters", author="Chao Pan", k=1)[1])
    assert [match["title"] for match in looked_up["matches"]] == [TITLE]


def test_a_table_and_pins_come_as_over_http(app: Served, client: httpx.Client) -> None:
    asked = {"question": "Which papers recognise human actions from skeletons?", "k": 2}
    table = json.loads(call(app, "table", columns="gain", **asked)[1])
    assert table == client.post("/v1/table", json={**asked, "columns": ["gain"]}).json()
    assert table["columns"] == ["gain"]
    latex = client.post("/v1/table", json={**asked, "columns": ["code"], "format": "latex"})
    assert latex.text.startswith("\\begin{table}")
    (pin,) = json.loads(call(app, "pinned", add=QUESTION)[1])["pinned"]
    assert pin["question"] == QUESTION
    for _ in range(600):
        if client.get("/v1/pinned").json()["pinned"][0]["outcome"]:
            break
        time.sleep(0.2)
    (asked_pin,) = client.get("/v1/pinned").json()["pinned"]
    assert TITLE in {each["title"] for each in asked_pin["cited"]}
    assert client.post(f"/v1/pinned/{pin['id']}/seen").status_code == httpx.codes.NO_CONTENT
    assert not json.loads(call(app, "pinned", seen=pin["id"])[1])["pinned"][0]["unread"]
    assert call(app, "pinned", seen="none")[0]
    assert client.delete(f"/v1/pinned/{pin['id']}").status_code == httpx.codes.NO_CONTENT
    assert client.delete(f"/v1/pinned/{pin['id']}").status_code == httpx.codes.NOT_FOUND
    assert json.loads(call(app, "pinned")[1]) == {"pinned": []}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"question": " "}, "The question is empty"), ({"question": "x" * 2001}, "2,001"), ({}, "")],
)
def test_a_tool_says_what_is_wrong(app: Served, arguments: dict[str, object], said: str) -> None:
    failed, text = call(app, "ask", **arguments)
    assert failed
    assert said in text


def test_nothing_else_of_the_page_can_be_called_by_name(client: httpx.Client) -> None:
    described = client.get("/gradio_api/info").json()
    assert set(described["named_endpoints"]) == {
        "/ask",
        "/audit",
        "/lookup",
        "/pinned",
        "/search",
        "/table",
    }
    assert described["unnamed_endpoints"] == {}
    assert client.get("/gradio_api/mcp/sse").status_code == 404
