"""The app of the HTTP API: all routes, their OpenAPI document and its page."""

import time
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant import __version__
from assistant.server.api.audit import audit_routes
from assistant.server.api.chat_completions import chat_routes, check_model
from assistant.server.api.errors import add_error_handlers, documented
from assistant.server.api.papers import ingest_routes, paper_routes
from assistant.server.api.research import research_routes
from assistant.server.api.schemas import HealthOut, ModelOut, ModelsOut, ReadyOut
from assistant.server.auth import HttpMiddleware, path_of
from assistant.server.service import Service
from retrieval.types import NotReadyError

_STATIC = Path(__file__).with_name("static")
_DESCRIPTION = """
Ask a library of paper abstracts, search it, look papers up.

`POST /v1/chat/completions` speaks OpenAI's protocol, so that its clients work unchanged; citations,
quotes and outcome come in the field `assistant`. Errors have OpenAI's shape everywhere. A key is
needed only where the assistant was started with `--auth-file`.
"""
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_API_PATHS = ("/v1", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics")
_OLD_MCP = ("/gradio_api/mcp/sse", "/gradio_api/mcp/messages")
"""Paths of MCP's former transport, which the API refuses: in Gradio's version of it every client
that disconnects leaves a traceback."""


def add_api(app: FastAPI, service: Service) -> None:
    """Let `app` pass the requests of the API to it."""
    app.add_middleware(_ApiOrPage, api=_build_api(service))


def _build_api(service: Service) -> FastAPI:
    api = FastAPI(
        title="Abstracts assistant",
        description=_DESCRIPTION,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    routers = (chat_routes, _model_routes, paper_routes, research_routes, audit_routes)
    for routes in (*routers, ingest_routes, _status_routes):
        api.include_router(routes(service))
    _add_docs(api)
    add_error_handlers(api)
    return api


def _model_routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["Models"])
    started = int(time.time())

    @router.get(
        "/v1/models",
        summary="The models that answer",
        responses=documented(401, 429, 500, 503),
    )
    async def models() -> ModelsOut:
        """There is one; it also answers under the name `default`."""
        return ModelsOut(data=[ModelOut(id=service.assistant.model.name, created=started)])

    @router.get(
        "/v1/models/{id:anything}",
        summary="One model",
        responses=documented(401, 404, 429, 500, 503),
    )
    async def model(id: str) -> ModelOut:  # noqa: A002 - the path's word
        """The model with this id."""
        return ModelOut(id=check_model(service, id), created=started)

    return router


def _status_routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["Status"])

    @router.get(
        "/healthz",
        summary="Whether questions can be asked",
        responses={503: {"model": HealthOut, "description": "Not yet, or not at all."}},
    )
    async def health(response: Response) -> HealthOut:
        """200 if questions can be asked, 503 during the setup or if it has failed."""
        state = service.setup.state
        if state.assistant:
            model = state.assistant.model.name
            return HealthOut(status="ready", papers=state.papers, model=model)
        response.status_code = 503
        response.headers["Retry-After"] = "10"
        if state.error:
            return HealthOut(status="failed", message=state.error, papers=state.papers)
        stage = state.stages[-1].name if state.stages else "starting"
        return HealthOut(status="setting up", message=f"{stage} …", papers=state.papers)

    @router.get(
        "/readyz",
        summary="Whether every part answers",
        responses={503: {"model": ReadyOut, "description": "A part does not answer."}},
    )
    def ready(response: Response) -> ReadyOut:
        """200 if library, store and models answer now, 503 otherwise: for a proxy's choice."""
        try:
            parts = service.parts()
        except NotReadyError as error:
            parts = {"setup": str(error)}
        if any(parts.values()):
            response.status_code = 503
            response.headers["Retry-After"] = "10"
        return ReadyOut(ready=not any(parts.values()), parts=parts)

    @router.get(
        "/metrics",
        summary="Figures for Prometheus",
        response_class=Response,
        responses={200: {"content": {_METRICS_TYPE: {"schema": {"type": "string"}}}}},
    )
    def metrics() -> Response:
        """Requests, the queue, tokens, seconds of each stage, and how questions ended."""
        return Response(service.metrics.text(), media_type=_METRICS_TYPE)

    return router


def _add_docs(app: FastAPI) -> None:
    """Add `/docs`, with files from this machine alone, and correct the OpenAPI document."""
    app.get("/docs", include_in_schema=False)(lambda: FileResponse(_STATIC / "docs.html"))
    app.mount("/docs/swagger", StaticFiles(packages=[("fastapi_offline", "static")]))
    app.mount("/docs/own", StaticFiles(directory=_STATIC))
    described = app.openapi
    app.openapi = lambda: _corrected(described())  # type: ignore[method-assign]


def _corrected(document: dict[str, Any]) -> dict[str, Any]:
    """The document as the app behaves: 400 in place of FastAPI's 422, and an optional key."""
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{}, {"key": []}]
    return document


class _ApiOrPage(HttpMiddleware):
    """Passes a request to the API or to the page.

    The page accepts every path. In one app with it, unknown paths of the API would be pages, and
    wrong methods would not be refused.
    """

    def __init__(self, app: ASGIApp, api: ASGIApp) -> None:
        super().__init__(app)
        self._api = api

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = f"{path_of(scope)}/"
        is_api = any(path.startswith(f"{each}/") for each in (*_API_PATHS, *_OLD_MCP))
        await (self._api if is_api else self.app)(scope, receive, send)
