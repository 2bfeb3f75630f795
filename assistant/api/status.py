"""Whether the assistant is well: for whoever starts it, and for monitoring."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from assistant.api.schemas import HealthOut
from assistant.service import Service

_FIGURES = "text/plain; version=0.0.4; charset=utf-8"


def status_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["Status"])

    @router.get(
        "/healthz",
        operation_id="health",
        summary="Whether questions can be asked",
        response_model=HealthOut,
        responses={503: {"model": HealthOut, "description": "Not yet, or not at all."}},
    )
    async def healthz() -> Response:
        """200 once they can, 503 while models and papers are prepared or where that failed."""
        health = _health(service)
        ready = health["status"] == "ready"
        return JSONResponse(health, 200 if ready else 503, None if ready else {"Retry-After": "10"})

    @router.get(
        "/metrics",
        operation_id="metrics",
        summary="Figures for Prometheus",
        response_class=Response,
        responses={200: {"content": {_FIGURES: {"schema": {"type": "string"}}}}},
    )
    def metrics() -> Response:
        """Requests, the queue, tokens, seconds of each stage, and how questions ended."""
        return Response(service.metrics.text(), media_type=_FIGURES)

    return router


def _health(service: Service) -> dict[str, Any]:
    state = service.setup.state
    if state.error:
        status, message = "failed", state.error
    elif state.assistant is None:
        stage = state.stages[-1].name if state.stages else "starting"
        status, message = "setting up", f"{stage} …"
    else:
        status, message = "ready", ""
    model = state.assistant.model.name if state.assistant else None
    return {"status": status, "message": message, "papers": state.papers, "model": model}
