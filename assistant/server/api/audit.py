"""The route of the draft audit."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse

from assistant.research.audit.audit import Audit
from assistant.research.audit.report import page, suggested_bibtex, with_citations
from assistant.research.audit.types import AuditedSentence, audit_json
from assistant.server.api.errors import documented, unless_gone
from assistant.server.api.schemas import AuditOut, AuditRequest
from assistant.server.auth import owner_of
from assistant.server.service import Service

_HTML = "text/html; charset=utf-8"


def audit_routes(service: Service) -> APIRouter:
    """Router of the draft audit."""
    router = APIRouter(tags=["Papers"])
    errors = documented(400, 401, 408, 413, 415, 429, 500, 503)

    @router.post(
        "/v1/audit",
        summary="Check a draft against the library",
        response_model=AuditOut,
        responses={200: {"content": {_HTML: {"schema": {"type": "string"}}}}, **errors},
    )
    async def audit(body: AuditRequest, request: Request) -> Response:
        """Every sentence of a text, Markdown or LaTeX: supported, contradicted, nothing found, …

        Citations in the draft are resolved and judged, too. A long draft takes minutes; closing the
        connection stops the work.
        """
        service.assistant  # noqa: B018 - raises if it is not ready
        asked = await run_in_threadpool(Audit.of, body.draft, "", body.bibliography)
        owner = owner_of(request.scope)
        sentences = await unless_gone(request.receive, service.audit_async(asked, owner=owner))
        if body.format == "html":
            return HTMLResponse(page(sentences, asked.notes, "a draft"))
        return JSONResponse(report_json(asked, sentences, insert=body.insert))

    return router


def report_json(
    asked: Audit, sentences: Sequence[AuditedSentence], *, insert: bool
) -> dict[str, Any]:
    """The audit as JSON; `insert` adds the draft with the suggested citations and their BibTeX."""
    report = audit_json(sentences, asked.notes)
    if insert:
        report["inserted"] = with_citations(asked.draft, sentences)
        report["bibtex"] = suggested_bibtex(sentences)
    return report
