"""Security headers for every response, and a check of where requests come from."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.auth.index_page import script_hashes, without_external
from assistant.server.auth.responses import refusal

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
_FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""An uploaded page that is opened by its address runs no script."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": 80, "https": 443}


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
        response = _HeaderSender(send, scope["path"])
        if scope["path"] == _PAGE:
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
                await refusal(500, "internal_error", message)(scope, receive, response.send)
            raise


class Origins:
    """ASGI middleware that refuses unknown hosts (DNS rebinding), other origins and WebSockets."""

    def __init__(self, app: ASGIApp, host: str, server_name: str) -> None:
        """Wrap `app`; host names are checked only if `host`, the address served, is loopback."""
        self.app = app
        self._server_name = server_name.lower()
        given = {_hostname(self._server_name)} - {""}
        self._names = _LOOPBACK | given if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of own pages and of programs."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        refused = self._refusal(scope) if scope["type"] == "http" else None
        await (refused or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._names is not None and _hostname(host) not in self._names:
            names = ", ".join(sorted(self._names))
            message = f"The assistant is not served under this name, but as {names}."
            return refusal(421, "unknown_host", message)
        if scope["method"] not in _SAFE and self._is_foreign(headers.get("origin", ""), host):
            message = "Pages of other sites cannot send requests to the assistant."
            return refusal(403, "foreign_origin", message)
        return None

    def _is_foreign(self, origin: str, host: str) -> bool:
        """Whether `origin` is another site; programs send none."""
        if not origin:
            return False
        scheme, _, netloc = origin.partition("://")
        own = {_with_port(host, scheme)}
        if self._server_name:
            own.add(_with_port(self._server_name, scheme))
        return not netloc or _with_port(netloc, scheme) not in own


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
            csp = _FILE_POLICY if self._path.startswith(_FILE_PREFIX) else _policy()
            self._add_headers(message, csp)
        await self._send(message)

    def _add_headers(self, message: Message, csp: str) -> None:
        headers = MutableHeaders(scope=message)
        # No page of another origin may read anything, even if the framework allows it.
        for name in [name for name in headers if name.startswith("access-control-")]:
            del headers[name]
        headers["content-security-policy"] = csp
        for name, value in _HEADERS.items():
            headers[name] = value
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


def _policy(script_sources: Sequence[str] = ()) -> str:
    """A content security policy that also allows these sources of scripts."""
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


def _hostname(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _with_port(netloc: str, scheme: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{netloc}")
        return parts.hostname or "", parts.port or _PORTS.get(scheme)
    except ValueError:
        return netloc, None
