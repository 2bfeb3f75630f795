"""Errors of every route in one JSON shape, OpenAI's: one sentence with its status and code."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive

from assistant.server.api.schemas import ErrorOut
from retrieval.types import (
    BusyError,
    Cancelled,
    InputError,
    LibraryError,
    LibraryInUseError,
    ModelServerError,
    NotReadyError,
    UserError,
)

T = TypeVar("T")

CLIENT_GONE = 499
"""The status that is counted if no client is left to read one."""
_LONGEST_MESSAGE = 500
_STATUSES = {
    400: ("bad_request", "The request is not as described."),
    401: ("unauthorized", "A key or a password is needed."),
    403: ("forbidden", "This is not allowed here."),
    404: ("not_found", "There is no such thing."),
    405: ("method_not_allowed", "There is no such method here."),
    408: ("request_timeout", "The request did not come to its end."),
    409: ("conflict", "Another process, or another request, writes to the library."),
    413: ("body_too_large", "The body is too large."),
    415: ("unsupported_media_type", "The body is of another kind."),
    429: ("too_many_attempts", "Too many wrong keys came from there."),
    500: ("internal_error", "Something unexpected went wrong."),
    503: ("unavailable", "The assistant is being set up, or too many are waiting for it."),
}
"""Code and description of each status."""
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_SERVER_ERROR = 500
_USER_ERRORS: dict[type[UserError], tuple[int, str, int]] = {
    InputError: (400, "bad_request", 0),
    BusyError: (503, "busy", 5),
    NotReadyError: (503, "not_ready", 10),
    LibraryInUseError: (409, "library_in_use", 10),
    ModelServerError: (503, "model_unavailable", 10),
    LibraryError: (503, "library_unusable", 0),
    UserError: (500, "internal_error", 0),
}
"""Status, code and seconds until another attempt; the first that fits holds."""


class ApiError(HTTPException):
    """An error that a route raises; its arguments are those of `error_response`."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(status, message)
        self.response = error_response(status, message, **more)


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled as soon as the client goes.

    Args:
        receive: of the request, whose body has been read.
        work: the work for the client.

    Raises:
        ApiError: the client has closed the connection.
    """
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(CLIENT_GONE, "The connection was closed.")
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {status: {"model": ErrorOut, "description": _STATUSES[status][1]} for status in statuses}


def error_response(
    status: int,
    message: str,
    *,
    code: str = "",
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """`{"error": {"message", "type", "code", "param"}}`; without `code` that of the status."""
    default = "server_error" if status >= _SERVER_ERROR else "invalid_request_error"
    error = {
        "message": message[:_LONGEST_MESSAGE],
        "type": _TYPES.get(status, default),
        "code": code or _STATUSES.get(status, ("error",))[0],
        "param": param or None,
    }
    return JSONResponse({"error": error}, status, headers)


def error_event(error: UserError | Cancelled) -> str:
    """An error as a server-sent event, for a stream whose status was sent before."""
    return f"data: {bytes(_user_error(error).body).decode()}\n\n"


def add_error_handlers(app: FastAPI) -> None:
    """Have `app` return every error in the same shape."""

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        if isinstance(error, ApiError):
            return error.response
        message = _sentence(request, error)
        return error_response(error.status_code, message, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return _invalid(request, error.errors()[0])

    @app.exception_handler(UserError)
    @app.exception_handler(Cancelled)
    async def user_error(_request: Request, error: UserError | Cancelled) -> Response:
        return _user_error(error)

    @app.exception_handler(Exception)
    async def bug(_request: Request, _error: Exception) -> Response:
        message = "Something unexpected went wrong; the terminal of the assistant shows more."
        return error_response(500, message)


def _user_error(error: UserError | Cancelled) -> JSONResponse:
    """The response to a user error, or to the end of the server."""
    if isinstance(error, Cancelled):
        return error_response(503, "The assistant ends; start it again.", code="ending")
    kind = next(kind for kind in _USER_ERRORS if isinstance(error, kind))
    status, code, seconds = _USER_ERRORS[kind]
    headers = {"Retry-After": str(seconds)} if seconds else None
    return error_response(status, str(error), code=code, headers=headers)


def _sentence(request: Request, error: HTTPException) -> str:
    """The sentence for an error of the framework."""
    path = request.url.path[:100]
    match error.status_code:
        case 404:
            return f"There is nothing at {path}; /docs lists what there is."
        case 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            return f"{request.method} is not allowed at {path}; use {allowed}."
        case 400 if _is_json(request):
            return "The body cannot be read; send JSON in UTF-8, not nested too deeply."
    return str(error.detail)


def _invalid(request: Request, first: Mapping[str, Any]) -> Response:
    """The response to a request whose first mistake, in pydantic's words, is this."""
    where = ".".join(map(str, first["loc"][1:]))
    if first["type"] == "json_invalid":
        at, reason = first["loc"][-1], first["ctx"]["error"]
        message = f"The body is no valid JSON (character {at}: {reason})."
        return error_response(400, message, code="invalid_json")
    if where:
        message = f"{where}: {_reason(first)}."
        return error_response(400, message, code="invalid_value", param=where)
    if first["type"] == "missing":
        return error_response(400, "The body is missing; send JSON.", code="invalid_json")
    if not _is_json(request):
        return error_response(415, "The body has to be JSON; say so with application/json.")
    return error_response(400, "The body has to be a JSON object.", code="invalid_value")


def _reason(error: Mapping[str, Any]) -> str:
    """Why a value is invalid."""
    if error["type"] == "string_pattern_mismatch":  # the only pattern: text that is not blank
        return "Input should not be blank"
    if error["type"] == "too_short":
        return f"Input should have at least {error['ctx']['min_length']}"
    return str(error["msg"]).removeprefix("Value error, ")


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")
