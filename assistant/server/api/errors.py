"""Errors of every route in one JSON shape, OpenAI's: one sentence with its status and code."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive

from assistant.server.api.schemas import ErrorOut
from assistant.types import Json, dumps
from retrieval.types import (
    BusyError,
    Cancelled,
    InputError,
    LibraryError,
    LibraryInUseError,
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


class ApiError(HTTPException):
    """A response that is an error; routes can raise it."""

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


class ClientGone(Exception):  # noqa: N818 - it reports a wish, not a fault
    """The client has closed the connection."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled as soon as the client goes.

    Args:
        receive: of the request, whose body has been read.
        work: the work for the client.

    Raises:
        ClientGone: the client has closed the connection.
    """
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {status: {"model": ErrorOut, "description": _STATUSES[status][1]} for status in statuses}


def error_json(status: int, message: str, code: str = "", param: str = "") -> Json:
    """`{"error": {"message", "type", "code", "param"}}`; without `code` that of the status."""
    default = "server_error" if status >= _SERVER_ERROR else "invalid_request_error"
    return {
        "error": {
            "message": message[:_LONGEST_MESSAGE],
            "type": _TYPES.get(status, default),
            "code": code or _STATUSES.get(status, ("error",))[0],
            "param": param or None,
        }
    }


def error_response(
    status: int,
    message: str,
    *,
    code: str = "",
    param: str = "",
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A response with `error_json` as its body."""
    return JSONResponse(error_json(status, message, code, param), status, headers)


def user_error_status(error: UserError | Cancelled) -> tuple[int, str, str, dict[str, str]]:
    """Status, sentence, code and headers for a user error, or for the end of the server."""
    if isinstance(error, Cancelled):
        return 503, "The assistant ends; start it again.", "ending", {}
    for kind, status, code, seconds in (
        (InputError, 400, "bad_request", 0),
        (BusyError, 503, "busy", 5),
        (NotReadyError, 503, "not_ready", 10),
        (LibraryInUseError, 409, "library_in_use", 10),
        (LibraryError, 503, "library_unusable", 0),
    ):
        if isinstance(error, kind):
            return status, str(error), code, {"Retry-After": str(seconds)} if seconds else {}
    return 500, str(error), "internal_error", {}


def error_event(error: UserError | Cancelled) -> str:
    """An error as a server-sent event, for a stream whose status was sent before."""
    status, message, code, _ = user_error_status(error)
    return f"data: {dumps(error_json(status, message, code))}\n\n"


Handler = Callable[[Request, Any], Awaitable[Response]]


def add_error_handlers(app: FastAPI) -> None:
    """Have `app` return every error in the same shape."""
    handlers: dict[type[Exception], Handler] = {
        HTTPException: _http_error,
        RequestValidationError: _invalid,
        UserError: _user_error,
        Cancelled: _user_error,
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
    match error.status_code:
        case 404:
            return f"There is nothing at {path}; /docs lists what there is."
        case 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            return f"{request.method} is not allowed at {path}; use {allowed}."
        case 400 if _is_json(request):
            return "The body cannot be read; send JSON in UTF-8, not nested too deeply."
    return str(error.detail)


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
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


async def _user_error(_request: Request, error: UserError | Cancelled) -> Response:
    status, message, code, headers = user_error_status(error)
    return error_response(status, message, code=code, headers=headers)


async def _client_gone(_request: Request, _error: ClientGone) -> Response:
    return Response(status_code=CLIENT_GONE)


async def _bug(_request: Request, _error: Exception) -> Response:
    return error_response(
        500, "Something unexpected went wrong; the terminal of the assistant shows more."
    )


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
