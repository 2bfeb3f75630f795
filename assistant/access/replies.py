"""Refusals, in the form that the HTTP API gives errors."""

from collections.abc import Mapping

from fastapi.responses import JSONResponse

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    500: "server_error",
}


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """`{"error": {"message", "type", "code"}}`, as OpenAI's clients read it."""
    error = {"message": message, "type": _TYPES.get(status, "invalid_request_error"), "code": code}
    return JSONResponse({"error": error}, status, headers)
