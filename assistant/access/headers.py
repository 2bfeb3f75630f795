"""Security headers on every response, whoever made it."""

from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.access.index_page import script_hashes, without_elsewhere
from assistant.access.replies import refusal

PAGE = "/"
"""The one page whose own scripts may run; all that it shows of papers and people comes later."""
_FILES = "/gradio_api/file"
_UNCHANGING = ("/assets/", "/static/", "/own/")

_FIXED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Nobody else learns where a reader comes from; `no-referrer` would also hide it from us, and
    # a form would then say that its origin is "null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), "
    "midi=(), payment=(), serial=(), usb=()",
}
_FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""An uploaded page, opened by its address, runs nothing."""


def policy(script_sources: Sequence[str] = ()) -> str:
    """The content security policy of a page with these further sources of scripts."""
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self'", *script_sources)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class SecurityHeaders:
    """ASGI middleware; streams pass through it piece by piece."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers; also where `app` fails."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = _Page(send) if scope["path"] == PAGE else _Response(send, scope["path"])
        if scope["path"] == PAGE:
            scope = {**scope, "headers": _uncompressed(scope["headers"])}
        try:
            await self.app(scope, receive, response.send)
        except Exception:
            if not response.started:
                message = "The assistant failed to answer this; its terminal says why."
                await refusal(500, "internal_error", message)(scope, receive, response.send)
            raise


class _Response:
    """A response on its way out."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self.started = False

    async def send(self, message: Message) -> None:
        """Add the headers when it starts."""
        if message["type"] == "http.response.start":
            self.started = True
            csp = _FILE_POLICY if self._path.startswith(_FILES) else policy()
            self._add_headers(message, csp)
        await self._send(message)

    def _add_headers(self, message: Message, csp: str) -> None:
        headers = MutableHeaders(scope=message)
        # No page of another origin reads anything here, whatever the framework would allow.
        for name in [name for name in headers if name.startswith("access-control-")]:
            del headers[name]
        headers["content-security-policy"] = csp
        for name, value in _FIXED.items():
            headers[name] = value
        if not self._path.startswith(_UNCHANGING):
            headers["cache-control"] = "no-store"


class _Page(_Response):
    """The index page: kept until it is whole, since its policy names the hashes of its scripts."""

    def __init__(self, send: Send) -> None:
        super().__init__(send, PAGE)
        self._start: Message = {}
        self._body = b""

    async def send(self, message: Message) -> None:
        """Send it once it has ended."""
        if message["type"] == "http.response.start":
            self.started = True
            self._start = {**message, "headers": list(message["headers"])}
            return
        if message["type"] != "http.response.body":
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._send_whole()

    async def _send_whole(self) -> None:
        headers = MutableHeaders(scope=self._start)
        sources: list[str] = []
        if headers.get("content-type", "").startswith("text/html"):
            page = without_elsewhere(self._body.decode())
            self._body = page.encode()
            # The framework compiles what its components do in the browser (`js_on_load`).
            sources = [*script_hashes(page), "'unsafe-eval'"]
            if self._body:
                headers["content-length"] = str(len(self._body))
        self._add_headers(self._start, policy(sources))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body})


def _uncompressed(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """A request's headers that ask for plain bytes."""
    return [(name, value) for name, value in headers if name != b"accept-encoding"]
