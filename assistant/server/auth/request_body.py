"""Limits on a request's body: its size, its speed and the names of uploaded files."""

import asyncio
import time
from contextlib import suppress
from pathlib import PurePosixPath

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import path_of

SUFFIXES = frozenset(
    ".bib .bibtex .ciw .csv .enw .isi .json .jsonl .md .nbib .ndjson .ris .tsv .txt .xml".split()
)
"""Suffixes of the formats that can be read."""
_LONGEST_NAME = 255
"""Bytes of a file name that most file systems allow."""
_UPLOAD = "/gradio_api/upload"
"""Route to which the page sends files."""
_MEGABYTE = 1024 * 1024
_LARGEST = {"/v1/ingest": 51, _UPLOAD: 51, "/v1/": 1, "/login": 1, "/": 8}
"""Megabytes of a body by the beginning of its path; 51 are a form with a file of 50 MB."""
_PIECE_TIMEOUT = 30.0
"""Seconds for the next piece of a request's body."""
_BODY_TIMEOUT = 60.0
"""Seconds for a whole body, and more for a large one that comes at `_SLOWEST` or faster."""
_SLOWEST = 10_000
"""Bytes a second."""
_LINGERING = 5.0
"""Seconds in which the rest of a refused body is read and dropped."""


class BodyLimit:
    """ASGI middleware that refuses bodies that are too large or too slow, and wrong files."""

    def __init__(
        self, app: ASGIApp, piece: float = _PIECE_TIMEOUT, whole: float = _BODY_TIMEOUT
    ) -> None:
        """Wrap `app`; `piece` and `whole` are in seconds."""
        self.app = app
        self._timeouts = piece, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and check its body as it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, send, *self._timeouts)
        try:
            body.check_announced()
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.refused is None:
                raise
        if body.refused and not body.answered:
            await body.answer(body.refused)


def complaint_about(name: bytes) -> str:
    """Why a file of this name cannot be uploaded; empty if it can."""
    text = name.decode("utf-8", "replace")
    if len(name) > _LONGEST_NAME:
        return f"A file's name has {len(name)} bytes; at most {_LONGEST_NAME} can be used."
    if not text.isprintable() or "/" in text or "\\" in text or text.startswith("."):
        return "A file's name is a path or has characters that cannot be used; rename the file."
    if PurePosixPath(text).suffix.lower() not in SUFFIXES:
        kinds = ", ".join(sorted(SUFFIXES))
        return f"Files of this kind cannot be read; papers come from files named {kinds}."
    return ""


class _Body:
    """The body of one request, and the response to it."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, piece: float, whole: float
    ) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send = receive, send
        self._announced = headers.get("content-length", "")
        path = path_of(scope)
        self._megabytes = next(most for start, most in _LARGEST.items() if path.startswith(start))
        uploaded = path.startswith(_UPLOAD) and not path.startswith(f"{_UPLOAD}_")
        self._names = _NameCheck(headers.get("content-type", "")) if uploaded else None
        self._size = 0
        self._piece_timeout = piece
        self._deadline = time.monotonic() + whole
        self._ended = False
        self.refused: Response | None = None
        self.answered = False

    def check_announced(self) -> None:
        """Refuse a body whose announced length is too large."""
        if self._announced.isascii() and self._announced.isdigit():
            self._check_size(int(self._announced))

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
        piece = message.get("body", b"")
        self._ended = not message.get("more_body", False)
        self._size += len(piece)
        self._check_size(self._size)
        self._check_names(piece)
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

    def _check_size(self, size: int) -> None:
        if size > self._megabytes * _MEGABYTE:
            message = f"The body is larger than {self._megabytes} MB; send less at a time."
            raise self._refuse(413, message)

    def _check_names(self, piece: bytes) -> None:
        if self._names is None:
            return
        self._names.read(piece)
        if self._names.complaint:
            raise self._refuse(415, self._names.complaint, "unsupported_file")

    def _refuse(self, status: int, message: str, code: str = "") -> "_Refused":
        self.refused = error_response(status, message, code=code)
        return _Refused(message)


class _Refused(MultiPartException):
    """Stops reading a body; this base class makes Starlette clean up half-read forms."""


class _NameCheck:
    """Checks the file names in a multipart body as it is read."""

    def __init__(self, content_type: str) -> None:
        """Read nothing yet; other bodies than multipart have no names."""
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        self.complaint = ""
        self._field = self._value = b""
        self._parser: MultipartParser | None = None
        if kind == b"multipart/form-data" and boundary:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_header_field": self._add_field,
                    "on_header_value": self._add_value,
                    "on_header_end": self._check_header,
                },
            )

    def read(self, chunk: bytes) -> None:
        """Read the next bytes; `complaint` is set if a name cannot be used."""
        if self._parser is None or self.complaint:
            return
        try:
            self._parser.write(chunk)
        except FormParserError:
            self.complaint = "The upload is no valid form; send it as multipart/form-data."

    def _add_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _check_header(self) -> None:
        _, options = parse_options_header(self._value)
        if self._field.lower() == b"content-disposition" and b"filename" in options:
            self.complaint = self.complaint or complaint_about(options[b"filename"])
        self._field = self._value = b""
