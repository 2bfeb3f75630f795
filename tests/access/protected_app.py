"""A small app behind everything that protects the real one, and a client of it."""

from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from fastapi.testclient import TestClient

from assistant.server.auth import owner_of
from assistant.server.auth.guard import protect
from assistant.settings import Settings
from assistant.storage.database import FILE, Database

PASSWORD = "a correct horse"  # noqa: S105 - of nobody
ADDRESS = "http://127.0.0.1:7860"


class Known(NamedTuple):
    """What opens the door."""

    file: Path
    key: str


def beside(settings: Settings) -> Database:
    """A database beside the file of users; without one it is not used."""
    return Database(f"sqlite:///{(settings.auth_file or Path('unused')).with_name(FILE)}")


def small_app(settings: Settings) -> FastAPI:
    """Routes such as the real app has, behind what protects it."""
    app = FastAPI()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse("<title>t</title><script>window.first = 1</script>")

    @app.get("/owner")
    @app.get("/healthz")
    @app.post("/owner")
    def owner(request: Request) -> PlainTextResponse:
        return PlainTextResponse(owner_of(request.scope))

    @app.post("/gradio_api/upload")
    @app.post("/echo")
    @app.post("/v1/echo")
    async def read(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    @app.get("/stream")
    def stream() -> StreamingResponse:
        return StreamingResponse(iter(["one ", "two"]), headers={"cache-control": "public"})

    @app.get("/gradio_api/file={path:path}")
    def file(path: str) -> Response:
        return HTMLResponse(f"<script>window.path = {len(path)}</script>")

    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("a bug")

    protect(app, settings, beside(settings))
    return app


def client_of(**settings: object) -> TestClient:
    """A client that follows no redirect."""
    app = small_app(Settings.model_validate({"port": 7860, **settings}))
    return TestClient(app, base_url=ADDRESS, follow_redirects=False, raise_server_exceptions=False)
