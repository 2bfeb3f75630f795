"""A page whose event handlers say whose request they got: python echo_app.py AUTH_FILE PORT."""

import sys
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import uvicorn
from fastapi import FastAPI
from protected_app import beside

from assistant.server.auth import owner_behind
from assistant.server.auth.guard import protect
from assistant.server.web.page import refuse_downloads
from assistant.settings import Settings


def echo_app(settings: Settings) -> FastAPI:
    """Handlers that run at once, from the queue, and as a stream."""

    def owner(request: gr.Request) -> str:
        return owner_behind(request)

    def stream(request: gr.Request) -> Iterator[str]:
        yield "first"
        yield owner_behind(request)

    def repeat(said: str) -> str:
        return said

    with gr.Blocks(analytics_enabled=False) as page:
        shown = gr.Textbox()
        gr.HTML("</script><script>window.hit = 1</script>", js_on_load=None)
        page.load(owner, outputs=shown, queue=False, api_name="at_once")
        page.load(owner, outputs=shown, api_name="queued")
        shown.submit(repeat, shown, shown, queue=False, api_name="repeated")
        file = gr.File(file_types=[".bib"])
        file.upload(str, file, shown, queue=False, api_name="filed")
        page.load(stream, outputs=shown, api_name="streamed")
    refuse_downloads()
    app = FastAPI()
    gr.mount_gradio_app(app, page, path="/", run_history=False, ssr_mode=False)
    protect(app, settings, beside(settings))
    return app


if __name__ == "__main__":
    app = echo_app(Settings(auth_file=Path(sys.argv[1])))
    uvicorn.run(app, port=int(sys.argv[2]), log_level="info")
