"""The HTTP API as an app of its own, which has every path that it could have."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant import __version__
from assistant.api.chat_completions import chat_routes
from assistant.api.docs import DESCRIPTION, add_docs
from assistant.api.errors import add_error_handlers
from assistant.api.ingest_route import ingest_routes
from assistant.api.limits import Limits
from assistant.api.models import model_routes
from assistant.api.papers import paper_routes
from assistant.api.status import status_routes
from assistant.service import Service

_ITS_OWN = ("/v1", "/docs", "/openapi.json", "/healthz", "/metrics")
_OLD_MCP = ("/gradio_api/mcp/sse", "/gradio_api/mcp/messages")
"""MCP's former transport: with Gradio's, every client that goes away leaves a traceback."""


def add_api(app: FastAPI, service: Service) -> None:
    """Have `app` hand over what is the API's."""
    app.add_middleware(_Fork, api=build_api(service))


def build_api(service: Service) -> FastAPI:
    """All routes, with errors of one shape."""
    api = FastAPI(
        title="Abstracts assistant",
        description=DESCRIPTION,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for routes in (chat_routes, model_routes, paper_routes, ingest_routes, status_routes):
        api.include_router(routes(service))
    add_docs(api)
    add_error_handlers(api)
    api.add_middleware(Limits)
    return api


class _Fork:
    """Sends a request to the API or to the page.

    The page takes every path, so that an unknown one of the API would be a page, and a wrong
    method not said to be wrong, were they routes of one app.
    """

    def __init__(self, app: ASGIApp, api: ASGIApp) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._api if _is_apis(scope) else self._app)(scope, receive, send)


def _is_apis(scope: Scope) -> bool:
    return scope["type"] == "http" and any(
        scope["path"] == path or scope["path"].startswith(f"{path}/")
        for path in (*_ITS_OWN, *_OLD_MCP)
    )
