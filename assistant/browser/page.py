"""The page: a tab for each way of using the library, shown once the setup has ended."""

from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from assistant.browser.chat import Chat, session_of
from assistant.browser.downloads import add_downloads
from assistant.browser.fetching import fetch_nothing
from assistant.browser.library import library_tab
from assistant.browser.lookup import lookup_tab
from assistant.browser.models import models_tab
from assistant.browser.paper import paper_dialog
from assistant.browser.setup_html import library_html, setup_html
from assistant.browser.sign_out import sign_out
from assistant.browser.stops import Stops
from assistant.browser.tools import add_tools, hide_all_but_tools
from assistant.service import Service
from assistant.setup import Setup

TITLE = "Abstracts assistant"
_STATIC = Path(__file__).with_name("static")
_FONT = ("system-ui", "sans-serif")
_TICK_SECONDS = 0.5
_LARGEST_UPLOAD = "50mb"
_UPLOADS_GO = (3600, 24 * 3600)
"""Seconds between two looks for uploaded files, and after which they are removed."""


def mount_page(app: FastAPI, service: Service) -> None:
    """Serve the page, and the files that it needs, with `app`."""
    add_downloads(app, service)
    fetch_nothing()
    app.mount("/own", StaticFiles(directory=_STATIC), name="own")
    gr.mount_gradio_app(
        app,
        build_page(service),
        path="/",
        server_name=service.settings.host,
        server_port=service.settings.port,
        theme=gr.themes.Soft(font=_FONT, font_mono=("ui-monospace", "monospace")),
        css_paths=_STATIC / "style.css",
        head='<script src="/own/page.js" defer></script>',
        footer_links=[],
        run_history=False,
        max_file_size=_LARGEST_UPLOAD,
        ssr_mode=False,
        enable_monitoring=False,
        show_error=True,
        mcp_server=True,
    )


def build_page(service: Service) -> gr.Blocks:
    """The page for an assistant that may still be in preparation."""
    stops = Stops()
    page: gr.Blocks = gr.Blocks(
        title=TITLE, analytics_enabled=False, fill_height=True, delete_cache=_UPLOADS_GO
    )
    with page:
        add_tools(service)
        with gr.Row(elem_id="top"):
            gr.HTML(
                f"<h1>{TITLE}</h1>", elem_id="heading", js_on_load=None, apply_default_css=False
            )
            library = gr.HTML(elem_id="library", js_on_load=None, apply_default_css=False)
            sign_out(service.settings)
        preparing = gr.HTML(setup_html(service.setup.state), elem_id="setup", js_on_load=None)
        with gr.Column(visible=False, elem_id="tabs", scale=1) as tabs:
            chat = _tabs(service, stops, library)
        timer = gr.Timer(_TICK_SECONDS)
        shown = [library, preparing, tabs, timer]
        step: dict[str, Any] = {
            "fn": lambda: _setup_step(service.setup),
            "outputs": shown,
            "show_progress": "hidden",
            "api_visibility": "private",
        }
        page.load(**step).then(
            chat.opened, outputs=chat.shown, show_progress="hidden", api_visibility="private"
        )
        timer.tick(**step)

        # Gradio passes the request to parameters of its type, so these cannot be lambdas.
        def closed(request: gr.Request) -> None:
            stops.end(session_of(request))

        page.unload(closed)
    hide_all_but_tools(page)
    page.queue(default_concurrency_limit=None)
    return page


def _tabs(service: Service, stops: Stops, heading: gr.HTML) -> Chat:
    paper = paper_dialog(service)
    with gr.Tabs(elem_id="ways") as tabs:
        with gr.Tab("Chat", id="chat", scale=1):
            chat = Chat(service, stops)
        with gr.Tab("Citation lookup", id="lookup"):
            lookup_tab(service, paper)
        with gr.Tab("Library", id="library") as library:
            library_tab(service, library, heading)
        with gr.Tab("Models", id="models") as models:
            models_tab(service, models)
    for html in (chat.conversation, chat.answer):
        paper.opens_from(html)
    paper.asks_in(tabs, "chat", chat.question)
    return chat


def _setup_step(setup: Setup) -> tuple[Any, ...]:
    """Show the progress of the first start, then the tabs in its place."""
    state = setup.state
    if state.assistant is None:
        waiting = not state.error
        return "", setup_html(state), gr.update(visible=False), gr.update(active=waiting)
    line = library_html(state.papers, state.assistant.model.name)
    hidden = gr.update(value="", visible=False)
    return line, hidden, gr.update(visible=True), gr.update(active=False)
