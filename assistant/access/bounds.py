"""How much a request may send, how slowly, and which files."""

import asyncio

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.access.replies import refusal
from assistant.access.uploads import NameCheck

UPLOAD = "/gradio_api/upload"
"""Where the page sends files."""
_MEGABYTE = 1024 * 1024
_LARGEST = 8 * _MEGABYTE
_LARGEST_UPLOAD = 51 * _MEGABYTE
"""A file of 50 MB in its form."""
_WITH_FILES = (UPLOAD, "/v1/ingest")
_STOPPED = "The request stopped before its end."
_PATIENCE = 30.0
"""Seconds for the next piece of a request's body."""


class Bounds:
    """ASGI middleware that ends a request which sends too much, too slowly or the wrong files."""

    def __init__(self, app: ASGIApp, patience: float = _PATIENCE) -> None:
        """Stand before `app`."""
        self.app = app
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and watch its body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, send, self._patience)
        try:
            body.check_announced()
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.refused is None:
                raise
        if body.refused and not body.answered:
            # What is left of the body is not read, so the connection cannot be used again.
            body.refused.headers["connection"] = "close"
            await body.refused(scope, receive, send)


class _Refused(MultiPartException):
    """Ends the reading of a body; of this class, so that half-read forms are cleaned up."""


class _Body:
    """One request's body."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, patience: float) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send, self._patience = receive, send, patience
        self._announced = headers.get("content-length", "")
        self._most = _LARGEST_UPLOAD if scope["path"].startswith(_WITH_FILES) else _LARGEST
        uploaded = scope["path"].startswith(UPLOAD) and not scope["path"].startswith(f"{UPLOAD}_")
        self._names = NameCheck(headers.get("content-type", "")) if uploaded else None
        self._size = 0
        self._ended = False
        self.refused: Response | None = None
        self.answered = False

    def check_announced(self) -> None:
        """Refuse at once what says that it is too large."""
        if self._announced.isascii() and self._announced.isdigit():
            self._check_size(int(self._announced))

    async def receive(self) -> Message:
        """The next piece, if it may come in."""
        if self._ended:
            return await self._receive()  # now it waits for the reader to go away
        try:
            message = await asyncio.wait_for(self._receive(), self._patience)
        except TimeoutError:
            raise self._refuse(408, "request_timeout", _STOPPED) from None
        piece = message.get("body", b"")
        self._ended = not message.get("more_body", False)
        self._size += len(piece)
        self._check_size(self._size)
        self._check_names(piece)
        return message

    async def send(self, message: Message) -> None:
        """The answer, unless the request was refused before it began."""
        if self.refused is None or self.answered:
            self.answered = True
            await self._send(message)

    def _check_size(self, size: int) -> None:
        if size > self._most:
            most = self._most // _MEGABYTE
            raise self._refuse(413, "body_too_large", f"A request of over {most} MB is not taken.")

    def _check_names(self, piece: bytes) -> None:
        if self._names is None:
            return
        self._names.read(piece)
        if self._names.complaint:
            raise self._refuse(415, "unsupported_file", self._names.complaint)

    def _refuse(self, status: int, code: str, message: str) -> _Refused:
        self.refused = refusal(status, code, message)
        return _Refused(message)
