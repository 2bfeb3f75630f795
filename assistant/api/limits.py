"""What a request's body may be: how large, and how long it may take to come."""

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import ApiError, error_response

LARGEST_JSON = 1_000_000
"""Bytes."""
LARGEST_UPLOAD = 50_000_000
"""Bytes."""
LONGEST_PAUSE = 20.0
"""Seconds between two pieces of a body."""
_UPLOADS = {"/v1/ingest": LARGEST_UPLOAD}
_CLOSING = {"Connection": "close"}
"""What is still on its way is not waited for."""


class Limits:
    """Refuses a body that is too large, by what it says of itself or as it comes."""

    def __init__(
        self,
        app: ASGIApp,
        uploads: Mapping[str, int] = _UPLOADS,
        pause: float = LONGEST_PAUSE,
    ) -> None:
        """Guard `app`.

        Args:
            app: what is guarded.
            uploads: paths that take files, with the bytes that they take.
            pause: seconds that a body may pause.
        """
        self._app = app
        self._uploads = uploads
        self._pause = pause

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or hand it on with its body counted."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        largest = self._uploads.get(scope["path"], LARGEST_JSON)
        if _length(scope) > largest:
            refusal = error_response(413, _too_large(largest))
            await refusal(scope, receive, send)
        else:
            body = _Body(receive, largest, self._pause)
            await self._app(scope, body.receive, send)


def _length(scope: Scope) -> float:
    """Bytes that the body has by its header; 0 where that is not said."""
    text = Headers(scope=scope).get("content-length", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _too_large(largest: int) -> str:
    return f"The body is larger than {largest // 1_000_000} MB; send less at a time."


class _Body:
    """A body that comes in time and ends at its limit."""

    def __init__(self, receive: Receive, largest: int, pause: float) -> None:
        self._receive = receive
        self._largest = largest
        self._pause = pause
        self._came = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next piece; once the body is whole, whatever comes after it, whenever it does.

        Raises:
            ApiError: the body is too large, or does not go on.
        """
        if self._is_whole:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._pause)
        except TimeoutError as error:
            sentence = f"The body did not go on for {self._pause:g} seconds; send it again."
            raise ApiError(408, sentence, headers=_CLOSING) from error
        self._is_whole = not message.get("more_body", False)
        self._came += len(message.get("body", b""))
        if self._came > self._largest:
            raise ApiError(413, _too_large(self._largest), headers=_CLOSING)
        return message
