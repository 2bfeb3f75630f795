"""How large a request's JSON may be; how slowly it may come is up to `access`."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import ApiError, error_response

LARGEST_JSON = 1_000_000
"""Bytes."""
_UPLOAD = "/v1/ingest"
"""Takes files, which `access` limits."""
_TOO_LARGE = f"The body is larger than {LARGEST_JSON // 1_000_000} MB; send less at a time."


class Limits:
    """Refuses a body that is too large, by what it says of itself or as it comes."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or hand it on with its body counted."""
        if scope["type"] != "http" or scope["path"] == _UPLOAD:
            await self._app(scope, receive, send)
        elif _length(scope) > LARGEST_JSON:
            await error_response(413, _TOO_LARGE)(scope, receive, send)
        else:
            await self._app(scope, _Body(receive).receive, send)


def _length(scope: Scope) -> float:
    """Bytes that the body has by its header; 0 where that is not said."""
    text = Headers(scope=scope).get("content-length", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


class _Body:
    """A body that ends at its limit."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._came = 0

    async def receive(self) -> Message:
        """The next piece.

        Raises:
            ApiError: the body is too large; what is still on its way is not waited for.
        """
        message = await self._receive()
        self._came += len(message.get("body", b""))
        if self._came > LARGEST_JSON:
            raise ApiError(413, _TOO_LARGE, headers={"Connection": "close"})
        return message
