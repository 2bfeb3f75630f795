"""`GET /v1/models`: which model answers."""

import time
from typing import Any

from fastapi import APIRouter

from assistant.api.chat_completions import check_model
from assistant.api.errors import documented
from assistant.api.schemas import ModelOut, ModelsOut
from assistant.service import Service


def model_routes(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["Models"])
    started = int(time.time())

    def model(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": started, "owned_by": "local"}

    @router.get(
        "/v1/models",
        operation_id="models",
        summary="The models that answer",
        response_model=ModelsOut,
        responses=documented(401, 429, 500, 503),
    )
    async def models() -> dict[str, Any]:
        """There is one; it also answers under the name `default`."""
        return {"object": "list", "data": [model(service.assistant.model.name)]}

    @router.get(
        "/v1/models/{id:anything}",
        operation_id="model",
        summary="One model",
        response_model=ModelOut,
        responses=documented(401, 404, 429, 500, 503),
    )
    async def one_model(id: str) -> dict[str, Any]:  # noqa: A002 - the path's word
        """The model with this id."""
        return model(check_model(service, id))

    return router
