"""Security headers for every response, and the index page prepared for a strict policy.

The headers are constants, but for the policy of the page, which has the hashes of its scripts; the
library `secure` would set the former and not the latter.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from html.parser import HTMLParser

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import path_of

_PAGE = "/"
"""The one page with inline scripts; it has no text of papers or people."""
_FILE_PREFIX = "/gradio_api/file"
_CACHEABLE = ("/assets/", "/static/", "/own/")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Other sites do not see the referrer. `no-referrer` would also hide it from the assistant, and
    # forms would then send the origin "null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), "
    "midi=(), payment=(), serial=(), usb=()",
}
_POLICY = (
    "default-src 'self'; script-src {}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""An uploaded page that is opened by its address runs no script."""
_EXTERNAL = re.compile(
    r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*|<link\s+rel="manifest"[^>]*>\s*"""
)
"""Descriptions for other sites, with external addresses, and an install manifest."""


class SecurityHeaders:
    """ASGI middleware that adds the headers; streams pass through piece by piece."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers, also to the error if `app` fails."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = path_of(scope)
        response = _HeaderSender(send, path)
        if path == _PAGE:
            response = _IndexPage(send)
            plain = [
                (name, value) for name, value in scope["headers"] if name != b"accept-encoding"
            ]
            scope = {**scope, "headers": plain}
        try:
            await self.app(scope, receive, response.send)
        except Exception:
            if not response.started:
                message = "The assistant failed to answer this; its terminal says why."
                await error_response(500, message)(scope, receive, response.send)
            raise


class _HeaderSender:
    """Sends a response with the headers added."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self.started = False

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self.started = True
            is_file = self._path.startswith(_FILE_PREFIX)
            self._add_headers(message, _FILE_POLICY if is_file else _policy())
        await self._send(message)

    def _add_headers(self, message: Message, csp: str) -> None:
        headers = MutableHeaders(scope=message)
        # No page of another origin may read anything, even if the framework allows it.
        for name in [name for name in headers if name.startswith("access-control-")]:
            del headers[name]
        headers["content-security-policy"] = csp
        headers.update(_HEADERS)
        if not self._path.startswith(_CACHEABLE):
            headers["cache-control"] = "no-store"


class _IndexPage(_HeaderSender):
    """Sends the index page as a whole, because its policy has the hashes of its scripts."""

    def __init__(self, send: Send) -> None:
        super().__init__(send, _PAGE)
        self._start: Message = {}
        self._body = b""

    async def send(self, message: Message) -> None:
        """Collect the page, and send it after the last part."""
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
            page = without_external(self._body.decode())
            self._body = page.encode()
            # The framework compiles the scripts of its components in the browser (`js_on_load`).
            sources = [*script_hashes(page), "'unsafe-eval'"]
            if self._body:
                headers["content-length"] = str(len(self._body))
        self._add_headers(self._start, _policy(sources))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body})


def without_external(page: str) -> str:
    """The page without tags for other sites."""
    return _EXTERNAL.sub("", page)


def script_hashes(page: str) -> list[str]:
    """Content security policy sources (hashes) of the page's inline scripts."""
    parser = _InlineScripts()
    parser.feed(page)
    parser.close()
    digests = {hashlib.sha256(script.encode()).digest() for script in parser.scripts}
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class _InlineScripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and "src" not in dict(attrs):
            self._inside = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def _policy(script_sources: Sequence[str] = ()) -> str:
    """A content security policy that also allows these sources of scripts."""
    return _POLICY.format(" ".join(("'self'", *script_sources)))
