"""Serves the page on this machine, from the first moment of the first start."""

import socket
import sys
from pathlib import Path

import gradio as gr

from assistant.browser.page import build_page
from assistant.browser.setup import Setup, check_given
from assistant.settings import Settings, reach_directly
from retrieval.errors import ServeError

_FONT = ("system-ui", "sans-serif")
_STYLE = Path(__file__).with_name("style.css")


def serve(settings: Settings) -> None:
    """Show the app until Ctrl-C.

    Raises:
        ServeError: the address or port cannot be used.
        LibraryError: the library's folder cannot be used.
        ModelError: a model that was named is no usable file.
    """
    _check_port(settings.host, settings.port)
    check_given(settings)
    reach_directly(settings.host)
    setup = Setup(settings)
    page = build_page(setup)
    try:
        setup.start()
        page.queue(default_concurrency_limit=4)
        page.launch(
            server_name=settings.host,
            server_port=settings.port,
            theme=gr.themes.Soft(font=_FONT, font_mono=("ui-monospace", "monospace")),
            css_paths=_STYLE,
            footer_links=[],
            share=False,
            ssr_mode=False,
            enable_monitoring=False,
            show_error=True,
            quiet=True,
            prevent_thread_lock=True,
        )
        print(
            f"The assistant is at http://{settings.host}:{settings.port} (Ctrl-C ends it).",
            file=sys.stderr,
            flush=True,
        )
        page.block_thread()
    finally:
        setup.stop()


def _check_port(host: str, port: int) -> None:
    """Refuse a port that is taken before anything is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServeError(
                f"The address {host} port {port} cannot be used ({error.strerror}); "
                "end the program that uses it, or choose another with --port."
            ) from error
