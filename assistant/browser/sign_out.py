"""The way out, where people sign in."""

import gradio as gr

from assistant.settings import Settings

_FORM = '<form method="post" action="/logout"><button>Sign out</button></form>'


def sign_out(settings: Settings) -> None:
    """A button that ends the session; a form of its own, since the page itself has no say in it."""
    if settings.auth_file:
        gr.HTML(_FORM, elem_id="access-out", js_on_load=None, apply_default_css=False)
