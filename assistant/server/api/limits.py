"""Limits the size of a request's JSON; `auth.limits` limits uploads and the time to send them."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import ApiError, error_response

LARGEST_JSON = 1_000_000
"""Bytes."""
_UPLOAD = "/v1/ingest"
"""Takes files, which `auth.limits` limits."""
_TOO_LARGE = f"The body is larger than {LARGEST_JSON // 1_000_000} MB; send less at a time."


class JsonLimit:
    """Refuses a body that is too large, by its header or once too much has arrived."""

    def __init__(self, app: ASGIApp) -> None:
        """Limit the requests to `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on with its body counted."""
        if scope["type"] != "http" or scope["path"] == _UPLOAD:
            await self._app(scope, receive, send)
        elif _length(scope) > LARGEST_JSON:
            await error_response(413, _TOO_LARGE)(scope, receive, send)
        else:
            await self._app(scope, _Body(receive).receive, send)


def _length(scope: Scope) -> float:
    """The body's bytes by its header; 0 without one."""
    text = Headers(scope=scope).get("content-length", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


class _Body:
    """A body that is cut off at the limit."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._received = 0

    async def receive(self) -> Message:
        """The next piece.

        Raises:
            ApiError: the body is too large; the rest of it is not read.
        """
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received > LARGEST_JSON:
            raise ApiError(413, _TOO_LARGE, headers={"Connection": "close"})
        return message
