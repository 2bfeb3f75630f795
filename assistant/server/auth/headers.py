"""Headers: what proxies and other sites say in a request, and the security headers of responses.

Most of the latter are constants; the policy of the page has the hashes of its scripts, which the
library `secure` would not set.
"""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assistant.server.api.errors import error_response
from assistant.server.auth import HttpMiddleware, path_of
from assistant.settings import Settings

_FORWARDED = (b"x-forwarded-", b"forwarded")
"""How the names of headers begin that only a proxy may send."""
_NEVER_BELIEVED = (b"x-forwarded-host", b"forwarded")
"""A proxy may pass on these from its client; it names the host in `Host`."""
_PREFIX = re.compile(r"(/[\w.~-]+)+/?", re.ASCII)
_CLOSED_PREFIXES = (
    *("/gradio_api/proxy=", "/gradio_api/file=http:", "/gradio_api/file=https:"),
    *("/gradio_api/vibe-", "/gradio_api/undo-vibe-", "/gradio_api/run-history", "/gradio_api/runs"),
    *("/gradio_api/deep_link", "/gradio_api/process_recording", "/gradio_api/profiling"),
    *("/gradio_api/dev/", "/monitoring", "/custom_component", "/pwa_icon", "/manifest.json"),
    *("/login/", "/logout/"),
)
"""Closed routes of the framework: its proxy, downloads, recorded runs, code generation, sign-in."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": 80, "https": 443}
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
_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script", re.DOTALL | re.IGNORECASE)


class Proxied(HttpMiddleware):
    """Drops forwarding headers of clients that are no proxy, and serves below a prefix."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Wrap `app`, which sees the client's address and scheme as a named proxy says them."""
        proxies = [each.strip() for each in settings.proxies.split(",") if each.strip()]
        # uvicorn's types of an app are its own.
        self._believing = ProxyHeadersMiddleware(app, proxies)  # type: ignore[arg-type]
        super().__init__(self._believing)  # type: ignore[arg-type]
        self._root_path = settings.root_path

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the prefix is in its path, whether or not the proxy strips it."""
        client = scope.get("client")
        is_proxy = client and client[0] in self._believing.trusted_hosts
        dropped = _NEVER_BELIEVED if is_proxy else _FORWARDED
        headers = [each for each in scope["headers"] if not each[0].lower().startswith(dropped)]
        said = Headers(raw=headers).get("x-forwarded-prefix", "")
        prefix = said.rstrip("/") if _PREFIX.fullmatch(said) else self._root_path
        path = scope["path"]
        if path != prefix and not path.startswith(f"{prefix}/"):
            path = prefix + path
        changed = {"path": path, "root_path": prefix, "headers": headers}
        await self.app({**scope, **changed}, receive, send)


class Origins(HttpMiddleware):
    """Refuses requests to unknown hosts (DNS rebinding), from other origins, and to closed routes.

    It says which names to use, which Starlette's `TrustedHostMiddleware` does not.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Wrap `app`; host names are checked only if the address served is loopback."""
        super().__init__(app)
        self._server_name = settings.server_name.lower()
        given = {_with_port(self._server_name)[0]} - {""}
        self._names = _LOOPBACK | given if is_loopback(settings.host) else None

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of own pages and of programs."""
        await (self._refusal(scope) or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._names is not None and _with_port(host)[0] not in self._names:
            names = ", ".join(sorted(self._names))
            message = f"The assistant is not served under this name, but as {names}."
            return error_response(421, message, code="unknown_host")
        if scope["method"] not in _SAFE and self._is_foreign(headers.get("origin", ""), host):
            message = "Pages of other sites cannot send requests to the assistant."
            return error_response(403, message, code="foreign_origin")
        if scope["path"] == scope.get("root_path"):
            return RedirectResponse(f"{scope['path']}/")
        if path_of(scope).lower().startswith(_CLOSED_PREFIXES):
            return error_response(404, "There is nothing under this address.")
        return None

    def _is_foreign(self, origin: str, host: str) -> bool:
        """Whether `origin` is another site; programs send none."""
        scheme, _, netloc = origin.partition("://")
        own = {_with_port(name, scheme) for name in (host, self._server_name) if name}
        return bool(origin) and (not netloc or _with_port(netloc, scheme) not in own)


class SecurityHeaders(HttpMiddleware):
    """Adds the security headers; streams pass through piece by piece."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers, also to the error if `app` fails."""
        path, started, page = path_of(scope), False, _IndexPage(send)

        async def add(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_headers(message, path)
            await (page.send if path == _PAGE else send)(message)

        if path == _PAGE:  # its scripts are read
            plain = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
            scope = {**scope, "headers": plain}
        try:
            await self.app(scope, receive, add)
        except Exception:
            if not started:
                message = "The assistant failed to answer this; its terminal says why."
                await error_response(500, message)(scope, receive, add)
            raise


class _IndexPage:
    """Sends the index page as a whole, because its policy has the hashes of its scripts."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._body = b""

    async def send(self, message: Message) -> None:
        """Collect the page, and send it after the last part."""
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_whole()

    async def _send_whole(self) -> None:
        headers = MutableHeaders(scope=self._start)
        if headers.get("content-type", "").startswith("text/html"):
            page = without_external(self._body.decode())
            # The framework compiles the scripts of its components in the browser (`js_on_load`).
            headers["content-security-policy"] = _policy([*script_hashes(page), "'unsafe-eval'"])
            self._body = page.encode()
            if self._body:  # the response to HEAD has none
                headers["content-length"] = str(len(self._body))
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": self._body})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def without_external(page: str) -> str:
    """The page without tags for other sites."""
    return _EXTERNAL.sub("", page)


def script_hashes(page: str) -> list[str]:
    """Content security policy sources (hashes) of the page's inline scripts."""
    scripts = set(_INLINE_SCRIPT.findall(page))
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def _add_headers(start: Message, path: str) -> None:
    headers = MutableHeaders(scope=start)
    # No page of another origin may read anything, even if the framework allows it.
    for name in [name for name in headers if name.startswith("access-control-")]:
        del headers[name]
    is_file = path.startswith(_FILE_PREFIX)
    headers.update({**_HEADERS, "content-security-policy": _FILE_POLICY if is_file else _policy()})
    if not path.startswith(_CACHEABLE):
        headers["cache-control"] = "no-store"


def _policy(script_sources: Sequence[str] = ()) -> str:
    """A content security policy that also allows these sources of scripts."""
    return _POLICY.format(" ".join(("'self'", *script_sources)))


def _with_port(netloc: str, scheme: str = "") -> tuple[str, int | None]:
    """Host name and port; where they cannot be told apart, `netloc` as it is."""
    try:
        parts = urlsplit(f"//{netloc}")
        return parts.hostname or "", parts.port or _PORTS.get(scheme)
    except ValueError:
        return netloc, None
