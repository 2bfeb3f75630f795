"""Limits on a request's body: its size and its speed."""

import asyncio
import time
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import HttpMiddleware, path_of

SUFFIXES = frozenset(
    ".bib .bibtex .ciw .csv .enw .isi .json .jsonl .md .nbib .ndjson .ris .tsv .txt .xml".split()
)
"""Suffixes of the formats that can be read."""
_MEGABYTE = 1024 * 1024
_LARGEST = {"/v1/ingest": 51, "/gradio_api/upload": 51, "/v1/": 1, "/login": 1, "/": 8}
"""Megabytes of a body by the beginning of its path; 51 are a form with a file of 50 MB."""
_PIECE_TIMEOUT = 30.0
"""Seconds for the next piece of a request's body."""
_BODY_TIMEOUT = 60.0
"""Seconds for a whole body, and more for a large one that comes at `_SLOWEST` or faster."""
_SLOWEST = 10_000
"""Bytes a second."""
_LINGERING = 5.0
"""Seconds in which the rest of a refused body is read and dropped."""


class BodyLimit(HttpMiddleware):
    """Refuses bodies that are too large or too slow."""

    def __init__(
        self, app: ASGIApp, piece: float = _PIECE_TIMEOUT, whole: float = _BODY_TIMEOUT
    ) -> None:
        """Wrap `app`; `piece` and `whole` are in seconds."""
        super().__init__(app)
        self._timeouts = piece, whole

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and check its body as it is read."""
        body = _Body(scope, receive, send, *self._timeouts)
        announced = Headers(scope=scope).get("content-length", "")
        try:
            if announced.isascii() and announced.isdigit():
                body.check_size(int(announced))
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.refused is None:
                raise
        if body.refused and not body.answered:
            await body.answer(body.refused)


class _Body:
    """The body of one request, and the response to it."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, piece: float, whole: float
    ) -> None:
        path = path_of(scope)
        self._receive, self._send = receive, send
        self._megabytes = next(most for start, most in _LARGEST.items() if path.startswith(start))
        self._size = 0
        self._piece_timeout = piece
        self._deadline = time.monotonic() + whole
        self._ended = False
        self.refused: Response | None = None
        self.answered = False

    async def receive(self) -> Message:
        """The next piece of the body, checked."""
        if self._ended:
            return await self._receive()  # waits for a disconnect
        left = self._deadline + self._size / _SLOWEST - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), min(self._piece_timeout, left))
        except TimeoutError:
            self._ended = True
            raise self._refuse(408, "The request stopped before its end.") from None
        self._ended = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        self.check_size(self._size)
        return message

    async def send(self, message: Message) -> None:
        """Send the response, unless the request was refused before it began."""
        if self.refused is None or self.answered:
            self.answered = True
            await self._send(message)

    async def answer(self, refused: Response) -> None:
        """Send a refusal, and drop what still comes of the body.

        A client or proxy that is still sending meets a closed connection otherwise, and nginx
        then answers 502 in place of the refusal.
        """
        # The body may go on after the time for dropping it: the connection is not used again.
        refused.headers["connection"] = "close"
        start = {"status": refused.status_code, "headers": refused.raw_headers}
        await self._send({"type": "http.response.start", **start})
        body = {"type": "http.response.body", "body": refused.body}
        await self._send({**body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGERING):
                while not self._ended:
                    self._ended = not (await self._receive()).get("more_body", False)
        await self._send({"type": "http.response.body"})

    def check_size(self, size: int) -> None:
        """Refuse a body that has or announces more bytes than its path allows."""
        if size > self._megabytes * _MEGABYTE:
            message = f"The body is larger than {self._megabytes} MB; send less at a time."
            raise self._refuse(413, message)

    def _refuse(self, status: int, message: str) -> "_Refused":
        self.refused = error_response(status, message)
        return _Refused(message)


class _Refused(MultiPartException):
    """Stops reading a body; this base class makes Starlette clean up half-read forms."""
