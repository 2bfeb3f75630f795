"""Errors in the one form that all of the server gives them, as OpenAI's clients read it."""

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_SERVER = 500


def error_json(status: int, message: str, code: str, param: str = "") -> dict[str, Any]:
    """`{"error": {"message", "type", "code", "param"}}`."""
    kind = _TYPES.get(status, "server_error" if status >= _SERVER else "invalid_request_error")
    error = {"message": message, "type": kind, "code": code, "param": param or None}
    return {"error": error}


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The response that says it."""
    return JSONResponse(error_json(status, message, code), status, headers)
