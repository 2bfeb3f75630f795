"""The owner of a request, and error responses in OpenAI's shape."""

from collections.abc import Mapping
from typing import Any, Protocol

from fastapi.responses import JSONResponse

OWNER = "owner"
"""Key of the owner in a request's state."""
ANYONE = "anyone"
"""Owner of a request without key and cookie, such as a script's."""
_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_SERVER_ERROR = 500


class _WrappedRequest(Protocol):
    """A wrapped request, such as Gradio passes to an event handler."""

    request: Any


def owner_of(scope: Mapping[str, Any]) -> str:
    """The owner of a request's conversations and of its place in the queue: a user or a browser.

    Args:
        scope: the request's ASGI scope.
    """
    return str(scope.get("state", {}).get(OWNER, ANYONE))


def owner_behind(wrapped: _WrappedRequest) -> str:
    """Like `owner_of`, for the request that a page's event handler receives."""
    return owner_of(wrapped.request.scope) if wrapped.request else ANYONE


def error_json(status: int, message: str, code: str, param: str = "") -> dict[str, Any]:
    """`{"error": {"message", "type", "code", "param"}}`."""
    default = "server_error" if status >= _SERVER_ERROR else "invalid_request_error"
    type_ = _ERROR_TYPES.get(status, default)
    return {"error": {"message": message, "type": type_, "code": code, "param": param or None}}


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A response with `error_json` as its body."""
    return JSONResponse(error_json(status, message, code), status, headers)
