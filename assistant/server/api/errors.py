"""Errors of the HTTP API: one JSON shape with one sentence and its status."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from assistant.server.api.disconnects import CLIENT_GONE, ClientGone
from assistant.server.api.schemas import ErrorOut
from assistant.server.auth.responses import error_json
from retrieval.types import (
    BusyError,
    Cancelled,
    InputError,
    LibraryError,
    LibraryInUseError,
    NotReadyError,
    UserError,
)

_LONGEST_MESSAGE = 500
_UNION_MEMBER = re.compile(r"str|list\[.*|function-.*|ResponseFormat|nullable.*")
"""Names that pydantic puts between those of fields for the types of a union."""

_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    409: "conflict",
    413: "body_too_large",
    415: "unsupported_media_type",
    429: "too_many_attempts",
    500: "internal_error",
    503: "unavailable",
}
_DESCRIPTIONS = {
    400: "The request is not as described.",
    401: "A key or a password is needed.",
    403: "This is not allowed here.",
    404: "There is no such thing.",
    405: "There is no such method here.",
    408: "The request did not come to its end.",
    409: "Another process, or another request, writes to the library.",
    413: "The body is too large.",
    415: "The body is of another kind.",
    429: "Too many wrong keys came from there.",
    500: "Something unexpected went wrong.",
    503: "The assistant is being set up, or too many are waiting for it.",
}


class ApiError(HTTPException):
    """A response that is an error; routes and middleware can raise it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        param: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """An error with `message`; without `code` it has that of its status."""
        super().__init__(status, message, headers)
        self.code = code
        self.param = param


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {
        status: {"model": ErrorOut, "description": _DESCRIPTIONS[status]} for status in statuses
    }


def error_response(
    status: int,
    message: str,
    *,
    code: str = "",
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The response for an error."""
    code = code or _CODES.get(status, "error")
    error = error_json(status, message[:_LONGEST_MESSAGE], code, param)
    return JSONResponse(error, status, headers)


def user_error_status(error: UserError) -> tuple[int, str, dict[str, str]]:
    """Status, code and headers for a user error."""
    for kind, status, code, seconds in (
        (InputError, 400, "bad_request", 0),
        (BusyError, 503, "busy", 5),
        (NotReadyError, 503, "not_ready", 10),
        (LibraryInUseError, 409, "library_in_use", 10),
        (LibraryError, 503, "library_unusable", 0),
    ):
        if isinstance(error, kind):
            return status, code, {"Retry-After": str(seconds)} if seconds else {}
    return 500, "internal_error", {}


Handler = Callable[[Request, Any], Awaitable[Response]]


def add_error_handlers(app: FastAPI) -> None:
    """Have `app` return every error in the same shape."""
    handlers: dict[type[Exception], Handler] = {
        HTTPException: _http_error,
        RequestValidationError: _invalid,
        UserError: _user_error,
        Cancelled: _ended,
        ClientGone: _client_gone,
        Exception: _bug,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


async def _http_error(request: Request, error: HTTPException) -> Response:
    if isinstance(error, ApiError):
        message, code, param = str(error.detail), error.code, error.param
    else:
        message, code, param = _sentence(request, error), "", ""
    return error_response(error.status_code, message, code=code, param=param, headers=error.headers)


def _sentence(request: Request, error: HTTPException) -> str:
    """The sentence for an error of the framework."""
    path = request.url.path[:100]
    if error.status_code == 404:  # noqa: PLR2004
        return f"There is nothing at {path}; /docs lists what there is."
    if error.status_code == 405:  # noqa: PLR2004
        allowed = (error.headers or {}).get("Allow", "another method")
        return f"{request.method} is not allowed at {path}; use {allowed}."
    if error.status_code == 400 and _is_json(request):  # noqa: PLR2004
        return "The body cannot be read; send JSON in UTF-8, not nested too deeply."
    return str(error.detail)


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    # Of several errors the deepest: in a union it is in the type that was meant.
    first = max(error.errors(), key=lambda each: len(each["loc"]))
    names = [each for each in map(str, first["loc"][1:]) if not _UNION_MEMBER.fullmatch(each)]
    where = ".".join(names)
    if first["loc"] == ("body",) and first["type"] == "missing":
        return error_response(400, "The body is missing; send JSON.", code="invalid_json")
    if first["loc"] == ("body",) and not _is_json(request):
        return error_response(415, "The body has to be JSON; say so with application/json.")
    if first["type"] == "json_invalid":
        message = (
            f"The body is no valid JSON (character {first['loc'][-1]}: {first['ctx']['error']})."
        )
        return error_response(400, message, code="invalid_json")
    message = f"{where}: {_reason(first)}." if where else "The body has to be a JSON object."
    return error_response(400, message, code="invalid_value", param=where)


def _reason(error: Mapping[str, Any]) -> str:
    """Why a value is invalid."""
    if (
        error["type"] == "string_pattern_mismatch"
    ):  # the only pattern is that of text that is not blank
        return "Input should not be blank"
    if error["type"] == "too_short":
        return f"Input should have at least {error['ctx']['min_length']}"
    return str(error["msg"]).removeprefix("Value error, ")


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


async def _user_error(_request: Request, error: UserError) -> Response:
    status, code, headers = user_error_status(error)
    return error_response(status, str(error), code=code, headers=headers)


async def _ended(_request: Request, _error: Cancelled) -> Response:
    return error_response(503, "The assistant ends; start it again.", code="ending")


async def _client_gone(_request: Request, _error: ClientGone) -> Response:
    return Response(status_code=CLIENT_GONE)


async def _bug(_request: Request, _error: Exception) -> Response:
    return error_response(
        500, "Something unexpected went wrong; the terminal of the assistant shows more."
    )
