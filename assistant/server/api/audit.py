"""The route of the draft audit."""

from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from assistant.research.audit.audit import Audit
from assistant.research.audit.types import audit_json
from assistant.server.api.errors import documented, unless_gone
from assistant.server.api.schemas import AuditOut, AuditRequest
from assistant.server.auth import owner_of
from assistant.server.service import Service


def audit_routes(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(tags=["Papers"])

    @router.post(
        "/v1/audit",
        summary="Check a draft against the library",
        response_model=AuditOut,
        responses=documented(400, 401, 408, 413, 415, 429, 500, 503),
    )
    async def audit(body: AuditRequest, request: Request) -> dict[str, Any]:
        """Every sentence of a text, Markdown or LaTeX: supported, contradicted, nothing found, …

        Citations in the draft are resolved and judged, too. A long draft takes minutes; closing the
        connection stops the work.
        """
        service.assistant  # noqa: B018 - raises if it is not ready
        return await unless_gone(
            request.receive,
            audited(service, body.draft, body.bibliography, owner_of(request.scope)),
        )

    return router


async def audited(service: Service, text: str, bibliography: str, owner: str) -> dict[str, Any]:
    """The audit of a draft as JSON."""
    asked = await run_in_threadpool(Audit.of, text, "", bibliography)
    async with aclosing(service.audit_async(asked, owner=owner)) as judged:
        return audit_json([each async for each in judged], asked.notes)
