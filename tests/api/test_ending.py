"""Ctrl-C while programs and pages are connected."""

import contextlib
from pathlib import Path

import httpx
from app_process import served

ASKED = {"messages": [{"role": "user", "content": "Which papers recognise human actions?"}]}


def test_ctrl_c_ends_open_streams_cleanly(library_home: Path) -> None:
    with (
        served(library_home) as app,
        httpx.Client(base_url=app.address, timeout=60, trust_env=False) as client,
        contextlib.ExitStack() as streams,
    ):
        app.wait_until_ready()
        page = streams.enter_context(client.stream("GET", "/gradio_api/heartbeat/page"))
        beats = page.iter_text()
        assert "ALIVE" in next(beats)
        asked = client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True})
        answer = streams.enter_context(asked).iter_lines()
        assert next(answer).startswith("data: ")
        assert app.end() in {0, 130}
        assert not any("[DONE]" in line for line in answer)
        assert app.process.stderr is not None
        said = app.process.stderr.read()
        assert "Traceback" not in said
        assert "ERROR" not in said
