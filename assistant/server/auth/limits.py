"""Limits on a request's body: its size, its speed and the names of uploaded files."""

import asyncio
from pathlib import PurePosixPath

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.auth.responses import refusal

SUFFIXES = frozenset(
    ".bib .bibtex .ciw .csv .enw .isi .json .jsonl .md .nbib .ndjson .ris .tsv .txt .xml".split()
)
"""Suffixes of the formats that can be read."""
_LONGEST_NAME = 255
"""Bytes of a file name that most file systems allow."""
_UPLOAD = "/gradio_api/upload"
"""Route to which the page sends files."""
_MEGABYTE = 1024 * 1024
_LARGEST = 8 * _MEGABYTE
_LARGEST_UPLOAD = 51 * _MEGABYTE
"""A form with a file of 50 MB."""
_UPLOAD_ROUTES = (_UPLOAD, "/v1/ingest")
_PIECE_TIMEOUT = 30.0
"""Seconds for the next piece of a request's body."""


class BodyLimit:
    """ASGI middleware that refuses bodies that are too large or too slow, and wrong files."""

    def __init__(self, app: ASGIApp, timeout: float = _PIECE_TIMEOUT) -> None:
        """Wrap `app`; `timeout` is in seconds for each piece of a body."""
        self.app = app
        self._timeout = timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and check its body as it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Body(scope, receive, send, self._timeout)
        try:
            body.check_announced()
            await self.app(scope, body.receive, body.send)
        except Exception:
            if body.refused is None:
                raise
        if body.refused and not body.answered:
            # The rest of the body is not read, so the connection cannot be used again.
            body.refused.headers["connection"] = "close"
            await body.refused(scope, receive, send)


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

    def __init__(self, scope: Scope, receive: Receive, send: Send, timeout: float) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send, self._timeout = receive, send, timeout
        self._announced = headers.get("content-length", "")
        self._max_size = _LARGEST_UPLOAD if scope["path"].startswith(_UPLOAD_ROUTES) else _LARGEST
        uploaded = scope["path"].startswith(_UPLOAD) and not scope["path"].startswith(f"{_UPLOAD}_")
        self._names = _NameCheck(headers.get("content-type", "")) if uploaded else None
        self._size = 0
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
        try:
            message = await asyncio.wait_for(self._receive(), self._timeout)
        except TimeoutError:
            stopped = "The request stopped before its end."
            raise self._refuse(408, "request_timeout", stopped) from None
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

    def _check_size(self, size: int) -> None:
        if size > self._max_size:
            most = self._max_size // _MEGABYTE
            raise self._refuse(413, "body_too_large", f"A request of over {most} MB is not taken.")

    def _check_names(self, piece: bytes) -> None:
        if self._names is None:
            return
        self._names.read(piece)
        if self._names.complaint:
            raise self._refuse(415, "unsupported_file", self._names.complaint)

    def _refuse(self, status: int, code: str, message: str) -> "_Refused":
        self.refused = refusal(status, code, message)
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
        self._field = self._value = self._disposition = b""
        self._parser = self._parser_of(boundary) if kind == b"multipart/form-data" else None

    def read(self, chunk: bytes) -> None:
        """Read the next bytes; `complaint` is set if a name cannot be used."""
        if self._parser is None or self.complaint:
            return
        try:
            self._parser.write(chunk)
        except FormParserError:
            self.complaint = "The upload is no valid form; send it as multipart/form-data."

    def _parser_of(self, boundary: bytes) -> MultipartParser | None:
        if not boundary:
            return None
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._add_field,
                "on_header_value": self._add_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._check_name,
            },
        )

    def _begin(self) -> None:
        self._field = self._value = self._disposition = b""

    def _add_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field = self._value = b""

    def _check_name(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"filename" in options:
            self.complaint = self.complaint or complaint_about(options[b"filename"])
