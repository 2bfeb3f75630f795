"""The page: a tab for each way of using the library, shown once the setup has ended."""

from typing import Any

import gradio as gr
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from gradio import processing_utils

from assistant.server.service import Service
from assistant.server.web.answering import Stops
from assistant.server.web.audit import audit_session, audit_tab
from assistant.server.web.chat import Chat, conversation_of, session_of
from assistant.server.web.exports import add_downloads
from assistant.server.web.html import QUIET, STATIC
from assistant.server.web.library import heading_html, library_html, library_tab
from assistant.server.web.lookup import lookup_tab
from assistant.server.web.models import models_tab
from assistant.server.web.paper import PaperDialog
from assistant.server.web.receipts import add_receipts
from assistant.server.web.research import Research
from assistant.server.web.tools import add_tools, hide_all_but_tools

TITLE = "Abstracts assistant"
_FONT = (gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "system-ui", "sans-serif")
"""Gradio ships it; the page asks no other host."""
_STYLES = ("frame", "chat", "paper", "lookup", "audit", "library", "models", "research")
_SCRIPTS = ("page", "chat")
_TICK_SECONDS = 0.5
_LARGEST_UPLOAD = "50mb"
_DELETE_UPLOADS = (3600, 24 * 3600)
"""Seconds between two searches for uploaded files, and their age when they are deleted."""
_SIGN_OUT = '<form method="post" action="logout"><button>Sign out</button></form>'
"""A plain form: the login page answers it, not Gradio."""


def mount_page(app: FastAPI, service: Service) -> None:
    """Serve the page and its files with `app`."""
    add_downloads(app, service)
    add_receipts(app, service)
    refuse_downloads()
    app.mount("/own", StaticFiles(directory=STATIC), name="own")
    gr.mount_gradio_app(
        app,
        build_page(service),
        path="/",
        server_name=service.settings.host,
        server_port=service.settings.port,
        theme=gr.themes.Base(font=_FONT, font_mono=("ui-monospace", "monospace")),
        css_paths=[STATIC / f"{name}.css" for name in _STYLES],
        favicon_path=STATIC / "icon.svg",
        head="".join(f'<script src="own/{name}.js" defer></script>' for name in _SCRIPTS),
        footer_links=[],
        run_history=False,
        max_file_size=_LARGEST_UPLOAD,
        ssr_mode=False,
        enable_monitoring=False,
        show_error=True,
        mcp_server=True,
    )


def refuse_downloads() -> None:
    """Have Gradio refuse, in this process, to fetch files from addresses that a client names."""

    async def refuse(url: str, cache_dir: str) -> str:  # noqa: ARG001 - Gradio's signature
        raise gr.Error("Files are not fetched from addresses; upload the file itself.")

    processing_utils.async_ssrf_protected_download = refuse


def build_page(service: Service) -> gr.Blocks:
    """The page; until the setup has ended it shows the progress."""
    stops, setup = Stops(), service.setup
    static: dict[str, Any] = {"js_on_load": None, "apply_default_css": False}
    page: gr.Blocks = gr.Blocks(
        title=TITLE, analytics_enabled=False, fill_height=True, delete_cache=_DELETE_UPLOADS
    )
    with page:
        add_tools(service)
        with gr.Row(elem_id="top"):
            gr.HTML(f"<h1>{TITLE}</h1>", elem_id="heading", **static)
            heading = gr.HTML(elem_id="library", **static)
            if service.settings.auth_file:
                gr.HTML(_SIGN_OUT, elem_id="access-out", **static)
        progress = gr.HTML(library_html("setup", setup.state), elem_id="setup", js_on_load=None)
        with gr.Column(visible=False, elem_id="tabs", scale=1) as tabs:
            chat, research = _tabs(service, stops, heading)
        timer = gr.Timer(_TICK_SECONDS)

        def step() -> dict[Any, Any]:
            """Show the progress of the first start, then the tabs in its place."""
            state = setup.state
            if state.assistant is None:
                active = gr.update(active=not state.error)
                return {progress: library_html("setup", state), timer: active}
            return {
                heading: heading_html(state),
                progress: gr.update(value="", visible=False),
                tabs: gr.update(visible=True),
                timer: gr.update(active=state.is_reading),
            }

        # Gradio passes the request to parameters of its type, so these cannot be lambdas.
        def tick(current: str, request: gr.Request) -> dict[Any, Any]:
            """Like `step`; a new conversation offers questions as soon as they can be answered."""
            return step() | chat.welcomed(current or conversation_of(request))

        def closed(request: gr.Request) -> None:
            stops.end(session_of(request))
            stops.end(audit_session(request))

        shown = [heading, progress, tabs, timer]
        page.load(step, outputs=shown, **QUIET).then(chat.opened, outputs=chat.view, **QUIET)
        page.load(research.listed, research.pins, research.pins, queue=False, **QUIET)
        timer.tick(tick, chat.current, [*shown, chat.conversation], **QUIET)
        page.unload(closed)
    hide_all_but_tools(page)
    page.queue(default_concurrency_limit=None)
    return page


def _tabs(service: Service, stops: Stops, heading: gr.HTML) -> tuple[Chat, Research]:
    paper = PaperDialog(service)
    with gr.Tabs(elem_id="ways") as tabs:
        with gr.Tab("Chat", id="chat", scale=1):
            chat = Chat(service, stops)
        with gr.Tab("Lookup", id="lookup"):
            lookup_tab(service, paper)
        with gr.Tab("Check a draft", id="audit"):
            audit_tab(service, stops, paper)
        with gr.Tab("Library", id="library") as library:
            library_tab(service, library, heading)
        with gr.Tab("Models", id="models") as models:
            models_tab(service, models)
    research = Research(service, chat.pins, chat.conversation)
    for html in (chat.conversation, chat.answer, research.dialog):
        paper.opens_from(html)
    paper.asks_in(tabs, "chat", chat.question)
    return chat, research
