"""Routes of evidence tables and pinned questions."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from assistant.pipeline.assistant import LONGEST_QUESTION
from assistant.research.pinned import Change, pin_json, pin_question, unread
from assistant.research.pinned_store import Cited, Pin
from assistant.research.table import (
    DEFAULT_COLUMNS,
    DEFAULT_ROWS,
    LONGEST_COLUMN,
    MOST_COLUMNS,
    MOST_ROWS,
    table_json,
)
from assistant.research.table_files import export
from assistant.server.api.errors import ApiError, documented, unless_gone
from assistant.server.auth import owner_of
from assistant.server.service import Service
from assistant.types import Outcome
from retrieval.types import InputError

_QUESTION = "Which papers recognise human actions from skeleton sequences?"
_NOT_BLANK = r"\S"
_TYPES = {"csv": "text/csv", "markdown": "text/markdown", "latex": "application/x-latex"}
_KINDS = [f"{kind}; charset=utf-8" for kind in _TYPES.values()]
_TEXT = {"type": "string"}

Column = Annotated[str, Field(min_length=1, max_length=LONGEST_COLUMN, pattern=_NOT_BLANK)]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, pattern=_NOT_BLANK)]


class TableRequest(
    BaseModel, strict=True, json_schema_extra={"examples": [{"question": _QUESTION}]}
):
    """What papers say on a question, a column for each aspect."""

    question: Question
    columns: list[Column] = Field(list(DEFAULT_COLUMNS), min_length=1, max_length=MOST_COLUMNS)
    """Names of columns, or questions to each paper."""
    k: int = Field(DEFAULT_ROWS, ge=1, le=MOST_ROWS)
    """Most papers."""
    format: Literal["json", "csv", "markdown", "latex"] = "json"


class CellOut(BaseModel, extra="forbid"):
    """What an abstract says on a column; without a quote if it says nothing."""

    text: str
    quote: str
    """Verbatim from the abstract."""


class RowOut(BaseModel, extra="forbid"):
    """A paper with its cells, in the order of the columns."""

    paper_id: str
    key: str
    title: str
    year: int | None
    cells: list[CellOut]


class TableOut(BaseModel, extra="forbid"):
    """An evidence table."""

    question: str
    columns: list[str]
    rows: list[RowOut]


class PinRequest(BaseModel, strict=True, json_schema_extra={"examples": [{"question": _QUESTION}]}):
    """A question to be asked again whenever the library has changed."""

    question: Question


class PinOut(BaseModel, extra="forbid"):
    """A pinned question with its latest answer."""

    id: str
    question: str
    outcome: Outcome | None
    """None until it is asked for the first time."""
    answer: str | None
    cited: list[Cited]
    asked: float | None
    """Seconds since 1970."""
    unread: bool
    """Whether the evidence has changed since it was marked as seen."""
    change: Change | None


class PinsOut(BaseModel, extra="forbid"):
    """Pinned questions, latest first."""

    pinned: list[PinOut]


class _SharedPath(APIRoute):
    """A route that names both methods of `/v1/pinned` if it is asked with another."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; one with a method that the path lacks is refused."""
        if self.path == "/v1/pinned" and scope["method"] not in (self.methods or ()):
            raise HTTPException(405, headers={"Allow": "GET, POST"})
        await super().handle(scope, receive, send)


def research_routes(service: Service) -> APIRouter:
    """Router of tables and pinned questions."""
    router = APIRouter(tags=["Research"], route_class=_SharedPath)
    errors = documented(400, 401, 408, 413, 415, 429, 500, 503)
    unknown = documented(401, 404, 429, 500, 503)

    @router.post(
        "/v1/table",
        summary="Lay out what papers say on a question",
        response_model=TableOut,
        responses={200: {"content": {kind: {"schema": _TEXT} for kind in _KINDS}}, **errors},
    )
    async def table(body: TableRequest, request: Request) -> Response:
        """Papers as rows; each cell is a statement with its quote, or says that there is none."""
        owner = owner_of(request.scope)
        filling = service.table_async(body.question, body.columns, body.k, owner=owner)
        filled = await unless_gone(request.receive, filling)
        if body.format == "json":
            return JSONResponse(table_json(filled))
        kind = f"{_TYPES[body.format]}; charset=utf-8"
        return Response(export(filled, body.format), media_type=kind)

    def shown(pin: Pin) -> dict[str, Any]:
        return pin_json(pin, unread(pin))

    @router.get("/v1/pinned", summary="Pinned questions", response_model=PinsOut, responses=errors)
    def pinned(request: Request) -> dict[str, Any]:
        """Your pinned questions with their latest answers, and how the evidence has changed."""
        return {"pinned": list(map(shown, service.pins.listed(owner_of(request.scope))))}

    @router.post("/v1/pinned", summary="Pin a question", response_model=PinOut, responses=errors)
    def pin(body: PinRequest, request: Request) -> dict[str, Any]:
        """Have a question asked now, and again whenever the library has changed."""
        pin = pin_question(service.pins, owner_of(request.scope), body.question)
        service.pinned.wake()
        return shown(pin)

    @router.post(
        "/v1/pinned/{id}/seen",
        summary="Mark a change as seen",
        status_code=204,
        responses=unknown,
    )
    def seen(id: str, request: Request) -> None:  # noqa: A002 - the path's word
        """The change is no longer unread."""
        _change(service.pins.mark_seen, request, id)

    @router.delete(
        "/v1/pinned/{id}", summary="Remove a pinned question", status_code=204, responses=unknown
    )
    def unpin(id: str, request: Request) -> None:  # noqa: A002
        """The question is no longer asked."""
        _change(service.pins.remove, request, id)

    return router


def _change(change: Callable[[str, str], None], request: Request, id_: str) -> None:
    """Change the owner's pin; 404 if there is none."""
    try:
        change(owner_of(request.scope), id_)
    except InputError as error:
        raise ApiError(404, f"You have no pinned question with the id {id_[:100]!r}.") from error
